"""uvicorn around the application, as one of several servers in a process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import structlog
import uvicorn

from a2m_gateway.transports.http.app import create_app
from a2m_gateway.transports.http.binding import BACKLOG, bind
from a2m_gateway.transports.http.connection import connection_class
from a2m_gateway.transports.http.settings import HttpSettings
from a2m_gateway.transports.responder import Responder

__all__ = ["HttpServer"]

log = structlog.get_logger(__name__)

KEEP_ALIVE = 75
"""Seconds; more than common clients keep an idle connection, so that they are the ones to close
it: a server that does may do it just as the next request is on its way."""


class HttpServer:
    """Serves an endpoint over HTTP (spec 8.3)."""

    def __init__(self, responder: Responder, settings: HttpSettings | None = None) -> None:
        self._settings = settings or HttpSettings()
        self.app = create_app(responder, self._settings)
        self._listeners: list[socket.socket] = []
        self._port = self._settings.port
        self._uvicorn: _Uvicorn | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where to POST, with the real port once ``start`` has returned."""
        host = self._settings.host.strip("[]")
        return f"http://[{host}]:{self._port}/" if ":" in host else f"http://{host}:{self._port}/"

    async def start(self) -> None:
        """See ``Server``."""
        self._listeners = await bind(self._settings)
        self._port = self._listeners[0].getsockname()[1]
        self._uvicorn = _Uvicorn(self._config())
        self._task = asyncio.create_task(self._uvicorn.serve(sockets=self._listeners))
        ready = asyncio.create_task(self._uvicorn.ready.wait())
        await asyncio.wait((ready, self._task), return_when="FIRST_COMPLETED")
        ready.cancel()
        if self._task.done():
            self._task.result()
        if self._settings.allow_unauthenticated and not self._settings.tokens:
            log.warning("http.unauthenticated", url=self.url, who="everyone who can connect")
        log.info("http.listening", url=self.url)

    async def wait(self) -> None:
        """See ``Server``."""
        if self._uvicorn is None or self._task is None:
            raise RuntimeError("start() comes first")
        try:
            await self._task
        finally:
            await self._uvicorn.release()

    def stop(self) -> None:
        """See ``Server``."""
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True

    def _config(self) -> uvicorn.Config:
        settings = self._settings
        return uvicorn.Config(
            self.app,
            loop="none",
            http=connection_class(settings.receive_timeout),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            # X-Forwarded-Proto would decide what is our own origin.
            proxy_headers=False,
            backlog=BACKLOG,
            limit_concurrency=settings.max_connections,
            timeout_keep_alive=KEEP_ALIVE,
            # Typed as whole seconds, and handed to asyncio, which takes fractions.
            timeout_graceful_shutdown=settings.shutdown_grace,  # type: ignore[arg-type]
        )


class _Uvicorn(uvicorn.Server):
    """Tells when it answers, leaves signals alone, and ends what it cancels."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # several servers share the process: ``serve`` has the signals

    async def release(self) -> None:
        """End what the grace did not suffice for, or what had none."""
        for server in self.servers:
            server.close()
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
