"""Scrolling by the value of a field, without losing or repeating a point.

Qdrant has no offset there, only ``start_from``, which is inclusive; what shares a value comes in
no particular order, and a limit cuts it anywhere. So a cursor is the last value with the points
already returned that have it, and the next page starts from that value without them. A float is no
sure handle, since a double may arrive one unit in the last place off, nor is an integer beyond
2^53, which the core rounds to a double where it is a start (probed): there the page starts a little
earlier and leaves out whatever of that margin has been returned.

Points that lack the field are left out, and so are arrays, which Qdrant returns once per element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from qdrant_client import models

from a2m_gateway.capability import Ordering
from a2m_gateway.errors import StoreCorrupt, StoreRefused
from a2m_gateway.store import Path, Row
from a2m_gateway.store.rows import lookup
from a2m_qdrant.engine import Point
from a2m_qdrant.keys import payload_key

__all__ = ["OrderedScroll"]

_EXACT = 2**53
_MARGIN = 8


@dataclass(frozen=True, slots=True)
class _Place:
    value: int | float
    returned: list[tuple[int | str, int | float]]


class OrderedScroll:
    """One page of a scan by a field.

    Args:
        order: By a field.
        cursor: The last page's, or None.
    """

    def __init__(self, order: Ordering, path: Path, cursor: str | None) -> None:
        self._down = order.descending
        self._path = path
        self._place = _parsed(cursor)

    def request(
        self, narrowed: models.Filter | None, limit: int, with_vector: bool | list[str]
    ) -> models.ScrollRequest:
        place = self._place
        must: list[models.Condition] | None = [narrowed] if narrowed is not None else None
        returned = [point for point, _ in place.returned] if place is not None else []
        but: list[models.Condition] = [models.HasIdCondition(has_id=[*returned])]
        return models.ScrollRequest(
            filter=models.Filter(must=must, must_not=but if returned else None)
            if must or returned
            else None,
            order_by=models.OrderBy(
                key=payload_key(self._path) or "",
                direction=models.Direction.DESC if self._down else models.Direction.ASC,
                start_from=self._start(place.value) if place is not None else None,
            ),
            limit=limit,
            with_payload=True,
            with_vector=with_vector,
        )

    def kept(self, points: Sequence[Point]) -> list[Point]:
        """The points whose field is one value."""
        return [point for point in points if self._is_scalar(point)]

    def cursor(self, points: Sequence[Point], limit: int) -> str | None:
        """Where the page after these ``points`` (arrays included) begins."""
        if len(points) < limit:
            return None
        last = _value(points[-1])
        start = self._start(last)
        earlier = self._place.returned if self._place is not None else []
        returned = [*earlier, *((point.id, _value(point)) for point in points)]
        again = [(point, value) for point, value in returned if self._from(start, value)]
        # A point with several values may come once more: it is left out then.
        return msgspec.json.encode(_Place(last, list(dict(again).items()))).decode()

    def _start(self, value: int | float) -> int | float:
        if isinstance(value, int) and abs(value) <= _EXACT:
            return value
        start, away = float(value), math.inf if self._down else -math.inf
        for _ in range(_MARGIN):
            start = math.nextafter(start, away)
        return start

    def _from(self, start: int | float, value: int | float) -> bool:
        return value <= start if self._down else value >= start

    def _is_scalar(self, point: Point) -> bool:
        found = lookup(Row("", point.payload), self._path)
        return isinstance(found, str | int | float)


def _value(point: Point) -> int | float:
    if point.order_value is None:
        raise StoreCorrupt("Qdrant answered a scroll by value with a point that has none")
    return point.order_value


def _parsed(cursor: str | None) -> _Place | None:
    if cursor is None:
        return None
    try:
        return msgspec.json.decode(cursor, type=_Place)
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise StoreRefused("qdrant: this cursor is of no scan by value") from None
