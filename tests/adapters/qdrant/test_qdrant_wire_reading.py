"""What is sent to a server to read records, to the byte."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from a2m_gateway.capability import Ordering
from a2m_gateway.store import Condition, Row, Selection

SCROLL = "POST /collections/docs/points/scroll"

UUID = "11f5e53d-6c5c-5d12-ad31-0c099a91dff1"
WHERE = (Condition((("metadata", "page"),), (1,)),)
PUSHED = {"must": [{"key": "metadata.page", "range": {"gte": 1.0, "lte": 1.0}}]}


async def test_a_search_is_one_request(server: Any, opened: Any) -> None:
    store = await opened(vector_name="")
    point = {"id": UUID, "version": 1, "score": 0.75, "payload": {"t": "é"}, "vector": [0.6, 0.8]}
    server.answers["POST /collections/docs/points/query"] = server.ok({"points": [point]})
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
    server: Any, opened: Any, distance: str, score: float, expected: float
) -> None:
    server.describe(vectors={"v": {"size": 2, "distance": distance}})
    store = await opened(vector_name="v")
    point = {"id": 1, "version": 1, "score": score, "payload": None, "vector": {"v": [1, 2]}}
    server.answers["POST /collections/docs/points/query"] = server.ok({"points": [point]})
    hits = await store.search([1.0, 0.0], 1, vectors=True)
    assert [(hit.row, hit.distance) for hit in hits] == [(Row("1", {}, [1, 2]), expected)]
    body = server.bodies()[0][1]
    assert body["using"] == "v"
    assert body["with_vector"] == ["v"]


async def test_get_is_one_request_in_canonical_spellings(server: Any, opened: Any) -> None:
    store = await opened()
    server.answers["POST /collections/docs/points"] = server.ok(
        [server.record(7), server.record(UUID)]
    )
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


async def test_a_scan_follows_the_ids(server: Any, opened: Any) -> None:
    store = await opened(vector_name="")
    server.answers[SCROLL] = [
        server.ok({"points": [server.record(1)], "next_page_offset": 5}),
        server.ok({"points": [server.record(5)], "next_page_offset": UUID}),
        server.ok({"points": [server.record(UUID)], "next_page_offset": None}),
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


async def test_pages_are_capped(server: Any, opened: Any) -> None:
    page = server.ok({"points": [], "next_page_offset": None})
    server.answers[SCROLL] = page
    store = await opened(vector_name="")
    await store.scan(limit=100_000)
    await store.scan(limit=100_000, vectors=True)
    assert [body["limit"] for _, body in server.bodies()] == [1000, 100]
    server.describe(strict={"max_query_limit": 20})
    store = await opened(vector_name="")
    await store.scan()
    assert [body["limit"] for _, body in server.bodies()] == [20]


async def test_a_scan_by_value_starts_where_the_last_page_ended(server: Any, opened: Any) -> None:
    server.describe(indexes={"metadata.at": server.index("integer")})
    store = await opened(order_path=("metadata", "at"))

    def at(name: Any, value: Any, order_value: Any) -> dict[str, Any]:
        return {"id": name, "payload": {"metadata": {"at": value}}, "order_value": order_value}

    server.answers[SCROLL] = [
        server.ok(
            {"points": [at(1, 9, 9), at(2, [8, 3], 8), at(3, 5, 5)], "next_page_offset": None}
        ),
        server.ok({"points": [at(UUID, 5, 5), at(4, 5, 5), at(5, 5, 5)], "next_page_offset": None}),
        server.ok({"points": [at(2, [8, 3], 3)], "next_page_offset": None}),
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


async def test_a_scan_by_a_float_starts_a_little_earlier(server: Any, opened: Any) -> None:
    """A double may lose its last bit on its way, and then ``start_from`` would skip its ties."""
    server.describe(indexes={"at": server.index("float")})
    store = await opened(order_path=("at",))
    value = 1764576000.1
    point = {"id": 1, "payload": {"at": value}, "order_value": value}
    server.answers[SCROLL] = [
        server.ok({"points": [point]}),
        server.ok({"points": []}),
        server.ok({"points": [point]}),
        server.ok({"points": []}),
    ]
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
    server: Any, opened: Any, kind: str | None, indexed: int, carrying: int, claimed: bool
) -> None:
    server.describe(indexes={} if kind is None else {"at": server.index(kind, indexed)})
    server.answers["POST /collections/docs/points/count"] = server.ok({"count": carrying})
    store = await opened(order_path=("at",))
    orders = {Ordering(("at",)), Ordering(("at",), descending=True)}
    assert store.profile.orderings == {Ordering()} | (orders if claimed else set())


async def test_what_carries_the_field_is_counted_by_one_filter(server: Any, connect: Any) -> None:
    server.describe(indexes={"at": server.index("integer")})
    connection = await connect()
    server.requests.clear()
    await connection.open("docs", Selection(order_path=("at",)))
    counts = [json.loads(r.content) for r in server.requests if r.url.path.endswith("count")]
    assert counts == [
        {"exact": True},
        {"filter": {"must_not": [{"is_empty": {"key": "at"}}]}, "exact": True},
    ]


async def test_counting(server: Any, opened: Any) -> None:
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


async def test_hostile_filters_are_data(server: Any, opened: Any) -> None:
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


@pytest.mark.parametrize("vector", [None, {}, {"other": [1.0, 2.0]}])
async def test_a_point_without_the_selected_vector(server: Any, opened: Any, vector: Any) -> None:
    store = await opened(vector_name="")
    server.answers["POST /collections/docs/points"] = server.ok([server.record(1, vector=vector)])
    assert [row.vector for row in await store.get(["1"], vectors=True)] == [None]
