"""LangChain in Python and JavaScript, and Dify, which writes through the former's layout."""

from __future__ import annotations

from collections.abc import Mapping

from a2m_gateway.shapes.fields import value_at
from a2m_gateway.shapes.prose import Reading
from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match, doubtful_text, is_nested
from a2m_gateway.store import CollectionInfo, Row

__all__ = ["detect_javascript", "detect_python"]


def detect_python(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    """``page_content`` beside ``metadata``: no one else's names, so short texts are no doubt."""
    count = sample.count(_is_page)
    if not count.agreeing or not sample.field("metadata").values:
        return None
    reading = sample.field("page_content").reading
    if count.enough and reading in {Reading.CODES, Reading.NOTHING}:
        return Doubt(f"`page_content` {reading}")
    dify = sample.count(_is_dify).enough
    shape = Shape(
        name="page_content + metadata",
        writer="Dify" if dify else "LangChain (Python)",
        text=("page_content",),
        metadata=("metadata",),
    )
    return Match(shape, count)


def detect_javascript(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    """``content`` and ``metadata``, nothing else: LangChain JS, n8n, Flowise, others."""
    count = sample.count(lambda row: is_nested(row, "content", "metadata"))
    if not count.agreeing or not sample.field("metadata").values:
        return None
    doubt = doubtful_text(sample, ("content",))
    if count.enough and doubt:
        return Doubt(doubt)
    located = any(isinstance(value, Mapping) for value in sample.values(_LINES))
    shape = Shape(
        name="content + metadata",
        writer="LangChain (JavaScript)" if located else "",
        text=("content",),
        metadata=("metadata",),
    )
    evidence = (
        "`metadata.loc.lines` is where LangChain's splitter in JavaScript puts it"
        if located
        else "LangChain in JavaScript, n8n and Flowise write this layout, and others may"
    )
    return Match(shape, count, (evidence,))


_LINES = ("metadata", "loc", "lines")


def _is_page(row: Row) -> bool:
    inner = row.fields.get("metadata")
    return isinstance(row.fields.get("page_content"), str) and (
        inner is None or isinstance(inner, Mapping)
    )


def _is_dify(row: Row) -> bool:
    dataset = value_at(row, ("metadata", "dataset_id"))
    return isinstance(row.fields.get("group_id"), str) or isinstance(dataset, str)
