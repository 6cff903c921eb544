"""The newest rows: by seeking where the store can, else by one scan that keeps only those."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from a2m_gateway.capability import Ordering
from a2m_gateway.layers.matching import PAGE, Matching, named_ids
from a2m_gateway.store import Filter, Row, Store, matches

__all__ = ["CREATED_AT", "NEWEST_FIRST", "Newest"]

CREATED_AT = ("created_at",)
NEWEST_FIRST = Ordering(CREATED_AT, descending=True)


class Newest:
    """Reads a store of canonical rows backward in time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._matching = Matching(store)

    async def rows(self, conditions: Filter, limit: int, *, vectors: bool) -> Sequence[Row]:
        """The ``limit`` newest rows that match, newest first."""
        seeks = NEWEST_FIRST in self._store.profile.orderings
        if not seeks or named_ids(conditions) is not None:
            chosen = await self._by_scan(conditions, limit)
            return await self._matching.with_vectors(chosen) if vectors else chosen
        rows = await self._sought(conditions, limit, vectors)
        if len(rows) == limit:
            return rows
        # A store that seeks by a field passes over the rows that lack it.
        passed_over = await self._by_scan(
            conditions, limit - len(rows), but={row.id for row in rows}
        )
        rest = await self._matching.with_vectors(passed_over) if vectors else passed_over
        return sorted([*rows, *rest], key=_moment, reverse=True)

    async def _sought(self, conditions: Filter, limit: int, vectors: bool) -> list[Row]:
        rows: dict[str, Row] = {}
        cursor: str | None = None
        size = limit
        while True:
            size = min(size, PAGE)
            page = await self._store.scan(conditions, NEWEST_FIRST, cursor, size, vectors=vectors)
            size *= 4  # the filter lets through more than it should, so few of a page count
            for row in page.rows:
                if matches(row, conditions):
                    rows.setdefault(row.id, row)
            cursor = page.cursor
            if cursor is None or len(rows) >= limit:
                return list(rows.values())[:limit]

    async def _by_scan(
        self,
        conditions: Filter,
        limit: int,
        but: AbstractSet[str] = frozenset(),
    ) -> list[Row]:
        newest: list[tuple[str, int, Row]] = []
        held: set[str] = set()
        position = 0
        async for row in self._matching.rows(conditions):
            if row.id in held or row.id in but:
                continue
            held.add(row.id)
            # Of two rows of one moment the later in the store's order is the newer.
            entry = (_moment(row), position, row)
            position += 1
            if len(newest) < limit:
                heapq.heappush(newest, entry)
            else:
                held.discard(heapq.heappushpop(newest, entry)[2].id)
        return [row for _, _, row in sorted(newest, key=lambda entry: entry[:2], reverse=True)]


def _moment(row: Row) -> str:
    return str(row.fields["created_at"])  # one form, so text sorts as time does
