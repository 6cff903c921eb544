"""Stands between a gateway and a database server's port: counts requests, or leaves them waiting.

On the wire, so that it sees what is sent whatever client sends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from typing import Any

__all__ = ["WatchingProxy", "watching"]

_LENGTH = re.compile(rb"^content-length:\s*(\d+)", re.IGNORECASE | re.MULTILINE)


class WatchingProxy:
    """HTTP requests with a Content-Length or no body, to one port of this machine.

    Attributes:
        asked: The last segment of each request's path, and its body.
        left: How many requests are still let through; the others are never answered.
    """

    def __init__(self, upstream: int) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.left = float("inf")
        self.port = 0
        self._upstream = upstream
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.asked]

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection("127.0.0.1", self._upstream)
        back = asyncio.create_task(_copy(answers, writer))
        self._tasks.add(back)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    requests.write(await self._request(reader))
        finally:
            requests.close()
            writer.close()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _request(self, reader: asyncio.StreamReader) -> bytes:
        """The next request that is let through."""
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"chunked" not in head.lower()
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            path = head.split(b" ", 2)[1].decode().partition("?")[0]
            self.asked.append((path.rpartition("/")[2], json.loads(body) if body else None))
            self.left -= 1
            if self.left >= 0:
                return head + body


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def watching(upstream: int) -> AsyncIterator[WatchingProxy]:
    """A proxy to the port ``upstream``."""
    proxy = WatchingProxy(upstream)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.stop()
