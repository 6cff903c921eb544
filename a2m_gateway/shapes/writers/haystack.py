"""Haystack on Qdrant: the point's id is derived from the document's own, which is in ``id``."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from a2m_gateway.shapes.record import is_derived
from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Match
from a2m_gateway.store import CollectionInfo, Row

__all__ = ["NAMESPACE", "detect"]

NAMESPACE = UUID("3896d314-1e95-4a3a-b45a-945f9f0b541d")
"""Found by probing: uuid5 of a document's id in it is its point's id, in every dump."""


def detect(sample: Sample, info: CollectionInfo) -> Match | None:
    count = sample.count(_is_document)
    if not count.agreeing:
        return None
    shape = Shape(
        name="content + meta",
        writer="Haystack",
        text=("content",),
        metadata=("meta",),
        id=("id",),
        id_namespace=NAMESPACE,
    )
    return Match(shape, count, ("the point's id is derived from `id`, as Haystack does it",))


def _is_document(row: Row) -> bool:
    fields = row.fields
    own, meta = fields.get("id"), fields.get("meta")
    if not isinstance(own, str) or not isinstance(fields.get("content"), str):
        return False
    if not (meta is None or isinstance(meta, Mapping)):
        return False
    return is_derived(row.id, NAMESPACE, own)
