"""A small collection that any store should be able to hold, and that few hold by accident."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from a2m_gateway.store import JSON, Path, Row, Store

__all__ = ["Loaded", "sample_rows"]

_TEXTS = (
    "Error E4211 means that the replica has fallen behind the primary.",
    "The deploy key of the staging cluster rotates every ninety days.",
    "snake_case names are matched whole, 100% of the time.",
    "Größe, naïveté and Ωμέγα: letters beyond ASCII.",
    'She said "quote", and wrote C:\\path\\to\\file.',
    "A line\nbreak, a tab\tand an emoji 🦜.",
)
_KINDS = ("note", 'a "quoted" kind', "back\\slash", "Ωμέγα", "42", "true", "x' OR '1'='1", "")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A store under test and what its collection holds.

    Attributes:
        rows: With their vectors, and with fields as the store has to return them.
        text_path: The field that ``Selection.text_path`` named, or None.
    """

    store: Store
    rows: Sequence[Row]
    text_path: Path | None = None


def sample_rows(count: int = 24, width: int = 8, text_field: str = "text") -> list[Row]:
    """Rows with flat fields of every scalar type but null, and vectors of one width.

    Ids are UUIDs, which every database takes; floats have few digits, which every one keeps.
    Vectors have distinct directions and lengths, so that no two distances tie in any metric.
    """
    return [_row(number, width, text_field) for number in range(count)]


def _row(number: int, width: int, text_field: str) -> Row:
    fields: dict[str, JSON] = {
        text_field: f"{_TEXTS[number % len(_TEXTS)]} Number {number}.",
        "kind": _KINDS[number % len(_KINDS)],
        "page": number % 5,
        "big": 2**53 - number,
        "weight": number / 4,
        "draft": number % 3 == 0,
        "a.b c": f"dotted {number % 2}",
    }
    if number % 4 == 0:
        fields["rare"] = "only some carry it"
    angles = [math.sin((number + 1) * (place + 1) * 0.7) for place in range(width)]
    vector = [round(angle * (1 + number / 10), 6) for angle in angles]
    return Row(str(uuid5(NAMESPACE_URL, f"a2m:sample:{number}")), fields, vector)
