"""The behaviour suite on Qdrant's local mode, in each of A2M's metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from qdrant_client import QdrantClient, models

from a2m_gateway.store import Selection, StoreURL
from a2m_gateway.store.registry import adapter_for
from a2m_gateway.testing import Loaded, StoreBehaviour, sample_rows

TEXT = ("text",)
ROWS = sample_rows()


def write(folder: Path, distance: models.Distance) -> None:
    client = QdrantClient(path=str(folder))
    vectors = models.VectorParams(size=len(ROWS[0].vector or ()), distance=distance)
    client.create_collection("docs", vectors_config=vectors)
    client.upsert(
        "docs",
        [
            models.PointStruct(id=row.id, vector=list(row.vector or ()), payload=dict(row.fields))
            for row in ROWS
        ],
    )
    client.close()


@pytest_asyncio.fixture(scope="class", loop_scope="class")
async def loaded(
    tmp_path_factory: pytest.TempPathFactory, distance: models.Distance
) -> AsyncIterator[Loaded]:
    """One child process for all tests of a metric; the suite closes it last."""
    folder = tmp_path_factory.mktemp("qdrant")
    await asyncio.to_thread(write, folder, distance)
    url = StoreURL.parse(f"qdrant+file://{folder}/docs")
    connection = await adapter_for("qdrant+file").connect(url)
    selection = Selection(vector_name="", text_path=TEXT, order_path=("page",))
    store = await connection.open("docs", selection)
    yield Loaded(store, ROWS, TEXT)
    await store.aclose()
    await connection.aclose()


@pytest.mark.asyncio(loop_scope="class")
@pytest.mark.parametrize(
    "distance", [models.Distance.COSINE, models.Distance.EUCLID, models.Distance.DOT], scope="class"
)
class TestQdrantLocal(StoreBehaviour):
    pass
