"""What is sent to a Qdrant server, to the byte, and what becomes of its answers.

No server runs here: a mock transport stands in for one beneath the real client. The shapes of the
answers are those of Qdrant's OpenAPI schema, which the client validates. ``test_qdrant_server.py``
has the same adapter on a real server, where there is one.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from a2m_qdrant import QdrantAdapter
from a2m_qdrant.connection import QdrantConnection

from a2m_gateway.capability import Feature, Ordering, Pushdown, ValueType
from a2m_gateway.errors import (
    CollectionNotFound,
    ConfigurationError,
    StoreCorrupt,
    StoreError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store import Condition, Row, Selection, StoreURL

UUID = "11f5e53d-6c5c-5d12-ad31-0c099a91dff1"
OTHER = "22f5e53d-6c5c-5d12-ad31-0c099a91dff1"
WHERE = (Condition((("metadata", "page"),), (1,)),)
PUSHED = {"must": [{"key": "metadata.page", "range": {"gte": 1.0, "lte": 1.0}}]}


class Server:
    """Answers by method and path, and remembers what was asked."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.answers: dict[str, Any] = {
            "GET /": {"title": "qdrant - vector search engine", "version": "1.17.1"},
            "GET /collections": ok({"collections": [{"name": "b"}, {"name": "docs"}]}),
            "POST /collections/docs/points/count": ok({"count": 3}),
        }
        self.describe()

    def describe(
        self,
        *,
        vectors: Any = None,
        indexes: dict[str, Any] | None = None,
        strict: dict[str, Any] | None = None,
        **config: Any,
    ) -> None:
        params = {"vectors": vectors or {"size": 2, "distance": "Cosine"}}
        params |= {"sparse_vectors": config.pop("sparse", None)}
        self.answers["GET /collections/docs"] = ok(
            {
                "status": "green",
                "optimizer_status": "ok",
                "points_count": 2,
                "segments_count": 1,
                "payload_schema": indexes or {},
                "config": {
                    "params": params,
                    "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                    "optimizer_config": {
                        "deleted_threshold": 0.2,
                        "vacuum_min_vector_number": 1000,
                        "default_segment_number": 0,
                        "flush_interval_sec": 5,
                    },
                    "strict_mode_config": {"enabled": True, **strict} if strict else None,
                    **config,
                },
            }
        )

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer: Any = self.answers[f"{request.method} {request.url.path}"]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = await answer(request)
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def bodies(self) -> list[tuple[str, Any]]:
        """(path, JSON) of what was asked since the last look."""
        seen = [(r.url.raw_path.decode(), json.loads(r.content)) for r in self.requests]
        self.requests.clear()
        return seen


def ok(result: Any) -> dict[str, Any]:
    return {"result": result, "status": "ok", "time": 0.001}


def index(kind: str, points: int = 3, **params: Any) -> dict[str, Any]:
    return {"data_type": kind, "points": points} | (
        {"params": {"type": kind, **params}} if params else {}
    )


def record(name: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "payload": {"n": 1}, **more}


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def connect(server: Server) -> AsyncIterator[Any]:
    opened: list[QdrantConnection] = []

    async def connect_to(url: str = "qdrant://host/", deadline: float = 5.0, **more: Any) -> Any:
        adapter = QdrantAdapter(transport=httpx.MockTransport(server.handle))
        opened.append(await adapter.connect(StoreURL.parse(url), deadline=deadline, **more))
        return opened[-1]

    yield connect_to
    for connection in opened:
        await connection.aclose()


@pytest.fixture
def opened(server: Server, connect: Any) -> Any:
    """Opens ``docs`` with a selection, and forgets the requests that took."""

    async def open_docs(deadline: float = 5.0, **selection: Any) -> Any:
        connection = await connect(deadline=deadline)
        store = await connection.open("docs", Selection(**selection))
        server.requests.clear()
        return store

    return open_docs


async def test_connecting_asks_the_version_once(server: Server, connect: Any) -> None:
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
async def test_addresses(server: Server, connect: Any, url: str, base: str) -> None:
    prefix = httpx.URL(base).path.rstrip("/")
    server.answers[f"GET {prefix}/"] = server.answers["GET /"]
    server.answers[f"GET {prefix}/collections"] = server.answers["GET /collections"]
    connection = await connect(url)
    await connection.collections()
    assert str(server.requests[-1].url) == f"{base}/collections"


