"""The routes."""

from __future__ import annotations

import structlog
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from a2m_gateway.errors import A2MError, StoreTimeout, StoreUnavailable
from a2m_gateway.protocol import encode
from a2m_gateway.transports.http.asgi import JSON, NO_STORE, Receive, Scope, Send, reply
from a2m_gateway.transports.http.guard import Guard
from a2m_gateway.transports.http.rpc import Rpc
from a2m_gateway.transports.http.settings import HttpSettings
from a2m_gateway.transports.responder import Responder

__all__ = ["create_app"]

log = structlog.get_logger(__name__)

_PUBLISHED = (JSON, (b"cache-control", b"public, max-age=60"))
"""The profile may be stale (spec 8.3.3), and changes only when the server is set up anew."""


def create_app(responder: Responder, settings: HttpSettings) -> ASGIApp:
    """The application, for whoever runs it in an ASGI server of their own.

    Its routes are plain ASGI: FastAPI's parameters would parse the body a second time.
    """
    rpc = Rpc(responder, receive_timeout=settings.receive_timeout)
    routes = FastAPI(
        title="A2M gateway",
        openapi_url=None,  # the one document of this interface is the specification
        redirect_slashes=False,
        routes=[
            Route("/", rpc, methods=["POST"]),
            Route("/.well-known/a2m-server.json", _Profile(responder), methods=["GET"]),
            Route("/healthz", _alive, methods=["GET"]),
            Route("/readyz", _Readiness(responder), methods=["GET"]),
        ],
    )
    return Guard(_RpcFirst(rpc, routes), settings=settings)


class _RpcFirst:
    """Takes the one route that every call goes by past a dozen layers of the framework."""

    def __init__(self, rpc: Rpc, routes: FastAPI) -> None:
        self._rpc = rpc
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        called = scope["type"] == "http" and scope["path"] == "/" and scope["method"] == "POST"
        await (self._rpc if called else self._routes)(scope, receive, send)


class _Profile:
    """The describe result, public (spec 8.3.3)."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 200, await self._responder.describe(), _PUBLISHED)


class _Alive:
    """The process answers, whatever its store does."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await reply(send, 200, encode({"status": "ok"}), (JSON, NO_STORE))


_alive = _Alive()


class _Readiness:
    """Whether calls can be answered now."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._responder.ready()
        except A2MError as error:
            log.warning("http.not_ready", error=error.message)
            state = {"status": "unavailable", "reason": _reason(error)}
            await reply(send, 503, encode(state), (JSON, NO_STORE))
        else:
            await reply(send, 200, encode({"status": "ok"}), (JSON, NO_STORE))


def _reason(error: A2MError) -> str:
    """For a public answer: nothing of the error's own text, which may name machines."""
    if isinstance(error, StoreUnavailable):
        return "the store can't be reached"
    if isinstance(error, StoreTimeout):
        return "the store did not answer in time"
    return "the store failed"
