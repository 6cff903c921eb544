"""Filters on canonical rows as filters on raw ones.

A translated condition selects every raw row whose canonical row it selects, and maybe more. Where
that can't be had, it is left out: the ``exact`` layer compares every row again.
"""

from __future__ import annotations

from collections.abc import Iterator

from a2m_gateway.shapes.node import RESERVED
from a2m_gateway.shapes.record import WHOLE
from a2m_gateway.shapes.sample import DOCUMENT
from a2m_gateway.shapes.shape import Decoding, NodeCopies, Shape
from a2m_gateway.store import Condition, Filter, Path
from a2m_gateway.store.rows import ID

__all__ = ["translate"]


def translate(conditions: Filter, shape: Shape) -> Filter:
    """``conditions`` in raw fields, without those that can't be said, and the tenant's."""
    translated = tuple(_translated(conditions, shape))
    if shape.tenant is None or shape.tenant.path == ID:
        return translated
    return (Condition((shape.tenant.path,), shape.tenant.values), *translated)


def _translated(conditions: Filter, shape: Shape) -> Iterator[Condition]:
    for condition in conditions:
        paths = _raw_paths(condition, shape)
        if paths:
            yield Condition(paths, condition.values)


def _raw_paths(condition: Condition, shape: Shape) -> tuple[Path, ...] | None:
    """Where the value lies that the condition compares, or None.

    The first path that a row carries decides, so each must be there in the raw row exactly when it
    is in the canonical one.
    """
    raw: list[Path] = []
    if not shape.is_flat and sum(_may_be_there(path, shape) for path in condition.paths) > 1:
        return None  # a field that only a misfit shows would decide for every record
    for position, path in enumerate(condition.paths):
        if not _may_be_there(path, shape):
            continue
        if path == ID:
            return (*raw, ID) if shape.id is None else None
        if path == ("role",) and not _is_metadata_too(shape, condition.paths[position + 1 :]):
            return None
        found = _raw_path(path, condition, shape)
        if found is None or ID in found:  # below the layout that path is the store's own id
            return None
        raw += found
        if path == ("content",):
            break
    return tuple(raw)


def _may_be_there(path: Path, shape: Shape) -> bool:
    if path[:1] == ("role",):
        return shape.role is not None
    return bool(path) and path[0] in {"id", "content", "created_at", "metadata"}


def _is_metadata_too(shape: Shape, later: tuple[Path, ...]) -> bool:
    """A role that is no string is none, and lies in the metadata alone: the same field, if flat."""
    same = shape.role is not None and shape.is_flat and len(shape.role) == 1
    return same and shape.node is None and later[:1] in {(), (("metadata", *(shape.role or ())),)}


def _raw_path(path: Path, condition: Condition, shape: Shape) -> tuple[Path, ...] | None:
    if path == ("content",):
        return _content(condition, shape)
    if path == ("role",):
        return (shape.role,) if shape.role else None
    if path[0] == "metadata" and len(path) > 1:
        return _metadata(path[1:], condition, shape)
    return None


def _content(condition: Condition, shape: Shape) -> tuple[Path, ...] | None:
    """A record without text has the content "", which no field of its says."""
    return None if shape.node is not None or "" in condition.values else (shape.text,)


def _metadata(path: Path, condition: Condition, shape: Shape) -> tuple[Path, ...] | None:
    if shape.node is not None:
        return _node_metadata(path, condition, shape)
    if len(path) > 1 and shape.decoding is not Decoding.NONE:
        return None  # it lies within text
    inside = (*shape.metadata, *path)
    if _overlap(inside, shape.text) or (shape.is_flat and path[0] == DOCUMENT):
        return None
    if shape.is_flat:
        return (inside,)
    if path[0] == shape.metadata[-1]:
        return None  # metadata that is no object is kept under its own name
    if not path[0].strip(WHOLE):
        return None  # it may hold what is beside metadata of the same name
    time = shape.created_at or ()
    if len(time) > 1 and path[0] == time[-1] and time[: len(shape.metadata)] != shape.metadata:
        return None  # a time beside the metadata is kept in it, a misfit's where it lies
    return inside, path  # beside the metadata: a misfit is shown whole


def _node_metadata(path: Path, condition: Condition, shape: Shape) -> tuple[Path, ...] | None:
    copied = shape.node_copies is NodeCopies.COPIED
    known = copied and path[0] not in {*RESERVED, DOCUMENT, shape.text[0]}
    if shape.created_at and path[0] == shape.created_at[-1]:
        return None
    # Beside a node's null Chroma has an empty string.
    return (path,) if known and None not in condition.values else None


def _overlap(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
