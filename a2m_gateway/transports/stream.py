"""One connection of newline-framed messages (spec 8.2), whatever its bytes travel over."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import structlog

from a2m_gateway.protocol import too_large_response
from a2m_gateway.protocol.framing import TOO_LONG, LineFramer, Message
from a2m_gateway.transports.responder import Responder

__all__ = ["MAX_IN_FLIGHT", "ByteStream", "StreamSession"]

log = structlog.get_logger(__name__)

MAX_IN_FLIGHT = 64
"""Requests of one connection that are answered at once; the next ones stay unread until then."""


class ByteStream(Protocol):
    """Bytes in both directions."""

    async def read(self) -> bytes:
        """What has arrived, at least one byte; ``b""`` is the end of the stream."""
        ...

    async def write(self, data: bytes) -> None:
        """Return when all of ``data`` is on its way; raise OSError when the peer is gone."""
        ...


class StreamSession:
    """Answers what arrives on one stream until it ends, then what was accepted until then.

    Requests are answered concurrently and responses in the order they are ready, each whole. A
    peer that does not read its responses is not read from either.

    Args:
        grace: Seconds that accepted requests may take after the end of the stream or ``stop``.
    """

    def __init__(self, responder: Responder, stream: ByteStream, *, grace: float) -> None:
        self._responder = responder
        self._stream = stream
        self._grace = grace
        self._slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._writing = asyncio.Lock()
        self._calls: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._peer_gone = asyncio.Event()

    def stop(self) -> None:
        """Accept nothing more; ``run`` returns when what was accepted is answered."""
        self._stopping.set()

    async def run(self) -> None:
        """Serve the stream. Cancelling it abandons the calls in flight."""
        accepting = asyncio.create_task(self._accept())
        gone = asyncio.create_task(self._peer_gone.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((accepting, gone, stopping), return_when="FIRST_COMPLETED")
            if accepting.done():
                accepting.result()
            accepting.cancel()
            await self._settle(gone)
        finally:
            await _cancel(accepting, gone, stopping, *self._calls)

    async def _accept(self) -> None:
        framer = LineFramer(self._responder.max_request_bytes)
        try:
            while data := await self._stream.read():
                for message in framer.feed(data):
                    await self._begin(message)
        except OSError as error:
            log.debug("stream.cut_off", error=str(error))
            self._peer_gone.set()
            return
        for message in framer.finish():
            await self._begin(message)

    async def _begin(self, message: Message) -> None:
        await self._slots.acquire()
        call = asyncio.create_task(self._answer(message))
        self._calls.add(call)
        call.add_done_callback(self._end)

    def _end(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        self._slots.release()
        if not call.cancelled() and (error := call.exception()) is not None:
            log.error("stream.call_failed", exc_info=error)

    async def _answer(self, message: Message) -> None:
        if message is TOO_LONG:
            response: bytes | None = too_large_response(self._responder.max_request_bytes)
        else:
            response = await self._responder.answer(message)
        if response is not None:
            await self._write(response + b"\n")

    async def _write(self, line: bytes) -> None:
        async with self._writing:
            if self._peer_gone.is_set():
                return
            try:
                await self._stream.write(line)
            except OSError as error:
                log.debug("stream.peer_gone", error=str(error))
                self._peer_gone.set()

    async def _settle(self, gone: asyncio.Task[bool]) -> None:
        """Wait for the calls in flight, as long as they may take and somebody hears them."""
        if not self._calls:
            return
        finished = asyncio.create_task(_all_done(self._calls.copy()))
        try:
            await asyncio.wait((finished, gone), timeout=self._grace, return_when="FIRST_COMPLETED")
        finally:
            finished.cancel()
        if self._calls and not self._peer_gone.is_set():
            log.warning("stream.abandoned", calls=len(self._calls), grace=self._grace)


async def _all_done(tasks: set[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
