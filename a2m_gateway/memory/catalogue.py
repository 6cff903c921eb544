"""What there is to serve in a database."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from a2m_gateway.errors import A2MError, SetupError
from a2m_gateway.memory.opening import MemorySettings, connect, layout_options
from a2m_gateway.shapes import bookkeeping, open_shaped
from a2m_gateway.store import Connection, Selection

__all__ = ["Catalogue", "Entry", "catalogue"]

_SAMPLE = 20


class Entry(TypedDict):
    """One collection.

    ``kind`` is ``corpus``, ``bookkeeping`` of some framework's, ``unsure`` where options are
    needed, or ``failed`` where it could not be read; ``detail`` says what was found, or why not.
    """

    url: str
    collection: str
    records: int | None
    kind: str
    detail: str


class Catalogue(TypedDict):
    store: str
    collections: list[Entry]


async def catalogue(settings: MemorySettings) -> Catalogue:
    """Every collection of a database, with what it holds.

    Raises:
        SetupError, StoreError: The database itself can't be reached.
    """
    connection = await connect(settings)
    try:
        entries = [
            await _entry(connection, settings, summary.name, summary.count)
            for summary in await connection.collections()
        ]
    finally:
        await connection.aclose()
    return Catalogue(store=str(settings.url), collections=entries)


async def _entry(
    connection: Connection, settings: MemorySettings, name: str, count: int | None
) -> Entry:
    url = str(replace(settings.url, collection=name))
    try:
        kind, detail = await _kind(connection, settings, name)
    except SetupError as error:
        kind, detail = "unsure", str(error).partition("\n")[0]
    except A2MError as error:
        kind, detail = "failed", error.message
    return Entry(url=url, collection=name, records=count, kind=kind, detail=detail)


async def _kind(connection: Connection, settings: MemorySettings, name: str) -> tuple[str, str]:
    store = await connection.open(name, Selection())
    try:
        kept = bookkeeping(name, (await store.scan(limit=_SAMPLE)).rows)
    finally:
        await store.aclose()
    if kept is not None:
        return "bookkeeping", kept
    shaped, recognition, _ = await open_shaped(connection, name, layout_options(settings))
    await shaped.aclose()
    writer = f", written by {recognition.shape.writer}" if recognition.shape.writer else ""
    return "corpus", f"{recognition.shape.name}{writer}"
