"""From a sample to a layout, or to an error that says what would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from a2m_gateway.errors import UnrecognisedLayout
from a2m_gateway.protocol.timestamps import EPOCH
from a2m_gateway.shapes.bookkeeping import bookkeeping
from a2m_gateway.shapes.creation import time_candidates, time_sentences, told_time, with_kind
from a2m_gateway.shapes.fields import EVERYTHING, format_field
from a2m_gateway.shapes.options import LayoutOptions
from a2m_gateway.shapes.record import RecordReader
from a2m_gateway.shapes.refusal import refuse
from a2m_gateway.shapes.sample import Sample, SampleCount
from a2m_gateway.shapes.shape import Recognition, Shape
from a2m_gateway.shapes.tenancy import with_tenant
from a2m_gateway.shapes.told import overridden, told_text
from a2m_gateway.shapes.vectors import choose_vector
from a2m_gateway.shapes.writers import DETECTORS, Doubt, Match
from a2m_gateway.shapes.writers.chroma import CHROMA
from a2m_gateway.store import CollectionInfo, Row

__all__ = ["recognise"]

_MIXED = 0.1
"""From this share on, records of another layout are no accident."""


def recognise(
    info: CollectionInfo,
    sample: Sequence[Row],
    options: LayoutOptions = LayoutOptions(),  # noqa: B008 - frozen
    *,
    engine: str = "",
) -> Recognition:
    """The layout of a collection, judged by about 50 of its records.

    Args:
        info: What the database says of the collection.
        sample: Raw rows, from all over the collection.
        options: What the owner says, which goes before what is found.
        engine: The database; an empty Chroma collection is laid out as Chroma does.

    Raises:
        UnrecognisedLayout: It can't be told for certain; lists the candidates with samples and
            the options that would settle it.
        ConfigurationError: An option names what is not there.
    """
    seen = Sample(sample)
    match = _match(seen, info, options, engine)
    shape = overridden(match.shape, seen, options)
    vector, because = choose_vector(info, options.vector_name)
    shape = with_kind(told_time(replace(shape, vector_name=vector), seen, options), seen)
    shape, tenancy = with_tenant(shape, seen, options, match.tenant_field)
    times = time_candidates(seen, shape)
    said = time_sentences(shape, seen, options, times)
    evidence = (
        _agreement(shape, match),
        *match.evidence,
        *_parts(shape, seen),
        because,
        *tenancy,
        *said,
    )
    return Recognition(
        shape=shape,
        confidence=match.count.share,
        evidence=evidence,
        times_known=shape.created_at is not None,
        times=said[0],
        candidates=times,
        model=match.model,
    )


def _match(sample: Sample, info: CollectionInfo, options: LayoutOptions, engine: str) -> Match:
    if not sample.rows:
        return _empty(info, options, engine)
    found, reason = _detected(sample, info)
    if options.text_field is not None:
        if found is not None and options.text_field == found.shape.text:
            return found
        return told_text(sample, options)
    if found is None:
        kept = bookkeeping(info.name, sample.rows)
        raise refuse(info.name, f"{reason} ({kept})" if kept else reason, sample)
    return found


def _detected(sample: Sample, info: CollectionInfo) -> tuple[Match | None, str]:
    """The first match that enough records agree with, or why there is none to rely on."""
    partial: list[Match] = []
    for detect in DETECTORS:
        found = detect(sample, info)
        if isinstance(found, Doubt):
            return None, _mixture(partial) or found.reason
        if found is None:
            continue
        if not found.count.enough:
            partial.append(found)
        elif found.shape.writer or not _mixture(partial):
            return found, ""
        else:
            break
    return None, _mixture(partial) or "no layout fits"


def _mixture(partial: Sequence[Match]) -> str:
    mixed = [match for match in partial if match.count.share >= _MIXED]
    if not mixed:
        return ""
    most = max(mixed, key=lambda match: match.count.share)
    return f"only {most.count} are laid out as {_described(most.shape)}"


def _empty(info: CollectionInfo, options: LayoutOptions, engine: str) -> Match:
    count = SampleCount(0, 0)
    if options.text_field is not None:
        shape = Shape("the named fields", options.text_field, options.metadata_field or EVERYTHING)
        return Match(
            shape, count, ("the collection is empty: its layout is taken from the options",)
        )
    if engine.startswith("chroma"):
        return Match(CHROMA, count, ("the collection is empty: its document will be the text",))
    raise UnrecognisedLayout(
        f"{info.name!r} is empty, so its layout can't be recognised: "
        "say where the text will be (--text-field FIELD), or fill it first"
    )


def _agreement(shape: Shape, match: Match) -> str:
    if match.count.of == 0:
        return "no record was there to be sampled"
    return f"{match.count} are laid out as {_described(shape)}"


def _described(shape: Shape) -> str:
    return f"{shape.name} ({shape.writer})" if shape.writer else shape.name


def _parts(shape: Shape, sample: Sample) -> tuple[str, ...]:
    """What becomes of the fields, those that are not shown included."""
    sentences: list[str] = []
    if shape.id is not None:
        sentences.append(f"a record's id is its `{format_field(shape.id)}`")
    if shape.expires is not None:
        dated = sample.present(shape.expires).agreeing
        sentences.append(
            f"records past their `{format_field(shape.expires)}` are hidden, as {shape.writer} "
            f"does it; {dated} of {len(sample)} sampled have one"
        )
    if shape.node is not None:
        sentences.append("metadata is the node's; the ids of its document are not shown")
        return (*sentences, *_misfits(shape, sample))
    if shape.is_flat:
        sentences.append("metadata is every field but the text")
        return (*sentences, *_misfits(shape, sample))
    sentences.append(f"metadata is `{format_field(shape.metadata)}`")
    used = {path[0] for path in (shape.text, shape.metadata, shape.id, shape.created_at) if path}
    fitting = Sample([row for row in sample.rows if RecordReader(shape, EPOCH).has_text(row)])
    hidden = [format_field((name,)) for name in fitting.top if name not in used]
    if hidden:
        shown = ", ".join(f"`{name}`" for name in hidden)
        sentences.append(f"not shown: {shown}; --metadata-field '*' would show every field")
    return (*sentences, *_misfits(shape, sample))


def _misfits(shape: Shape, sample: Sample) -> tuple[str, ...]:
    reader = RecordReader(shape, EPOCH)
    count = sample.count(lambda row: not reader.has_text(row))
    if not count.agreeing:
        return ()
    return (
        f"{count} have no text at `{format_field(shape.text)}`: they are shown with empty content "
        "and all their fields as metadata",
    )
