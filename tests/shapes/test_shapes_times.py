"""Times in every form that writers use, and what is none."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from a2m_gateway.shapes.times import TimeKind, read_time, uniform_kind

MOMENT = "2026-07-28T10:15:30.123Z"  # 1785233730.123 s, by `date -u -d @1785233730`


@pytest.mark.parametrize(
    ("value", "timestamp", "kind"),
    [
        ("2026-07-28T10:15:30.123Z", MOMENT, TimeKind.ISO),
        ("2026-07-28t10:15:30.123z", MOMENT, TimeKind.ISO),
        ("2026-07-28T12:15:30.123+02:00", MOMENT, TimeKind.ISO),
        ("2026-07-28T12:15:30.123+0200", MOMENT, TimeKind.ISO),
        ("2026-07-28 03:15:30.123456-07:00", MOMENT, TimeKind.ISO),
        ("2026-07-28T10:15:30.123999", MOMENT, TimeKind.ISO_WITHOUT_OFFSET),
        ("2026-07-28 10:15", "2026-07-28T10:15:00.000Z", TimeKind.ISO_WITHOUT_OFFSET),
        ("2026-07-28", "2026-07-28T00:00:00.000Z", TimeKind.DATE),
        (" 2026-07-28 ", "2026-07-28T00:00:00.000Z", TimeKind.DATE),
        ("1969-07-20T20:17:40Z", "1969-07-20T20:17:40.000Z", TimeKind.ISO),
        (1785233730, "2026-07-28T10:15:30.000Z", TimeKind.SECONDS),
        (1785233730.123, MOMENT, TimeKind.SECONDS),
        (1785233730.29, "2026-07-28T10:15:30.290Z", TimeKind.SECONDS),
        ("1785233730.123", MOMENT, TimeKind.SECONDS),
        (1785233730123, MOMENT, TimeKind.MILLISECONDS),
        ("1785233730123", MOMENT, TimeKind.MILLISECONDS),
        (1785233730123.9, MOMENT, TimeKind.MILLISECONDS),
        (1785233730123456, MOMENT, TimeKind.MICROSECONDS),
        ("1785233730123456", MOMENT, TimeKind.MICROSECONDS),
        (0, "1970-01-01T00:00:00.000Z", TimeKind.SECONDS),
        (-1, "1969-12-31T23:59:59.000Z", TimeKind.SECONDS),
        (-0.5, "1969-12-31T23:59:59.500Z", TimeKind.SECONDS),
        (99_999_999_999, "5138-11-16T09:46:39.000Z", TimeKind.SECONDS),
        (100_000_000_000, "1973-03-03T09:46:40.000Z", TimeKind.MILLISECONDS),
        (99_999_999_999_999, "5138-11-16T09:46:39.999Z", TimeKind.MILLISECONDS),
        (100_000_000_000_000, "1973-03-03T09:46:40.000Z", TimeKind.MICROSECONDS),
    ],
)
def test_what_is_a_time(value: Any, timestamp: str, kind: TimeKind) -> None:
    moment = read_time(value)
    assert moment is not None
    assert (moment.timestamp, moment.kind) == (timestamp, kind)


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, "", " ", "yesterday", "None", "nan", "inf", math.nan, math.inf,
        -math.inf, 1e300, 10**400, -(10**30), "1" * 50, "1e9", "0x10", "١٧٨٥٢٣٣٧٣٠", [], {}, [1],
        "2026-02-30", "2026-13-01", "28.07.2026", "07/28/2026", "2026-07-28T25:00:00Z",
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-07-28T10:15:30Zjunk",
        "3/1/2026, 10:00:00 AM", "2026-07-28\x00", "1785233730;drop",
    ],
)  # fmt: skip
def test_what_is_none(value: Any) -> None:
    assert read_time(value) is None


@given(st.datetimes(), st.integers(-14, 14))
def test_any_offset(naive: datetime, hours: int) -> None:
    assume(2 < naive.year < 9998)  # in UTC it is still a year that datetime knows
    moment = naive.replace(tzinfo=timezone(timedelta(hours=hours)))
    read = read_time(moment.isoformat())
    assert read is not None
    utc = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    assert read.timestamp == utc.replace("+00:00", "Z")


@given(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
)
def test_nothing_breaks_it(value: Any) -> None:
    moment = read_time(value)
    if moment is not None:
        assert datetime.fromisoformat(moment.timestamp).tzinfo is not None
        assert len(moment.timestamp) == 24


def test_one_kind() -> None:
    def kind(*values: Any) -> TimeKind | None:
        return uniform_kind(moment for moment in map(read_time, values) if moment)

    assert kind(1785233730, 1.5) is TimeKind.SECONDS
    assert kind("2026-07-28T10:15:30Z", "2026-07-28T10:15:30+02:00") is TimeKind.ISO
    assert kind(1785233730, 1785233730123) is None
    assert kind("1785233730") is None  # as strings, "9" comes after "10"
    assert kind(1785233730, "1785233730") is None
    assert kind("2026-07-28", "2026-07-28T10:15:30Z") is None
    assert kind() is None
