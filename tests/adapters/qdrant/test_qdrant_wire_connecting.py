"""Reaching a server, and what is said of its collections."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from a2m_qdrant import QdrantAdapter

from a2m_gateway.errors import (
    CollectionNotFound,
    ConfigurationError,
    StoreRefused,
    StoreUnavailable,
)
from a2m_gateway.store import Selection, StoreURL


async def test_connecting_asks_the_version_once(server: Any, connect: Any) -> None:
    await connect("qdrant://host/docs")
    assert [str(request.url) for request in server.requests] == ["http://host:6333/"]
    assert "api-key" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("qdrants://h/docs", "https://h:6333"),
        ("qdrant://h:80/docs?tls=true", "https://h:80"),
        ("qdrant://[::1]:7000/docs", "http://[::1]:7000"),
        ("qdrant://localhost/docs", "http://localhost:6333"),
        ("qdrant://h/behind/proxy/docs", "http://h:6333/behind/proxy"),
    ],
)
async def test_addresses(server: Any, connect: Any, url: str, base: str) -> None:
    prefix = httpx.URL(base).path.rstrip("/")
    server.answers[f"GET {prefix}/"] = server.answers["GET /"]
    server.answers[f"GET {prefix}/collections"] = server.answers["GET /collections"]
    connection = await connect(url)
    await connection.collections()
    assert str(server.requests[-1].url) == f"{base}/collections"


async def test_the_key_is_a_header_and_nowhere_else(
    server: Any, connect: Any, recwarn: pytest.WarningsRecorder
) -> None:
    connection = await connect(secret="s3cret")
    server.answers["GET /collections"] = httpx.Response(403, json={"status": {"error": "no"}})
    with pytest.raises(StoreRefused) as caught:
        await connection.collections()
    assert {request.headers["api-key"] for request in server.requests} == {"s3cret"}
    assert "s3cret" not in str(caught.value)
    assert "A2M_STORE_SECRET" in str(caught.value)
    assert [str(one.message) for one in recwarn] == []
    assert any("unencrypted" in note for note in (await connection.describe("docs")).notes)
    quiet = await connect("qdrants://host/", secret="s3cret")
    assert not any("unencrypted" in note for note in (await quiet.describe("docs")).notes)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>hello</html>"),
        httpx.Response(200, json={"ok": True}),
        httpx.Response(404),
        httpx.Response(302, headers={"location": "http://elsewhere/"}),
        {"title": "qdrant", "version": "1.9.7"},
    ],
)
async def test_what_is_no_qdrant_or_too_old_is_told(server: Any, connect: Any, answer: Any) -> None:
    server.answers["GET /"] = answer
    with pytest.raises(ConfigurationError, match=r"no Qdrant|older than 1\.10"):
        await connect()


async def test_a_version_of_an_own_build_is_taken(server: Any, connect: Any) -> None:
    server.answers["GET /"] = {"title": "qdrant", "version": "dev"}
    await connect()


async def test_collections_and_what_is_missing(server: Any, connect: Any) -> None:
    connection = await connect()
    assert [one.name for one in await connection.collections()] == ["b", "docs"]
    server.answers["GET /collections/nope"] = httpx.Response(
        404, json={"status": {"error": "Not found: Collection `nope` doesn't exist!"}}
    )
    with pytest.raises(CollectionNotFound, match="'nope'; there are b, docs"):
        await connection.describe("nope")
    for name in ("", ".", ".."):
        with pytest.raises(CollectionNotFound):
            await connection.describe(name)


async def test_a_hostile_name_is_one_segment(server: Any, connect: Any) -> None:
    connection = await connect()
    server.requests.clear()
    server.answers["GET /collections/a/../b?x#y{z}"] = httpx.Response(404)
    with pytest.raises(CollectionNotFound):
        await connection.describe("a/../b?x#y{z}")
    assert server.requests[0].url.raw_path == b"/collections/a%2F..%2Fb%3Fx%23y%7Bz%7D"


async def test_a_collection_is_described_as_configured(server: Any, connect: Any) -> None:
    server.describe(
        vectors={
            "fast-all-minilm-l6-v2": {"size": 384, "distance": "Cosine"},
            "small": {"size": 8, "distance": "Dot", "datatype": "uint8"},
        },
        sparse={"bm25": {}},
        indexes={'metadata."a.b"': server.index("keyword"), "at": server.index("datetime")},
        strict={"max_query_limit": 100},
        quantization_config={"scalar": {"type": "int8"}},
        metadata={"model": "x"},
    )
    connection = await connect()
    server.requests.clear()
    described = await connection.describe("docs")
    assert len(server.requests) == 2
    assert described.count == 3, "counted, not the configuration's approximation"
    assert [(v.name, v.kind, v.model) for v in described.vectors] == [
        ("fast-all-minilm-l6-v2", "dense", "all-minilm-l6-v2"),
        ("small", "dense", None),
        ("bm25", "sparse", None),
    ]
    assert described.indexed == {("at",): "datetime", ("metadata", "a.b"): "keyword"}
    assert described.metadata == {"model": "x"}
    notes = " | ".join(described.notes)
    assert "strict mode" in notes
    assert "quantised" in notes
    assert "uint8" in notes
    store = await connection.open("docs", Selection(vector_name="small"))
    assert store.profile.limits.max_k == 100
    assert store.profile.version == "1.17.1"


async def test_a_connection_to_localhost_is_kept(server: Any) -> None:
    """Left to itself the client opens a connection for each request to this machine."""
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, path = head.decode().split(" ")[:2]
            body = json.dumps(server.answers[f"{method} {path}"]).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    connection = await QdrantAdapter().connect(StoreURL.parse(f"qdrant://127.0.0.1:{port}/"))
    for _ in range(5):
        await connection.collections()
    await connection.aclose()
    listener.close()
    assert connections == 1


async def test_nothing_listens() -> None:
    unused = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = unused.sockets[0].getsockname()[1]
    unused.close()
    await unused.wait_closed()
    with pytest.raises(StoreUnavailable, match=f"nothing answers at http://127.0.0.1:{port}"):
        await QdrantAdapter().connect(StoreURL.parse(f"qdrant://127.0.0.1:{port}/docs"))
