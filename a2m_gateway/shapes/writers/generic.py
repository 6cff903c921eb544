"""Writers that nobody here knows: one field reads like prose, and no other could be the text."""

from __future__ import annotations

from a2m_gateway.shapes.fields import EVERYTHING
from a2m_gateway.shapes.prose import Reading
from a2m_gateway.shapes.sample import DOCUMENT, FieldSample, Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match, named
from a2m_gateway.store import CollectionInfo, Path

__all__ = ["detect", "metadata_beside"]

_TEXT_NAMES = ("text", "content", "page_content", "document", "data", "doc_content", DOCUMENT)
_METADATA_NAMES = ("metadata", "meta", "meta_data")


def detect(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    prose = [
        field
        for field in sample.top.values()
        if field.reading is Reading.PROSE and 2 * len(field.strings) >= len(sample)
    ]
    if not prose:
        return Doubt("no field of the records themselves reads like prose")
    if len(prose) > 1:
        return Doubt(f"{len(prose)} fields read like prose: {named(*prose)}")
    text = prose[0]
    doubt = _doubt(sample, text)
    if doubt:
        return Doubt(doubt)
    metadata = metadata_beside(sample, text.path)
    shape = Shape(
        name=f"{text.path[0]} + {metadata[0]}" if metadata else f"{text.path[0]}, flat",
        text=text.path,
        metadata=metadata,
    )
    count = sample.count(lambda row: isinstance(row.fields.get(text.path[0]), str))
    return Match(shape, count, (f"{named(text)} is the only field that reads like prose",))


def metadata_beside(sample: Sample, text: Path) -> Path:
    """The object beside the text where that is all there is, else ``EVERYTHING``.

    Where more lies beside, taking the object alone would drop the rest.
    """
    others = [field for name, field in sample.top.items() if (name,) != text[:1]]
    if len(others) == 1 and others[0].is_object:
        return others[0].path
    return EVERYTHING


def _doubt(sample: Sample, text: FieldSample) -> str | None:
    """Names that suggest another reading than the values do leave it open."""
    for name in _TEXT_NAMES:
        other = sample.top.get(name)
        if other is not None and other is not text and 2 * len(other.strings) >= len(sample):
            return f"{named(text)} {Reading.PROSE}, but {named(other)} {other.reading}"
    for name in _METADATA_NAMES:
        other = sample.top.get(name)
        if other is not None and other is not text and not other.is_object:
            return f"{named(other)} beside {named(text)} is not an object"
    if not text.is_text:
        return f"{named(text)} holds text in only {len(text.strings)} of {len(sample)} records"
    return None