async def test_the_key_is_a_header_and_nowhere_else(
    server: Server, connect: Any, recwarn: pytest.WarningsRecorder
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
async def test_what_is_no_qdrant_or_too_old_is_told(
    server: Server, connect: Any, answer: Any
) -> None:
    server.answers["GET /"] = answer
    with pytest.raises(ConfigurationError, match=r"no Qdrant|older than 1\.10"):
        await connect()


async def test_a_version_of_an_own_build_is_taken(server: Server, connect: Any) -> None:
    server.answers["GET /"] = {"title": "qdrant", "version": "dev"}
    await connect()


async def test_collections_and_what_is_missing(server: Server, connect: Any) -> None:
    connection = await connect()
    assert [one.name for one in await connection.collections()] == ["b", "docs"]
    server.answers["GET /collections/nope"] = httpx.Response(
        404, json={"status": {"error": "Not found: Collection `nope` doesn't exist!"}}
    )
    with pytest.raises(CollectionNotFound, match="'b', 'docs'"):
        await connection.describe("nope")
    for name in ("", ".", ".."):
        with pytest.raises(CollectionNotFound):
            await connection.describe(name)


async def test_a_hostile_name_is_one_segment(server: Server, connect: Any) -> None:
    connection = await connect()
    server.requests.clear()
    server.answers["GET /collections/a/../b?x#y{z}"] = httpx.Response(404)
    with pytest.raises(CollectionNotFound):
        await connection.describe("a/../b?x#y{z}")
    assert server.requests[0].url.raw_path == b"/collections/a%2F..%2Fb%3Fx%23y%7Bz%7D"


async def test_a_collection_is_described_as_configured(server: Server, connect: Any) -> None:
    server.describe(
        vectors={
            "fast-all-minilm-l6-v2": {"size": 384, "distance": "Cosine"},
            "small": {"size": 8, "distance": "Dot", "datatype": "uint8"},
        },
        sparse={"bm25": {}},
        indexes={'metadata."a.b"': index("keyword"), "at": index("datetime")},
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


async def test_a_search_is_one_request(server: Server, opened: Any) -> None:
    store = await opened(vector_name="")
    point = {"id": UUID, "version": 1, "score": 0.75, "payload": {"t": "é"}, "vector": [0.6, 0.8]}
    server.answers["POST /collections/docs/points/query"] = ok({"points": [point]})
    hits = await store.search([1, 0.1], 7, WHERE, vectors=True)
    assert [(hit.row, hit.distance) for hit in hits] == [(Row(UUID, {"t": "é"}, [0.6, 0.8]), 0.25)]
    assert server.bodies() == [
        (
            "/collections/docs/points/query",
            {
                "query": [1.0, 0.1],
                "filter": PUSHED,
                "limit": 7,
                "with_payload": True,
                "with_vector": [""],
            },
        )
    ]
    await store.search([1.0, 0.0], 1)
    assert server.bodies()[0][1] == {
        "query": [1.0, 0.0], "limit": 1, "with_payload": True, "with_vector": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("distance", "score", "expected"), [("Cosine", 1.25, -0.25), ("Dot", 3.0, -3.0),
                                        ("Euclid", 3.0, 3.0)],
)  # fmt: skip
async def test_distances(
    server: Server, opened: Any, distance: str, score: float, expected: float
) -> None:
    server.describe(vectors={"v": {"size": 2, "distance": distance}})
    store = await opened(vector_name="v")
    point = {"id": 1, "version": 1, "score": score, "payload": None, "vector": {"v": [1, 2]}}
    server.answers["POST /collections/docs/points/query"] = ok({"points": [point]})
    hits = await store.search([1.0, 0.0], 1, vectors=True)
    assert [(hit.row, hit.distance) for hit in hits] == [(Row("1", {}, [1, 2]), expected)]
    body = server.bodies()[0][1]
    assert body["using"] == "v"
    assert body["with_vector"] == ["v"]


async def test_get_is_one_request_in_canonical_spellings(server: Server, opened: Any) -> None:
    store = await opened()
    server.answers["POST /collections/docs/points"] = ok([record(7), record(UUID)])
    rows = await store.get(["7", UUID, "007", "-1", UUID.upper(), str(2**64), "x", "7"])
    assert {row.id for row in rows} == {"7", UUID}
    assert server.bodies() == [
        (
            "/collections/docs/points",
            {"ids": [7, UUID], "with_payload": True, "with_vector": False},
        )
    ]
    assert await store.get(["x", "007", ""]) == []
    assert await store.get([]) == []
    assert server.requests == []


async def test_a_scan_follows_the_ids(server: Server, opened: Any) -> None:
    store = await opened(vector_name="")
    server.answers["POST /collections/docs/points/scroll"] = [
        ok({"points": [record(1)], "next_page_offset": 5}),
        ok({"points": [record(5)], "next_page_offset": UUID}),
        ok({"points": [record(UUID)], "next_page_offset": None}),
    ]
    cursor, seen = None, []
    while True:
        page = await store.scan(WHERE, cursor=cursor, limit=1)
        seen += [row.id for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == ["1", "5", UUID]
    common = {"filter": PUSHED, "limit": 1, "with_payload": True, "with_vector": False}
    assert [body for _, body in server.bodies()] == [
        common, common | {"offset": 5}, common | {"offset": UUID},
    ]  # fmt: skip


async def test_pages_are_capped(server: Server, opened: Any) -> None:
    page = ok({"points": [], "next_page_offset": None})
    server.answers["POST /collections/docs/points/scroll"] = page
    store = await opened(vector_name="")
    await store.scan(limit=100_000)
    await store.scan(limit=100_000, vectors=True)
    assert [body["limit"] for _, body in server.bodies()] == [1000, 100]
    server.describe(strict={"max_query_limit": 20})
    store = await opened(vector_name="")
    await store.scan()
    assert [body["limit"] for _, body in server.bodies()] == [20]


async def test_a_scan_by_value_starts_where_the_last_page_ended(
    server: Server, opened: Any
) -> None:
    server.describe(indexes={"metadata.at": index("integer")})
    store = await opened(order_path=("metadata", "at"))

    def at(name: Any, value: Any, order_value: Any) -> dict[str, Any]:
        return {"id": name, "payload": {"metadata": {"at": value}}, "order_value": order_value}

    server.answers["POST /collections/docs/points/scroll"] = [
        ok({"points": [at(1, 9, 9), at(2, [8, 3], 8), at(3, 5, 5)], "next_page_offset": None}),
        ok({"points": [at(UUID, 5, 5), at(4, 5, 5), at(5, 5, 5)], "next_page_offset": None}),
        ok({"points": [at(2, [8, 3], 3)], "next_page_offset": None}),
    ]
    newest = Ordering(("metadata", "at"), descending=True)
    cursor, seen = None, []
    for _ in range(3):
        page = await store.scan(WHERE, newest, cursor, 3)
        seen += [row.id for row in page.rows]
        cursor = page.cursor
    assert cursor is None
    assert seen == ["1", "3", UUID, "4", "5"], "an array, which comes per element, is left out"
    order = {"key": "metadata.at", "direction": "desc"}
    common = {"limit": 3, "with_payload": True, "with_vector": False}
    assert [body for _, body in server.bodies()] == [
        common | {"filter": {"must": [PUSHED]}, "order_by": order},
        common
        | {
            "filter": {"must": [PUSHED], "must_not": [{"has_id": [3]}]},
            "order_by": order | {"start_from": 5},
        },
        common
        | {
            "filter": {"must": [PUSHED], "must_not": [{"has_id": [3, UUID, 4, 5]}]},
            "order_by": order | {"start_from": 5},
        },
    ]


async def test_a_scan_by_a_float_starts_a_little_earlier(server: Server, opened: Any) -> None:
    """A double may lose its last bit on its way, and then ``start_from`` would skip its ties."""
    server.describe(indexes={"at": index("float")})
    store = await opened(order_path=("at",))
    value = 1764576000.1
    point = {"id": 1, "payload": {"at": value}, "order_value": value}
    server.answers["POST /collections/docs/points/scroll"] = [
        ok({"points": [point]}), ok({"points": []}), ok({"points": [point]}), ok({"points": []}),
    ]  # fmt: skip
    for order, past in ((Ordering(("at",), True), math.inf), (Ordering(("at",)), -math.inf)):
        page = await store.scan(order=order, limit=1)
        await store.scan(order=order, cursor=page.cursor, limit=1)
        again = server.bodies()[1][1]
        start = again["order_by"]["start_from"]
        assert abs(start - value) <= 16 * math.ulp(value)
        assert start == (max(start, math.nextafter(value, past)) if past > 0 else
                         min(start, math.nextafter(value, past)))  # fmt: skip
        assert again["filter"] == {"must_not": [{"has_id": [1]}]}


@pytest.mark.parametrize(
    ("kind", "indexed", "carrying", "claimed"),
    [
        ("integer", 3, 3, True),
        ("float", 3, 3, True),
        ("datetime", 3, 2, True),
        ("integer", 2, 3, False),
        ("keyword", 3, 3, False),
        (None, 0, 3, False),
    ],
)
async def test_an_order_is_claimed_where_the_index_holds_everyone(
    server: Server, opened: Any, kind: str | None, indexed: int, carrying: int, claimed: bool
) -> None:
    server.describe(indexes={} if kind is None else {"at": index(kind, indexed)})
    server.answers["POST /collections/docs/points/count"] = ok({"count": carrying})
    store = await opened(order_path=("at",))
    orders = {Ordering(("at",)), Ordering(("at",), descending=True)}
    assert store.profile.orderings == {Ordering()} | (orders if claimed else set())


async def test_what_carries_the_field_is_counted_by_one_filter(
    server: Server, connect: Any
) -> None:
    server.describe(indexes={"at": index("integer")})
    connection = await connect()
    server.requests.clear()
    await connection.open("docs", Selection(order_path=("at",)))
    counts = [json.loads(r.content) for r in server.requests if r.url.path.endswith("count")]
    assert counts == [
        {"exact": True},
        {"filter": {"must_not": [{"is_empty": {"key": "at"}}]}, "exact": True},
    ]


async def test_counting(server: Server, opened: Any) -> None:
    store = await opened()
    assert await store.count(WHERE) == 3
    assert server.bodies() == [
        ("/collections/docs/points/count", {"filter": PUSHED, "exact": True})
    ]
    nothing = (Condition((("a",),), ()),)
    assert await store.count(nothing) == 0
    assert (await store.scan(nothing)).rows == []
    assert await store.search_text(["x"], 1, nothing) == []
    assert server.requests == []


def texts(key: str, *spellings: str) -> list[dict[str, Any]]:
    return [{"key": key, "match": {"text": one}} for one in spellings]


def parts(key: str, *spellings: str) -> list[dict[str, Any]]:
    return [{"key": key, "match": {"substring": one}} for one in spellings]


async def asked_for(server: Server, store: Any, term: str) -> list[dict[str, Any]]:
    server.answers["POST /collections/docs/points/scroll"] = ok({"points": [record(1)]})
    rows = await store.search_text([term], 4)
    assert [row.id for row in rows] == ["1"]
    (_, body), = server.bodies()  # fmt: skip
    assert body["limit"] == 4
    should: list[dict[str, Any]] = body["filter"]["must"][0]["should"]
    return should


@pytest.mark.parametrize(
    ("version", "text_index", "expected", "how"),
    [
        ("1.17.0", None, texts("t", "oolo", "Oolo", "OOLO"), "whole words only"),
        ("1.20.0", None,
         texts("t", "oolo", "Oolo", "OOLO") + parts("t", "oolo", "Oolo", "OOLO"), "beginnings"),
        ("1.17.0", {"tokenizer": "word"}, texts("t", "oolo"), "whole words only"),
        ("1.17.0", {"tokenizer": "word", "lowercase": False},
         texts("t", "oolo", "Oolo", "OOLO"), "whole words only"),
        ("1.20.1", {"tokenizer": "prefix"}, texts("t", "oolo"), "beginnings of words, in any case"),
    ],
)  # fmt: skip
async def test_words_are_asked_for_as_the_server_can_find_them(
    server: Server, opened: Any, version: str, text_index: Any, expected: Any, how: str
) -> None:
    server.answers["GET /"]["version"] = version
    server.describe(indexes={"t": index("text", **text_index)} if text_index else {})
    store = await opened(text_path=("t",))
    assert await asked_for(server, store, "oolo") == expected
    assert how in store.profile.claim(Feature.TEXT_SEARCH).reason


async def test_words_in_json_are_asked_for_raw_and_escaped(server: Server, opened: Any) -> None:
    server.describe(indexes={"t": index("text", tokenizer="prefix")})
    store = await opened(text_path=("t",), text_is_json=True)
    asked = {one["match"]["text"] for one in await asked_for(server, store, "élan")}
    assert {"élan", r"\u00e9lan", "Élan", r"\u00c9lan", "nélan", r"n\u00e9lan"} <= asked


async def test_each_term_is_asked_for_once_and_points_come_once(
    server: Server, opened: Any
) -> None:
    store = await opened(text_path=("t",))
    server.answers["POST /collections/docs/points/scroll"] = ok({"points": [record(1)]})
    rows = await store.search_text(["a", "b", "a"], 2, WHERE)
    assert [row.id for row in rows] == ["1"]
    filters = [body["filter"]["must"] for _, body in server.bodies()]
    assert len(filters) == 2
    assert all(one[1] == PUSHED for one in filters)


async def test_strict_mode_without_a_text_index_finds_no_words(server: Server, opened: Any) -> None:
    server.describe(strict={"unindexed_filtering_retrieve": False})
    store = await opened(text_path=("t",))
    claim = store.profile.claim(Feature.TEXT_SEARCH)
    assert not claim.held
    assert "strict mode" in claim.reason
    with pytest.raises(StoreRefused, match="strict mode"):
        await store.search_text(["a"], 1)
    await store.count(WHERE)
    assert server.bodies() == [("/collections/docs/points/count", {"exact": True})]
    assert set(store.profile.filters.values()) == {Pushdown.NONE}


async def test_strict_mode_with_a_text_index_asks_by_it_alone(server: Server, opened: Any) -> None:
    server.answers["GET /"]["version"] = "1.20.0"
    server.describe(
        indexes={"t": index("text", tokenizer="word"), "k": index("keyword")},
        strict={"unindexed_filtering_retrieve": False},
    )
    store = await opened(text_path=("t",))
    assert await asked_for(server, store, "a") == texts("t", "a")
    assert store.profile.pushdown(ValueType.STRING) is Pushdown.LOOSE
    assert store.profile.pushdown(ValueType.BOOLEAN) is Pushdown.NONE


async def test_hostile_filters_are_data(server: Server, opened: Any) -> None:
    store = await opened()
    value = '"}], "must_not": [{"key": "'
    await store.count((Condition((("a b",), ("m", "x.y")), (value, True)),))
    assert server.bodies()[0][1]["filter"]["must"] == [
        {
            "should": [
                {"key": '"a b"', "match": {"value": value}},
                {"key": '"a b"', "match": {"value": True}},
                {"key": 'm."x.y"', "match": {"value": value}},
                {"key": 'm."x.y"', "match": {"value": True}},
            ]
        }
    ]


def said(status: int, error: str = "said", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"status": {"error": error}}, headers=headers)


@pytest.mark.parametrize(
    ("answer", "error", "match"),
    [
        (httpx.ConnectError("refused"), StoreUnavailable, "nothing answers at http://host:6333"),
        (httpx.ReadError("reset"), StoreUnavailable, "cut the connection"),
        (httpx.RemoteProtocolError("gone"), StoreUnavailable, "cut the connection"),
        (httpx.ConnectTimeout("slow"), StoreTimeout, "in time"),
        (httpx.ReadTimeout("slow"), StoreTimeout, "in time"),
        (httpx.PoolTimeout("full"), StoreTimeout, "in time"),
        (httpx.DecodingError("gzip"), StoreCorrupt, "decoded"),
        (said(400, "Index required"), StoreRefused, "400: Index required"),
        (said(401), StoreRefused, "A2M_STORE_SECRET"),
        (said(403), StoreRefused, "A2M_STORE_SECRET"),
        (said(404, "Collection `docs` doesn't exist!"), StoreRefused, "doesn't exist"),
        (said(408), StoreTimeout, "408"),
        (said(413), StoreRefused, "413"),
        (said(422), StoreRefused, "422"),
        (said(429), StoreUnavailable, "429"),
        (said(500, "Service internal error"), StoreUnavailable, "internal error"),
        (said(502), StoreUnavailable, "502"),
        (said(503), StoreUnavailable, "503"),
        (said(504), StoreTimeout, "504"),
        (httpx.Response(503, text="<html>"), StoreUnavailable, "503"),
        (httpx.Response(400, json=[1]), StoreRefused, "400"),
        (httpx.Response(204), StoreCorrupt, "204"),
        (httpx.Response(301, headers={"location": "/x"}), StoreCorrupt, "301"),
        (httpx.Response(200, text=""), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, text='{"result": {"cou'), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, content=b"\xff\xfe"), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, text="[" * 100_000), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, json={}), StoreCorrupt, "without a result"),
        (httpx.Response(200, json=ok(None)), StoreCorrupt, "without a result"),
        (httpx.Response(200, json=ok({"count": "3"})), None, ""),
        (httpx.Response(200, json=ok({"count": "three"})), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, json=ok([])), StoreCorrupt, "no Qdrant"),
    ],
)
async def test_every_failure_is_one_of_ours(
    server: Server, opened: Any, answer: Any, error: type[StoreError] | None, match: str
) -> None:
    store = await opened()
    server.answers["POST /collections/docs/points/count"] = answer
    if error is None:
        assert await store.count() == 3
        return
    with pytest.raises(error, match=match):
        await store.count()
    assert len(server.requests) == 1, "retrying is a layer's work"


