"""What comes out of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "ABSENT",
    "DOCUMENT",
    "ID",
    "JSON",
    "Absent",
    "Hit",
    "Page",
    "Path",
    "Row",
    "Scalar",
    "lookup",
]

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
Scalar: TypeAlias = bool | int | float | str | None
Path: TypeAlias = tuple[str, ...]
"""Where a value lies in ``Row.fields``: ``("metadata", "page")``."""

DOCUMENT = "#document"
"""The key in ``Row.fields`` of the document slot of a store that has one (Chroma)."""

ID: Path = ("id",)
"""The path that means ``Row.id``, at whatever level the row is."""


class Absent:
    """The type of ``ABSENT``, which is no JSON value: a field that is not there is not null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Row:
    """One record as it lies in a store, or (above the layout) as A2M sees it.

    Attributes:
        id: The store's id as a string.
        fields: Below the layout the raw payload; the document slot of a store that has one
            (Chroma) is the key ``DOCUMENT``. Above the layout ``content``, ``created_at``,
            ``metadata`` and what else the record carries.
        vector: As the store holds it; None where it was not asked for or there is none.
    """

    id: str
    fields: Mapping[str, JSON]
    vector: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A row and its canonical distance to the query (``capability.metrics``): smaller is nearer."""

    row: Row
    distance: float


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in order, and where the next page begins; a ``cursor`` of None is the end.

    A page may hold fewer rows than asked for, even none, and still not be the last.
    """

    rows: Sequence[Row]
    cursor: str | None = None


def lookup(row: Row, path: Path) -> JSON | Absent:
    """The value at ``path``, or ``ABSENT``."""
    if path == ID:
        return row.id
    value: JSON = row.fields
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return ABSENT
        value = value[name]
    return value
