"""An HTTP server of a test's, spoken to in raw bytes."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from a2m_gateway.transports import HttpServer

__all__ = ["Running", "one_response"]


class Running:
    """An HTTP server of this test's."""

    def __init__(self, server: HttpServer, waiting: asyncio.Task[None]) -> None:
        self.server = server
        self.url = server.url
        self.port = int(server.url.rstrip("/").rpartition(":")[2])
        self.waiting = waiting

    @property
    def listeners(self) -> list[socket.socket]:
        return self.server._listeners

    @property
    def connections(self) -> set[Any]:
        """Those that are open, as the server's own objects."""
        assert self.server._engine is not None
        return self.server._engine.server_state.connections

    @property
    def tasks(self) -> set[asyncio.Task[None]]:
        """Of the requests whose heads have arrived."""
        assert self.server._engine is not None
        return self.server._engine.server_state.tasks

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def send(self, raw: bytes, *, half_close: bool = False) -> bytes:
        """What comes back for raw bytes until the server closes, or answers once."""
        reader, writer = await self.connect()
        try:
            writer.write(raw)
            if half_close:
                writer.write_eof()
            async with asyncio.timeout(10):
                return await one_response(reader)
        finally:
            writer.close()

    def head(self, *headers: str, line: str = "POST / HTTP/1.1", host: str | None = None) -> bytes:
        """A request head; ``host=""`` leaves the Host header out."""
        named = f"127.0.0.1:{self.port}" if host is None else host
        first = [f"Host: {named}"] if named else []
        return ("\r\n".join([line, *first, *headers]) + "\r\n\r\n").encode("latin-1")

    def post(self, body: bytes, *headers: str, host: str | None = None) -> bytes:
        """A whole request."""
        length = f"Content-Length: {len(body)}"
        kind = "Content-Type: application/json"
        return self.head(kind, length, *headers, host=host) + body


async def one_response(reader: asyncio.StreamReader) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = await reader.read(1)
        if not byte:
            return head
        head += byte
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head + await reader.readexactly(length)
