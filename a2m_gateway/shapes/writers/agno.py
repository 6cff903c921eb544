"""agno: ``content`` and ``meta_data``, beside the name and the hash of what they come from."""

from __future__ import annotations

from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match, doubtful_text, is_nested
from a2m_gateway.store import CollectionInfo, Row

__all__ = ["detect"]

_BESIDE = frozenset({"name", "usage", "content_id", "content_hash", "user_id", "reranking_score"})


def detect(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    count = sample.count(_is_chunk)
    if not count.agreeing:
        return None
    doubt = doubtful_text(sample, ("content",))
    if count.enough and doubt:
        return Doubt(doubt)
    shape = Shape(
        name="content + meta_data", writer="agno", text=("content",), metadata=("meta_data",)
    )
    return Match(shape, count, ("`name` lies beside them, as agno writes it",))


def _is_chunk(row: Row) -> bool:
    fields = row.fields
    return (
        is_nested(row, "content", "meta_data", beside=_BESIDE)
        and "meta_data" in fields
        and "name" in fields
        and any(name in fields for name in ("usage", "content_id", "content_hash"))
    )
