"""What the server says: records and results (spec 3.1, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

__all__ = ["Record", "RecordsResult"]


class Record(msgspec.Struct, frozen=True):
    """A record of spec 3.1, with the fields that this gateway can declare.

    A field that the record does not carry is absent, never null.
    """

    id: str
    content: str
    created_at: str
    role: str | UnsetType = UNSET
    metadata: Mapping[str, object] | UnsetType = UNSET
    group: str | UnsetType = UNSET
    embedding: Sequence[float] | UnsetType = UNSET
    score: float | UnsetType = UNSET


class RecordsResult(msgspec.Struct, frozen=True):
    records: list[Record]
