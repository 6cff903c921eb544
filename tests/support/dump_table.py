"""What the Qdrant and Chroma dumps hold, as each writer meant it.

Said by hand, from the dumps and from what is known of their writers; it shares no code with the
recognition of layouts.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from a2m_gateway.store import Row

__all__ = ["CHROMA", "EPOCH", "QDRANT", "WORDS", "Collection", "dense"]

EPOCH = "1970-01-01T00:00:00.000Z"

WORDS = ("oolong", "Postgres", "AF1234", "деплоить", "烏龍茶")
"""Words of the dumps' texts, each in one or two of them."""

Point = Mapping[str, Any]
Payload = Mapping[str, Any]


@dataclass(frozen=True)
class Collection:
    """One collection of one dump.

    Attributes:
        dump: The writer, as the file's name begins.
        vector: The name of the dense vector.
        metric: As the collection compares, in the oracle's words.
    """

    dump: str
    name: str
    records: int
    content: Callable[[Payload], str]
    metadata: Callable[[Payload], Payload]
    vector: str = ""
    metric: str = "cosine"
    id: Callable[[Point], str] = lambda point: str(point["id"])
    created_at: Callable[[Payload], str] = lambda payload: EPOCH
    role: Callable[[Payload], str | None] = lambda payload: None

    def __str__(self) -> str:
        return f"{self.dump}-{self.name}"

    def row(self, point: Point) -> Row:
        """The record that A2M has to show for a point."""
        payload = point.get("payload") or {
            **(point.get("metadata") or {}),
            "#document": point["document"],
        }
        fields: dict[str, Any] = {
            "content": self.content(payload),
            "created_at": self.created_at(payload),
            "metadata": dict(self.metadata(payload)),
        }
        role = self.role(payload)
        if role is not None:
            fields["role"] = role
        return Row(self.id(point), fields, dense(point, self.vector))


def dense(point: Point, name: str) -> list[float]:
    found = point["embedding"] if "embedding" in point else point["vector"]
    vector: list[float] = found if isinstance(found, list) else found[name]
    return vector


def _at(name: str) -> Callable[[Payload], Any]:
    return lambda payload: payload[name]


def _object(name: str) -> Callable[[Payload], Payload]:
    return lambda payload: payload[name] or {}


def _all_but(*names: str) -> Callable[[Payload], Payload]:
    return lambda payload: {k: v for k, v in payload.items() if k not in names}


def _node(payload: Payload) -> dict[str, Any]:
    node: dict[str, Any] = json.loads(payload["_node_content"])
    return node


def _from_iso(payload: Payload) -> str:
    moment = datetime.fromisoformat(payload["created_at"]).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _from_epoch(payload: Payload) -> str:
    moment = datetime.fromtimestamp(payload["metadata"]["created_at"], UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _unprinted(payload: Payload) -> Payload:
    """Open WebUI writes what is nested as Python prints it."""
    printed = {"nested", "tags", "embedding_config"}
    given = payload["metadata"].items()
    return {k: ast.literal_eval(v) if k in printed else v for k, v in given}


def _langchain(name: str, records: int = 4, vector: str = "") -> Collection:
    content, metadata = _at("page_content"), _object("metadata")
    return Collection("langchain", name, records, content, metadata, vector)


def _llama(name: str, records: int = 4, vector: str = "") -> Collection:
    return Collection(
        "llamaindex",
        name,
        records,
        lambda payload: _node(payload)["text"],
        lambda payload: _node(payload)["metadata"],
        vector,
    )


def _haystack(name: str, vector: str) -> Collection:
    return Collection(
        *("haystack", name, 4, _at("content"), _object("meta"), vector),
        id=lambda point: str(point["payload"]["id"]),
    )


def _webui(name: str, records: int, **more: Any) -> Collection:
    return Collection("open-webui", name, records, _at("text"), _unprinted, **more)


def _mem0(metric: str) -> Collection:
    return Collection(
        *("mem0", "mem0", 5, _at("data"), _all_but("data", "#document")),
        metric=metric,
        created_at=_from_iso,
        role=lambda payload: payload.get("role"),
    )


def _document(dump: str, name: str, records: int = 4, metric: str = "l2") -> Collection:
    content, metadata = _at("#document"), _all_but("#document")
    return Collection(dump, name, records, content, metadata, metric=metric)


QDRANT = (
    Collection("agno", "agno_docs", 4, _at("content"), _object("meta_data")),
    _haystack("Document", ""),
    _haystack("hs_sparse", "text-dense"),
    _langchain("default_dense"),
    _langchain("hybrid"),
    _langchain("legacy_Qdrant_class"),
    _langchain("factory", 1),
    Collection("langchain", "custom_keys", 4, _at("text"), _object("meta"), "dense"),
    Collection("langchainjs", "documents", 4, _at("content"), _object("metadata")),
    _llama("li_default"),
    _llama("li_hybrid", vector="text-dense"),
    _llama("li_bare_node", 1),
    _llama("li_preexisting_unnamed"),
    Collection(
        *("mcp-server-qdrant", "mcp-memories", 4, _at("document"), _object("metadata")),
        "fast-all-minilm-l6-v2",
    ),
    _mem0("cosine"),
    _webui("open-webui_e3ccc27a-3795-49d8-a237-348c78d21403", 3),
    _webui("open-webui_file-bd93d7fd-e113-49ad-b3dd-031fbc75011e", 1),
    Collection(
        "open-webui",
        "open-webui_user-memory-5870cdec-3830-42ab-898e-fee49212e6a8",
        1,
        _at("text"),
        _object("metadata"),
        created_at=_from_epoch,
    ),
)

CHROMA = (
    _document("chroma-mcp", "mcp_notes"),
    _document("chroma-mcp", "mcp_with_meta", 1),
    _document("haystack", "documents"),
    _document("haystack", "hs_cosine", metric="cosine"),
    _document("langchain", "cosine_ids", metric="cosine"),
    _document("langchain", "langchain"),
    _document("langchain", "no_meta", 2),
    Collection(
        *("llamaindex", "li_chroma", 4, _at("#document")),
        lambda payload: _node(payload)["metadata"],
        metric="l2",
    ),
    _mem0("l2"),
)
