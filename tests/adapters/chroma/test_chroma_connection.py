"""What there is to serve, what it says of itself, and who may ask."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from a2m_chroma.adapter import ChromaAdapter

from a2m_gateway.capability import Metric
from a2m_gateway.errors import (
    CollectionNotFound,
    ConfigurationError,
    StoreError,
    StoreRefused,
    StoreUnavailable,
)
from a2m_gateway.store import Connection, Selection, Store, StoreURL, VectorField

Make = Callable[..., Any]
Open = Callable[..., Awaitable[Store]]
Connect = Callable[..., Awaitable[Connection]]

FRAMEWORKS = ["chroma-mcp", "haystack", "langchain", "llamaindex", "mem0"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_dump_is_read_back_as_it_was_written(
    load_chroma_dump: Callable[[str], Any], open_store: Open, connect: Connect, framework: str
) -> None:
    dump = load_chroma_dump(framework)
    for name, filled in dump.collections.items():
        points = {point["id"]: point for point in dump.points.get(name, ())}
        store = await open_store(filled.url)
        page = await store.scan(vectors=True)
        assert {row.id for row in page.rows} == set(points)
        for row in page.rows:
            point = points[row.id]
            fields = dict(row.fields)
            assert fields.pop("#document", None) == point["document"]
            assert fields == (point["metadata"] or {})
            assert row.vector is not None
            assert len(row.vector) == store.profile.width
        info = await (await connect(filled.url)).describe(name)
        assert info.count == len(points)


async def test_collections_are_all_listed_by_name_with_their_counts(
    chroma_server: Any,
    connect: Connect,
    chroma_collection: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("a2m_chroma.connection._PAGE", 2)
    chroma_server.create_database("listed")
    connection = await connect(chroma_server.url(database="listed"))
    assert await connection.collections() == []
    for number in range(3):
        rows = [{"id": f"{n}", "vector": [1, 2]} for n in range(number)]
        chroma_collection(rows, name=f"c{2 - number}-x", database="listed")
    listed = [(one.name, one.count) for one in await connection.collections()]
    assert listed == [("c0-x", 2), ("c1-x", 1), ("c2-x", 0)]
    monkeypatch.setattr("a2m_chroma.connection._COUNTED", 2)  # counting is a round trip each
    listed = [(one.name, one.count) for one in await connection.collections()]
    assert listed == [("c0-x", None), ("c1-x", None), ("c2-x", None)]


@pytest.mark.parametrize(
    ("function", "width", "model"),
    [
        ({"type": "known", "name": "default", "config": {}}, 384, "all-MiniLM-L6-v2"),
        ({"type": "known", "name": "default", "config": {}}, None, "all-MiniLM-L6-v2"),
        # Recorded also when a writer brings vectors of another model and passes no function.
        ({"type": "known", "name": "default", "config": {}}, 8, None),
        (
            {"type": "known", "name": "openai",
             "config": {"model_name": "text-embedding-3-small", "api_key_env_var": "KEY"}},
            8, "text-embedding-3-small",
        ),
        (
            {"type": "known", "name": "ollama",
             "config": {"model_name": "nomic-embed-text", "url": "http://x", "timeout": 60}},
            8, "nomic-embed-text",
        ),
        (
            {"type": "known", "name": "sentence_transformer",
             "config": {"model_name": "BAAI/bge-small-en", "device": "cpu", "kwargs": {},
                        "normalize_embeddings": False}},
            8, "BAAI/bge-small-en",
        ),
        ({"type": "legacy"}, 8, None),
        (None, 8, None),
    ],
)  # fmt: skip
async def test_the_model_is_read_as_data(
    chroma_collection: Make,
    open_store: Open,
    function: Any,
    width: int | None,
    model: str | None,
) -> None:
    rows = [] if width is None else [{"id": "a", "vector": [1.0] * width}]
    filled = chroma_collection(rows, embedding_function=function)
    profile = (await open_store(filled.url)).profile
    assert (profile.model, profile.width) == (model, width)


async def test_describe(chroma_collection: Make, connect: Connect) -> None:
    filled = chroma_collection(
        [
            {"id": "a", "vector": [1, 2, 3], "document": "x",
             "metadata": {"page": 1, "lang": "de", "ok": True, "score": 0.5}},
        ],
        space="ip",
        metadata={"owner": "ü", "n": 1},
    )  # fmt: skip
    info = await (await connect(filled.url)).describe(filled.name)
    assert (info.name, info.count) == (filled.name, 1)
    assert info.vectors == (VectorField("", 3, Metric.DOT, "ip"),)
    assert dict(info.metadata) == {"owner": "ü", "n": 1}
    assert info.indexed == {
        ("page",): "int", ("lang",): "string", ("ok",): "bool", ("score",): "float",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["absent", "", ".", "..", "a/b", "é", "x\ny", "\0", "\ud800"])
async def test_a_collection_that_is_not_there(
    chroma_collection: Make, connect: Connect, name: str
) -> None:
    filled = chroma_collection([{"id": "a", "vector": [1]}])
    connection = await connect(filled.url)
    with pytest.raises(CollectionNotFound, match="there are "):
        await connection.open(name, Selection())
    with pytest.raises(CollectionNotFound):
        await connection.describe(name)
    with pytest.raises(CollectionNotFound):
        await connection.open(filled.id, Selection())


async def test_a_collection_deleted_and_created_again_is_noticed(
    chroma_collection: Make, open_store: Open
) -> None:
    rows = [{"id": "old", "vector": [1, 2], "document": "x"}]
    filled = chroma_collection(rows)
    store = await open_store(filled.url)
    filled.drop()
    with pytest.raises(StoreUnavailable, match="was deleted"):
        await store.scan()
    chroma_collection([{"id": "new", "vector": [1, 2], "document": "x"}], name=filled.name)
    assert [row.id for row in (await store.scan()).rows] == ["new"]
    assert [hit.row.id for hit in await store.search([1.0, 2.0], 5)] == ["new"]
    assert await store.count() == 1


@pytest.mark.parametrize("change", [{"space": "cosine"}, {"width": 3}])
async def test_a_collection_created_again_as_another_is_refused(
    chroma_collection: Make, open_store: Open, change: dict[str, Any]
) -> None:
    filled = chroma_collection([{"id": "a", "vector": [1, 2]}])
    store = await open_store(filled.url)
    filled.drop()
    vector = [1.0] * change.get("width", 2)
    chroma_collection(
        [{"id": "a", "vector": vector}], name=filled.name, space=change.get("space", "l2")
    )
    for call in (store.get(["a"]), store.count(), store.search([1.0, 2.0], 1), store.scan()):
        with pytest.raises(StoreError, match="created again as another"):
            await call


async def test_no_such_database_or_tenant(chroma_server: Any, connect: Connect) -> None:
    for options in ({"database": "nope"}, {"chroma_tenant": "nope"}, {"database": "../.."}):
        with pytest.raises(ConfigurationError, match="database"):
            await connect(chroma_server.url("x", **options))


async def test_another_service_is_told_from_chroma() -> None:
    url = StoreURL.parse("chroma://localhost:1/docs")
    for answer, words in (
        (httpx.Response(404, text="not here"), "no /api/v2"),
        (httpx.Response(200, html="<html>"), "no Chroma server"),
        (httpx.Response(200, json=[]), "no Chroma server"),
    ):
        adapter = ChromaAdapter(httpx.MockTransport(lambda request, answer=answer: answer))
        with pytest.raises(ConfigurationError, match=words):
            await adapter.connect(url)


@pytest.mark.parametrize(
    "banner",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 9000 + b"\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 \xff\xfe\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["ssh", "length", "header", "long header", "reason"],
)
async def test_what_speaks_no_http_is_told_and_not_quoted(banner: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(banner)
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    url = StoreURL.parse(f"chroma://127.0.0.1:{port}/docs")
    with pytest.raises(ConfigurationError, match="no Chroma server there") as told:
        await ChromaAdapter().connect(url)
    listener.close()
    assert f"127.0.0.1:{port}" in str(told.value)
    assert "OpenSSH" not in str(told.value)


@pytest.mark.parametrize("listens", [False, True])
async def test_an_unreachable_server_is_named(listens: bool) -> None:
    """Nothing listens; or something does, and hangs up."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    if not listens:
        listener.close()
        await listener.wait_closed()
    with pytest.raises(StoreUnavailable, match=f"unreachable at http://127.0.0.1:{port}"):
        await ChromaAdapter().connect(StoreURL.parse(f"chroma://127.0.0.1:{port}/docs"))
    listener.close()


async def test_the_secret_is_sent_and_never_shown() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(401, json={"error": "AuthError", "message": "Unauthorized"})

    url = StoreURL.parse("chromas://vault.example/prefix/docs?chroma_tenant=a%2Fb")
    adapter = ChromaAdapter(httpx.MockTransport(answer))
    with pytest.raises(StoreRefused, match="A2M_STORE_SECRET") as refused:
        await adapter.connect(url, secret="s3cret-token")
    assert "s3cret-token" not in str(refused.value)
    assert seen[0].headers["authorization"] == "Bearer s3cret-token"
    assert seen[0].headers["x-chroma-token"] == "s3cret-token"
    assert str(seen[0].url) == (
        "https://vault.example:8000/prefix/api/v2/tenants/a%2Fb/databases/default_database"
    )
    with pytest.raises(StoreRefused):
        await adapter.connect(url)
    assert "authorization" not in seen[-1].headers


async def test_a_host_is_needed(connect: Connect) -> None:
    with pytest.raises(ConfigurationError, match="host"):
        await connect(StoreURL.parse("chroma:///docs"))
