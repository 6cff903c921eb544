"""Dumps in their real engines, what to ask of them, and what a gateway's process answers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chroma_server
import dump_table
import qdrant_folder
from chroma_server import ChromaServer
from dump_table import Collection
from gateway import request, served

from a2m_gateway.store import Row

__all__ = [
    "CASES",
    "Case",
    "Loaded",
    "chroma_case",
    "conversation",
    "messages_of",
    "qdrant_case",
    "questions",
]

FUTURE, PAST = "2999-12-31", "2000-01-01"


@dataclass(frozen=True)
class Case:
    """A collection to serve.

    Attributes:
        expires: The day that mem0's records with one are given, so that no test depends on the
            day it runs on.
    """

    engine: str
    collection: Collection
    expires: str = FUTURE

    def __str__(self) -> str:
        suffix = "-expired" if self.expires == PAST else ""
        return f"{self.engine}-{self.collection}{suffix}"

    @property
    def place(self) -> str:
        """A name for its dump."""
        return f"{self.collection.dump}-{self.expires[:4]}"


@dataclass(frozen=True)
class Loaded:
    """A case in its engine.

    Attributes:
        url: For this process.
        other_url: The same for another process at the same time.
        rows: What it must show, in the order in which it was written.
    """

    url: str
    other_url: str
    rows: Sequence[Row]


CASES = [
    Case(engine, collection, expires)
    for engine, collections in (("qdrant", dump_table.QDRANT), ("chroma", dump_table.CHROMA))
    for collection in collections
    for expires in ((FUTURE, PAST) if collection.dump == "mem0" else (FUTURE,))
]


def chroma_case(server: ChromaServer, case: Case, vectors: Mapping[str, Sequence[float]]) -> Loaded:
    """Write the dump to the server, if it is not there yet.

    Args:
        vectors: Of the texts of those records whose vector the dump cuts short.
    """
    dump = chroma_server.read_dump(case.collection.dump)
    points = [_whole(_dated(point, "metadata", case.expires), vectors) for point in dump["points"]]
    database = f"served-{case.place}"
    if not any(one["name"] == database for one in _databases(server)):
        chroma_server.write_points(server, dump, points, database)
    url = str(server.url(case.collection.name, database=database))
    return Loaded(url, url, _rows(case, points))


def qdrant_case(folder: Path, case: Case) -> Loaded:
    """Write the dump under ``folder``, and a copy for another process: a folder has one user."""
    dump = qdrant_folder.read_dump(case.collection.dump)
    points = [_dated(point, "payload", case.expires) for point in dump["points"]]
    written = folder / case.place
    if not written.exists():
        qdrant_folder.write_dump(written, dump, points)
    urls = []
    for user in ("here", "there"):
        copy = folder / f"{case}-{user}"
        shutil.copytree(written, copy)
        urls.append(f"qdrant+file://{copy}/{case.collection.name}")
    return Loaded(urls[0], urls[1], _rows(case, points))


def questions(case: Case, rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Methods and parameters: every kind of recall and timeline, with every key of the metadata."""
    yield "describe", {}
    yield "timeline", {}
    yield "timeline", {"limit": 2}
    yield "recall", {}
    yield "recall", {"limit": 2}
    for word in dump_table.WORDS:
        yield "recall", {"query": word}
    chance = random.Random(str(case))
    for row in rows[:2]:
        near = [number + chance.gauss(0, 0.05) for number in row.vector or ()]
        yield "recall", {"embedding": near, "embeddings": True}
        yield "recall", {"embedding": near, "limit": 1}
        for name, value in _scalars(row):
            yield "recall", {"embedding": near, "where": {name: value}}
    for name, value in [*_scalars(rows[0]), ("id", rows[-1].id), ("absent", 1)]:
        yield "timeline", {"where": {name: value}}
        yield "timeline", {"where": {name: _twin(value)}}
        yield "recall", {"where": {name: [value, "no such value"]}, "limit": 3}
    yield "recall", {"embedding": [0.5], "limit": 1}
    yield "fetch", {"key": "a"}
    yield "remember", {"records": []}


def conversation(url: str, messages: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """What a gateway's process answers to each, on stdio and over HTTP."""
    with served(url) as gateway:
        answers = [(gateway.ask(message), gateway.post(message).content) for message in messages]
        assert gateway.end() == 0, gateway.log
    return answers


def messages_of(case: Case, rows: Sequence[Row]) -> list[bytes]:
    return [request(method, params) for method, params in questions(case, rows)]


def _rows(case: Case, points: Sequence[Mapping[str, Any]]) -> list[Row]:
    mine = [point for point in points if point["_collection"] == case.collection.name]
    assert len(mine) == case.collection.records
    return [case.collection.row(point) for point in mine if not _is_past(point)]


def _is_past(point: Mapping[str, Any]) -> bool:
    payload = point.get("payload") or point.get("metadata") or {}
    return payload.get("expiration_date") == PAST


def _dated(point: Mapping[str, Any], field: str, day: str) -> Mapping[str, Any]:
    if "expiration_date" not in (point[field] or {}):
        return point
    return {**point, field: {**point[field], "expiration_date": day}}


def _whole(point: Mapping[str, Any], vectors: Mapping[str, Sequence[float]]) -> Mapping[str, Any]:
    if not isinstance(point["embedding"][-1], str):
        return point
    return {**point, "embedding": list(vectors[point["document"]])}


def _databases(server: ChromaServer) -> Any:
    return server.http.get(f"{server.api}/tenants/default_tenant/databases").json()


def _scalars(row: Row) -> list[tuple[str, Any]]:
    metadata = row.fields["metadata"]
    assert isinstance(metadata, Mapping)
    return [(name, value) for name, value in metadata.items() if not isinstance(value, list | dict)]


def _twin(value: Any) -> Any:
    """What must not be taken for ``value``, or is the same to JSON."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return float(value)
    if isinstance(value, float):
        return str(value)
    return "" if value is None else value.upper() + "'"
