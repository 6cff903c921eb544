"""What Chroma's v2 API answers: decoded by type, compared, and made into rows.

Nothing of an answer that contradicts itself is used: it is a ``StoreCorrupt``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from a2m_gateway.errors import StoreCorrupt
from a2m_gateway.store import DOCUMENT, JSON, Row

__all__ = [
    "CollectionAnswer",
    "DatabaseAnswer",
    "ErrorAnswer",
    "GetAnswer",
    "QueryAnswer",
    "decode",
    "distances_of",
    "rows_of",
    "rows_of_query",
]

T = TypeVar("T")
Metadata = dict[str, Any] | None
Vector = list[float] | None


class DatabaseAnswer(msgspec.Struct):
    name: str


class CollectionAnswer(msgspec.Struct):
    id: str
    name: str
    configuration_json: dict[str, Any] = {}
    # Writers store an embedding function's description in either; it is read as data and never
    # built: a stored configuration that executed code was CVE-2026-45829.
    schema: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    dimension: int | None = None


class GetAnswer(msgspec.Struct):
    ids: list[str]
    documents: list[str | None] | None = None
    metadatas: list[Metadata] | None = None
    embeddings: list[Vector] | None = None


class QueryAnswer(msgspec.Struct):
    ids: list[list[str]]
    documents: list[list[str | None]] | None = None
    metadatas: list[list[Metadata]] | None = None
    embeddings: list[list[Vector]] | None = None
    # Null where the engine's float32 arithmetic left the finite numbers.
    distances: list[list[float | None]] | None = None


class ErrorAnswer(msgspec.Struct):
    error: str = ""
    message: str = ""


def decode(body: bytes, kind: type[T], what: str) -> T:
    """``body`` as ``kind``.

    Raises:
        StoreCorrupt: It is something else; ``what`` was asked.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StoreCorrupt(f"chroma answered {what} with something else: {error}") from None


def rows_of(answer: GetAnswer, *, vectors: bool) -> list[Row]:
    """The rows of a ``get`` that asked for documents and metadatas.

    Raises:
        StoreCorrupt: Its columns are of different lengths.
    """
    count = len(answer.ids)
    columns = zip(
        answer.ids,
        _column("documents", answer.documents, count),
        _column("metadatas", answer.metadatas, count),
        _column("embeddings", answer.embeddings, count) if vectors else [None] * count,
        strict=True,
    )
    return [_row(*column) for column in columns]


def rows_of_query(answer: QueryAnswer, *, vectors: bool) -> list[Row]:
    """The rows of a ``query`` with one vector, as ``rows_of``."""
    one = GetAnswer(
        ids=_only("ids", answer.ids),
        documents=_only("documents", answer.documents),
        metadatas=_only("metadatas", answer.metadatas),
        embeddings=_only("embeddings", answer.embeddings) if vectors else None,
    )
    return rows_of(one, vectors=vectors)


def distances_of(answer: QueryAnswer) -> list[float | None]:
    """Chroma's own distances of a ``query`` with one vector, one for each row."""
    distances = _only("distances", answer.distances)
    return list(_column("distances", distances, len(_only("ids", answer.ids))))


def _row(id_: str, document: str | None, metadata: Metadata, vector: Vector) -> Row:
    # Chroma answers the keys in another order each time, and holds none of its own.
    fields: dict[str, JSON] = dict(sorted(metadata.items())) if metadata else {}
    if document is not None:
        fields[DOCUMENT] = document
    return Row(id_, fields, vector)


def _only(name: str, lists: Sequence[list[T]] | None) -> list[T]:
    """The one inner list: a query of one vector has one answer."""
    if lists is None or len(lists) != 1:
        raise StoreCorrupt(f"chroma answered a query of one vector without one list of {name}")
    return lists[0]


def _column(name: str, values: list[T] | None, count: int) -> Iterable[T | None]:
    # Chroma answers null for a column where there is no row at all.
    given = 0 if values is None else len(values)
    if given != count:
        raise StoreCorrupt(f"chroma answered {count} ids with {given} {name}")
    return values or ()
