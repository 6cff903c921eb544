"""An HTTP server that answers every request alike, and so can play a database and a proxy at once.

A client that takes it for a proxy asks for a whole URL, and any other for a path.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["ListeningProxy", "listening"]

ANSWER = json.dumps(
    {"jsonrpc": "2.0", "title": "qdrant", "version": "1.17.1", "name": "default_database"}
).encode()
"""What is enough of an answer for each of the clients."""
_LENGTH = re.compile(rb"^content-length:\s*(\d+)", re.IGNORECASE | re.MULTILINE)


class ListeningProxy:
    """Attributes: port; targets, as the request lines name them; heads, whole."""

    def __init__(self) -> None:
        self.port = 0
        self.targets: list[str] = []
        self.heads: list[str] = []
        self._served: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._served[writer] = asyncio.current_task()
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
                self.targets.append(head.decode().split(" ")[1])
                self.heads.append(head.decode())
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER)
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def hang_up(self) -> None:
        for writer in self._served:
            writer.close()
        await asyncio.gather(*filter(None, self._served.values()))


@asynccontextmanager
async def listening() -> AsyncIterator[ListeningProxy]:
    """One on a free port of this machine."""
    proxy = ListeningProxy()
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.hang_up()
