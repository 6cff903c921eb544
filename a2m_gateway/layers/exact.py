"""Makes exact what stores answer roughly: filters, full answers, the order of creation.

A store's own filter only narrows (``store.filter``). Here every row is compared again, and where
the store came up short the rest is found by scanning, so that a limit is filled while matching
records exist. All of it needs memory for one page and the answer, never for the collection.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from a2m_gateway.capability import (
    Claim,
    Feature,
    Ordering,
    Profile,
    Pushdown,
    Support,
)
from a2m_gateway.layers.matching import PAGE, VECTOR_PAGE, Matching, named_ids
from a2m_gateway.layers.newest import NEWEST_FIRST, Newest
from a2m_gateway.store import Filter, Hit, Page, Row, Store, matches
from a2m_gateway.store.distance import distances
from a2m_gateway.store.filter import value_type
from a2m_gateway.store.text import contains

__all__ = ["ExactLayer"]


class ExactLayer:
    """A store over canonical rows, whose filters and order can be relied on."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self._matching = Matching(inner)
        self._newest = Newest(inner)
        self.profile = _profile(inner.profile)

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        # Some stores read "no ids" as "whatever id".
        return await self.inner.get(ids, vectors=vectors) if ids else ()

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        """The ``k`` nearest rows that match; fewer only when no more of them carry a vector."""
        if named_ids(conditions) is not None:
            return await self._fill(vector, k, conditions, [], vectors)
        exact = self._pushed_exactly(conditions)
        fetch = self._within_limits(k if exact else max(4 * k, 64))
        hits = await self.inner.search(vector, fetch, conditions, vectors=vectors)
        found = [hit for hit in hits if matches(hit.row, conditions)]
        if len(found) >= k:
            return found[:k]
        if not conditions and len(found) >= await self.inner.count():
            return found
        if len(hits) == fetch or not conditions:
            # Rows that do not match, or that a layout hides, took places: once more, deeper,
            # before every row is read.
            deeper = self._within_limits(8 * fetch)
            hits = await self.inner.search(vector, deeper, conditions, vectors=vectors)
            found = [hit for hit in hits if matches(hit.row, conditions)]
            if len(found) >= k:
                return found[:k]
        return await self._fill(vector, k, conditions, found, vectors)

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        """Candidates that match; a store that filters loosely may have missed some.

        Where the store can't find words, every record is read.
        """
        if not self.inner.profile.has(Feature.TEXT_SEARCH):
            return await self._containing(terms, limit, conditions, whole)
        rows = await self.inner.search_text(terms, limit, conditions, whole=whole)
        return [row for row in rows if matches(row, conditions)]

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = PAGE,
        *,
        vectors: bool = False,
    ) -> Page:
        page = await self.inner.scan(conditions, order, cursor, limit, vectors=vectors)
        return Page([row for row in page.rows if matches(row, conditions)], page.cursor)

    async def count(self, conditions: Filter = ()) -> int:
        if not conditions:
            return await self.inner.count()
        seen: set[str] = set()
        async for row in self._matching.rows(conditions):
            seen.add(row.id)
        return len(seen)

    async def newest(
        self, conditions: Filter = (), limit: int = PAGE, *, vectors: bool = False
    ) -> Sequence[Row]:
        """The ``limit`` newest rows that match, newest first.

        Where the store can seek by the order of creation this reads the rows it returns, else
        every row that the store's filter lets through, once, keeping ``limit`` of them.
        """
        return await self._newest.rows(conditions, limit, vectors=vectors)

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def _containing(
        self, terms: Sequence[str], limit: int, conditions: Filter, whole: bool
    ) -> list[Row]:
        wanted = dict.fromkeys(terms, limit)
        rows: list[Row] = []
        async for row in self._matching.rows(conditions):
            text = str(row.fields["content"]).lower()
            found = [
                term for term, left in wanted.items() if left and contains(text, term, whole=whole)
            ]
            for term in found:
                wanted[term] -= 1
            if found:
                rows.append(row)
            if not any(wanted.values()):
                break
        return rows

    def _within_limits(self, fetch: int) -> int:
        largest = self.profile.limits.max_k
        return fetch if largest is None else min(fetch, largest)

    async def _fill(
        self,
        vector: Sequence[float],
        k: int,
        conditions: Filter,
        found: list[Hit],
        vectors: bool,
    ) -> list[Hit]:
        """Every matching row that the index did not return is compared one by one."""
        known = {hit.row.id for hit in found}
        best = found
        batch: dict[str, None] = {}
        async for row in self._matching.rows(conditions):
            if row.id not in known:
                batch[row.id] = None
            if len(batch) == VECTOR_PAGE:
                best = _merge(best, await self._compare(vector, list(batch), conditions), k)
                batch = {}
        best = _merge(best, await self._compare(vector, list(batch), conditions), k)
        return best if vectors else _without_vectors(best)

    async def _compare(
        self, vector: Sequence[float], ids: Sequence[str], conditions: Filter
    ) -> list[Hit]:
        rows = await self.get(ids, vectors=True)
        return self._hits(vector, [row for row in rows if matches(row, conditions)])

    def _hits(self, vector: Sequence[float], rows: Sequence[Row]) -> list[Hit]:
        metric = self.profile.metric
        carrying = [row for row in rows if row.vector is not None]
        if metric is None or not carrying:
            return []
        far = distances(metric, vector, [row.vector or () for row in carrying])
        return [Hit(row, distance) for row, distance in zip(carrying, far, strict=True)]

    def _pushed_exactly(self, conditions: Filter) -> bool:
        return all(
            self.profile.pushdown(value_type(value)) is Pushdown.EXACT
            for condition in conditions
            for value in condition.values
        )


def _merge(best: list[Hit], more: list[Hit], k: int) -> list[Hit]:
    each = {hit.row.id: hit for hit in (*more, *best)}
    return heapq.nsmallest(k, each.values(), key=lambda hit: (hit.distance, hit.row.id))


def _without_vectors(hits: Sequence[Hit]) -> list[Hit]:
    return [Hit(replace(hit.row, vector=None), hit.distance) for hit in hits]


def _profile(inner: Profile) -> Profile:
    seeks = NEWEST_FIRST in inner.orderings
    exact = all(pushed is Pushdown.EXACT for pushed in inner.filters.values()) and inner.filters
    claims = dict(inner.features)
    if inner.has(Feature.READ):
        if not inner.has(Feature.TEXT_SEARCH):
            reason = inner.claim(Feature.TEXT_SEARCH).reason
            claims[Feature.TEXT_SEARCH] = Claim(
                Support.EMULATED, reason, "every word search reads all records once"
            )
        claims[Feature.EXACT_FILTER] = (
            Claim(Support.NATIVE, "the store compares as strictly as JSON")
            if exact
            else Claim(
                Support.EMULATED,
                "the store narrows, the gateway compares every row again",
                "a value that the store can't filter by costs a scan",
            )
        )
        claims[Feature.CREATION_ORDER] = (
            Claim(Support.NATIVE, "the store seeks: reading the newest costs what is returned")
            if seeks
            else Claim(
                Support.EMULATED,
                "one scan that keeps the newest",
                "every timeline reads all records once",
            )
        )
    return replace(inner, features=claims)
