"""AnythingLLM: ``text`` among the flat description of the document it was cut from."""

from __future__ import annotations

from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match, doubtful_text
from a2m_gateway.store import CollectionInfo, Row

__all__ = ["detect"]

_MARKS = frozenset(
    {"docAuthor", "docSource", "chunkSource", "wordCount", "token_count_estimate", "published"}
)


def detect(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    count = sample.count(_is_chunk)
    if not count.agreeing:
        return None
    doubt = doubtful_text(sample, ("text",))
    if count.enough and doubt:
        return Doubt(doubt)
    return Match(
        Shape("text, flat", ("text",), writer="AnythingLLM"),
        count,
        ("`chunkSource`, `docAuthor` and the like describe the document, as AnythingLLM does",),
    )


def _is_chunk(row: Row) -> bool:
    return isinstance(row.fields.get("text"), str) and len(row.fields.keys() & _MARKS) >= 4
