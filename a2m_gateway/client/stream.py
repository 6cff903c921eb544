"""Newline-framed messages in both directions (spec 8.2), over a process or a socket."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import structlog

from a2m_gateway.client.answers import message_of
from a2m_gateway.client.channel import NotificationCallback
from a2m_gateway.errors import ClientError, MalformedAnswer, ServerUnreachable
from a2m_gateway.protocol.framing import TOO_LONG, LineFramer

__all__ = ["MAX_ANSWER_BYTES", "StreamChannel"]

log = structlog.get_logger(__name__)

MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""Of one message of the server's; more is taken for a stream that has no lines."""

READ_BYTES = 65_536


class StreamChannel:
    """Matches responses with requests by id, in whatever order they come.

    What has been sent to a stream is not taken back by cancelling: the answer to a cancelled
    request is dropped when it comes.

    Args:
        on_notification: Called with each notification, in between as they come.
    """

    def __init__(self, *, on_notification: NotificationCallback | None = None) -> None:
        self._on_notification = on_notification
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last_id = 0
        self._opening = asyncio.Lock()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ended: ClientError | None = None

    async def open(self) -> None:
        """See ``Channel``."""
        async with self._opening:
            if self._ended is None and self._writer is None:
                reader, self._writer = await self._connect()
                self._reading = asyncio.create_task(self._read(reader))

    async def exchange(self, request_id: int, message: bytes) -> dict[str, Any]:
        """See ``Channel``."""
        await self.open()
        if self._ended is not None or self._writer is None:
            raise self._ended or ServerUnreachable("the channel is closed")
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        self._last_id = max(self._last_id, request_id)
        try:
            self._writer.write(message + b"\n")
            # The end of the stream says why; whoever is reading it knows.
            with contextlib.suppress(ConnectionError):
                await self._writer.drain()
            return await answer
        finally:
            del self._waiting[request_id]

    async def aclose(self) -> None:
        """See ``Channel``."""
        self._end(ServerUnreachable("the channel is closed"))
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        try:
            writer.close()
            await self._disconnect()
        finally:
            if self._reading is not None:
                self._reading.cancel()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Both ends of a new stream; raise ``ServerUnreachable``."""
        raise NotImplementedError

    async def _disconnect(self) -> None:
        """What is to be done after the writing end was closed."""

    async def _why_it_ended(self) -> str:
        """For people, when the server ended the stream."""
        return "the server closed the connection"

    async def _read(self, reader: asyncio.StreamReader) -> None:
        framer = LineFramer(MAX_ANSWER_BYTES)
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(READ_BYTES):
                for line in framer.feed(data):
                    self._take(line if line is not TOO_LONG else b"")
        for line in framer.finish():
            self._take(line if line is not TOO_LONG else b"")
        self._end(ServerUnreachable(await self._why_it_ended()))

    def _take(self, line: bytes) -> None:
        try:
            message = message_of(line)
        except MalformedAnswer as error:
            self._fail(error)
            return
        if "method" not in message:
            self._take_response(message)
        elif "id" in message:
            log.warning("client.request_from_server", method=str(message["method"])[:80])
        elif self._on_notification is not None:
            try:
                self._on_notification(message)
            except Exception:
                # A fault of the caller's own; the answers that others wait for still come.
                log.exception("client.callback_failed", method=str(message["method"])[:80])

    def _take_response(self, message: dict[str, Any]) -> None:
        given = message.get("id")
        answer = self._waiting.get(given) if type(given) is int else None
        if answer is None and given is None and len(self._waiting) == 1:
            # The server could not tell the id, and there is only one that it can have been.
            answer = next(iter(self._waiting.values()))
        if answer is not None:
            if not answer.done():
                answer.set_result(message)
        elif type(given) is int and 0 < given <= self._last_id:
            log.debug("client.late_answer", id=given)
        else:
            self._fail(MalformedAnswer(f"the server answered {given!r}, which was not asked"))

    def _fail(self, error: ClientError) -> None:
        """Nothing tells whose answer this was, so all that wait are told."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)

    def _end(self, error: ClientError) -> None:
        if self._ended is None:
            self._ended = error
        self._fail(error)
