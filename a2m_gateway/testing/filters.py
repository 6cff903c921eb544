"""Filters that a store's own language expresses, nearly expresses, or can't express."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from a2m_gateway.store import JSON, Condition, Filter, Path, Row, Scalar

__all__ = ["hostile_filters", "sample_filters"]

_NEAR_MISSES: tuple[Scalar, ...] = (
    True, False, 0, 1, 1.0, -0.0, 1.5, 0.1, "1", "true", "null", "", None, 2**53 + 1, 10**30, -1,
    "%", "\x00", "x' OR '1'='1", '"', "\\", "Ω",
)  # fmt: skip
_HOSTILE_NAMES = (
    "", ".", "a.b", 'a"b', "a'b", "a\\b", "$eq", "#x", "[0]", "a b", "\x00", "é", "--",
)  # fmt: skip


def sample_filters(rows: Sequence[Row]) -> Iterator[Filter]:
    """Filters by what the rows carry, by what they nearly carry, and by several things at once."""
    paths = sorted({path for row in rows for path, _ in _scalars(row.fields)})
    for path in paths:
        carried = [v for row in rows for p, v in _scalars(row.fields) if p == path]
        yield (Condition((path,), (carried[0],)),)
        yield (Condition((path,), tuple(carried[:3])),)
        for value in _NEAR_MISSES:
            yield (Condition((path,), (value,)),)
    first, last = paths[0], paths[-1]
    values = dict(_scalars(rows[0].fields))
    for value in (values[first], values[last]):
        yield (Condition((("absent",), first, last), (value,)),)
        yield (Condition((first,), (values[first],)), Condition((last,), (value,)))


def _scalars(fields: Mapping[str, JSON], above: Path = ()) -> Iterator[tuple[Path, Scalar]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _scalars(value, (*above, name))
        elif value is None or isinstance(value, str | int | float):
            yield (*above, name), value


def hostile_filters(path: Path) -> Iterator[Filter]:
    """Names that would be syntax, more values than a query can carry, and no value at all."""
    for name in _HOSTILE_NAMES:
        yield (Condition(((name,), (*path, name)), ("note", 1)),)
    yield (Condition((path,), tuple(range(33_000))),)
    yield (Condition((path,), ()),)
