"""From the gateway's conditions to Qdrant's filter, which only ever narrows.

What can't be pushed so that nothing is lost is left out. The pitfalls, probed on the Rust core:

- ``match`` and ``range`` on an array mean any-of, so nothing pushed is exact;
- ``match`` of an integer does not find the same number kept as a float (but by an integer index it
  does): integers go as a range, which compares as float64 and is widened where that rounds;
- a numeric range finds nothing by a datetime index, and no fraction by an integer index;
- a text that reads as a UUID is found by no index of numbers or times, though it lies there;
- the client's doubles may arrive one unit in the last place off: floats go as a widened range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from qdrant_client import models

from a2m_gateway.capability import Pushdown, ValueType
from a2m_gateway.store import Condition, Filter, Path, Scalar
from a2m_gateway.store.filter import value_type
from a2m_gateway.store.rows import ID
from a2m_gateway.store.text import is_text
from a2m_qdrant.ids import point_ids
from a2m_qdrant.keys import payload_key
from a2m_qdrant.schema import index_of, strict_mode

__all__ = ["Narrowed", "Pusher"]

_STRINGS = 1000
_NUMBERS = 64
"""Values of one condition that are worth sending; a number is a condition of its own to Qdrant."""

_CONDITIONS = 1000
_EXACT = 2**53
_I64 = 2**63
_DOUBT = 1e-12
"""Relative; thousands of times what a double loses on its way."""

_Kind = models.PayloadSchemaType
_SERVES: Mapping[ValueType, frozenset[models.PayloadSchemaType]] = {
    ValueType.STRING: frozenset({_Kind.KEYWORD, _Kind.UUID}),
    ValueType.BOOLEAN: frozenset({_Kind.BOOL}),
    ValueType.INTEGER: frozenset({_Kind.INTEGER, _Kind.FLOAT}),
    ValueType.FLOAT: frozenset({_Kind.FLOAT}),
    ValueType.NULL: frozenset(),
}
"""The indexes that strict mode accepts for a value of each type."""

_MISLEADS: Mapping[ValueType, frozenset[models.PayloadSchemaType]] = {
    ValueType.STRING: frozenset({_Kind.INTEGER, _Kind.FLOAT, _Kind.DATETIME}),
    ValueType.INTEGER: frozenset({_Kind.DATETIME}),
    ValueType.FLOAT: frozenset({_Kind.DATETIME, _Kind.INTEGER}),
}
"""The indexes by which values of a type are not found."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A filter as Qdrant takes it, or that it selects nothing at all."""

    filter: models.Filter | None
    nothing: bool = False


class Pusher:
    """Pushes conditions down to one collection.

    Args:
        info: Says which indexes there are and what strict mode allows.
        any_string_id: As in ``ids.point_ids``.
    """

    def __init__(self, info: models.CollectionInfo, *, any_string_id: bool) -> None:
        self._info = info
        self._any_string_id = any_string_id
        strict = strict_mode(info)
        self._indexed_only = strict.unindexed_filtering_retrieve is False
        self._conditions = _CONDITIONS if strict.filter_max_conditions is None else (
            strict.filter_max_conditions
        )  # fmt: skip
        size = strict.condition_max_size
        self._strings = _STRINGS if size is None else min(size, _STRINGS)
        self._numbers = _NUMBERS if size is None else min(size, _NUMBERS)

    @property
    def pushdowns(self) -> dict[ValueType, Pushdown]:
        """Per type of value, for the profile."""
        if not self._indexed_only:
            return dict.fromkeys(ValueType, Pushdown.LOOSE)
        kinds = {index.data_type for index in self._info.payload_schema.values()}
        return {
            value: Pushdown.LOOSE if kinds & serving else Pushdown.NONE
            for value, serving in _SERVES.items()
        }

    def narrow(self, conditions: Filter) -> Narrowed:
        """The filter that selects at least what ``conditions`` do."""
        if any(not condition.values for condition in conditions):
            return Narrowed(None, nothing=True)
        must: list[models.Condition] = []
        left = self._conditions
        for condition in conditions:
            alternatives = self._alternatives(condition)
            if alternatives == []:
                return Narrowed(None, nothing=True)
            if alternatives is None or len(alternatives) > left:
                continue
            left -= len(alternatives)
            one = len(alternatives) == 1
            must.append(alternatives[0] if one else models.Filter(should=alternatives))
        return Narrowed(models.Filter(must=must) if must else None)

    def _alternatives(self, condition: Condition) -> list[models.Condition] | None:
        """Conditions of which one holds for whatever matches, or None where that can't be said.

        Any of the paths may be the first that a row carries, so each of them counts.
        """
        found: list[models.Condition] = []
        for path in condition.paths:
            pushed = self._at(path, condition.values)
            if pushed is None:
                return None
            found += pushed
        return found

    def _at(self, path: Path, values: Sequence[Scalar]) -> list[models.Condition] | None:
        if path == ID:
            return self._by_id(values)
        key = payload_key(path)
        if key is None:
            return None
        index = index_of(self._info, path)
        by_type: dict[ValueType, list[Scalar]] = {}
        for value in values:
            by_type.setdefault(value_type(value), []).append(value)
        found: list[models.Condition] = []
        for kind, alike in by_type.items():
            pushed = _PUSH[kind](key, alike, index) if self._may_push(kind, alike, index) else None
            if pushed is None:
                return None
            found += pushed
        return found

    def _may_push(
        self, kind: ValueType, values: Sequence[Scalar], index: models.PayloadIndexInfo | None
    ) -> bool:
        number = kind in (ValueType.INTEGER, ValueType.FLOAT)
        if len(values) > (self._numbers if number else self._strings):
            return False
        indexed = index.data_type if index is not None else None
        if indexed in _MISLEADS.get(kind, ()):
            return False
        return not self._indexed_only or indexed in _SERVES[kind]

    def _by_id(self, values: Sequence[Scalar]) -> list[models.Condition] | None:
        names = [value for value in values if isinstance(value, str)]
        points = point_ids(names, any_string=self._any_string_id)
        if len(points) > self._strings:
            return None
        return [models.HasIdCondition(has_id=[*points])] if points else []


