"""A few records of a collection, seen as fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from a2m_gateway.shapes.fields import value_at
from a2m_gateway.shapes.prose import Reading, judge_field
from a2m_gateway.shapes.times import Moment, read_time
from a2m_gateway.store import DOCUMENT, JSON, Path, Row
from a2m_gateway.store.rows import ABSENT, Absent

__all__ = ["AGREEMENT", "DOCUMENT", "FieldSample", "Sample", "SampleCount"]

AGREEMENT = 0.9
"""The share of a sample that must be laid out alike."""

_DEPTH = 3
_MOST_FIELDS = 400


@dataclass(frozen=True, slots=True)
class SampleCount:
    """How many of the sampled records something is true of."""

    agreeing: int
    of: int

    @property
    def share(self) -> float:
        return self.agreeing / self.of if self.of else 0.0

    @property
    def enough(self) -> bool:
        return self.of > 0 and self.share >= AGREEMENT

    def __str__(self) -> str:
        return f"{self.agreeing} of {self.of} sampled records"


@dataclass(frozen=True)
class FieldSample:
    """The values of one field in the sample, nulls included."""

    path: Path
    values: tuple[JSON, ...]
    rows: int

    @cached_property
    def strings(self) -> tuple[str, ...]:
        return tuple(value for value in self.values if isinstance(value, str))

    @cached_property
    def reading(self) -> Reading:
        """What its strings look like."""
        return judge_field(self.strings)

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """Those of its values that can be read as times."""
        found = (read_time(value) for value in self.values)
        return tuple(moment for moment in found if moment is not None)

    @property
    def objects(self) -> int:
        return sum(isinstance(value, Mapping) for value in self.values)

    @property
    def nulls(self) -> int:
        return sum(value is None for value in self.values)

    @property
    def filled(self) -> int:
        return len(self.values) - self.nulls

    @property
    def is_text(self) -> bool:
        """A string that is not blank in nearly every record."""
        filled = sum(bool(value.strip()) for value in self.strings)
        return SampleCount(filled, self.rows).enough

    @property
    def is_object(self) -> bool:
        """An object or null in nearly every record, and an object in at least one."""
        return self.objects > 0 and SampleCount(self.objects + self.nulls, self.rows).enough


class Sample:
    """The sampled rows, and each field that occurs in them."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def fields(self) -> Mapping[Path, FieldSample]:
        """By path, objects and what is within them, in the order of first occurrence."""
        values: dict[Path, list[JSON]] = {}
        for row in self.rows:
            for path, value in _walk((), row.fields):
                if path in values or len(values) < _MOST_FIELDS:
                    values.setdefault(path, []).append(value)
        return {path: FieldSample(path, tuple(v), len(self)) for path, v in values.items()}

    @cached_property
    def top(self) -> Mapping[str, FieldSample]:
        """The fields of the record itself that are not null in all of them, by name."""
        return {
            path[0]: field for path, field in self.fields.items() if len(path) == 1 and field.filled
        }

    def field(self, *path: str) -> FieldSample:
        return self.fields.get(path) or FieldSample(path, (), len(self))

    def count(self, agrees: Callable[[Row], bool]) -> SampleCount:
        return SampleCount(sum(map(agrees, self.rows)), len(self))

    def values(self, path: Path) -> list[JSON | Absent]:
        """What each row carries at ``path``, ``ABSENT`` included."""
        return [value_at(row, path) for row in self.rows]

    def present(self, path: Path) -> SampleCount:
        found = sum(value is not None and value is not ABSENT for value in self.values(path))
        return SampleCount(found, len(self))


def _walk(outer: Path, fields: Mapping[str, JSON]) -> Iterator[tuple[Path, JSON]]:
    for name, value in fields.items():
        path = (*outer, name)
        yield path, value
        if isinstance(value, Mapping) and len(path) < _DEPTH:
            yield from _walk(path, value)
