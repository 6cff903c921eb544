"""One collection as a store."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from qdrant_client import models

from a2m_gateway.capability import Feature, Metric, Ordering, Profile
from a2m_gateway.errors import StoreCorrupt, StoreRefused
from a2m_gateway.store import Filter, Hit, Page, Row
from a2m_qdrant.engine import Engine, Point, TextSearch
from a2m_qdrant.filters import Pusher
from a2m_qdrant.ids import point_ids
from a2m_qdrant.ordering import OrderedScroll

__all__ = ["QdrantStore"]

_PAGE = 1000
_VECTOR_PAGE = 100
"""Points with their vectors come in smaller pages: 100 of 1536 components are 2 MB of JSON."""


class QdrantStore:
    """A collection, by a server or by local mode.

    Args:
        vector_name: The selected vector, ``""`` for the unnamed one, or None.
    """

    def __init__(
        self,
        engine: Engine,
        collection: str,
        profile: Profile,
        *,
        vector_name: str | None,
        pusher: Pusher,
        text: TextSearch,
    ) -> None:
        self.profile = profile
        self._engine = engine
        self._collection = collection
        self._vector_name = vector_name
        self._pusher = pusher
        self._text = text

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        wanted = point_ids(ids, any_string=self._engine.local)
        if not wanted:
            return []
        points = await self._engine.retrieve(
            self._collection,
            models.PointRequest(
                ids=[*wanted], with_payload=True, with_vector=self._with_vector(vectors)
            ),
        )
        # Qdrant finds a UUID in any spelling, and only the one that was asked for is that id.
        asked = set(ids)
        return [self._row(point, vectors) for point in points if str(point.id) in asked]

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        claim = self.profile.claim(Feature.VECTOR_SEARCH)
        if not claim.held:
            raise StoreRefused(f"qdrant: no vector search here: {claim.reason}")
        query = [float(number) for number in vector]
        if not all(map(math.isfinite, query)):
            raise StoreRefused("qdrant: a component of the vector is no finite number")
        narrowed = self._pusher.narrow(conditions)
        if narrowed.nothing or k < 1:
            return []
        points = await self._engine.query(
            self._collection,
            models.QueryRequest(
                query=query,
                using=self._vector_name or None,
                filter=narrowed.filter,
                limit=k,
                with_payload=True,
                with_vector=self._with_vector(vectors),
            ),
        )
        return [
            Hit(self._row(point, vectors), self._distance(point.score))
            for point in points
        ]  # fmt: skip

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        narrowed = self._pusher.narrow(conditions)
        if narrowed.nothing or not terms or limit < 1:
            return []
        points = await self._text.find(
            list(dict.fromkeys(terms)), limit, narrowed.filter, whole=whole
        )
        return [self._row(point, False) for point in _distinct(points)]

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = _PAGE,
        *,
        vectors: bool = False,
    ) -> Page:
        if order not in self.profile.orderings:
            raise StoreRefused(f"qdrant: no such order here: {order}")
        narrowed = self._pusher.narrow(conditions)
        if narrowed.nothing:
            return Page([])
        most = min(_VECTOR_PAGE if vectors else _PAGE, self.profile.limits.max_k or _PAGE)
        size = max(1, min(limit, most))
        if order.path is not None:
            return await self._ordered(
                OrderedScroll(order, order.path, cursor), narrowed.filter, size, vectors
            )
        page = await self._engine.scroll(
            self._collection,
            models.ScrollRequest(
                filter=narrowed.filter,
                limit=size,
                offset=_offset(cursor),
                with_payload=True,
                with_vector=self._with_vector(vectors),
            ),
        )
        rows = [self._row(point, vectors) for point in page.points]
        return Page(rows, None if page.next_id is None else json.dumps(page.next_id))

    async def count(self, conditions: Filter = ()) -> int:
        narrowed = self._pusher.narrow(conditions)
        if narrowed.nothing:
            return 0
        request = models.CountRequest(filter=narrowed.filter, exact=True)
        return await self._engine.count(self._collection, request)

    async def aclose(self) -> None:
        """Nothing: the connection holds what there is to release."""

    async def _ordered(
        self, scroll: OrderedScroll, narrowed: models.Filter | None, size: int, vectors: bool
    ) -> Page:
        page = await self._engine.scroll(
            self._collection, scroll.request(narrowed, size, self._with_vector(vectors))
        )
        kept = _distinct(scroll.kept(page.points))
        rows = [self._row(point, vectors) for point in kept]
        return Page(rows, scroll.cursor(page.points, size))

    def _with_vector(self, vectors: bool) -> bool | list[str]:
        """Only the selected vector: an index of words may lie beside it as a sparse one."""
        return [self._vector_name] if vectors and self._vector_name is not None else False

    def _row(self, point: Point, vectors: bool) -> Row:
        return Row(str(point.id), point.payload, self._vector(point) if vectors else None)

    def _vector(self, point: Point) -> Sequence[float] | None:
        found = point.vector
        if isinstance(found, dict):
            found = found.get(self._vector_name)
        if found is None or len(found) == 0:
            return None
        if not isinstance(found, list) or len(found) != self.profile.width:
            raise StoreCorrupt(f"qdrant: the vector of {point.id} is not of the collection's width")
        return found

    def _distance(self, score: float) -> float:
        if self.profile.metric is Metric.COSINE:
            return 1.0 - score
        return -score if self.profile.metric is Metric.DOT else score


def _distinct(points: Sequence[Point]) -> list[Point]:
    return list({point.id: point for point in points}.values())


def _offset(cursor: str | None) -> int | str | None:
    if cursor is None:
        return None
    try:
        offset = json.loads(cursor)
    except ValueError:
        offset = None
    if isinstance(offset, bool) or not isinstance(offset, int | str):
        raise StoreRefused("qdrant: this cursor is of no scan by id")
    return offset
