"""Servers that hang, die, come back, answer nonsense, or are asked by many at once."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx
import pytest
from a2m_chroma.adapter import ChromaAdapter

from a2m_gateway.capability import Ordering
from a2m_gateway.errors import (
    A2MError,
    StoreCorrupt,
    StoreError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store import Condition, Selection, Store, StoreURL

Make = Callable[..., Any]
Open = Callable[..., Awaitable[Store]]
Answers = Callable[[httpx.Request], httpx.Response]

ROWS = [
    {"id": f"r{n}", "vector": [float(n), 1.0], "document": f"text {n}", "metadata": {"n": n}}
    for n in range(50)
]
COLLECTION = {
    "id": "11111111-2222-3333-4444-555555555555",
    "name": "docs",
    "configuration_json": {"hnsw": {"space": "l2"}},
    "dimension": 2,
}


def fill(server: Any) -> None:
    made = server.post("/collections", {"name": "docs"})
    body = {
        "ids": [row["id"] for row in ROWS],
        "embeddings": [row["vector"] for row in ROWS],
        "documents": [row["document"] for row in ROWS],
        "metadatas": [row["metadata"] for row in ROWS],
    }
    server.post(f"/collections/{made['id']}/add", body)


def calls(store: Store) -> Iterator[Awaitable[object]]:
    yield store.get(["r1"])
    yield store.search([1.0, 1.0], 3)
    yield store.search_text(["text"], 3)
    yield store.scan(order=Ordering(descending=True))
    yield store.count((Condition((("n",),), (1,)),))


async def test_a_server_that_hangs_dies_and_comes_back(
    own_chroma_server: Any, open_store: Open
) -> None:
    fill(own_chroma_server)
    store = await open_store(own_chroma_server.url("docs"), deadline=0.3)
    own_chroma_server.send(signal.SIGSTOP)
    for call in calls(store):
        start = time.monotonic()
        with pytest.raises(StoreTimeout, match=r"within 0\.3 s"):
            await call
        assert time.monotonic() - start < 1.0
    own_chroma_server.send(signal.SIGCONT)
    assert len(await store.get(["r1"])) == 1

    own_chroma_server.send(signal.SIGSTOP)
    waiting = asyncio.create_task(store.search([1.0, 1.0], 3))
    await asyncio.sleep(0)
    own_chroma_server.send(signal.SIGKILL)
    with pytest.raises((StoreUnavailable, StoreTimeout)):
        await waiting
    for call in calls(store):
        with pytest.raises(StoreUnavailable, match="unreachable"):
            await call

    own_chroma_server.start()
    assert [hit.row.id for hit in await store.search([1.0, 1.0], 1)] == ["r1"]
    assert len((await store.scan()).rows) == 50


async def test_killed_in_the_middle_of_a_call(own_chroma_server: Any, open_store: Open) -> None:
    fill(own_chroma_server)
    store = await open_store(own_chroma_server.url("docs"), deadline=20)
    own_chroma_server.send(signal.SIGSTOP)
    waiting = [asyncio.create_task(_outcome(call)) for call in calls(store)]
    done, _ = await asyncio.wait(waiting, timeout=0.2)  # the requests are on their way
    assert not done
    own_chroma_server.send(signal.SIGKILL)
    assert {type(await task) for task in waiting} == {StoreUnavailable}


async def _outcome(call: Awaitable[object]) -> object:
    try:
        return await call
    except A2MError as error:
        return error


async def test_many_at_once_answer_as_one_by_one(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(chroma_collection(ROWS).url)
    one_by_one = [await store.search([float(n), 1.0], 3) for n in range(50)]
    at_once = await asyncio.gather(*(store.search([float(n), 1.0], 3) for n in range(50)))
    assert list(at_once) == one_by_one


async def test_cancelled_calls_leave_a_store_that_works(
    chroma_collection: Make, open_store: Open
) -> None:
    store = await open_store(chroma_collection(ROWS).url)
    for turns in range(25):
        tasks = [asyncio.ensure_future(call) for call in calls(store)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert not isinstance(outcome, Exception) or isinstance(outcome, asyncio.CancelledError)
    assert len((await store.scan()).rows) == 50


async def test_reading_while_another_writes(chroma_collection: Make, open_store: Open) -> None:
    """The compaction race of the facts page: no call fails, no hit is half a record."""
    filled = chroma_collection(ROWS)
    store = await open_store(filled.url)

    def write() -> None:
        for batch in range(15):
            ids = [f"w{batch}-{n}" for n in range(40)]
            filled.add(
                [
                    {"id": i, "vector": [1.0, 2.0], "document": "w", "metadata": {"n": 1}}
                    for i in ids
                ]
            )
            filled.delete(ids[:20])

    writing = asyncio.create_task(asyncio.to_thread(write))
    searches = 0
    while not writing.done():
        hits = await store.search([1.0, 2.0], 20, (Condition((("n",),), (1,)),))
        hits = [*hits, *await store.search([1.0, 2.0], 20)]
        assert all(hit.row.fields for hit in hits)
        searches += 1
    await writing
    assert searches > 3


def faked(answers: Answers) -> ChromaAdapter:
    """The wire as a test wants it: what no healthy server can be brought to send."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST" or request.url.path.endswith("/count"):
            return answers(request)
        if request.url.path.endswith("/collections/docs"):
            return httpx.Response(200, json=COLLECTION)
        return httpx.Response(200, json={"name": "default_database"})

    return ChromaAdapter(httpx.MockTransport(answer))


