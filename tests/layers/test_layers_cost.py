"""What the exact layer asks of a store, and how much of it is held."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Sequence
from typing import Any

import oracle
import pytest
from awkward_store import FORWARD, AwkwardStore

from a2m_gateway.capability import Metric, Ordering, Profile, Pushdown
from a2m_gateway.layers import ExactLayer, guarded
from a2m_gateway.memory.where import read_where
from a2m_gateway.store import Filter, Page, Row

PAGE = 1000
COUNT = 5 * PAGE
RARE = 5
QUERY = [0.0, 0.0]


def _rows(count: int = COUNT, vectorless: int = 0) -> list[Row]:
    step = count // RARE
    return [
        oracle.record(
            f"r{place:05}",
            created_at=f"2026-01-01T00:{place // 6000:02}:{place // 100 % 60:02}.{place % 100:03}Z",
            vector=None if place < vectorless else [float(place), 1.0],
            metadata={"rare": place % step == 0},
        )
        for place in range(count)
    ]


ROWS = _rows()
WHERE_RARE = read_where({"rare": True})


def exact(store: AwkwardStore) -> ExactLayer:
    return ExactLayer(guarded(store, deadline=60))


async def test_a_filled_search_is_one_call() -> None:
    store = AwkwardStore(ROWS)
    assert len(await exact(store).search(QUERY, 10)) == 10
    assert store.calls == ["search"]
    assert store.fetched == [10], "k of the caller, no more"


async def test_a_filled_search_by_an_exact_filter_is_one_call() -> None:
    store = AwkwardStore(ROWS)
    assert len(await exact(store).search(QUERY, 10, read_where({"rare": False}))) == 10
    assert store.calls == ["search"]
    assert store.fetched == [10]


async def test_a_filled_search_by_a_common_value_is_one_call_whatever_is_pushed() -> None:
    for pushdown in Pushdown:
        store = AwkwardStore(ROWS, pushdown=pushdown)
        assert len(await exact(store).search(QUERY, 10, read_where({"rare": [False, None]}))) == 10
        assert store.calls == ["search"]
        assert store.fetched[0] <= 64


async def test_asking_for_more_than_there_is_costs_a_count() -> None:
    store = AwkwardStore(_rows(50))
    assert len(await exact(store).search(QUERY, 100)) == 50
    assert store.calls == ["search", "count"]


@pytest.mark.parametrize("filters_late", [True, False])
async def test_an_exact_filter_that_few_match(filters_late: bool) -> None:
    """The search, the pages of the scan, and at most two calls more."""
    store = AwkwardStore(ROWS, filters_late=filters_late)
    assert len(await exact(store).search(QUERY, 10, WHERE_RARE)) == RARE
    assert store.calls.count("scan") == 1
    assert len(store.calls) <= 1 + 2 + store.calls.count("scan")
    assert filters_late or store.calls == ["search", "scan"], "what was found is not read again"


async def test_a_filter_that_is_not_pushed_reads_each_row_once() -> None:
    store = AwkwardStore(ROWS, pushdown=Pushdown.NONE)
    assert len(await exact(store).search(QUERY, 10, WHERE_RARE)) == RARE
    assert store.calls.count("scan") == COUNT // PAGE
    assert len(store.calls) <= 3 + store.calls.count("scan")


async def test_ids_are_fetched_and_not_searched_for() -> None:
    store = AwkwardStore(ROWS, pushdown=Pushdown.NONE)
    named = read_where({"id": ["r00007", "r00003", "nobody"]})
    assert [hit.row.id for hit in await exact(store).search(QUERY, 10, named)] == [
        "r00003",
        "r00007",
    ]
    assert len(await exact(store).newest(named, 10)) == 2
    assert await exact(store).count(named) == 2
    assert set(store.calls) == {"get"}
    assert len(store.calls) <= 4


async def test_what_selects_nothing_asks_for_nothing() -> None:
    store = AwkwardStore(ROWS)
    wheres: list[dict[str, Any]] = [
        {"id": []},
        {"id": 7},
        {"rare": []},
        {"rare": True, "id": [None]},
    ]
    for where in wheres:
        nothing = read_where(where)
        assert await exact(store).search(QUERY, 10, nothing) == []
        assert await exact(store).newest(nothing, 10) == []
        assert await exact(store).count(nothing) == 0
    assert store.calls == []


async def test_k_never_exceeds_what_the_store_takes() -> None:
    store = AwkwardStore(_rows(300), max_k=7, pushdown=Pushdown.LOOSE)
    assert len(await exact(store).search(QUERY, 100)) == 100
    assert len(await exact(store).search(QUERY, 100, read_where({"rare": False}))) == 100
    searched = [
        size for name, size in zip(store.calls, store.fetched, strict=True) if name == "search"
    ]
    assert max(searched) == 7


@pytest.mark.parametrize("limit", [1, 20, PAGE, PAGE + 1, 2 * PAGE + 1])
async def test_where_the_store_seeks_the_newest_cost_what_is_returned(limit: int) -> None:
    store = AwkwardStore(ROWS, seeks=True)
    found = await exact(store).newest((), limit)
    assert [row.id for row in found] == oracle.newest(ROWS)[:limit]
    assert set(store.calls) == {"scan"}
    assert len(store.calls) == -(-limit // PAGE)
    assert store.fetched[0] == min(limit, PAGE)


async def test_where_it_does_not_each_row_is_read_once() -> None:
    store = AwkwardStore(ROWS)
    assert len(await exact(store).newest((), 20)) == 20
    assert store.calls == ["scan"] * (COUNT // PAGE)


async def test_vectors_of_the_newest_are_fetched_for_those_alone() -> None:
    store = AwkwardStore(ROWS)
    found = await exact(store).newest((), 20, vectors=True)
    assert all(row.vector for row in found)
    assert store.calls == ["scan"] * (COUNT // PAGE) + ["get"]
    assert store.fetched[-1] == 20


class Endless(AwkwardStore):
    """Makes its rows as they are read, so that whatever is held is held by who reads them."""

    def __init__(self, count: int) -> None:
        super().__init__([])
        self._count = count

    @property
    def profile(self) -> Profile:
        return AwkwardStore(ROWS[:1], pushdown=Pushdown.NONE).profile

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = FORWARD,
        cursor: str | None = None,
        limit: int = PAGE,
        *,
        vectors: bool = False,
    ) -> Page:
        start = int(cursor or 0)
        end = min(start + limit, self._count)
        page = [self._row(place) for place in range(start, end)]
        return Page(page, str(end) if end < self._count else None)

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        return [self._row(int(name)) for name in ids]

    async def search(self, *_: object, **__: object) -> Sequence[object]:  # type: ignore[override]
        return []

    async def count(self, conditions: Filter = ()) -> int:
        return self._count

    @staticmethod
    def _row(place: int) -> Row:
        moment = f"2026-01-01T00:00:00.{place * 7919 % 1000:03}Z"
        return oracle.record(
            str(place), "text " * 20, moment, [float(place), 0.0], {"even": place % 2 == 0}
        )


def _peak(layer: ExactLayer, limit: int, *, search: bool) -> int:
    async def run() -> None:
        even = read_where({"even": True})
        if search:
            assert len(await layer.search(QUERY, limit, even)) == limit
        else:
            assert len(await layer.newest(even, limit)) == limit

    tracemalloc.start()
    try:
        asyncio.run(run())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("search", [False, True], ids=["newest", "search"])
def test_memory_is_bounded_by_the_answer_and_not_by_the_collection(search: bool) -> None:
    """A row weighs about 1.5 kB: 20,000 of them 30 MB, a page 1.5 MB."""
    peak = _peak(exact(Endless(20_000)), 20, search=search)
    assert peak < 8 * 2**20


class Shifting(AwkwardStore):
    """Pages by offset while its owner inserts at the front: rows come once more on the next page.

    What is left of the collection at the end is every row, and the last of each page twice.
    """

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = FORWARD,
        cursor: str | None = None,
        limit: int = PAGE,
        *,
        vectors: bool = False,
    ) -> Page:
        page = await super().scan(conditions, order, cursor, limit, vectors=vectors)
        if page.cursor is None or int(page.cursor) <= int(cursor or 0) + 1:
            return page
        return Page(page.rows, str(int(page.cursor) - 1))


@pytest.mark.parametrize("seeks", [True, False])
async def test_a_row_that_two_pages_hold_is_answered_once(seeks: bool) -> None:
    rows = _rows(100)
    everything = read_where({"rare": [True, False]})
    for limit in (5, 40, 100, 1000):
        store = Shifting(rows, metric=Metric.L2, page=7, seeks=seeks, filters_late=True)
        newest = await exact(store).newest((), limit)
        assert [row.id for row in newest] == oracle.newest(rows)[:limit]
        store = Shifting(rows, page=7, missing=frozenset(row.id for row in rows))
        hits = await exact(store).search(QUERY, limit, everything)
        assert [hit.row.id for hit in hits] == [row.id for row in rows][:limit]
