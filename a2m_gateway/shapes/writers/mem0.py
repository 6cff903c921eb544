"""mem0: a fact in ``data``, its MD5 in ``hash``, and whose it is."""

from __future__ import annotations

import hashlib

from a2m_gateway.shapes.sample import Sample
from a2m_gateway.shapes.shape import Shape
from a2m_gateway.shapes.writers.signature import Doubt, Match
from a2m_gateway.store import CollectionInfo, Row

__all__ = ["detect"]

_OWNERS = ("user_id", "agent_id", "run_id")


def detect(sample: Sample, info: CollectionInfo) -> Match | Doubt | None:
    hashed = sample.count(_is_hashed)
    if hashed.agreeing:
        shape = Shape(
            name="data + hash",
            writer="mem0",
            text=("data",),
            created_at=("created_at",),
            role=("role",),
            expires=("expiration_date",),
        )
        return Match(shape, hashed, ("`hash` is the MD5 of `data`",))
    if sample.count(_is_alike).enough:
        return Doubt(
            "`data`, `hash` and an owner look like mem0, but `hash` is not the MD5 of `data`"
        )
    return None


def _is_hashed(row: Row) -> bool:
    data = row.fields.get("data")
    if not isinstance(data, str) or not _is_alike(row):
        return False
    digest = hashlib.md5(data.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return row.fields.get("hash") == digest.hexdigest()


def _is_alike(row: Row) -> bool:
    fields = row.fields
    return (
        isinstance(fields.get("data"), str)
        and isinstance(fields.get("hash"), str)
        and any(isinstance(fields.get(name), str) for name in _OWNERS)
    )