async def opened(answers: Answers) -> Store:
    url = StoreURL.parse("chroma://localhost:1/docs")
    connection = await faked(answers).connect(url)
    return await connection.open("docs", Selection("", ("#document",)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"ids": ',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"ids": ["a"], "documents": [], "metadatas": [null]}',
        b'{"ids": ["a"], "documents": [null], "metadatas": null}',
        b'{"ids": ["a"], "documents": [null, null], "metadatas": [null]}',
        b'{"ids": [1], "documents": [null], "metadatas": [null]}',
        b'{"ids": ["a"], "documents": [5], "metadatas": [null]}',
        b'{"ids": ["a"], "documents": [null], "metadatas": ["x"]}',
    ],
)
async def test_an_answer_that_cannot_be_true(body: bytes) -> None:
    store = await opened(lambda _: httpx.Response(200, content=body))
    for call in (store.get(["a"]), store.scan(), store.search([1.0, 2.0], 3)):
        with pytest.raises(StoreCorrupt):
            await call


@pytest.mark.parametrize(
    "change",
    [
        {"ids": [["a"], ["b"]]},
        {"ids": []},
        {"distances": [[]]},
        {"distances": None},
        {"distances": [["x"]]},
        {"documents": [["x", "y"]]},
        {"embeddings": [[[1.0, None]]]},
        {"embeddings": None},
    ],
)
async def test_a_query_answered_in_part(change: dict[str, Any]) -> None:
    whole = {
        "ids": [["a"]], "documents": [["x"]], "metadatas": [[{"n": 1}]], "distances": [[0.5]],
        "embeddings": [[[1.0, 2.0]]],
    }  # fmt: skip
    store = await opened(lambda _: httpx.Response(200, json=whole))
    assert len(await store.search([1.0, 2.0], 3, vectors=True)) == 1
    store = await opened(lambda _: httpx.Response(200, json={**whole, **change}))
    with pytest.raises(StoreCorrupt):
        await store.search([1.0, 2.0], 3, vectors=True)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, StoreRefused), (401, StoreRefused), (403, StoreRefused), (413, StoreRefused),
        (422, StoreRefused), (301, StoreRefused), (429, StoreUnavailable), (500, StoreError),
        (502, StoreUnavailable), (503, StoreUnavailable), (504, StoreUnavailable),
    ],
)  # fmt: skip
async def test_what_a_status_means(status: int, error: type[StoreError]) -> None:
    for body in (b'{"error": "E", "message": "why"}', b"<html>", b"", b"\xff" * 1000):
        store = await opened(lambda _, body=body: httpx.Response(status, content=body))  # type: ignore[misc]
        for call in calls(store):
            with pytest.raises(error, match=str(status)) as raised:
                await call
            assert type(raised.value) is error


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (httpx.ConnectError("refused"), StoreUnavailable),
        (httpx.ReadError("reset"), StoreUnavailable),
        (httpx.RemoteProtocolError("Server disconnected"), StoreUnavailable),
        (httpx.ReadTimeout("slow"), StoreTimeout),
        (httpx.DecodingError("bad gzip"), StoreCorrupt),
    ],
)
async def test_what_a_broken_connection_means(failure: Exception, error: type[StoreError]) -> None:
    def answers(_: httpx.Request) -> httpx.Response:
        raise failure

    store = await opened(answers)
    for call in calls(store):
        with pytest.raises(error):
            await call


