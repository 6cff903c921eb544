"""A client of any A2M 0.1 server: in process, on stdio, on a Unix socket, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2m_gateway.client.channel import Channel
from a2m_gateway.client.client import Client
from a2m_gateway.client.in_process import InProcessChannel
from a2m_gateway.client.results import Record, ServerInfo

if TYPE_CHECKING:
    from a2m_gateway.client.http import HttpChannel
    from a2m_gateway.client.stdio import StdioChannel
    from a2m_gateway.client.unix import UnixChannel

__all__ = [
    "Channel",
    "Client",
    "HttpChannel",
    "InProcessChannel",
    "Record",
    "ServerInfo",
    "StdioChannel",
    "UnixChannel",
]

_HOMES = {"HttpChannel": "http", "StdioChannel": "stdio", "UnixChannel": "unix"}


def __getattr__(name: str) -> object:
    """The channels bring libraries of their own, which a client of another does not need."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
