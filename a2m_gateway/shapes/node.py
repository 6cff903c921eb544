"""LlamaIndex's node: JSON text that holds the content, the metadata and where they come from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from a2m_gateway.store import JSON
from a2m_gateway.store.rows import Absent

__all__ = ["NODE", "RESERVED", "Node", "read_node"]

NODE = "_node_content"

RESERVED = frozenset({NODE, "_node_type", "document_id", "doc_id", "ref_doc_id"})
"""Fields that LlamaIndex puts beside a node; metadata keys of these names lie in it alone."""

_decoder = msgspec.json.Decoder()


@dataclass(frozen=True, slots=True)
class Node:
    """What a record takes from a node.

    Attributes:
        text: ``""`` where the store's own text field holds it.
        metadata: The user's, as LlamaIndex itself returns it: without the ids of the document.
    """

    text: str
    metadata: Mapping[str, JSON]


def read_node(text: JSON | Absent) -> Node | None:
    """The node that ``text`` is the JSON of, or None.

    It must be an object with an ``id_``, and have a text and metadata of their types, if any:
    what else they hold would be in no record.
    """
    if not isinstance(text, str):
        return None
    value = _parse(text)
    if not isinstance(value, dict) or not isinstance(value.get("id_"), str):
        return None
    written, metadata = value.get("text"), value.get("metadata")
    if not isinstance(written, str | None) or not isinstance(metadata, dict | None):
        return None
    return Node(_text_of(value), metadata or {})


def _text_of(node: Mapping[str, JSON]) -> str:
    resource = node.get("text_resource")  # nodes of several media, since LlamaIndex 0.12
    nested = resource.get("text") if isinstance(resource, Mapping) else None
    for text in (node.get("text"), nested):
        if isinstance(text, str) and text:
            return text
    return ""


def _parse(text: str) -> JSON:
    try:
        return _decoder.decode(text)  # type: ignore[no-any-return]
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass
    try:  # Python writes NaN and Infinity, which are no JSON: what can't be said is null
        return json.loads(  # type: ignore[no-any-return]
            text, parse_constant=lambda _: None, parse_float=_finite
        )
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None
