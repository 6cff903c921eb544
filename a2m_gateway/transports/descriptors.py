"""A pair of file descriptors as a byte stream, whatever kind of file they are."""

from __future__ import annotations

import asyncio
import os
import select
from concurrent.futures import ThreadPoolExecutor
from typing import Final

__all__ = ["DescriptorStream"]

READ_BYTES: Final = 65_536
WRITE_BYTES: Final = select.PIPE_BUF
"""A pipe that polls as writable takes this much without blocking."""


class DescriptorStream:
    """Reads one descriptor and writes another, each on a thread of its own.

    Threads and ``poll``, because epoll refuses regular files and /dev/null, and because the
    non-blocking mode that the event loop would set belongs to the open file, which the terminal
    and other processes may share with this one.

    Args:
        source: Read from; stays the caller's to close.
        sink: Written to; stays the caller's to close.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._closed, self._close = os.pipe()
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="a2m-read")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="a2m-write")

    async def read(self) -> bytes:
        """See ``ByteStream``."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reading, self._read)

    async def write(self, data: bytes) -> None:
        """See ``ByteStream``."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writing, self._write, data)

    def close(self) -> None:
        """End both threads, blocked ones too. Idempotent."""
        if self._close < 0:
            return
        os.close(self._close)
        self._close = -1
        self._reading.shutdown()
        self._writing.shutdown()
        os.close(self._closed)

    def _read(self) -> bytes:
        while self._wait(self._source, select.POLLIN):
            try:
                return os.read(self._source, READ_BYTES)
            except BlockingIOError:
                continue  # somebody else made the file non-blocking, and read it first
        return b""

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not self._wait(self._sink, select.POLLOUT):
                raise BrokenPipeError("closed while writing")
            try:
                rest = rest[os.write(self._sink, rest[:WRITE_BYTES]) :]
            except BlockingIOError:
                continue

    def _wait(self, descriptor: int, event: int) -> bool:
        """Block until ``descriptor`` is ready, or failed: False when the stream is closed."""
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self._closed, 0)  # hang-up is always reported
        return all(ready != self._closed for ready, _ in poll.poll())
