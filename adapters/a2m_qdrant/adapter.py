"""From a store's URL to a connection."""

from __future__ import annotations

import httpx

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.store import StoreURL
from a2m_qdrant.connection import QdrantConnection
from a2m_qdrant.local import LocalEngine
from a2m_qdrant.remote import RemoteEngine

__all__ = ["EmbeddedQdrantAdapter", "QdrantAdapter", "adapter", "embedded_adapter"]


class QdrantAdapter:
    """A server.

    Args:
        transport: Replaces the network, in tests.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport

    async def connect(
        self, url: StoreURL, *, secret: str | None = None, deadline: float = 10.0
    ) -> QdrantConnection:
        """Reach a server, by default on port 6333.

        Args:
            secret: The API key.
            deadline: Seconds for any one call.

        Raises:
            ConfigurationError: What answers is no Qdrant, or one older than 1.10.
            StoreError: Nothing answers, or not in time.
        """
        url.check_options()
        engine = RemoteEngine(url, secret=secret, deadline=deadline, transport=self._transport)
        try:
            await engine.check()
        except BaseException:
            await engine.aclose()
            raise
        return QdrantConnection(engine)


class EmbeddedQdrantAdapter:
    """A folder."""

    async def connect(
        self, url: StoreURL, *, secret: str | None = None, deadline: float = 10.0
    ) -> QdrantConnection:
        """Open a folder of the client's local mode, which is neither created nor changed.

        Args:
            secret: There is none to give.
            deadline: Seconds for any one call, once the folder is loaded.

        Raises:
            ConfigurationError: It is no such folder.
            StoreUnavailable: Another process has it open.
        """
        url.check_options()
        url.check_collection("meta.json")
        if not url.path:
            raise ConfigurationError(
                "names no folder: qdrant+file:///path/to/folder/COLLECTION", setting="STORE"
            )
        return QdrantConnection(await LocalEngine.open(url.path, deadline=deadline))


adapter = QdrantAdapter()
embedded_adapter = EmbeddedQdrantAdapter()
