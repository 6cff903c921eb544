"""Which field, if any, says when a record was made."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.shapes.fields import format_field
from a2m_gateway.shapes.options import LayoutOptions
from a2m_gateway.shapes.refusal import flag, shortened
from a2m_gateway.shapes.sample import AGREEMENT, FieldSample, Sample
from a2m_gateway.shapes.shape import Candidate, Shape
from a2m_gateway.shapes.times import Moment, read_time, uniform_kind
from a2m_gateway.store import Path

__all__ = ["time_candidates", "time_sentences", "told_time", "with_kind"]

_HINT = re.compile(r"(date|time|created|updated|modified|published|timestamp|_at$|^ts$)", re.I)


def told_time(shape: Shape, sample: Sample, options: LayoutOptions) -> Shape:
    """``shape`` with the time field that the owner names.

    Raises:
        ConfigurationError: No sampled record has a time there.
    """
    path = options.created_at_field
    if path is None:
        return shape
    if len(sample) and not _moments(sample, path):
        there = ", ".join(format_field(one.path) for one in time_candidates(sample, shape))
        raise ConfigurationError(
            f"no sampled record has a time in {format_field(path)!r}; "
            + (f"there are times in {there}" if there else "no field holds times"),
            setting="created_at_field",
        )
    return replace(shape, created_at=path)


def with_kind(shape: Shape, sample: Sample) -> Shape:
    """``shape`` with how its times are written, where every sampled record has one alike."""
    if shape.created_at is None:
        return shape
    moments = _moments(sample, shape.created_at)
    kind = uniform_kind(moments) if len(moments) == len(sample) else None
    return replace(shape, created_kind=kind)


def time_candidates(sample: Sample, shape: Shape) -> tuple[Candidate, ...]:
    """Fields that hold times and are not used: a user's ``created_at`` is no fact."""
    return tuple(
        Candidate("created_at_field", field.path, _kinds(field), shortened(field))
        for field in sample.fields.values()
        if field.path != shape.created_at and _holds_times(field)
    )


def time_sentences(
    shape: Shape, sample: Sample, options: LayoutOptions, candidates: tuple[Candidate, ...]
) -> tuple[str, ...]:
    """What is known of the records' times; the first sentence is the gist."""
    default = options.created_at_default
    if shape.created_at is None:
        return (
            f"times are unknown: created_at is {default} for every record, "
            "and their order is the store's own",
            *(
                f"`{format_field(one.path)}` holds times ({one.what}); {flag(one)} would use them"
                for one in candidates
            ),
        )
    field = sample.field(*shape.created_at)
    gist = f"created_at is `{format_field(shape.created_at)}` ({_kinds(field)})"
    more: list[str] = []
    naive = sum(moment.kind.assumes_utc for moment in field.moments)
    if naive:
        more.append(f"{naive} of {len(sample)} sampled times name no offset and are read as UTC")
    unread = len(sample) - len(field.moments)
    if unread:
        bad = [value for value in field.values if value is not None and read_time(value) is None]
        shown = f", such as {bad[0]!r:.60}" if bad else ""
        more.append(
            f"{unread} of {len(sample)} sampled records have no time that can be read{shown}: "
            f"their created_at is {default}"
        )
    return gist, *more


def _moments(sample: Sample, path: Path) -> list[Moment]:
    return [moment for moment in map(read_time, sample.values(path)) if moment is not None]


def _holds_times(field: FieldSample) -> bool:
    if not field.filled or len(field.moments) < AGREEMENT * field.filled:
        return False
    if 2 * field.filled < field.rows:
        return False
    written_out = all(not moment.kind.is_epoch for moment in field.moments)
    return written_out or _HINT.search(field.path[-1]) is not None


def _kinds(field: FieldSample) -> str:
    counts = Counter(moment.kind for moment in field.moments)
    return ", ".join(str(kind) for kind, _ in counts.most_common())
