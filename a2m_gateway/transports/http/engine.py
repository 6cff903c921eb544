"""uvicorn, made to share a process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from a2m_gateway.transports.http.binding import BACKLOG
from a2m_gateway.transports.http.connection import connection_class
from a2m_gateway.transports.http.settings import HttpSettings

__all__ = ["Engine"]

KEEP_ALIVE = 75
"""Seconds; more than common clients keep an idle connection, so that they are the ones to close
it: a server that does may do it just as the next request is on its way."""


class Engine(uvicorn.Server):
    """Tells when it answers, leaves signals alone, and ends what it cancels."""

    def __init__(self, app: ASGIApp, settings: HttpSettings) -> None:
        super().__init__(_config(app, settings))
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


def _config(app: ASGIApp, settings: HttpSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
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
