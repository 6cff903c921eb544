"""The behaviour suite on a real Chroma server, in each of its metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from a2m_gateway.store import Selection
from a2m_gateway.store.registry import adapter_for
from a2m_gateway.testing import Loaded, StoreBehaviour, sample_rows

DOCUMENT = ("#document",)


@pytest.mark.parametrize("space", ["cosine", "l2", "ip"])
class TestChroma(StoreBehaviour):
    @pytest.fixture
    async def loaded(
        self, chroma_collection: Callable[..., Any], space: str
    ) -> AsyncIterator[Loaded]:
        rows = sample_rows(text_field="#document")
        lines = [
            {
                "id": row.id,
                "vector": row.vector,
                "document": row.fields["#document"],
                "metadata": {k: v for k, v in row.fields.items() if k != "#document"},
            }
            for row in rows
        ]
        filled = chroma_collection(lines, space=space)
        connection = await adapter_for("chroma").connect(filled.url)
        store = await connection.open(filled.name, Selection(vector_name="", text_path=DOCUMENT))
        yield Loaded(store, rows, DOCUMENT)
        await store.aclose()
        await connection.aclose()
