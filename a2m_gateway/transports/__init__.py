"""What carries messages to an endpoint: stdio, a Unix socket, HTTP (spec 8).

Within one process none is needed: ``Client.in_process`` hands over the same JSON (spec 8.1).
The servers are loaded when they are named, so that stdio does not wait for FastAPI.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2m_gateway.transports.http.server import HttpServer
    from a2m_gateway.transports.http.settings import HttpSettings, TokenHash
    from a2m_gateway.transports.responder import Responder
    from a2m_gateway.transports.server import DEFAULT_GRACE, Server, run, serve
    from a2m_gateway.transports.stdio import StdioPipes, StdioServer, claim_stdio
    from a2m_gateway.transports.unix import UnixServer

__all__ = [
    "DEFAULT_GRACE",
    "HttpServer",
    "HttpSettings",
    "Responder",
    "Server",
    "StdioPipes",
    "StdioServer",
    "TokenHash",
    "UnixServer",
    "claim_stdio",
    "run",
    "serve",
]

_HOMES = {
    "HttpServer": "http.server",
    "HttpSettings": "http.settings",
    "TokenHash": "http.settings",
    "Responder": "responder",
    "StdioPipes": "stdio",
    "StdioServer": "stdio",
    "claim_stdio": "stdio",
    "UnixServer": "unix",
    "DEFAULT_GRACE": "server",
    "Server": "server",
    "run": "server",
    "serve": "server",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
