"""The line framing without I/O (spec 8.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2m_gateway.protocol.framing import TOO_LONG, LineFramer, Message


def fed(pieces: list[bytes], limit: int = 100) -> list[Message]:
    framer = LineFramer(limit)
    return [message for piece in pieces for message in framer.feed(piece)] + framer.finish()


@pytest.mark.requirement("8.2-line-framing")
@pytest.mark.parametrize(
    ("stream", "messages"),
    [
        (b"", []),
        (b"a\n", [b"a"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\n \n\t\r\n\r\na\n\n", [b"a"]),
        (b"a\rb\n", [b"a\rb"]),
        (b" a \n", [b" a "]),
        ("ü☕\n".encode(), ["ü☕".encode()]),
        (b"\xff\x00\n", [b"\xff\x00"]),
    ],
)
def test_lines(stream: bytes, messages: list[bytes]) -> None:
    assert fed([stream]) == messages
    assert fed([stream[i : i + 1] for i in range(len(stream))]) == messages


@pytest.mark.requirement("8.2-line-framing")
@given(st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_cuts_do_not_matter(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    at = data.draw(st.lists(st.integers(0, len(stream)), max_size=6).map(sorted))
    pieces = [stream[a:b] for a, b in zip([0, *at], [*at, len(stream)], strict=True)]
    stripped = [line[:-1] if line.endswith(b"\r") else line for line in lines]
    assert fed(pieces) == [line for line in stripped if line.strip()]


@pytest.mark.requirement("8.2-line-framing")
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_limit_counts_the_message_alone(end: bytes) -> None:
    assert fed([b"x" * 100 + end]) == [b"x" * 100]
    assert fed([b"x" * 101 + end + b"y" + end]) == [TOO_LONG, b"y"]


def test_an_endless_line_is_reported_once_and_not_held() -> None:
    framer = LineFramer(100)
    found = [m for _ in range(1000) for m in framer.feed(b"z" * 50)]
    assert found == [TOO_LONG]
    assert len(framer._held) == 0
    assert framer.feed(b"\nafter\n") == [b"after"]
    assert framer.finish() == []
