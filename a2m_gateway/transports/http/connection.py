"""One HTTP connection: uvicorn's, with bounds on what a peer may make it hold and wait for."""

from __future__ import annotations

import asyncio
from typing import Any

from a2m_gateway.transports.http.joined import JoinedWrites
from a2m_gateway.transports.http.plain import PlainConnection

__all__ = ["MAX_HEAD_BYTES", "BoundedConnection", "connection_class"]

MAX_HEAD_BYTES = 65_536
"""Of a request line with its headers, or of trailers; uvicorn and its parser hold any number."""

MAX_DROPPED_BYTES = 64 * 1024 * 1024
"""Of a body that was answered before it was read. Until then it is read and dropped: a client that
is cut off while it sends does not get to see why."""

_PIECE = 4096
"""Bytes parsed at once. The parser does not tell where in them a head began that follows another
request, so a pipelined head may be longer by as much."""


class BoundedConnection(PlainConnection):
    """Cuts off a peer that sends a head too slowly or too long, or takes no answer."""

    receive_timeout: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unreported = 0  # bytes since the parser last told of a whole head or of body
        self._dropped = 0
        self._in_head = True
        self._in_request = False
        self._accepted: asyncio.Transport | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._accepted = transport
        joined = JoinedWrites(transport, self.loop, self._close)
        super().connection_made(joined)  # type: ignore[arg-type]  # what is not written passes through
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer = _stopped(self._head_timer)
        self._linger_timer = _stopped(self._linger_timer)
        self._write_timer = _stopped(self._write_timer)
        self._in_request = False
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        start = 0
        while start < len(data) and not self.transport.is_closing():
            size = min(_PIECE, MAX_HEAD_BYTES - self._unreported)
            if not size:
                self._cut_off(b"431 Request Header Fields Too Large")
                break
            piece = data[start : start + size]
            start += len(piece)
            self._unreported += len(piece)
            super().data_received(piece)
        if self.transport.is_closing():
            self._drop(len(data) - start)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = self._in_request = True
        if self._head_timer is None:
            self._await_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        # uvicorn would put trailers among the headers, where they could pose as any of them.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_timer = _stopped(self._head_timer)
        self._unreported = self._dropped = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unreported = 0
        if self.cycle.response_complete:
            self._drop(len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_request = False
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.receive_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        self._write_timer = _stopped(self._write_timer)
        super().resume_writing()

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.receive_timeout, self._head_is_late)

    def _head_is_late(self) -> None:
        if self._answering():
            self._await_head()
        else:
            self._in_request = False  # it had its time
            self._cut_off(b"408 Request Timeout")

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _cut_off(self, status: bytes) -> None:
        if self.transport.is_closing():
            return
        if not self._answering():  # else it would be taken for the answer that is under way
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        self.transport.close()

    def _drop(self, size: int) -> None:
        self._dropped += size
        if self._dropped > MAX_DROPPED_BYTES:
            self._in_request = False
            self.transport.close()

    def _close(self) -> None:
        """Close at once, or for a peer that still sends in two steps (RFC 9112 9.6).

        Closed with bytes unread, TCP resets the connection, and the answer is lost on its way.
        """
        accepted = self._accepted
        if accepted is None or accepted.is_closing():
            return
        if self._in_request and self._linger_timer is None:
            accepted.write_eof()
            accepted.resume_reading()
            self._linger_timer = self.loop.call_later(self.receive_timeout, accepted.close)
        else:
            accepted.close()


def connection_class(receive_timeout: float) -> type[BoundedConnection]:
    """The class that uvicorn is to make its connections of."""
    return type("Connection", (BoundedConnection,), {"receive_timeout": receive_timeout})


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
