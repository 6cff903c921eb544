"""One JSON value per line (spec 8.2), without I/O: bytes in, messages out."""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias

__all__ = ["TOO_LONG", "LineFramer", "Message", "TooLong"]


class TooLong(Enum):
    """A line over the limit, of which nothing was kept."""

    TOO_LONG = "too long"


TOO_LONG: Final = TooLong.TOO_LONG

Message: TypeAlias = bytes | TooLong


class LineFramer:
    r"""Cuts a stream of bytes at its newlines.

    Blank lines are passed over and ``\r\n`` ends a line too. Of a line over the limit no more
    than the limit is ever held: it is reported once, and dropped to its end.

    Args:
        limit: Bytes that a message may have, its newline not counted.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> list[Message]:
        """The messages that ``data`` completes, in order."""
        messages: list[Message] = []
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._take(piece, messages)
            self._end_line(messages)
        self._take(rest, messages)
        return messages

    def finish(self) -> list[Message]:
        """What is left at the end of the stream: a last line needs no newline."""
        messages: list[Message] = []
        self._end_line(messages)
        return messages

    def _take(self, piece: bytes, messages: list[Message]) -> None:
        if self._dropping:
            return
        # One byte more than the limit: it may be the carriage return before the newline.
        if len(self._held) + len(piece) > self._limit + 1:
            self._drop(messages)
        else:
            self._held += piece

    def _end_line(self, messages: list[Message]) -> None:
        if not self._dropping:
            line = bytes(self._held.removesuffix(b"\r"))
            if len(line) > self._limit:
                messages.append(TOO_LONG)
            elif line and not line.isspace():
                messages.append(line)
        self._held.clear()
        self._dropping = False

    def _drop(self, messages: list[Message]) -> None:
        messages.append(TOO_LONG)
        self._held.clear()
        self._dropping = True
