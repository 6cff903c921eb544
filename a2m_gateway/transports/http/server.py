"""HTTP as one of several servers in a process."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import structlog

from a2m_gateway.address import authority
from a2m_gateway.transports.http.binding import bind
from a2m_gateway.transports.http.settings import HttpSettings
from a2m_gateway.transports.responder import Responder

if TYPE_CHECKING:
    from a2m_gateway.transports.http.engine import Engine

__all__ = ["HttpServer"]

log = structlog.get_logger(__name__)


class HttpServer:
    """Serves an endpoint over HTTP (spec 8.3). FastAPI and uvicorn are loaded by ``start``."""

    def __init__(self, responder: Responder, settings: HttpSettings | None = None) -> None:
        self._responder = responder
        self._settings = settings or HttpSettings()
        self._listeners: list[socket.socket] = []
        self._port = self._settings.port
        self._engine: Engine | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where to POST, with the real port once ``start`` has returned."""
        return f"http://{authority(self._settings.host.strip('[]'), self._port)}/"

    async def start(self) -> None:
        """See ``Server``."""
        self._listeners = await bind(self._settings)
        self._port = self._listeners[0].getsockname()[1]
        self._engine = engine = _engine(self._responder, self._settings)
        self._task = asyncio.create_task(engine.serve(sockets=self._listeners))
        ready = asyncio.create_task(engine.ready.wait())
        try:
            await asyncio.wait((ready, self._task), return_when="FIRST_COMPLETED")
        except asyncio.CancelledError:
            self._task.cancel()
            for listener in self._listeners:
                listener.close()
            raise
        finally:
            ready.cancel()
        if self._task.done():
            self._task.result()
        if self._settings.allow_unauthenticated and not self._settings.tokens:
            log.warning("http.unauthenticated", url=self.url, who="everyone who can connect")
        log.info("http.listening", url=self.url)

    async def wait(self) -> None:
        """See ``Server``."""
        if self._engine is None or self._task is None:
            raise RuntimeError("start() comes first")
        try:
            await self._task
        finally:
            await self._engine.release()

    def stop(self) -> None:
        """See ``Server``."""
        if self._engine is not None:
            self._engine.should_exit = True


def _engine(responder: Responder, settings: HttpSettings) -> Engine:
    from a2m_gateway.transports.http.app import create_app
    from a2m_gateway.transports.http.engine import Engine

    return Engine(create_app(responder, settings), settings)
