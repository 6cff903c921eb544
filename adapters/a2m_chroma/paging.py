"""Pages in Chroma's one order, the order of insertion, by offset.

An offset alone would skip records when earlier ones are deleted between two pages. So a cursor
also names the record at which its page ended: the next page begins by finding it there, or
wherever it has moved to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from a2m_chroma.answers import GetAnswer, rows_of
from a2m_chroma.client import AnswerTooLarge
from a2m_chroma.collection import Collection
from a2m_chroma.filters import Where
from a2m_gateway.errors import StoreRefused, StoreUnavailable
from a2m_gateway.store import Page, Row

__all__ = ["Pages"]

_IDS = 10_000
_CHANGED = "the collection changed while it was read, and where the reading stopped is gone"
_OFFSETS = range(2**32)  # Chroma's are u32


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The record last returned, and at which offset it lay."""

    offset: int
    id: str

    @classmethod
    def parse(cls, text: str) -> _Cursor:
        offset, colon, id_ = text.partition(":")
        if not (colon and offset.isdecimal() and offset.isascii() and int(offset) in _OFFSETS):
            raise StoreRefused("the cursor is none that this store gave out")
        return cls(int(offset), id_)

    def __str__(self) -> str:
        return f"{self.offset}:{self.id}"


class Pages:
    """The rows of a collection that a filter lets through."""

    def __init__(self, collection: Collection, where: Where, *, vectors: bool) -> None:
        self._collection = collection
        self._where = where
        self._vectors = vectors

    async def forward(self, cursor: str | None, limit: int) -> Page:
        """The next ``limit`` rows, oldest first."""
        if cursor is None:
            start, rows = 0, await self.rows(0, limit)
        else:
            found, offset, place = await self._around(_Cursor.parse(cursor), after=limit)
            start, rows = offset + 1, found[place + 1 :]
        full = len(rows) == limit
        return Page(rows, str(_Cursor(start + limit - 1, rows[-1].id)) if full else None)

    async def backward(self, cursor: str | None, limit: int) -> Page:
        """The next ``limit`` rows, newest first."""
        if cursor is None:
            start, rows = await self._end(limit)
        else:
            found, offset, place = await self._around(_Cursor.parse(cursor), before=limit)
            start, rows = offset - place, found[:place]
        more = start > 0 and len(rows) > 0
        return Page(rows[::-1], str(_Cursor(start, rows[0].id)) if more else None)

    async def rows(self, offset: int, limit: int) -> list[Row]:
        """Up to ``limit`` rows from ``offset`` on, in as many requests as their size takes."""
        if limit <= 0:
            return []
        include = ["documents", "metadatas"] + (["embeddings"] if self._vectors else [])
        query = {"offset": offset, "limit": limit, "include": include, **self._where.body()}
        try:
            answer = await self._collection.post("get", query, GetAnswer)
        except AnswerTooLarge:
            if limit == 1:
                raise
            half = limit // 2
            return [
                *await self.rows(offset, half),
                *await self.rows(offset + half, limit - half),
            ]
        return rows_of(answer, vectors=self._vectors)

    async def count(self) -> int:
        """How many rows there are; with a filter their ids are read, and nothing else."""
        if not self._where.body():
            return await self._collection.count()
        count = 0
        while True:
            ids = await self._ids(count)
            count += len(ids)
            if len(ids) < _IDS:
                return count

    async def _end(self, limit: int) -> tuple[int, list[Row]]:
        """The last rows and the offset of the first of them."""
        while True:
            count = await self.count()
            start = max(0, count - limit)
            rows = await self.rows(start, count - start)
            if rows or not count:  # else so many were deleted meanwhile: count again
                return start, rows

    async def _around(
        self, last: _Cursor, *, before: int = 0, after: int = 0
    ) -> tuple[list[Row], int, int]:
        """The row of a cursor with its neighbours, in one request unless it has moved.

        Returns:
            The rows, the offset at which the cursor's row lies, and its place among the rows.
        """
        offset = last.offset
        for moved in (False, True):
            if moved:
                offset = await self._offset_of(last.id)
            start = max(0, offset - before)
            place = offset - start
            rows = await self.rows(start, place + 1 + after)
            if place < len(rows) and rows[place].id == last.id:
                return rows, offset, place
        raise StoreUnavailable(_CHANGED)

    async def _offset_of(self, id_: str) -> int:
        offset = 0
        while True:
            ids = await self._ids(offset)
            if id_ in ids:
                return offset + ids.index(id_)
            offset += len(ids)
            if len(ids) < _IDS:
                raise StoreUnavailable(_CHANGED)

    async def _ids(self, offset: int) -> Sequence[str]:
        query = {"offset": offset, "limit": _IDS, "include": [], **self._where.body()}
        return (await self._collection.post("get", query, GetAnswer)).ids
