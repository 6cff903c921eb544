"""Timestamps: RFC 3339, UTC, ``Z``, milliseconds (spec 3.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

__all__ = ["EPOCH", "from_datetime", "from_milliseconds", "to_milliseconds"]

EPOCH = "1970-01-01T00:00:00.000Z"

_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_MILLISECOND = timedelta(milliseconds=1)


def from_datetime(moment: datetime) -> str:
    """An aware datetime as a timestamp; what is finer than a millisecond is cut off.

    Raises:
        OverflowError: In UTC it lies outside the years 1 to 9999.
    """
    utc = moment.astimezone(UTC)
    return f"{utc:%H:%M:%S}".join(
        (f"{utc.year:04}-{utc:%m-%d}T", f".{utc.microsecond // 1000:03}Z")
    )


def from_milliseconds(milliseconds: int) -> str:
    """Milliseconds since 1970 as a timestamp.

    Raises:
        OverflowError: Outside the years 1 to 9999.

    >>> from_milliseconds(1785233730123)
    '2026-07-28T10:15:30.123Z'
    """
    return from_datetime(_ORIGIN + timedelta(milliseconds=milliseconds))


def to_milliseconds(timestamp: str) -> int:
    """A timestamp as milliseconds since 1970.

    Raises:
        ValueError: It is not of exactly the form of spec 3.3.
    """
    if _FORM.fullmatch(timestamp) is None:
        raise ValueError(f"not of the form YYYY-MM-DDTHH:MM:SS.mmmZ: {timestamp!r}")
    return (datetime.fromisoformat(timestamp) - _ORIGIN) // _MILLISECOND
