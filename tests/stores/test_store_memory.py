"""The in-memory store against brute force."""

from __future__ import annotations

import math
from collections.abc import Iterator

import oracle
import pytest

from a2m_gateway.capability import Feature, Metric, Ordering
from a2m_gateway.errors import CollectionNotFound, StoreRefused
from a2m_gateway.store import Condition, Row, Selection, Store, StoreURL
from a2m_gateway.store.memory import MemoryStore, adapter, create, drop

ROWS = [
    oracle.record("a", "The Deploy key", vector=[1.0, 0.0], metadata={"page": 1}),
    oracle.record("b", "deployment", vector=[0.0, 2.0], metadata={"page": 2}),
    oracle.record("c", "nothing of it", metadata={"page": 1}),
    oracle.record("d", "STRASSE straße", vector=[3.0, 3.0], metadata={"page": None}),
]
TEXT = Selection(vector_name="", text_path=("content",))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(ROWS, metric=Metric.L2, selection=TEXT)


@pytest.fixture
def collection() -> Iterator[str]:
    create("four", ROWS, metric=Metric.DOT)
    yield "four"
    drop("four")


async def test_search(store: MemoryStore) -> None:
    hits = await store.search([0.0, 1.0], 10)
    nearest = oracle.nearest(ROWS, "l2", [0.0, 1.0])
    assert [(hit.distance, hit.row.id) for hit in hits] == nearest
    assert [hit.row.vector for hit in hits] == [None] * 3
    assert [hit.row.id for hit in await store.search([0.0, 1.0], 1)] == ["b"]
    assert await store.search([0.0, 1.0], 0) == []


async def test_vectors_come_as_they_lie(store: MemoryStore) -> None:
    hits = await store.search([0.0, 1.0], 10, vectors=True)
    assert {hit.row.id: hit.row.vector for hit in hits} == {
        row.id: row.vector for row in ROWS if row.vector
    }
    assert [row.vector for row in await store.get(["c", "a"], vectors=True)] == [[1.0, 0.0], None]


async def test_filter(store: MemoryStore) -> None:
    page_1 = (Condition((("metadata", "page"),), (1,)),)
    assert [hit.row.id for hit in await store.search([0.0, 1.0], 10, page_1)] == ["a"]
    assert [row.id for row in (await store.scan(page_1)).rows] == ["a", "c"]
    assert await store.count(page_1) == 2
    null = (Condition((("metadata", "page"),), (None,)),)
    assert [row.id for row in await store.search_text(["e"], 10, null)] == ["d"]


async def test_text_ignores_case_and_finds_beginnings(store: MemoryStore) -> None:
    assert {row.id for row in await store.search_text(["deploy"], 10)} == {"a", "b"}
    assert {row.id for row in await store.search_text(["straße"], 10)} == {"d"}
    assert {row.id for row in await store.search_text(["deploy", "nothing"], 10)} == {"a", "b", "c"}
    assert len(await store.search_text(["deploy"], 1)) == 1
    assert await store.search_text([], 10) == []
    assert await store.search_text(["absent"], 10) == []


async def test_pages_meet_without_overlap(store: MemoryStore) -> None:
    for order in (Ordering(), Ordering(descending=True)):
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = await store.scan((), order, cursor, 3)
            seen += [row.id for row in page.rows]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == sorted("abcd", reverse=order.descending)
    with pytest.raises(StoreRefused):
        await store.scan((), Ordering(("created_at",)))


async def test_without_vectors_there_is_no_search() -> None:
    store = MemoryStore([ROWS[2]], selection=TEXT)
    assert not store.profile.has(Feature.VECTOR_SEARCH)
    assert (store.profile.metric, store.profile.width) == (None, None)
    with pytest.raises(StoreRefused):
        await store.search([1.0], 3)


async def test_a_collection_is_opened_by_its_url(collection: str) -> None:
    connection = await adapter.connect(StoreURL.parse(f"memory:///{collection}"))
    assert {one.name: one.count for one in await connection.collections()}["four"] == 4
    info = await connection.describe(collection)
    assert (info.count, [v.width for v in info.vectors], info.vectors[0].metric) == (
        4,
        [2],
        Metric.DOT,
    )
    store = await connection.open(collection, TEXT)
    assert isinstance(store, Store)
    assert [hit.row.id for hit in await store.search([1.0, 1.0], 9)] == ["d", "b", "a"]
    with pytest.raises(CollectionNotFound, match="four"):
        await connection.describe("fou")
    await store.aclose()
    await store.aclose()
    await connection.aclose()


@pytest.mark.parametrize(
    "rows",
    [
        [Row("a", {}, [1.0]), Row("b", {}, [1.0, 2.0])],
        [Row("a", {}, [math.nan])],
        [Row("a", {}, [math.inf])],
        [Row("a", {}), Row("a", {})],
    ],
    ids=["two widths", "NaN", "infinity", "one id twice"],
)
def test_a_collection_that_can_not_be_is_refused(rows: list[Row]) -> None:
    with pytest.raises(ValueError, match=r"collection|component"):
        create("broken", rows)
    drop("broken")
