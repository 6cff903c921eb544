"""Head and body of a response in one write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

__all__ = ["JoinedWrites"]


class JoinedWrites:
    """A transport that writes at the end of the loop's turn all that was written in it.

    uvicorn writes a response's head and body one after the other, and uvloop sends each at once:
    two system calls here, and two wake-ups of the client for every answer.

    Args:
        close: Called once all was written, in place of the transport's own ``close``.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        close: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._close = close
        self._closing = False
        self._held: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)

    def close(self) -> None:
        self._flush()
        self._closing = True
        self._close()

    def is_closing(self) -> bool:
        return self._closing or self._transport.is_closing()

    def abort(self) -> None:
        self._held.clear()
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, []
            self._transport.write(b"".join(held))
