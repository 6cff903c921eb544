"""From a store URL to a database: ``chroma://host:8000/docs``, ``chroma+file:///folder/docs``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import httpx

from a2m_chroma.client import ChromaClient, FixedEndpoint
from a2m_chroma.connection import ChromaConnection
from a2m_chroma.embedded import EmbeddedEndpoint, check_folder, engine_version
from a2m_chroma.network import network
from a2m_chroma.snapshot import DATABASE, take
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.store import StoreURL

__all__ = ["ChromaAdapter", "EmbeddedChromaAdapter"]

_PORT = 8000
_TENANT, _DATABASE = "default_tenant", "default_database"
_PORT_NOTE = (
    "It runs at a loopback port without authentication, so other users of this machine can reach "
    "what is served."
)
_COPY_NOTE = (
    "Served from a private copy ({size} MiB) taken at the start, because Chroma writes to what it "
    "opens: the folder stays as it is, and what is written there later is seen after a restart."
)
_IN_PLACE_NOTE = (
    "Chroma opened the folder itself and writes to it at every start; while another process has it "
    "open, either may read stale records or fail."
)


class ChromaAdapter:
    """A Chroma server that somebody else runs.

    URL: ``chroma[s]://HOST[:8000][/PREFIX]/COLLECTION?chroma_tenant=…&database=…``; ``PREFIX`` is
    the path under which a proxy serves Chroma.

    Args:
        transport: Replaces the network, in tests.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport

    async def connect(
        self, url: StoreURL, *, secret: str | None = None, deadline: float = 10.0
    ) -> ChromaConnection:
        url.check_options("chroma_tenant", "database")
        if not url.host:
            raise ConfigurationError(
                "chroma:// takes a host: chroma://localhost:8000/COLLECTION", setting="STORE"
            )
        base = url.origin(_PORT) + quote(url.path)
        transport = self._transport
        if transport is None:  # in a thread: it reads certificates from disk
            transport = await asyncio.to_thread(network, base, direct=url.is_loopback)
        client = ChromaClient(
            FixedEndpoint(base),
            tenant=url.options.get("chroma_tenant", _TENANT),
            database=url.options.get("database", _DATABASE),
            secret=secret,
            deadline=deadline,
            transport=transport,
        )
        return await _checked_connection(ChromaConnection(client))


class EmbeddedChromaAdapter:
    """A folder that a ``PersistentClient`` wrote.

    URL: ``chroma+file:///FOLDER/COLLECTION?chroma_tenant=…&database=…&in_place=false``. Chroma
    serves a private copy, so that no byte of the folder changes; ``in_place=true`` saves the copy.
    """

    async def connect(
        self, url: StoreURL, *, secret: str | None = None, deadline: float = 10.0
    ) -> ChromaConnection:
        url.check_options("chroma_tenant", "database", "in_place")
        url.check_collection(DATABASE)
        folder = Path(url.path)
        check_folder(folder)
        in_place = url.flag("in_place")
        if in_place:
            notes = (_IN_PLACE_NOTE, _PORT_NOTE)
        else:
            snapshot = await take(folder)
            folder = snapshot.folder
            notes = (_COPY_NOTE.format(size=max(1, snapshot.size >> 20)), _PORT_NOTE)
        endpoint = EmbeddedEndpoint(folder, scratch=not in_place)
        client = ChromaClient(
            endpoint,
            tenant=url.options.get("chroma_tenant", _TENANT),
            database=url.options.get("database", _DATABASE),
            secret=None,
            deadline=deadline,
            transport=network("http://127.0.0.1", direct=True),
        )
        try:
            await endpoint.url()  # a start may take longer than a call
        except BaseException:
            await client.aclose()
            raise
        connection = ChromaConnection(client, version=engine_version(), notes=notes)
        return await _checked_connection(connection)


async def _checked_connection(connection: ChromaConnection) -> ChromaConnection:
    try:
        await connection.check()
    except BaseException:
        await connection.aclose()
        raise
    return connection
