"""The rows that match a filter, one after the other, and no more of them in memory than a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from a2m_gateway.store import Filter, Row, Store, matches
from a2m_gateway.store.rows import ID

__all__ = ["PAGE", "VECTOR_PAGE", "Matching"]

PAGE = 1000
VECTOR_PAGE = 256


class Matching:
    """Reads a store of canonical rows by filter.

    A store that pages by offset shows a row again when its owner writes between two pages: whoever
    builds an answer of these rows tells them apart by id.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def rows(self, conditions: Filter) -> AsyncIterator[Row]:
        """Every row that matches, in the store's own order or in that of the ids it is named by."""
        named = named_ids(conditions)
        pages = self._scanned(conditions) if named is None else self._named(named)
        async for rows in pages:
            for row in rows:
                if matches(row, conditions):
                    yield row

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> list[Row]:
        """The rows with these ids, fetched in pages."""
        size = VECTOR_PAGE if vectors else PAGE
        found: list[Row] = []
        for start in range(0, len(ids), size):
            found += await self._store.get(ids[start : start + size], vectors=vectors)
        return found

    async def with_vectors(self, rows: Sequence[Row]) -> list[Row]:
        """The same rows with what they carry; without those that are gone meanwhile."""
        carried = {row.id: row for row in await self.get([row.id for row in rows], vectors=True)}
        return [replace(row, vector=carried[row.id].vector) for row in rows if row.id in carried]

    async def _scanned(self, conditions: Filter) -> AsyncIterator[Sequence[Row]]:
        cursor: str | None = None
        while True:
            page = await self._store.scan(conditions, cursor=cursor, limit=PAGE)
            yield page.rows
            cursor = page.cursor
            if cursor is None:
                return

    async def _named(self, ids: Sequence[str]) -> AsyncIterator[Sequence[Row]]:
        for start in range(0, len(ids), PAGE):
            yield await self._store.get(ids[start : start + PAGE])


def named_ids(conditions: Filter) -> Sequence[str] | None:
    """The ids that a condition confines the answer to, so that nothing need be searched."""
    for condition in conditions:
        if condition.paths[0] == ID:
            return list(dict.fromkeys(one for one in condition.values if isinstance(one, str)))
        if not condition.values:
            return []
    return None
