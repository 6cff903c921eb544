"""What every store has to do, as a suite of tests that a new adapter inherits.

::

    class TestMine(StoreBehaviour):
        @pytest.fixture
        async def loaded(self, tmp_path):
            ...load sample_rows() by the database's own means, open the store...
            yield Loaded(store, rows)
            await store.aclose()

The oracle is ``store.filter`` and ``store.distance`` over the rows that were loaded. It runs under
pytest with ``asyncio_mode = "auto"``, and imports neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from a2m_gateway.capability import Feature, Ordering, Pushdown, Support
from a2m_gateway.errors import StoreRefused
from a2m_gateway.store import Filter, Path, Row, Store, matches
from a2m_gateway.store.distance import distances
from a2m_gateway.store.filter import value_type
from a2m_gateway.store.rows import Absent, lookup
from a2m_gateway.testing.comparison import close, expect, expect_rows, same_vector
from a2m_gateway.testing.filters import hostile_filters, sample_filters
from a2m_gateway.testing.sample import Loaded

__all__ = ["StoreBehaviour"]

_UNKNOWN_IDS = ("no such id", "", "0", "-1", "'", "\x00", "Ω" * 200, str(2**64))


class StoreBehaviour:
    """Inherit, name the class ``Test…`` and give it a fixture ``loaded``."""

    async def test_profile_is_consistent(self, loaded: Loaded) -> None:
        profile = loaded.store.profile
        for feature, claim in profile.features.items():
            expect(claim.support is not Support.EMULATED, f"{feature}: only a layer emulates")
            expect(bool(claim.reason), f"{feature}: a claim without a reason")
        expect(profile.has(Feature.READ), "a store that can't be read is no store")
        expect(Ordering() in profile.orderings, "the store's own order is always there")
        if profile.has(Feature.VECTOR_SEARCH):
            widths = {len(row.vector) for row in loaded.rows if row.vector is not None}
            expect({profile.width} == widths, f"width {profile.width}, loaded {widths}")
        if profile.metric is not None:
            expect(profile.metric in profile.metrics, "the metric in use is a possible one")

    async def test_scan_returns_every_row_once(self, loaded: Loaded) -> None:
        for limit in (1, 7, len(loaded.rows), 1000):
            expect_rows(await _scan(loaded.store, limit=limit), loaded.rows)

    async def test_scan_keeps_a_stable_order(self, loaded: Loaded) -> None:
        first = [row.id for row in await _scan(loaded.store, limit=5)]
        expect(first == [row.id for row in await _scan(loaded.store)], "two scans, two orders")

    async def test_every_claimed_order_is_kept(self, loaded: Loaded) -> None:
        for order in loaded.store.profile.orderings:
            rows = await _scan(loaded.store, order=order, limit=5)
            if order.path is None:
                expect_rows(rows, loaded.rows)
            else:
                _expect_order(rows, order, order.path, loaded.rows)

    async def test_an_order_that_is_not_claimed_is_refused(self, loaded: Loaded) -> None:
        try:
            await loaded.store.scan(order=Ordering(("no such field",)))
        except StoreRefused:
            return
        raise AssertionError("an order outside the profile has to be refused")

    async def test_get(self, loaded: Loaded) -> None:
        some = loaded.rows[::3]
        ids = [row.id for row in some]
        expect_rows(await loaded.store.get(ids), some)
        expect_rows(await loaded.store.get([*ids, *_UNKNOWN_IDS]), some)
        expect_rows(await loaded.store.get([ids[0], ids[0]]), some[:1])
        expect_rows(await loaded.store.get([]), [])

    async def test_vectors_come_when_asked_for(self, loaded: Loaded) -> None:
        ids = [row.id for row in loaded.rows]
        plain = [*await loaded.store.get(ids), *await _scan(loaded.store)]
        expect(all(row.vector is None for row in plain), "vectors that nobody asked for")
        if not loaded.store.profile.has(Feature.RETURN_VECTORS):
            return
        wanted = {row.id: row.vector for row in loaded.rows}
        metric = loaded.store.profile.metric
        for row in [
            *await loaded.store.get(ids, vectors=True),
            *await _scan(loaded.store, vectors=True),
        ]:
            expect(same_vector(metric, row.vector, wanted[row.id]), f"{row.id}: another vector")

    async def test_count(self, loaded: Loaded) -> None:
        if loaded.store.profile.has(Feature.COUNT):
            expect(await loaded.store.count() == len(loaded.rows), "the count of all rows")

    async def test_filters_only_narrow(self, loaded: Loaded) -> None:
        for conditions in sample_filters(loaded.rows):
            await self._narrows(loaded, conditions)

    async def test_hostile_filters_only_narrow(self, loaded: Loaded) -> None:
        for conditions in hostile_filters((next(iter(loaded.rows[0].fields)),)):
            await self._narrows(loaded, conditions)

    async def test_search_finds_the_nearest(self, loaded: Loaded) -> None:
        metric = loaded.store.profile.metric
        if not loaded.store.profile.has(Feature.VECTOR_SEARCH) or metric is None:
            return
        carrying = [row for row in loaded.rows if row.vector is not None]
        for target in carrying[::5]:
            query = target.vector or ()
            far = distances(metric, query, [row.vector or () for row in carrying])
            truth = {row.id: value for row, value in zip(carrying, far, strict=True)}
            hits = await loaded.store.search(query, 5)
            found = [hit.row.id for hit in hits]
            expect(found == sorted(truth, key=lambda name: truth[name])[:5], "not the nearest")
            for hit in hits:
                expect(close(hit.distance, truth[hit.row.id]), "not the canonical distance")
            expect(all(hit.row.vector is None for hit in hits), "vectors that nobody asked for")

    async def test_search_within_a_filter(self, loaded: Loaded) -> None:
        if not loaded.store.profile.has(Feature.VECTOR_SEARCH):
            return
        query = next(row.vector for row in loaded.rows if row.vector is not None)
        for conditions in sample_filters(loaded.rows):
            hits = await loaded.store.search(query, len(loaded.rows), conditions)
            self._selects(loaded, conditions, [hit.row.id for hit in hits])

    async def test_search_without_vectors_is_refused(self, loaded: Loaded) -> None:
        if loaded.store.profile.has(Feature.VECTOR_SEARCH):
            return
        try:
            await loaded.store.search([1.0], 1)
        except StoreRefused:
            return
        raise AssertionError("a search that is not claimed has to be refused")

    async def test_words_are_found(self, loaded: Loaded) -> None:
        path = loaded.text_path
        if path is None or not loaded.store.profile.has(Feature.TEXT_SEARCH):
            return
        texts = {row.id: str(lookup(row, path)).lower() for row in loaded.rows}
        for term in ("e4211", "rotat", "snake_case", "number", "absent-word", "naïveté"):
            found = [row.id for row in await loaded.store.search_text([term], 1000)]
            holding = {name for name, text in texts.items() if term in text}
            expect(len(found) == len(set(found)), f"{term}: a row twice")
            expect(holding <= set(found), f"{term}: {len(holding - set(found))} rows not found")
        both = await loaded.store.search_text(["e4211", "rotat"], 2)
        expect(len(both) == 4, "up to `limit` rows for each term")

    async def test_calls_at_once(self, loaded: Loaded) -> None:
        ids = [row.id for row in loaded.rows]
        answers = await asyncio.gather(*(loaded.store.get([name]) for name in ids))
        expect([rows[0].id for rows in answers] == ids, "answers of calls at once got mixed up")

    async def test_a_cancelled_call_leaves_the_store_usable(self, loaded: Loaded) -> None:
        call = asyncio.ensure_future(_scan(loaded.store, limit=1))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        expect_rows(await _scan(loaded.store), loaded.rows)

    async def test_closing_twice(self, loaded: Loaded) -> None:
        """The last of the suite, so that its tests may share one store."""
        await loaded.store.aclose()
        await loaded.store.aclose()

    async def _narrows(self, loaded: Loaded, conditions: Filter) -> None:
        rows = await _scan(loaded.store, conditions)
        self._selects(loaded, conditions, [row.id for row in rows])
        if loaded.store.profile.has(Feature.COUNT):
            counted = await loaded.store.count(conditions)
            least = sum(matches(row, conditions) for row in loaded.rows)
            expect(counted >= least, f"{_brief(conditions)}: {counted} counted, {least} match")

    def _selects(self, loaded: Loaded, conditions: Filter, found: Sequence[str]) -> None:
        """Every row that matches; and no other, where push-down is claimed exact.

        The claim is for a plain name: an odd one may be inexpressible in the store's language.
        """
        name = _brief(conditions)
        matching = {row.id for row in loaded.rows if matches(row, conditions)}
        expect(len(found) == len(set(found)), f"{name}: a row twice")
        lost = matching - set(found)
        expect(not lost, f"{name}: {len(lost)} of {len(matching)} rows lost")
        if _claimed_exact(loaded, conditions):
            expect(set(found) <= matching, f"{name}: claimed exact, and is not")


def _claimed_exact(loaded: Loaded, conditions: Filter) -> bool:
    pushed = loaded.store.profile.pushdown
    return all(
        len(condition.paths) == 1
        and condition.paths[0] != loaded.text_path
        and all(name.isidentifier() for name in condition.paths[0])
        and all(pushed(value_type(value)) is Pushdown.EXACT for value in condition.values)
        for condition in conditions
    )


async def _scan(
    store: Store,
    conditions: Filter = (),
    order: Ordering = Ordering(),  # noqa: B008 - frozen
    limit: int = 1000,
    *,
    vectors: bool = False,
) -> list[Row]:
    rows: list[Row] = []
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await store.scan(conditions, order, cursor, limit, vectors=vectors)
        expect(len(page.rows) <= limit, f"{len(page.rows)} rows on a page of {limit}")
        rows += page.rows
        cursor = page.cursor
        if cursor is None:
            return rows
        expect(cursor not in seen, "the same cursor twice: this scan would never end")
        seen.add(cursor)


def _expect_order(rows: Sequence[Row], order: Ordering, path: Path, loaded: Sequence[Row]) -> None:
    """Those that carry the field in order; those that do not after them, or not at all."""
    carrying = [row.id for row in loaded if not isinstance(lookup(row, path), Absent)]
    found = [row.id for row in rows]
    expect(len(found) == len(set(found)), f"{order}: a row twice")
    expect(set(found[: len(carrying)]) == set(carrying), f"{order}: a row lost")
    values: list[Any] = [lookup(row, path) for row in rows[: len(carrying)]]
    expect(values == sorted(values, reverse=order.descending), f"{order}: not kept")


def _brief(conditions: Filter) -> str:
    return repr(conditions)[:200]
