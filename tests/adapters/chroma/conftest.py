"""Connections to the session's Chroma server (``tests/conftest.py``), closed with their test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from a2m_gateway.store import Connection, Selection, Store, StoreURL
from a2m_gateway.store.registry import adapter_for

DOCUMENT = Selection(vector_name="", text_path=("#document",))

pytest.importorskip(
    "chromadb_rust_bindings", reason="needs chromadb: pip install 'a2m-gateway[chroma-embedded]'"
)

OpenStore = Callable[..., Awaitable[Store]]


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Awaitable[Connection]]]:
    """``await connect(url, deadline=…)``; closed when the test ends."""
    opened: list[Connection] = []

    async def make(url: StoreURL, **options: Any) -> Connection:
        connection = await adapter_for(url.scheme).connect(url, **options)
        opened.append(connection)
        return connection

    yield make
    for connection in opened:
        await connection.aclose()


@pytest.fixture
def open_store(connect: Callable[..., Awaitable[Connection]]) -> OpenStore:
    """``await open_store(url, selection, deadline=…)``."""

    async def make(url: StoreURL, selection: Selection = DOCUMENT, **options: Any) -> Store:
        connection = await connect(url, **options)
        return await connection.open(url.collection, selection)

    return make
