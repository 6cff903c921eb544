"""Timestamps both ways (section 3.3)."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.protocol import EPOCH, from_milliseconds, to_milliseconds
from a2m_gateway.protocol.timestamps import from_datetime

FIRST, LAST = "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"


def _milliseconds(timestamp: str) -> int:
    """By the calendar module, digit by digit."""
    date, time = timestamp[:-1].split("T")
    year, month, day = map(int, date.split("-"))
    hour, minute, second = map(int, time[:8].split(":"))
    seconds = calendar.timegm((year, month, day, hour, minute, second))
    return seconds * 1000 + int(time[9:])


@pytest.mark.requirement("3.3-timestamp-format")
@pytest.mark.parametrize(
    "timestamp",
    [
        FIRST,
        LAST,
        EPOCH,
        "2026-07-28T10:15:30.123Z",
        "1969-12-31T23:59:59.999Z",
        "0099-02-28T00:00:00.001Z",
        "2024-02-29T12:00:00.000Z",
        "1000-01-01T00:00:00.010Z",
    ],
)
def test_there_and_back(timestamp: str) -> None:
    assert to_milliseconds(timestamp) == _milliseconds(timestamp)
    assert from_milliseconds(_milliseconds(timestamp)) == timestamp


@given(st.integers(_milliseconds(FIRST), _milliseconds(LAST)))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_every_millisecond(milliseconds: int) -> None:
    timestamp = from_milliseconds(milliseconds)
    assert _milliseconds(timestamp) == milliseconds
    assert to_milliseconds(timestamp) == milliseconds
    assert len(timestamp) == 24


@given(st.integers(_milliseconds(FIRST), _milliseconds(LAST) - 1), st.integers(1, 10**9))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_their_order_as_text_is_their_order_in_time(milliseconds: int, later: int) -> None:
    after = min(milliseconds + later, _milliseconds(LAST))
    assert from_milliseconds(milliseconds) < from_milliseconds(after)


@pytest.mark.parametrize("outside", [_milliseconds(FIRST) - 1, _milliseconds(LAST) + 1, 10**30])
def test_outside_the_years_1_to_9999(outside: int) -> None:
    with pytest.raises(OverflowError):
        from_milliseconds(outside)


def test_a_moment_is_cut_to_its_millisecond_and_put_in_utc() -> None:
    paris = timezone(timedelta(hours=2))
    moment = datetime(2026, 7, 28, 12, 15, 30, 123_999, tzinfo=paris)
    assert from_datetime(moment) == "2026-07-28T10:15:30.123Z"
    assert from_datetime(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == (
        "1969-12-31T23:59:59.999Z"
    )
    assert from_datetime(datetime(1, 1, 1, tzinfo=UTC)) == FIRST


@pytest.mark.parametrize("hours", [14, -12])
def test_a_moment_that_utc_has_no_year_for(hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    edge = datetime(1, 1, 1, tzinfo=zone) if hours > 0 else datetime(9999, 12, 31, 23, tzinfo=zone)
    with pytest.raises(OverflowError):
        from_datetime(edge)


@pytest.mark.requirement("3.3-no-numeric-timestamps")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "1785233730123",
        "2026-07-28",
        "2026-07-28T10:15:30Z",
        "2026-07-28T10:15:30.123",
        "2026-07-28T10:15:30.123+00:00",
        "2026-07-28t10:15:30.123z",
        "2026-07-28 10:15:30.123Z",
        "2026-07-28T10:15:30.1234Z",
        "2026-07-28T10:15:30,123Z",
        "2026-13-01T00:00:00.000Z",
        "2026-02-29T00:00:00.000Z",
        "2026-07-28T24:00:00.000Z",
        "2026-07-28T10:60:00.000Z",
        "2016-12-31T23:59:60.000Z",
        "0000-01-01T00:00:00.000Z",
        "-001-01-01T00:00:00.000Z",
        " 2026-07-28T10:15:30.123Z",
        "2026-07-28T10:15:30.123Z\n",
        "٢٠٢٦-07-28T10:15:30.123Z",
        "10000-01-01T00:00:00.000Z",
        "2026-W31-2T10:15:30.123Z",
    ],
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"form|must be|range|Invalid|day|month|hour|minute"):
        to_milliseconds(text)
