"""Puts a collection in an existing vector database behind Agent-to-Memory (A2M 0.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2m_gateway.client import Client

__all__ = ["Client", "__version__"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """``Client``, loaded when it is named: the version is asked for more often."""
    if name == "Client":
        from a2m_gateway.client import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
