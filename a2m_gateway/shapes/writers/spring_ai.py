"""Spring AI on Qdrant: ``doc_content`` among flat metadata."""

from __future__ import annotations

from a2m_gateway.shapes.prose import Reading
from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match, share_text
from a2m_gateway.store import CollectionInfo

__all__ = ["detect"]


def detect(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    count = share_text(sample, "doc_content")
    if not count.agreeing:
        return None
    reading = sample.field("doc_content").reading
    if count.enough and reading in {Reading.CODES, Reading.NOTHING}:
        return Doubt(f"`doc_content` {reading}")
    return Match(Shape("doc_content, flat", ("doc_content",), writer="Spring AI"), count)