_Index = models.PayloadIndexInfo | None


def _strings(key: str, values: Sequence[Scalar], index: _Index) -> list[models.Condition] | None:
    texts = [value for value in values if isinstance(value, str) and is_text(value)]
    by_uuid = index is not None and index.data_type is _Kind.UUID
    if by_uuid and not all(map(_is_any_uuid, texts)):
        return None  # the index holds no other text
    return _any_of(key, texts)


def _booleans(key: str, values: Sequence[Scalar], index: _Index) -> list[models.Condition] | None:
    wanted = [value for value in values if isinstance(value, bool)]
    return [
        models.FieldCondition(key=key, match=models.MatchValue(value=value))
        for value in dict.fromkeys(wanted)
    ]


def _integers(key: str, values: Sequence[Scalar], index: _Index) -> list[models.Condition] | None:
    numbers = [int(value) for value in values if isinstance(value, int | float)]
    if any(abs(number) >= _I64 for number in numbers):
        return None
    params = index.params if index is not None else None
    if isinstance(params, models.IntegerIndexParams) and params.range is False:
        return _any_of(key, numbers)  # by an integer index, 1 finds 1.0 too
    return [_between(key, *_around(number)) for number in dict.fromkeys(numbers)]


def _floats(key: str, values: Sequence[Scalar], index: _Index) -> list[models.Condition] | None:
    numbers = [value for value in values if isinstance(value, float)]
    if not all(map(math.isfinite, numbers)):
        return None
    doubts = [max(abs(number) * _DOUBT, math.ulp(0.0) * 8) for number in numbers]
    return [
        _between(key, number - doubt, number + doubt)
        for number, doubt in zip(numbers, doubts, strict=True)
    ]


def _nulls(key: str, values: Sequence[Scalar], index: _Index) -> list[models.Condition] | None:
    return [models.IsNullCondition(is_null=models.PayloadField(key=key))]


_PUSH: Mapping[
    ValueType,
    Callable[[str, Sequence[Scalar], _Index], list[models.Condition] | None],
] = {
    ValueType.STRING: _strings,
    ValueType.BOOLEAN: _booleans,
    ValueType.INTEGER: _integers,
    ValueType.FLOAT: _floats,
    ValueType.NULL: _nulls,
}


def _any_of(key: str, values: Iterable[int] | Iterable[str]) -> list[models.Condition]:
    distinct = list(dict.fromkeys(values))
    if not distinct:
        return []
    if len(distinct) == 1:
        return [models.FieldCondition(key=key, match=models.MatchValue(value=distinct[0]))]  # type: ignore[arg-type]
    return [models.FieldCondition(key=key, match=models.MatchAny(any=distinct))]  # type: ignore[arg-type]


def _around(number: int) -> tuple[float, float]:
    """The narrowest range of float64 that holds ``number`` and whatever equals it."""
    if abs(number) <= _EXACT:
        return float(number), float(number)
    near = float(number)
    return math.nextafter(near, -math.inf), math.nextafter(near, math.inf)


def _between(key: str, low: float, high: float) -> models.FieldCondition:
    return models.FieldCondition(key=key, range=models.Range(gte=low, lte=high))


def _is_any_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
