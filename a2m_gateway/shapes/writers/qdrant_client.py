"""The client's own ``add()`` and mcp-server-qdrant: ``document``, under a ``fast-MODEL`` vector."""

from __future__ import annotations

from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import (
    Doubt,
    Match,
    doubtful_text,
    is_nested,
    share_text,
)
from a2m_gateway.store import CollectionInfo

__all__ = ["detect_add", "detect_mcp_server"]

_DOCUMENT = ("document",)


def detect_mcp_server(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    """``document`` and ``metadata``, nothing else."""
    count = sample.count(lambda row: is_nested(row, "document", "metadata"))
    if not count.agreeing or not sample.field("metadata").values:
        return None
    doubt = doubtful_text(sample, _DOCUMENT)
    if count.enough and doubt:
        return Doubt(doubt)
    fast = _has_fast_vector(info)
    shape = Shape(
        name="document + metadata",
        writer="mcp-server-qdrant" if fast else "",
        text=_DOCUMENT,
        metadata=("metadata",),
    )
    return Match(shape, count, (_FAST,) if fast else ())


def detect_add(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    """``document`` among flat metadata; only the vector's name tells it from anyone's record."""
    count = share_text(sample, "document")
    if not count.agreeing or not _has_fast_vector(info):
        return None
    doubt = doubtful_text(sample, _DOCUMENT)
    if count.enough and doubt:
        return Doubt(doubt)
    shape = Shape(name="document, flat", writer="qdrant-client add()", text=_DOCUMENT)
    return Match(shape, count, (_FAST,))


_FAST = "the vector is named after its model, `fast-…`, as qdrant-client does"


def _has_fast_vector(info: CollectionInfo) -> bool:
    return any(vector.name.startswith("fast-") for vector in info.vectors)
