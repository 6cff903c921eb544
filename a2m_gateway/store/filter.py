"""Filters, and the one function that says what they select.

A store's own filter only ever narrows the candidates: what a row must satisfy is decided here, by
strict JSON equality (design, "Meaning"): 1 equals 1.0, neither equals true, null equals an explicit
null alone, and a list or an object equals no scalar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from a2m_gateway.capability import ValueType
from a2m_gateway.store.rows import ABSENT, JSON, Absent, Path, Row, Scalar, lookup

__all__ = ["Condition", "Filter", "equal", "matches", "value_type"]


@dataclass(frozen=True, slots=True)
class Condition:
    """The value at the first of ``paths`` that the row carries equals one of ``values``.

    Several paths because a name in ``where`` is a record field that the record carries, else its
    metadata key. No values: selects nothing.
    """

    paths: tuple[Path, ...]
    values: tuple[Scalar, ...]


Filter: TypeAlias = tuple[Condition, ...]
"""A conjunction; the empty one selects everything."""


def matches(row: Row, conditions: Filter) -> bool:
    """Whether ``row`` satisfies every condition."""
    return all(_holds(row, condition) for condition in conditions)


def _holds(row: Row, condition: Condition) -> bool:
    for path in condition.paths:
        found = lookup(row, path)
        if not isinstance(found, Absent):
            return any(equal(found, value) for value in condition.values)
    return False


def equal(found: JSON | Absent, value: Scalar) -> bool:
    """Strict JSON equality of what a row carries and a scalar.

    >>> equal(1, 1.0), equal(1, True), equal(None, None), equal([1], 1)
    (True, False, True, False)
    """
    if found is ABSENT or isinstance(found, bool) != isinstance(value, bool):
        return False
    if value is None or found is None:
        return value is found
    if isinstance(found, str) or isinstance(value, str):
        return isinstance(found, str) and found == value
    if isinstance(found, int | float):
        return found == value
    return False


def value_type(value: Scalar) -> ValueType:
    """The type under which a profile's ``filters`` lists ``value``.

    A float that is a whole number is an INTEGER when it is exact as one: JSON has one number type.
    """
    if value is None:
        return ValueType.NULL
    if isinstance(value, bool):
        return ValueType.BOOLEAN
    if isinstance(value, str):
        return ValueType.STRING
    if isinstance(value, int) or (math.isfinite(value) and value == int(value)):
        return ValueType.INTEGER
    return ValueType.FLOAT
