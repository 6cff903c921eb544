"""Conditions as Chroma's ``where`` and ``where_document``, which must never select too little.

What Chroma 1.5.9 does with a filter, each of it a test:

- ``1.5`` also matches the integer 1: a float is compared with stored integers cut to their whole
  part. A superset, so it is sent.
- A float loses up to a unit in the last place on its way in, at writing and at filtering alike, so
  that a value read back may not equal itself: floats are sent as a narrow range.
- An integer from 2^63 on is refused or saturates; it is sent as the float that equals it, if any.
- ``$ne`` and ``$nin`` match records without the key, ``$and: []`` matches all: neither is sent.
- A list in metadata equals nothing, a null is never stored, and a key in ``$`` is refused.
- Thousands of clauses in one ``$or`` overflow the server's stack and end it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from a2m_chroma.patterns import equal_to
from a2m_gateway.store import DOCUMENT, JSON, Filter, Path, Scalar
from a2m_gateway.store.rows import ID

__all__ = ["Where", "conjunction", "translate"]

Clause: TypeAlias = Mapping[str, JSON]

_MAX_CLAUSES = 128
_MAX_VALUES = 4096  # SQLite binds 32,766, and a value may take several
_MAX_TEXT = 1 << 20
_INT64 = range(-(2**63), 2**63)
_ROUNDINGS = 4


@dataclass(frozen=True, slots=True)
class Where:
    """A filter in Chroma's terms.

    Attributes:
        where: On metadata, or None.
        document: On the document (``where_document``), or None.
        empty: Proven to select nothing, so that nothing need be asked.
    """

    where: Clause | None = None
    document: Clause | None = None
    empty: bool = False

    def body(self) -> dict[str, JSON]:
        """The members of a request's body."""
        named = {"where": self.where, "where_document": self.document}
        return {name: clause for name, clause in named.items() if clause is not None}


def translate(conditions: Filter) -> Where:
    """What of ``conditions`` Chroma can be trusted with; the rest selects too much."""
    metadata: list[Clause] = []
    document: list[Clause] = []
    room = _Room()
    for condition in conditions:
        values = [value for value in condition.values if _can_be_stored(value)]
        if not condition.values or (not values and _only_fields(condition.paths)):
            return Where(empty=True)
        on_document = condition.paths == ((DOCUMENT,),)
        parts = _document_parts(values) if on_document else _parts(condition.paths, values)
        if parts and room.takes(parts, len(condition.paths), values):
            (document if on_document else metadata).append(_joined("$or", parts))
    return Where(conjunction(metadata), conjunction(document))


class _Room:
    """What a server takes in one filter; a condition that no longer fits is not sent."""

    def __init__(self) -> None:
        self._clauses, self._values, self._text = _MAX_CLAUSES, _MAX_VALUES, _MAX_TEXT

    def takes(self, parts: Sequence[Clause], paths: int, values: Sequence[Scalar]) -> bool:
        text = sum(len(value) for value in values if isinstance(value, str))
        left = (
            self._clauses - 2 * len(parts),
            self._values - paths * len(values),
            self._text - paths * text,
        )
        if min(left) < 0:
            return False
        self._clauses, self._values, self._text = left
        return True


def conjunction(clauses: Sequence[Clause]) -> Clause | None:
    """All of ``clauses``, or None where there is none."""
    return _joined("$and", clauses) if clauses else None


def _joined(operator: str, clauses: Sequence[Clause]) -> Clause:
    return clauses[0] if len(clauses) == 1 else {operator: list(clauses)}


def _can_be_stored(value: Scalar) -> bool:
    """Whether any row of Chroma's can carry what equals ``value``."""
    if value is None:
        return False  # None deletes the key; a null document has no key in ``Row.fields``
    if isinstance(value, str):
        return not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, float):
        return math.isfinite(value)  # Chroma answers NaN and infinities without their key
    return value in _INT64 or _as_float(value) is not None


def _as_float(value: int) -> float | None:
    try:
        return float(value) if float(value) == value else None
    except OverflowError:
        return None


def _only_fields(paths: Sequence[Path]) -> bool:
    """Whether every path names a metadata key or the document: what a list or scalar lies at."""
    return all(len(path) == 1 and path != ID for path in paths)


def _parts(paths: Sequence[Path], values: Sequence[Scalar]) -> list[Clause]:
    """Clauses of which one holds where the condition does; none where that can't be said.

    "The first path that is present" becomes "any path", which selects more.
    """
    if not all(_is_metadata_key(path) for path in paths):
        return []
    return [{path[0]: test} for path in paths for test in _tests(values)] + [
        {"$and": [{path[0]: bound} for bound in bounds]}
        for path in paths
        for bounds in _ranges(values)
    ]


def _is_metadata_key(path: Path) -> bool:
    return len(path) == 1 and path != ID and path[0][:1] not in ("", "$", "#")


def _tests(values: Sequence[Scalar]) -> list[Clause]:
    """Equality with the values that are compared exactly, as few tests as types allow."""
    flags = [value for value in values if isinstance(value, bool)]
    strings = [value for value in values if isinstance(value, str)]
    integers = [whole for value in values if (whole := _as_int64(value)) is not None]
    return [_any_of(same) for same in (flags, strings, integers) if same]


def _any_of(values: Sequence[bool] | Sequence[str] | Sequence[int]) -> Clause:
    return {"$eq": values[0]} if len(values) == 1 else {"$in": list(values)}


def _ranges(values: Sequence[Scalar]) -> list[tuple[Clause, Clause]]:
    """The bounds between which Chroma holds each of the other numbers."""
    found = []
    for value in values:
        if isinstance(value, bool | str) or value is None or _as_int64(value) is not None:
            continue
        low = high = float(value)
        for _ in range(_ROUNDINGS):
            low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        bounds: tuple[Clause, Clause] = ({"$gte": _finite(low)}, {"$lte": _finite(high)})
        found.append(bounds)
    return found


def _finite(bound: float) -> float:
    largest = float.fromhex("0x1.fffffffffffffp+1023")
    return min(max(bound, -largest), largest)


def _as_int64(value: Scalar) -> int | None:
    """``value`` as the integer that Chroma compares both its integers and its floats with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == int(value) and int(value) in _INT64 else None


def _document_parts(values: Sequence[Scalar]) -> list[Clause]:
    return [{"$regex": equal_to(value)} for value in values if isinstance(value, str)]
