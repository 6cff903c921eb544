"""Times as writers leave them, and the moments they mean.

A number, or a string that holds one, counts from 1970 in a unit that its magnitude tells: below
1e11 seconds (the year 5138), below 1e14 milliseconds, else microseconds. Anything else must be ISO
8601; without an offset it is taken as UTC. What can't be read is None, never a guess.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

from a2m_gateway.protocol.timestamps import from_datetime, from_milliseconds
from a2m_gateway.store.rows import JSON, Absent

__all__ = ["Moment", "TimeKind", "read_time", "uniform_kind"]


class TimeKind(StrEnum):
    """How a time is written."""

    ISO = "ISO 8601"
    ISO_WITHOUT_OFFSET = "ISO 8601 without an offset"
    DATE = "a date without a time of day"
    SECONDS = "seconds since 1970"
    MILLISECONDS = "milliseconds since 1970"
    MICROSECONDS = "microseconds since 1970"

    @property
    def is_epoch(self) -> bool:
        return self in _SCALE

    @property
    def assumes_utc(self) -> bool:
        return self in {TimeKind.ISO_WITHOUT_OFFSET, TimeKind.DATE}


_SCALE = {
    TimeKind.SECONDS: Decimal(1000),
    TimeKind.MILLISECONDS: Decimal(1),
    TimeKind.MICROSECONDS: Decimal("0.001"),
}
_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d{1,20})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(_DATE.pattern + r"(?:[Tt ][\d:.,]+(?:[Zz]|[+-][\d:]+)?)?", re.ASCII)
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that could be read.

    Attributes:
        timestamp: Of the form of spec 3.3; what is finer than a millisecond is cut off.
        kind: How it was written.
        numeric: It is a number, not a string that holds one.
    """

    timestamp: str
    kind: TimeKind
    numeric: bool = False


def read_time(value: JSON | Absent) -> Moment | None:
    """The moment that ``value`` means, or None.

    >>> read_time(1796048453)
    Moment(timestamp='2026-11-30T14:20:53.000Z', kind=<TimeKind.SECONDS: 'seconds since 1970'>, \
numeric=True)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return _epoch(Decimal(value), numeric=True)
    if isinstance(value, float):
        # By its shortest form: 0.29 of a second is 290 ms, though no double is exactly 0.29.
        return _epoch(Decimal(repr(value)), numeric=True) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if not text or len(text) > _LONGEST:
        return None
    if _NUMBER.fullmatch(text):
        return _epoch(Decimal(text), numeric=False)
    return _iso(text)


def uniform_kind(moments: Iterable[Moment]) -> TimeKind | None:
    """The kind that all of them share, so that the raw values are ordered as the moments are.

    None where kinds are mixed, or where strings do not sort as what they mean.
    """
    found = {(moment.kind, moment.numeric) for moment in moments}
    if len(found) != 1:
        return None
    kind, numeric = found.pop()
    return kind if numeric or not kind.is_epoch else None


def _epoch(number: Decimal, *, numeric: bool) -> Moment | None:
    size = abs(number)
    kind = TimeKind.MICROSECONDS
    if size < 10**11:
        kind = TimeKind.SECONDS
    elif size < 10**14:
        kind = TimeKind.MILLISECONDS
    try:
        return Moment(from_milliseconds(math.floor(number * _SCALE[kind])), kind, numeric)
    except OverflowError:
        return None


def _iso(text: str) -> Moment | None:
    if _DATE_TIME.fullmatch(text) is None:
        return None  # Python also takes digits without separators, which are numbers here
    try:
        moment = datetime.fromisoformat(text.upper())
        kind = TimeKind.ISO
        if moment.tzinfo is None:
            kind = TimeKind.DATE if _DATE.fullmatch(text) else TimeKind.ISO_WITHOUT_OFFSET
            moment = moment.replace(tzinfo=UTC)
        return Moment(from_datetime(moment), kind)
    except (ValueError, OverflowError):
        return None
