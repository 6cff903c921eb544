"""What ``where`` selects and what is near, by brute force: the tests' oracle.

Numbers are compared as fractions, so that no rounding decides; it shares no code with the gateway.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from a2m_gateway.store import Row

__all__ = ["distance", "nearest", "newest", "record", "rows_where", "same", "selected"]


def record(
    name: str,
    content: str = "text",
    created_at: str = "2026-01-01T00:00:00.000Z",
    vector: Sequence[float] | None = None,
    metadata: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
) -> Row:
    """A canonical row; ``fields`` are those that not every record carries."""
    always: dict[str, Any] = {
        "content": content,
        "created_at": created_at,
        "metadata": dict(metadata or {}),
    }
    return Row(name, {**always, **(fields or {})}, vector)


def _canonical(value: object) -> object:
    if value is None or isinstance(value, bool):
        return ("constant", value)
    if isinstance(value, str):
        return ("string", value)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return ("number", Fraction(value))
    return object()  # equal to nothing


def same(found: object, value: object) -> bool:
    """Equality of a value on a record and a scalar."""
    return _canonical(found) == _canonical(value)


def _carried(row: Row, name: str) -> list[object]:
    """The value that ``name`` addresses, or nothing."""
    if name == "id":
        return [row.id]
    if name in ("content", "created_at", "role", "group", "metadata") and name in row.fields:
        return [row.fields[name]]
    metadata = row.fields.get("metadata", {})
    assert isinstance(metadata, Mapping)
    return [metadata[name]] if name in metadata else []


def selected(row: Row, where: Mapping[str, Any]) -> bool:
    """Section 5.2 and the meanings the gateway documents."""
    for name, given in where.items():
        values = given if isinstance(given, list) else [given]
        found = _carried(row, name)
        if not found or not any(same(found[0], value) for value in values):
            return False
    return True


def rows_where(rows: Iterable[Row], where: Mapping[str, Any]) -> list[Row]:
    return [row for row in rows if selected(row, where)]


def distance(metric: str, one: Sequence[float], other: Sequence[float]) -> float:
    """Smaller is nearer."""
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    if metric == "dot":
        return -product
    if metric == "l2":
        return math.dist(one, other)
    lengths = math.hypot(*one) * math.hypot(*other)
    return 1 - product / lengths if lengths else 1.0


def nearest(rows: Iterable[Row], metric: str, vector: Sequence[float]) -> list[tuple[float, str]]:
    """Distances and ids of all rows that carry a vector, the nearest first, equal ones by id."""
    return sorted(
        (distance(metric, vector, row.vector), row.id) for row in rows if row.vector is not None
    )


def newest(rows: Sequence[Row]) -> list[str]:
    """Ids from the newest to the oldest; of one moment the later in the store is the newer."""
    order = sorted(range(len(rows)), key=lambda i: (str(rows[i].fields["created_at"]), i))
    return [rows[i].id for i in reversed(order)]
