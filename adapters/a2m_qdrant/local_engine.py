"""The client's local mode as an engine for a ``WorkerProcess``: JSON in, JSON out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import msgspec
from pydantic import BaseModel
from qdrant_client import models
from qdrant_client.local.local_collection import LocalCollection
from qdrant_client.local.order_by import to_order_value

from a2m_gateway.errors import CollectionNotFound, StoreCorrupt, StoreRefused
from a2m_gateway.store import Row
from a2m_gateway.store.rows import ABSENT, lookup
from a2m_gateway.store.text import contains
from a2m_qdrant.local_folder import open_folder

__all__ = ["LocalModeEngine"]


class LocalModeEngine:
    """One folder. Requests are the bodies that a server would take."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._local = open_folder(FilePath(folder))
        for held in self._local.collections.values():
            held.payload[:] = [_finite(payload) for payload in held.payload]

    def collections(self) -> list[dict[str, object]]:
        return [
            {"name": name, "count": len(held.ids)}
            for name, held in sorted(self._local.collections.items())
        ]

    def describe(self, collection: str) -> object:
        return self._held(collection).info().model_dump(mode="json")

    def count(self, collection: str, request: Mapping[str, Any]) -> int:
        asked = models.CountRequest.model_validate(request)
        held = self._held(collection)
        return int(_refused(lambda: held.count(asked.filter)).count)

    def retrieve(self, collection: str, request: Mapping[str, Any]) -> msgspec.Raw:
        asked = models.PointRequest.model_validate(request)
        held = self._held(collection)
        return _points(_refused(lambda: held.retrieve(asked.ids, True, asked.with_vector or False)))

    def query(self, collection: str, request: Mapping[str, Any]) -> msgspec.Raw:
        asked = models.QueryRequest.model_validate(request)
        held = self._held(collection)
        found = _refused(
            lambda: held.search(
                (asked.using or "", request["query"]),
                query_filter=asked.filter,
                limit=asked.limit or 10,
                with_payload=True,
                with_vectors=asked.with_vector or False,
            )
        )
        return _points(found)

    def scroll(self, collection: str, request: Mapping[str, Any]) -> dict[str, object]:
        asked = models.ScrollRequest.model_validate(request)
        held = self._held(collection)
        records, next_id = _refused(
            lambda: held.scroll(
                scroll_filter=asked.filter,
                limit=asked.limit or 10,
                order_by=asked.order_by if isinstance(asked.order_by, models.OrderBy) else None,
                offset=asked.offset,
                with_payload=True,
                with_vectors=asked.with_vector or False,
            )
        )
        return {"points": _points(records), "next_id": next_id}

    def find_text(
        self,
        collection: str,
        path: Sequence[str],
        is_json: bool,
        terms: Sequence[str],
        whole: bool,
        limit: int,
        narrowed: Mapping[str, Any] | None,
    ) -> msgspec.Raw:
        """For each term up to ``limit`` points whose text contains it, in any case, each once.

        The client's own ``MatchText`` finds whole words only, and an index changes nothing.
        """
        held = self._held(collection)
        wanted = None if narrowed is None else models.Filter.model_validate(narrowed)
        mask = _refused(lambda: held._payload_and_non_deleted_mask(wanted))
        left = dict.fromkeys(terms, limit)
        found: list[models.ExtendedPointId] = []
        for name, place in held.ids.items():
            if not left:
                break
            text = _text(held.payload[place], path, is_json) if mask[place] else ""
            contained = [term for term in left if contains(text, term, whole=whole)]
            for term in contained:
                left[term] -= 1
                if not left[term]:
                    del left[term]
            if contained:
                found.append(name)
        return _points(_refused(lambda: held.retrieve(found)))

    def orders_by(self, collection: str, path: Sequence[str]) -> bool:
        """Whether all that lies at ``path`` is numbers, or all of it times.

        Local mode sorts numbers and times (as microseconds) into one sequence, and leaves out
        what is neither.
        """
        kinds = set()
        for payload in self._held(collection).payload:
            value = lookup(Row("", payload), tuple(path))
            if value is not ABSENT and value is not None:
                kinds.add(_kind(value))
        return len(kinds) <= 1 and None not in kinds

    def close(self) -> None:
        self._local.close()

    def _held(self, collection: str) -> LocalCollection:
        name = self._local.aliases.get(collection, collection)
        held = self._local.collections.get(name)
        if held is None:
            raise CollectionNotFound(f"{self._folder} has no collection {collection!r}")
        return held


def _refused(call: Callable[[], Any]) -> Any:
    """What local mode raises at a request, as the refusal that a server would answer."""
    try:
        return call()
    except (ValueError, TypeError, AssertionError) as error:
        raise StoreRefused(f"qdrant (local mode): {error}") from error


def _points(records: Iterable[models.Record | models.ScoredPoint]) -> msgspec.Raw:
    """As JSON; a score that is not finite becomes null there, as in a server's answer."""
    points = [_point(record) for record in records]
    try:
        return msgspec.Raw(msgspec.json.encode(points))
    except (UnicodeEncodeError, RecursionError, TypeError):
        broken = next((point["id"] for point in points if not _encodes(point)), "?")
        raise StoreCorrupt(
            f"qdrant (local mode): what the point {broken} holds is no JSON"
        ) from None


def _point(record: models.Record | models.ScoredPoint) -> dict[str, object]:
    return {
        "id": record.id,
        "payload": record.payload or {},
        "vector": _vector(record.vector),
        "score": float(record.score) if isinstance(record, models.ScoredPoint) else 0.0,
        "order_value": record.order_value,
    }


def _vector(vector: object) -> object:
    """Dense vectors as they are; sparse ones, which nobody asks for, as objects."""
    if isinstance(vector, Mapping):
        return {name: _vector(one) for name, one in vector.items()}
    return vector.model_dump() if isinstance(vector, BaseModel) else vector


def _finite(payload: dict[str, Any]) -> dict[str, Any]:
    """With null for NaN and infinities, so that a filter finds what is shown."""
    try:
        shown: dict[str, Any] = _shown(payload)
    except RecursionError:
        return payload  # ``_points`` names the point
    return shown


def _shown(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _shown(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_shown(one) for one in value]
    return value


def _encodes(point: object) -> bool:
    try:
        msgspec.json.encode(point)
    except (UnicodeEncodeError, RecursionError, TypeError):
        return False
    return True


def _text(payload: Mapping[str, Any], path: Sequence[str], is_json: bool) -> str:
    text = lookup(Row("", payload), tuple(path))
    if not isinstance(text, str):
        return ""
    return (_unescaped(text) if is_json and "\\u" in text else text).lower()


def _unescaped(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _kind(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str):
        return "time" if to_order_value(value) is not None else None
    return "number"
