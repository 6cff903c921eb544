"""The adapter on a real server, named by ``A2M_TEST_QDRANT_URL`` (``qdrant://localhost:6333``)."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from a2m_qdrant import adapter
from qdrant_client import AsyncQdrantClient, models

from a2m_gateway.capability import Ordering
from a2m_gateway.store import Selection, StoreURL
from a2m_gateway.testing import Loaded, StoreBehaviour, sample_rows

URL = os.environ.get("A2M_TEST_QDRANT_URL", "")
SECRET = os.environ.get("A2M_TEST_QDRANT_SECRET")

pytestmark = pytest.mark.skipif(not URL, reason="A2M_TEST_QDRANT_URL names no Qdrant server")


@pytest.fixture
async def client() -> AsyncIterator[AsyncQdrantClient]:
    url = StoreURL.parse(f"{URL.rstrip('/')}/x")
    scheme = "https" if url.tls else "http"
    made = AsyncQdrantClient(url=f"{scheme}://{url.host}:{url.port or 6333}", api_key=SECRET)
    yield made
    await made.close()


@pytest.fixture
async def loaded(client: AsyncQdrantClient, request: Any) -> AsyncIterator[Loaded]:
    distance = getattr(request, "param", models.Distance.COSINE)
    name, rows = f"a2m-test-{uuid.uuid4()}", sample_rows()
    await client.create_collection(
        name, vectors_config=models.VectorParams(size=8, distance=distance)
    )
    await client.create_payload_index(name, "page", models.PayloadSchemaType.INTEGER, wait=True)
    prefix = models.TextIndexParams(
        type=models.TextIndexType.TEXT,
        tokenizer=models.TokenizerType.PREFIX,
        min_token_len=1,
        max_token_len=20,
    )
    await client.create_payload_index(name, "text", prefix, wait=True)
    points = [
        models.PointStruct(id=row.id, vector=list(row.vector or ()), payload=dict(row.fields))
        for row in rows
    ]
    await client.upsert(name, points, wait=True)
    connection = await adapter.connect(StoreURL.parse(f"{URL.rstrip('/')}/{name}"), secret=SECRET)
    selection = Selection(vector_name="", text_path=("text",), order_path=("page",))
    try:
        yield Loaded(await connection.open(name, selection), rows, text_path=("text",))
    finally:
        await connection.aclose()
        await client.delete_collection(name)


@pytest.mark.parametrize(
    "loaded",
    [models.Distance.COSINE, models.Distance.DOT, models.Distance.EUCLID],
    indirect=True,
)
class TestServer(StoreBehaviour):
    pass


async def test_the_order_of_an_indexed_field_is_claimed(loaded: Loaded) -> None:
    assert Ordering(("page",), descending=True) in loaded.store.profile.orderings
