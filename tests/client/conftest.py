"""Scripted servers that answer as they are told, and real ones."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from scripted_server import Scripted

from a2m_gateway.client import Client
from a2m_gateway.layers import ExactLayer
from a2m_gateway.memory import Endpoint, Memory
from a2m_gateway.store import Row
from a2m_gateway.store.memory import MemoryStore


@pytest.fixture
def socket_path() -> Iterator[Path]:
    # Not pytest's tmp_path: a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="a2m") as folder:
        yield Path(folder) / "socket"


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """A real, read-only endpoint over two records with vectors."""
    rows = [
        Row(
            f"r{number}",
            {
                "content": text,
                "created_at": f"2026-01-0{number}T00:00:00.000Z",
                "metadata": {"n": number, "nested": {"a": [None, "☕"]}},
            },
            vector=vector,
        )
        for number, text, vector in ((1, "naïve\ncafé", (1.0, 0.0)), (2, "tea", (0.0, 1.0)))
    ]
    made = Endpoint(Memory(ExactLayer(MemoryStore(rows))))
    yield made
    await made.aclose()


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
async def streamed(scripted: Scripted, socket_path: Path) -> AsyncIterator[Client]:
    """A client of the scripted server over a stream."""
    server = await asyncio.start_unix_server(scripted.serve, str(socket_path))
    client = Client.unix(socket_path, on_notification=scripted.heard.append, timeout=5)
    yield client
    await client.aclose()
    server.close()


@pytest.fixture
def in_process(scripted: Scripted) -> Client:
    """A client of the scripted server without a stream."""
    return Client.in_process(scripted, timeout=5)
