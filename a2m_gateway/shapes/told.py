"""What the owner says of a layout, checked against the records."""

from __future__ import annotations

from dataclasses import replace

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.shapes.fields import EVERYTHING, format_field
from a2m_gateway.shapes.options import LayoutOptions
from a2m_gateway.shapes.refusal import text_candidates
from a2m_gateway.shapes.sample import Sample, SampleCount
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.generic import metadata_beside
from a2m_gateway.shapes.writers.signature import Match

__all__ = ["overridden", "told_text"]


def told_text(sample: Sample, options: LayoutOptions) -> Match:
    """The layout that follows from the text field alone.

    Raises:
        ConfigurationError: No sampled record has a string there.
    """
    path = options.text_field or ()
    texts = len(sample.field(*path).strings)
    if not texts:
        there = ", ".join(format_field(one.path) for one in text_candidates(sample))
        raise ConfigurationError(
            f"no sampled record has a string in {format_field(path)!r}; "
            + (f"there are strings in {there}" if there else "no field holds strings"),
            setting="text_field",
        )
    shape = Shape("the named fields", path, metadata_beside(sample, path))
    return Match(shape, SampleCount(texts, len(sample)), ("the text field was named",))


def overridden(shape: Shape, sample: Sample, options: LayoutOptions) -> Shape:
    """``shape`` with the metadata and the id field that the owner names.

    Raises:
        ConfigurationError: No sampled record has them there.
    """
    if options.metadata_field is not None:
        shape = _with_metadata(shape, sample, options)
    if options.id_field is not None and options.id_field != shape.id:
        shape = _with_id(shape, sample, options)
    return shape


def _with_metadata(shape: Shape, sample: Sample, options: LayoutOptions) -> Shape:
    path = options.metadata_field or EVERYTHING
    if shape.node is not None:
        raise ConfigurationError(
            "LlamaIndex keeps metadata in its nodes; it lies nowhere else", setting="metadata_field"
        )
    if path and len(sample) and not sample.field(*path).objects:
        there = ", ".join(
            format_field(one) for one, field in sample.fields.items() if field.objects
        )
        raise ConfigurationError(
            f"no sampled record has an object in {format_field(path)!r}; "
            + (f"there are objects in {there}" if there else "no field holds objects; try '*'"),
            setting="metadata_field",
        )
    return replace(shape, metadata=path)


def _with_id(shape: Shape, sample: Sample, options: LayoutOptions) -> Shape:
    path = options.id_field or ()
    ids = [
        str(value)
        for value in sample.values(path)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    ]
    if len(ids) < len(sample):
        raise ConfigurationError(
            f"only {SampleCount(len(ids), len(sample))} have a string or a whole number in "
            f"{format_field(path)!r}",
            setting="id_field",
        )
    if len(set(ids)) < len(ids):
        raise ConfigurationError(
            f"several sampled records have the same {format_field(path)!r}, so it is no id",
            setting="id_field",
        )
    return replace(shape, id=path, id_namespace=None)
