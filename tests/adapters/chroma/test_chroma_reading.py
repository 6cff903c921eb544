"""Reading rows of a real server: every trap of a reader is a test."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest

from a2m_gateway.capability import Feature, Metric, Ordering, Pushdown, ValueType
from a2m_gateway.errors import StoreRefused, StoreUnavailable
from a2m_gateway.store import Condition, Row, Selection, Store

Make = Callable[..., Any]
Open = Callable[..., Awaitable[Store]]
NEWEST = Ordering(descending=True)


def vectors(count: int, width: int = 8) -> list[list[float]]:
    """Random components that float32 holds exactly."""
    numbers = np.random.default_rng(7).normal(size=(count, width)).astype(np.float32)
    return [[float(number) for number in row] for row in numbers]


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "vector": vector,
            "document": f"text {number}",
            "metadata": {"n": number, "even": number % 2 == 0},
        }
        for number, vector in enumerate(vectors(count))
    ]


async def pages(store: Store, limit: int, **options: Any) -> list[Row]:
    found: list[Row] = []
    cursor = None
    while True:
        page = await store.scan(cursor=cursor, limit=limit, **options)
        found += page.rows
        cursor = page.cursor
        if cursor is None:
            return found


async def test_a_row_is_its_metadata_and_its_document(
    chroma_collection: Make, open_store: Open
) -> None:
    metadata: dict[str, Any] = {
        "s": "x", "t": True, "f": False, "i": 1, "d": 1.0, "big": 2**63 - 1, "small": -(2**63),
        "list": ["a", "b"], "numbers": [1.5, 2.5], "flags": [True], "ключ": "é\n\"'\\\0",
        "a.b": 1,
    }  # fmt: skip
    filled = chroma_collection(
        [
            {"id": "all", "vector": [1, 0], "document": "d", "metadata": metadata},
            {"id": "bare", "vector": [0, 1]},
            {"id": "empty", "vector": [1, 1], "document": ""},
        ]
    )
    store = await open_store(filled.url)
    found = {row.id: row for row in await store.get(["all", "bare", "empty", "absent"])}
    assert found == {
        "all": Row("all", {**metadata, "#document": "d"}),
        "bare": Row("bare", {}),
        "empty": Row("empty", {"#document": ""}),
    }
    typed = found["all"].fields
    assert (type(typed["t"]), type(typed["i"]), type(typed["d"])) == (bool, int, float)


@pytest.mark.parametrize(
    "id_", ["é", "a b", "x" * 100_000, "\0", "q\"'\\", "../..", "烏龍\n", "{}", "$and"]
)
async def test_any_id_is_found_verbatim(
    chroma_collection: Make, open_store: Open, id_: str
) -> None:
    filled = chroma_collection([{"id": id_, "vector": [1, 0]}, {"id": "other", "vector": [0, 1]}])
    store = await open_store(filled.url)
    assert [row.id for row in await store.get([id_])] == [id_]
    page = await store.scan(limit=1)
    assert [row.id for row in page.rows] == [id_]
    rest = await store.scan(limit=1, cursor=page.cursor)
    assert [row.id for row in rest.rows] == ["other"]


async def test_ids_that_cannot_be_are_not_there(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(chroma_collection(rows(3)).url)
    assert await store.get([]) == []
    assert await store.get(["", "\ud800", "r9"]) == []
    assert [row.id for row in await store.get(["r1", "r1", "\ud800"])] == ["r1"]


async def test_more_ids_than_sqlite_binds(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(chroma_collection(rows(1500)).url)
    many = [f"r{number}" for number in range(34_000)]
    assert len(await store.get(many)) == 1500


@pytest.mark.parametrize(("space", "metric"), [("l2", "l2"), ("cosine", "cosine"), ("ip", "dot")])
async def test_distances_are_canonical(
    chroma_collection: Make, open_store: Open, space: str, metric: str
) -> None:
    data = vectors(60)
    filled = chroma_collection(
        [{"id": f"v{n}", "vector": vector, "document": "x"} for n, vector in enumerate(data)],
        space=space,
    )
    store = await open_store(filled.url)
    assert (store.profile.metric, store.profile.width) == (Metric(metric), 8)
    query = vectors(61)[-1]
    hits = await store.search(query, 10, vectors=True)
    expected = sorted((distance(metric, query, vector), f"v{n}") for n, vector in enumerate(data))[
        :10
    ]
    assert [hit.row.id for hit in hits] == [id_ for _, id_ in expected]
    assert [hit.distance for hit in hits] == pytest.approx(
        [far for far, _ in expected], rel=1e-5, abs=1e-5
    )
    for hit in hits:
        stored = data[int(hit.row.id[1:])]
        if metric == "cosine":  # not verbatim, and the profile says so
            assert hit.row.vector == pytest.approx(stored, rel=2e-7)
            assert any("normalises" in note for note in store.profile.notes)
        else:
            assert np.array(hit.row.vector, np.float32).tolist() == stored


def distance(metric: str, a: Sequence[float], b: Sequence[float]) -> float:
    """By the definition in ``capability.metrics``, in plain Python."""
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    if metric == "dot":
        return -dot
    if metric == "l2":
        return math.dist(a, b)
    return 1 - dot / (math.hypot(*a) * math.hypot(*b))


async def test_a_search_is_filtered_before_it_is_cut(
    chroma_collection: Make, open_store: Open
) -> None:
    store = await open_store(chroma_collection(rows(500)).url)
    hits = await store.search(vectors(1)[0], 5, (Condition((("n",),), (7, 8, 9)),))
    assert {hit.row.id for hit in hits} == {"r7", "r8", "r9"}
    assert await store.search(vectors(1)[0], 5, (Condition((("n",),), ()),)) == []
    assert await store.search(vectors(1)[0], 0) == []


async def test_vectors_that_cannot_be_compared_are_refused(
    chroma_collection: Make, open_store: Open
) -> None:
    store = await open_store(chroma_collection(rows(3)).url)
    for hostile in ([math.nan] * 8, [math.inf] * 8, [1e300] * 8, [1.0] * 7, []):
        with pytest.raises(StoreRefused):
            await store.search(hostile, 3)


async def test_a_distance_that_overflows_is_the_farthest(
    chroma_collection: Make, open_store: Open
) -> None:
    filled = chroma_collection([{"id": "a", "vector": [1, 1]}, {"id": "b", "vector": [3e38, 3e38]}])
    store = await open_store(filled.url)
    hits = await store.search([1.0, 1.0], 5)
    assert [(hit.row.id, hit.distance) for hit in hits] == [("a", 0.0), ("b", math.inf)]


async def test_an_empty_collection(chroma_collection: Make, open_store: Open) -> None:
    filled = chroma_collection()
    store = await open_store(filled.url)
    assert (store.profile.width, store.profile.metric) == (None, Metric.L2)
    assert await store.search([1.0, 2.0, 3.0], 5) == []
    assert (await store.scan()).rows == []
    assert (await store.scan(order=NEWEST)).rows == []
    assert await store.count() == 0
    assert await store.search_text(["x"], 5) == []


async def test_records_that_the_index_never_returns_are_got_and_scanned(
    chroma_collection: Make, open_store: Open
) -> None:
    same: list[dict[str, Any]] = [
        {"id": f"s{n}", "vector": [0.0] * 8, "document": "x"} for n in range(3000)
    ]
    store = await open_store(chroma_collection(same).url)
    found = {hit.row.id for hit in await store.search([0.0] * 8, 3000)}
    assert found <= {row["id"] for row in same}  # half of them or all, by chance
    assert len({row.id for row in await pages(store, 1000)}) == 3000
    assert await store.count() == 3000
    assert any("never returns" in note for note in store.profile.notes)


@pytest.mark.parametrize("limit", [1, 7, 50, 1000])
async def test_pages_are_the_order_of_insertion_both_ways(
    chroma_collection: Make, open_store: Open, limit: int
) -> None:
    order = [f"r{n}" for n in range(50)]
    random.Random(1).shuffle(order)
    filled = chroma_collection(
        [{"id": id_, "vector": [1, float(n)], "document": id_} for n, id_ in enumerate(order)]
    )
    store = await open_store(filled.url)
    assert [row.id for row in await pages(store, limit)] == order
    assert [row.id for row in await pages(store, limit, order=NEWEST)] == order[::-1]


async def test_filtered_pages_both_ways(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(chroma_collection(rows(100)).url)
    even = (Condition((("even",),), (True,)),)
    expected = [f"r{n}" for n in range(0, 100, 2)]
    assert [row.id for row in await pages(store, 7, conditions=even)] == expected
    newest = await pages(store, 7, conditions=even, order=NEWEST)
    assert [row.id for row in newest] == expected[::-1]
    assert await store.count(even) == 50


async def test_an_update_keeps_a_place_and_a_new_record_comes_last(
    chroma_collection: Make, open_store: Open
) -> None:
    filled = chroma_collection(rows(5))
    store = await open_store(filled.url)
    filled.add([{"id": "r1", "vector": [1.0] * 8}, {"id": "a", "vector": [1.0] * 8}],
               operation="upsert")  # fmt: skip
    filled.delete(["r0"])
    assert [row.id for row in await pages(store, 2)] == ["r1", "r2", "r3", "r4", "a"]


@pytest.mark.parametrize("order", [Ordering(), NEWEST])
async def test_nothing_is_skipped_or_doubled_when_records_are_deleted_between_pages(
    chroma_collection: Make, open_store: Open, order: Ordering
) -> None:
    filled = chroma_collection(rows(60))
    store = await open_store(filled.url)
    first = await store.scan(order=order, limit=20)
    filled.delete([f"r{n}" for n in range(15)])
    filled.add([{"id": "late", "vector": [1.0] * 8}])
    seen = [row.id for row in first.rows]
    cursor = first.cursor
    while cursor is not None:
        page = await store.scan(order=order, cursor=cursor, limit=20)
        seen += [row.id for row in page.rows]
        cursor = page.cursor
    assert len(set(seen)) == len(seen)
    assert {f"r{n}" for n in range(15, 60)} <= set(seen)


async def test_a_reading_whose_place_is_gone_fails_rather_than_skip(
    chroma_collection: Make, open_store: Open
) -> None:
    filled = chroma_collection(rows(30))
    store = await open_store(filled.url)
    first = await store.scan(limit=10)
    filled.delete([first.rows[-1].id])
    with pytest.raises(StoreUnavailable, match="changed while it was read"):
        await store.scan(cursor=first.cursor, limit=10)


@pytest.mark.parametrize("cursor", ["", "x", "-1:a", "4294967296:a", "²:a", "1", "1e3:a"])
async def test_a_cursor_that_is_none(
    chroma_collection: Make, open_store: Open, cursor: str
) -> None:
    store = await open_store(chroma_collection(rows(3)).url)
    with pytest.raises(StoreRefused, match="cursor"):
        await store.scan(cursor=cursor)


async def test_an_order_by_a_field_is_refused(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(chroma_collection(rows(3)).url)
    with pytest.raises(StoreRefused):
        await store.scan(order=Ordering(("n",), descending=True))


async def test_rows_with_vectors_in_pages_of_bounded_size(
    chroma_collection: Make, open_store: Open
) -> None:
    wide = [{"id": f"w{n}", "vector": vector} for n, vector in enumerate(vectors(400, 2048))]
    store = await open_store(chroma_collection(wide).url)
    page = await store.scan(limit=400, vectors=True)
    assert 0 < len(page.rows) < 400
    found = await pages(store, 400, vectors=True)
    read = {row.id: np.array(row.vector, np.float32).tolist() for row in found}
    assert read == {row["id"]: row["vector"] for row in wide}
    assert all(row.vector is None for row in (await store.scan(limit=5)).rows)


async def test_the_profile(chroma_collection: Make, open_store: Open) -> None:
    url = chroma_collection(rows(3)).url
    profile = (await open_store(url)).profile
    assert profile.engine == "chroma"
    assert {f for f in Feature if profile.has(f)} == {
        Feature.READ, Feature.COUNT, Feature.VECTOR_SEARCH, Feature.RETURN_VECTORS,
        Feature.TEXT_SEARCH,
    }  # fmt: skip
    assert profile.orderings == {Ordering(), NEWEST}
    assert {t: profile.pushdown(t) for t in ValueType} == {
        ValueType.STRING: Pushdown.EXACT,
        ValueType.BOOLEAN: Pushdown.EXACT,
        ValueType.INTEGER: Pushdown.LOOSE,
        ValueType.FLOAT: Pushdown.LOOSE,
        ValueType.NULL: Pushdown.EXACT,
    }


@pytest.mark.parametrize(
    ("selection", "feature", "reason"),
    [
        (Selection(), Feature.VECTOR_SEARCH, "without a vector"),
        (Selection(vector_name="dense"), Feature.VECTOR_SEARCH, "no vector named 'dense'"),
        (Selection(vector_name=""), Feature.TEXT_SEARCH, "without a text field"),
        (Selection(text_path=("data",)), Feature.TEXT_SEARCH, r"metadata \(data\)"),
        (Selection(text_path=("#document",), text_is_json=True), Feature.TEXT_SEARCH, "JSON"),
    ],
)
async def test_what_a_selection_leaves_out_is_refused_with_the_reason(
    chroma_collection: Make, open_store: Open, selection: Selection, feature: Feature, reason: str
) -> None:
    store = await open_store(chroma_collection(rows(3)).url, selection)
    assert not store.profile.has(feature)
    if feature is Feature.VECTOR_SEARCH:
        with pytest.raises(StoreRefused, match=reason):
            await store.search([1.0] * 8, 1)
    else:
        with pytest.raises(StoreRefused, match=reason):
            await store.search_text(["x"], 1)
