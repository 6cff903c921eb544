"""Saying what could not be told, so that one option settles it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from a2m_gateway.errors import UnrecognisedLayout
from a2m_gateway.shapes.fields import format_field
from a2m_gateway.shapes.prose import Reading
from a2m_gateway.shapes.sample import FieldSample, Sample, SampleCount
from a2m_gateway.shapes.shape import Candidate

__all__ = ["flag", "refuse", "shortened", "text_candidates"]

_RANK = tuple(Reading)
_MOST = 12
_LENGTH = 48


def refuse(name: str, reason: str, sample: Sample) -> UnrecognisedLayout:
    """The error for a collection whose text can't be told for certain."""
    candidates = text_candidates(sample)
    lines = [f"can't tell for certain how the records of {name!r} are laid out: {reason}."]
    if candidates:
        lines.append(f"What could be the text, in {len(sample)} sampled records:")
        lines += [_line(candidate) for candidate in candidates]
        lines.append("To settle it, give one of:")
        lines += [f"  {flag(candidate)}" for candidate in _likely(candidates)]
        lines.append(
            "and, to say what the metadata is, --metadata-field FIELD, or --metadata-field '*' "
            "for all that is not the text."
        )
    else:
        lines.append("No field of the sampled records holds a string.")
    return UnrecognisedLayout("\n".join(lines))


def text_candidates(sample: Sample) -> tuple[Candidate, ...]:
    """The fields that hold strings, the likeliest text first."""
    fields = [field for field in sample.fields.values() if field.strings]
    fields.sort(key=lambda field: (_RANK.index(field.reading), -len(field.strings)))
    return tuple(
        Candidate(
            "text_field",
            field.path,
            f"{field.reading}, in {SampleCount(len(field.strings), len(sample))}",
            shortened(field),
        )
        for field in fields[:_MOST]
    )


def flag(candidate: Candidate) -> str:
    """The option as the command line takes it: ``--text-field body``."""
    name = format_field(candidate.path)
    plain = name.replace(".", "").replace("_", "").replace("-", "").isalnum()
    quoted = name if plain else "'" + name.replace("'", "'\\''") + "'"
    return f"--{candidate.option.replace('_', '-')} {quoted}"


def shortened(field: FieldSample, most: int = 2) -> tuple[str, ...]:
    """A few distinct values, as one short line each."""
    return tuple(dict.fromkeys(map(_short, field.strings or _filled(field))))[:most]


def _filled(field: FieldSample) -> Iterable[object]:
    return (value for value in field.values if value is not None)


def _short(value: object) -> str:
    text = value[:_LENGTH] if isinstance(value, str) else value
    line = json.dumps(text, ensure_ascii=False)
    return line if text == value and len(line) <= _LENGTH + 2 else f"{line[:_LENGTH]}…"


def _line(candidate: Candidate) -> str:
    samples = "  ".join(candidate.samples)
    return f"  {format_field(candidate.path)}: {candidate.what}: {samples}"


def _likely(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    prose = [one for one in candidates if one.what.startswith(Reading.PROSE)]
    return prose or candidates[:3]
