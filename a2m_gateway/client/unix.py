"""A server on a Unix socket, with the framing of stdio (spec 8.2)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from a2m_gateway.client.channel import NotificationCallback
from a2m_gateway.client.stream import StreamChannel
from a2m_gateway.errors import ServerUnreachable

__all__ = ["UnixChannel"]


class UnixChannel(StreamChannel):
    """Connects to the socket file of a server that is running.

    Args:
        path: The socket file.
        on_notification: See ``StreamChannel``.
    """

    def __init__(self, path: Path, *, on_notification: NotificationCallback | None = None) -> None:
        super().__init__(on_notification=on_notification)
        self._path = path

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await asyncio.open_unix_connection(str(self._path))
        except OSError as error:
            reason = error.strerror or str(error)
            raise ServerUnreachable(f"no server answers at {self._path}: {reason}") from None
