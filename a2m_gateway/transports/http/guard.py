"""Who may call at all, on every route: Host, then Origin, then the bearer token."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from functools import lru_cache

import structlog

from a2m_gateway.address import authority, is_loopback
from a2m_gateway.transports.http.asgi import (
    CLOSE,
    TEXT,
    App,
    Headers,
    Message,
    Receive,
    Refusal,
    Scope,
    Send,
    reply,
)
from a2m_gateway.transports.http.names import Host, normal_host, normal_origin
from a2m_gateway.transports.http.settings import HttpSettings

__all__ = ["PUBLIC_PATHS", "Guard"]

log = structlog.get_logger(__name__)

PUBLIC_PATHS = frozenset({"/.well-known/a2m-server.json", "/healthz", "/readyz"})
"""Answered without a token: they tell of the server, and of no record."""

_CHECKED = frozenset({b"host", b"origin", b"authorization"})
_LONGEST_HOST = 261
"""A name of 255 characters, a colon and a port."""


class Guard:
    """Pure ASGI middleware that lets a request through or answers it.

    The order is that of trust: a Host that is not ours means that some page's name was made to
    resolve to this machine (DNS rebinding); a foreign Origin means that a page is calling (spec
    8.3.1); only then does it matter who the caller is (spec 6.1: 401 before any JSON-RPC).

    Args:
        app: What the request is for, once admitted.
    """

    def __init__(self, app: App, settings: HttpSettings) -> None:
        self._app = app
        self._tokens = [(token.name, token.sha256.encode()) for token in settings.tokens]
        self._origins = frozenset(normal_origin(origin) for origin in settings.allowed_origins)
        self._hosts = frozenset(normal_host(host) for host in settings.allowed_hosts)
        self._bound = normal_host(settings.host) or normal_host(f"[{settings.host}]")
        self._log = log.bind()
        # Unconfigured, structlog prints every event; who has not set it up asked for none of ours.
        self._logging = structlog.is_configured() and self._log.is_enabled_for(logging.DEBUG)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._logging:
            send = self._logged(scope, send)
        try:
            headers = _checked_headers(scope)
            host = self._check_host(headers.get(b"host"), scope)
            origin = headers.get(b"origin")
            if origin is not None and self._check_origin(origin, host, scope["scheme"]):
                if _is_preflight(scope):
                    await reply(send, 204, headers=_preflight_headers(origin, scope))
                    return
                send = _readable_by(origin, send)
            if self._tokens and scope["path"] not in PUBLIC_PATHS:
                self._check_token(headers.get(b"authorization"))
            await self._app(scope, receive, send)
        except Refusal as refusal:
            await reply(send, refusal.status, refusal.body, refusal.headers)
        except asyncio.CancelledError:
            # The grace after stop() is over; the client learns that it may call again.
            await reply(send, 503, "The server is shutting down.", CLOSE)

    def _check_host(self, value: bytes | None, scope: Scope) -> Host:
        host = None if value is None or len(value) > _LONGEST_HOST else _parsed_host(value)
        if host is None:
            raise Refusal(400, "The Host header is missing or malformed.")  # RFC 9112 3.2
        server = scope["server"]
        if (
            is_loopback(host.name)
            or host.name == (self._bound and self._bound.name)
            or host.name == (server and server[0])
            or host in self._hosts
            or Host(host.name, None) in self._hosts
        ):
            return host
        raise Refusal(
            403,
            "This server does not go by that Host. If it should, add the name to allowed_hosts.",
        )

    def _check_origin(self, value: bytes, host: Host, scheme: str) -> bool:
        """Whether the origin is one of those allowed, and not just the server's own."""
        origin = normal_origin(value.decode("latin-1"))
        if origin is not None and origin in self._origins:
            return True
        if origin is not None and origin == normal_origin(
            f"{scheme}://{authority(host.name, host.port)}"
        ):
            return False
        raise Refusal(
            403, "Pages of that Origin may not call this server. allowed_origins says which may."
        )

    def _check_token(self, value: bytes | None) -> None:
        if value is None:
            raise Refusal(401, "A bearer token is required.", _challenge(b""))
        scheme, _, token = value.partition(b" ")
        if scheme.lower() == b"bearer" and self._principal(token.strip()) is not None:
            return
        raise Refusal(401, "The bearer token is not known.", _challenge(b', error="invalid_token"'))

    def _principal(self, token: bytes) -> str | None:
        """The name of the token. Takes the same time whichever it is."""
        digest = hashlib.sha256(token).hexdigest().encode()
        found = None
        for name, known in self._tokens:
            if hmac.compare_digest(digest, known):
                found = name
        return found

    def _logged(self, scope: Scope, send: Send) -> Send:
        begun = time.perf_counter()

        async def logged(message: Message) -> None:
            if message["type"] == "http.response.start":
                taken = round((time.perf_counter() - begun) * 1000, 2)
                # The path of a request that was refused is whatever a stranger wrote there.
                self._log.debug(
                    "http.answered",
                    method=scope["method"],
                    path=scope["path"][:200],
                    status=message["status"],
                    ms=taken,
                )
            await send(message)

        return logged


def _checked_headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers that decide, each of which may be there once.

    What stands between a client and us may have looked at the other one.
    """
    found: dict[bytes, bytes] = {}
    repeated = set()
    for name, value in scope["headers"]:
        if name in _CHECKED:
            if name in found:
                repeated.add(name)
            found[name] = value
    if repeated:
        # spec 8.3.1: an origin that is not permitted is refused with 403, and two of them is none.
        status = 403 if repeated == {b"origin"} else 400
        names = ", ".join(sorted(name.decode().title() for name in repeated))
        raise Refusal(status, f"More than one header of: {names}.")
    return found


@lru_cache(256)
def _parsed_host(value: bytes) -> Host | None:
    return normal_host(value.decode("latin-1"))


def _challenge(detail: bytes) -> Headers:
    return (TEXT, (b"www-authenticate", b'Bearer realm="a2m"' + detail))


def _is_preflight(scope: Scope) -> bool:
    return scope["method"] == "OPTIONS" and any(
        name == b"access-control-request-method" for name, _ in scope["headers"]
    )


def _preflight_headers(origin: bytes, scope: Scope) -> list[tuple[bytes, bytes]]:
    headers = [
        *_cors_headers(origin),
        (b"access-control-allow-methods", b"GET, POST"),
        (b"access-control-allow-headers", b"authorization, content-type, a2m-protocol-version"),
        (b"access-control-max-age", b"600"),
    ]
    if any(name == b"access-control-request-private-network" for name, _ in scope["headers"]):
        headers.append((b"access-control-allow-private-network", b"true"))
    return headers


def _cors_headers(origin: bytes) -> list[tuple[bytes, bytes]]:
    return [(b"access-control-allow-origin", origin), (b"vary", b"origin")]


def _readable_by(origin: bytes, send: Send) -> Send:
    """``send`` with the headers without which a browser keeps the answer from the page."""

    async def readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *_cors_headers(origin)]
        await send(message)

    return readable
