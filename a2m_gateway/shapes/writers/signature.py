"""What a writer's detector says, and the checks that detectors share.

A detector sees a sample and the collection's own description and answers with a ``Match``, a
``Doubt`` where records look like its writer's and are not, or None. Names are a hint, values and
types decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from a2m_gateway.shapes.fields import format_field
from a2m_gateway.shapes.prose import Reading
from a2m_gateway.shapes.sample import FieldSample, Sample, SampleCount
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.store import CollectionInfo, Path, Row

__all__ = [
    "Detector",
    "Doubt",
    "Match",
    "doubtful_text",
    "is_nested",
    "named",
    "prose_fields",
    "share_text",
]


@dataclass(frozen=True, slots=True)
class Match:
    """A layout that the sample agrees with, as far as ``count`` says.

    Attributes:
        shape: Without vector and tenant, which are chosen later.
        evidence: What speaks for it beyond the fields and their types.
        tenant_field: The field by which the writer keeps tenants apart, if these records have it.
        model: The embedding model that the records name.
    """

    shape: Shape
    count: SampleCount
    evidence: tuple[str, ...] = ()
    tenant_field: Path | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a layout that suggests itself may be the wrong one."""

    reason: str


Detector: TypeAlias = Callable[[Sample, CollectionInfo], Match | Doubt | None]


def is_nested(row: Row, text: str, metadata: str, *, beside: Collection[str] = ()) -> bool:
    """The record is text and an object, maybe null, and nothing else but what may be beside."""
    fields = row.fields
    inner = fields.get(metadata)
    if not isinstance(fields.get(text), str) or not (inner is None or isinstance(inner, Mapping)):
        return False
    return all(
        value is None or name in {text, metadata} or name in beside
        for name, value in fields.items()
    )


def share_text(sample: Sample, name: str) -> SampleCount:
    """How many records hold a string under ``name``."""
    return sample.count(lambda row: isinstance(row.fields.get(name), str))


def prose_fields(sample: Sample, *, besides: Path) -> list[FieldSample]:
    """The fields, at any depth, that read like prose in at least half of the records."""
    return [
        field
        for path, field in sample.fields.items()
        if path != besides
        and len(field.strings) * 2 >= len(sample)
        and field.reading is Reading.PROSE
    ]


def doubtful_text(sample: Sample, path: Path) -> str | None:
    """Why the field at ``path`` may not be the text, though its name says so; None if it is."""
    field = sample.field(*path)
    if field.reading is Reading.PROSE:
        return None
    others = prose_fields(sample, besides=path)
    if field.reading is Reading.WORDS and not others:
        return None
    more = f", while {named(*others)} {Reading.PROSE}" if others else ""
    return f"`{format_field(path)}` {field.reading}{more}"


def named(*fields: FieldSample) -> str:
    """Fields as people list them, in code quotes."""
    return ", ".join(f"`{format_field(field.path)}`" for field in fields)