@pytest.mark.parametrize(
    ("header", "data"), [("7", {"retry_after": 7.0}), ("Wed, 21 Oct 2026 07:28:00 GMT", {})]
)
async def test_a_rate_limit_says_when_to_come_back(
    server: Server, opened: Any, header: str, data: Any
) -> None:
    store = await opened()
    answer = httpx.Response(429, json={"status": {"error": "x"}}, headers={"Retry-After": header})
    server.answers["POST /collections/docs/points/count"] = answer
    with pytest.raises(StoreUnavailable, match="rate limit") as caught:
        await store.count()
    assert caught.value.data == data


@pytest.mark.parametrize("vector", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], {"": [1.0]}, {"x": 1}])
async def test_a_vector_of_another_width_is_corrupt(
    server: Server, opened: Any, vector: Any
) -> None:
    store = await opened(vector_name="")
    server.answers["POST /collections/docs/points"] = ok([record(1, vector=vector)])
    with pytest.raises(StoreCorrupt):
        await store.get(["1"], vectors=True)


@pytest.mark.parametrize("vector", [None, {}, {"other": [1.0, 2.0]}])
async def test_a_point_without_the_selected_vector(
    server: Server, opened: Any, vector: Any
) -> None:
    store = await opened(vector_name="")
    server.answers["POST /collections/docs/points"] = ok([record(1, vector=vector)])
    assert [row.vector for row in await store.get(["1"], vectors=True)] == [None]


