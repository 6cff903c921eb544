"""When an answer counts as right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from a2m_gateway.capability import Metric
from a2m_gateway.store import JSON, Row
from a2m_gateway.store.filter import equal

__all__ = ["close", "expect", "expect_rows", "same_vector"]


def expect(held: bool, trouble: str) -> None:
    if not held:
        raise AssertionError(trouble)


def expect_rows(found: Iterable[Row], wanted: Sequence[Row]) -> None:
    rows = list(found)
    ids = sorted(row.id for row in rows)
    expect(ids == sorted(row.id for row in wanted), f"{len(rows)} rows, not these {len(wanted)}")
    fields = {row.id: row.fields for row in wanted}
    for row in rows:
        expect(_same(row.fields, fields[row.id]), f"{row.id}: {row.fields} != {fields[row.id]}")


def _same(one: JSON, other: JSON) -> bool:
    """Whether two JSON values are equal, true being no 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(other, Mapping | Sequence):
        return False
    return equal(one, other)


def same_vector(
    metric: Metric | None, one: Sequence[float] | None, other: Sequence[float] | None
) -> bool:
    """Equal as float32, or in direction alone where the metric is the cosine."""
    if one is None or other is None:
        return one is other
    scale = math.hypot(*other) / math.hypot(*one) if metric is Metric.COSINE else 1.0
    return len(one) == len(other) and all(
        math.isclose(a * scale, b, rel_tol=1e-5, abs_tol=1e-6)
        for a, b in zip(one, other, strict=True)
    )


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-5)