async def test_a_search_is_one_round_trip_and_is_repeated_only_for_the_race() -> None:
    asked: list[str] = []
    race = httpx.Response(500, json={"message": "Error executing plan: Error finding id"})
    whole = {"ids": [["a"]], "documents": [["x"]], "metadatas": [[None]], "distances": [[4.0]]}
    script = [race, race, httpx.Response(200, json=whole)]

    def answers(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path.rpartition("/")[2])
        return script.pop(0) if len(script) > 1 else script[0]

    store = await opened(answers)
    assert [hit.distance for hit in await store.search([1.0, 2.0], 3)] == [2.0]
    assert asked == ["query"] * 3
    await store.search([1.0, 2.0], 3)
    assert asked == ["query"] * 4

    store = await opened(lambda _: race)
    with pytest.raises(StoreUnavailable):
        await store.search([1.0, 2.0], 3)


async def test_a_hit_without_anything_is_looked_up_and_left_out_where_it_is_gone() -> None:
    answer = {
        "ids": [["gone", "bare", "a"]], "documents": [[None, None, "x"]],
        "metadatas": [[None, None, None]], "distances": [[0.0, 1.0, 4.0]],
    }  # fmt: skip

    def answers(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/query"):
            return httpx.Response(200, json=answer)
        assert json.loads(request.content)["ids"] == ["gone", "bare"]
        return httpx.Response(200, json={"ids": ["bare"]})

    store = await opened(answers)
    hits = await store.search([1.0, 2.0], 3)
    assert [(hit.row.id, hit.distance) for hit in hits] == [("bare", 1.0), ("a", 2.0)]


async def test_a_page_that_is_too_large_comes_in_parts(
    chroma_collection: Make, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2m_chroma.client.MAX_ANSWER", 60_000)
    long = [{"id": f"r{n}", "vector": [1.0, 2.0], "document": "x" * 10_000} for n in range(20)]
    filled = chroma_collection(long)
    store = await open_store(filled.url)
    assert [row.id for row in (await store.scan()).rows] == [row["id"] for row in long]
    assert len(await store.get([f"r{n}" for n in range(20)])) == 20
    assert len(await store.search_text(["xxx"], 20)) == 20
    filled.add([{"id": "huge", "vector": [1.0, 2.0], "document": "x" * 70_000}])
    with pytest.raises(StoreError, match="MiB"):
        await store.get(["huge"])


async def test_only_a_count_that_is_refused_or_gone_is_unknown() -> None:
    """A list without counts says that nobody may count, and not that the server hangs."""
    url = StoreURL.parse("chroma://localhost:1/docs")
    for status, error in ((403, None), (404, None), (503, StoreUnavailable), (500, StoreError)):

        def answer(request: httpx.Request, status: int = status) -> httpx.Response:
            if request.url.path.endswith("/count"):
                return httpx.Response(status)
            listed = request.url.path.endswith("/collections")
            return httpx.Response(200, json=[COLLECTION] if listed else {"name": "x"})

        connection = await ChromaAdapter(httpx.MockTransport(answer)).connect(url)
        if error is None:
            assert [one.count for one in await connection.collections()] == [None]
            continue
        with pytest.raises(error, match=str(status)):
            await connection.collections()


async def test_many_pages_share_one_deadline() -> None:
    """A count that pages through ids ends as a whole, however quick each page is."""

    class Endless(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await asyncio.sleep(0)
            if request.url.path.endswith("/collections/docs"):
                return httpx.Response(200, json=COLLECTION)
            return httpx.Response(200, json={"name": "x", "ids": [str(n) for n in range(10_000)]})

    url = StoreURL.parse("chroma://localhost:1/docs")
    connection = await ChromaAdapter(Endless()).connect(url, deadline=0.3)
    store = await connection.open("docs", Selection())
    with pytest.raises(StoreTimeout):
        await store.count((Condition((("n",),), (1,)),))