async def test_a_scroll_by_value_without_values_is_corrupt(server: Server, opened: Any) -> None:
    server.describe(indexes={"n": index("integer")})
    store = await opened(order_path=("n",))
    server.answers["POST /collections/docs/points/scroll"] = ok({"points": [record(1)]})
    with pytest.raises(StoreCorrupt, match="by value"):
        await store.scan(order=Ordering(("n",)), limit=1)


async def test_no_answer_within_the_deadline(server: Server, opened: Any) -> None:
    store = await opened(deadline=0.2)

    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    server.answers["POST /collections/docs/points/count"] = never
    async with asyncio.timeout(5):
        with pytest.raises(StoreTimeout, match=r"0\.2 s"):
            await store.count()


async def test_a_cancelled_call_leaves_the_next_alone(server: Server, opened: Any) -> None:
    store = await opened()
    arrived = asyncio.Event()

    async def never(request: httpx.Request) -> httpx.Response:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    server.answers["POST /collections/docs/points/count"] = [never, ok({"count": 9})]
    call = asyncio.create_task(store.count())
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await store.count() == 9


async def test_one_failing_term_fails_the_search_as_one_of_ours(
    server: Server, opened: Any
) -> None:
    """Part of an answer is no answer; nor does a group of errors come out."""
    store = await opened(text_path=("t",))
    server.answers["POST /collections/docs/points/scroll"] = [
        ok({"points": []}), said(503), said(503), ok({"points": []}),
    ]  # fmt: skip
    with pytest.raises(StoreUnavailable):
        await store.search_text(["a", "b", "c", "d"], 1)


async def test_a_connection_to_localhost_is_kept(server: Server) -> None:
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
