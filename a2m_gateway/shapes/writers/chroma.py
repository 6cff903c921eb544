"""Chroma's own layout, which LangChain, Haystack, chroma-mcp, agno and most others share."""

from __future__ import annotations

from a2m_gateway.shapes.sample import DOCUMENT, Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match, doubtful_text, share_text
from a2m_gateway.store import CollectionInfo

__all__ = ["CHROMA", "detect"]

CHROMA = Shape("document, flat", (DOCUMENT,))


def detect(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    count = share_text(sample, DOCUMENT)
    if not count.agreeing:
        return None
    doubt = doubtful_text(sample, (DOCUMENT,))
    if count.enough and doubt:
        return Doubt(doubt)
    return Match(
        CHROMA,
        count,
        ("the document is the text; LangChain, Haystack and most others use Chroma so",),
    )
