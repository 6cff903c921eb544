"""What a store answers is checked before anyone builds on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from a2m_gateway.capability import Ordering, Profile
from a2m_gateway.errors import EmbeddingMismatch, StoreCorrupt
from a2m_gateway.store import Filter, Hit, Page, Row, Store

__all__ = ["CheckLayer"]


class CheckLayer:
    """Refuses a query of the wrong width, and an answer that breaks the interface's contract.

    Hits come out by ascending distance and then by id, so that equal ones have one order; a
    distance that is no number (an engine's cosine to a vector of zeros) counts as the farthest.
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    @property
    def profile(self) -> Profile:
        return self.inner.profile

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        width = self.profile.width
        if width is not None and len(vector) != width:
            raise EmbeddingMismatch(
                f"the vector has {len(vector)} components, this store's have {width}",
                given=len(vector),
                dimensions=width,
            )
        hits = await self.inner.search(vector, k, conditions, vectors=vectors)
        if len(hits) > k:
            raise StoreCorrupt(
                f"{self.profile.engine} answered {len(hits)} hits where {k} were asked"
            )
        self._distinct([hit.row for hit in hits])
        return sorted(map(_ranked, hits), key=lambda hit: (hit.distance, hit.row.id))

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        rows = await self.inner.get(ids, vectors=vectors)
        self._distinct(rows)
        if not {row.id for row in rows} <= set(ids):
            raise StoreCorrupt(f"{self.profile.engine} answered a record that was not asked for")
        return rows

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        rows = await self.inner.search_text(terms, limit, conditions, whole=whole)
        self._distinct(rows)
        return rows

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        page = await self.inner.scan(conditions, order, cursor, limit, vectors=vectors)
        self._distinct(page.rows)
        if page.cursor is not None and page.cursor == cursor:
            raise StoreCorrupt(f"{self.profile.engine} answered the same page twice")
        return page

    async def count(self, conditions: Filter = ()) -> int:
        return await self.inner.count(conditions)

    async def aclose(self) -> None:
        await self.inner.aclose()

    def _distinct(self, rows: Sequence[Row]) -> None:
        if len({row.id for row in rows}) != len(rows):
            raise StoreCorrupt(f"{self.profile.engine} answered the same record twice")


def _ranked(hit: Hit) -> Hit:
    return Hit(hit.row, math.inf) if math.isnan(hit.distance) else hit
