"""From a raw row to a canonical one: content, created_at, role, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from uuid import UUID, uuid5

from a2m_gateway.shapes.fields import EVERYTHING, value_at
from a2m_gateway.shapes.node import RESERVED, Node, read_node
from a2m_gateway.shapes.python_repr import from_python_repr
from a2m_gateway.shapes.sample import DOCUMENT
from a2m_gateway.shapes.shape import Decoding, NodeCopies, Shape
from a2m_gateway.shapes.times import read_time
from a2m_gateway.store import JSON, Path, Row
from a2m_gateway.store.filter import equal
from a2m_gateway.store.rows import ABSENT, Absent

__all__ = ["WHOLE", "RecordReader", "is_derived"]

WHOLE = "*"
"""Holds what a record has beside metadata of the same name; repeated where that name is taken."""


class RecordReader:
    """Reads the rows of one shape.

    Metadata is what the writer's user stored, each value exactly as it lies there. Under a flat
    layout that is every field but the text; under LlamaIndex it is the node's metadata, as
    LlamaIndex itself returns it, without the ids of the document beside it.

    A record that the layout doesn't fit is shown whole: what it has that is neither its content nor
    its metadata object lies in its metadata too. Where a name is taken by the metadata object, the
    record's own value is kept under ``*``, which alone means the record elsewhere too.

    Args:
        created_at_default: The time of a record that has none, or one that can't be read.
    """

    def __init__(self, shape: Shape, created_at_default: str) -> None:
        self._shape = shape
        self._default = created_at_default

    def read(self, row: Row) -> Row:
        """The canonical row."""
        node = self._node(row)
        fields: dict[str, JSON] = {
            "content": self._content(row, node),
            "created_at": self._created_at(row),
            "metadata": self._node_metadata(row, node) if node else self._metadata(row),
        }
        role = value_at(row, self._shape.role) if self._shape.role else ABSENT
        if isinstance(role, str):
            fields["role"] = role
        return replace(row, id=self.record_id(row), fields=fields)

    def record_id(self, row: Row) -> str:
        """By what the record is known: a string or a whole number in its id field, else the id
        that the store knows it by. Under a namespace only an own id that the store's follows from,
        so that ``get`` finds whatever was returned.
        """
        return self._own_id(row) or row.id

    def has_text(self, row: Row) -> bool:
        """Whether the text, or the node that holds it, is where the layout says."""
        return self._fills_text(row) or self._node(row) is not None

    def is_hidden(self, row: Row, now: datetime) -> bool:
        """Whether the raw ``row`` is another tenant's, or past its day (mem0: UTC, inclusive)."""
        tenant = self._shape.tenant
        if tenant is not None:
            found = value_at(row, tenant.path)
            if not any(equal(found, value) for value in tenant.values):
                return True
        return self._shape.expires is not None and _is_past(
            value_at(row, self._shape.expires), now.date()
        )

    def _own_id(self, row: Row) -> str | None:
        own = value_at(row, self._shape.id) if self._shape.id else ABSENT
        namespace = self._shape.id_namespace
        if namespace is not None:
            return own if isinstance(own, str) and is_derived(row.id, namespace, own) else None
        if isinstance(own, str) and own:
            return own
        return str(own) if isinstance(own, int) and not isinstance(own, bool) else None

    def _fills_text(self, row: Row) -> bool:
        """Whether the text field is the content, so that it need not be shown again."""
        in_field = not self._shape.text_in_node
        return in_field and isinstance(value_at(row, self._shape.text), str)

    def _is_misfit(self, row: Row) -> bool:
        lacks_id = self._shape.id is not None and self._own_id(row) is None
        return lacks_id or not self._fills_text(row)

    def _node(self, row: Row) -> Node | None:
        return read_node(value_at(row, self._shape.node)) if self._shape.node else None

    def _content(self, row: Row, node: Node | None) -> str:
        found = value_at(row, self._shape.text)
        text = found if isinstance(found, str) else ""
        if node is None:
            return "" if self._shape.text_in_node else text
        return node.text if self._shape.text_in_node else text or node.text

    def _created_at(self, row: Row) -> str:
        path = self._shape.created_at
        moment = read_time(value_at(row, path)) if path else None
        return moment.timestamp if moment else self._default

    def _metadata(self, row: Row) -> dict[str, JSON]:
        shape = self._shape
        found = value_at(row, shape.metadata)
        if not shape.is_flat and self._is_misfit(row):
            return self._whole(row, found)
        if found is None or isinstance(found, Absent):
            metadata: dict[str, JSON] = {}
        elif isinstance(found, Mapping):
            metadata = self._decoded(self._without_text(row, shape.metadata))
        else:  # no object, and not to be lost
            metadata = {shape.metadata[-1]: found}
        self._keep_raw_time(row, metadata)
        return metadata

    def _whole(self, row: Row, found: JSON | Absent) -> dict[str, JSON]:
        metadata: dict[str, JSON] = {}
        rest = self._without_text(row, EVERYTHING)
        if isinstance(found, Mapping):
            metadata = self._decoded(self._without_text(row, self._shape.metadata))
            rest = _without(rest, self._shape.metadata)
        taken = {name: value for name, value in rest.items() if name in metadata}
        metadata = {**rest, **metadata}
        if taken:
            metadata[_free_name(metadata)] = taken
        return metadata

    def _without_text(self, row: Row, path: Path) -> Mapping[str, JSON]:
        """The object at ``path`` without the content that lies in it."""
        shape = self._shape
        found = value_at(row, path)
        kept = dict(found) if isinstance(found, Mapping) else {}
        if shape.text[: len(path)] == path and self._fills_text(row):
            kept = dict(_without(kept, shape.text[len(path) :]))
        if shape.is_flat and kept.get(DOCUMENT, ABSENT) is None:
            del kept[DOCUMENT]  # an empty slot of the store's, no field of the writer's
        return kept

    def _decoded(self, metadata: Mapping[str, JSON]) -> dict[str, JSON]:
        if self._shape.decoding is Decoding.NONE:
            return dict(metadata)
        return {
            name: from_python_repr(value) if isinstance(value, str) else value
            for name, value in metadata.items()
        }

    def _keep_raw_time(self, row: Row, metadata: dict[str, JSON]) -> None:
        """A time that lies outside the metadata is kept in it as it was written."""
        shape, path = self._shape, self._shape.created_at
        if path is None:
            return
        in_metadata = path[: len(shape.metadata)] == shape.metadata
        if path[0] in metadata if shape.node else in_metadata:
            return
        raw = value_at(row, path)
        if not isinstance(raw, Absent):
            metadata.setdefault(path[-1], raw)

    def _node_metadata(self, row: Row, node: Node) -> dict[str, JSON]:
        """The copies beside the node where it has them, for those are what the store filters by."""
        metadata = dict(node.metadata)
        if self._shape.node_copies is NodeCopies.COPIED:
            shown = {self._shape.text[0]} if self._fills_text(row) else set()
            kept = {name: value for name, value in metadata.items() if name in RESERVED}
            metadata = kept | {
                name: _restored(value, node.metadata.get(name, ABSENT))
                for name, value in row.fields.items()
                if name not in RESERVED and name not in {*shown, DOCUMENT}
            }
        self._keep_raw_time(row, metadata)
        return metadata


def is_derived(row_id: str, namespace: UUID, own: str) -> bool:
    """Whether a store's id, in any spelling, is the UUID version 5 of a record's own."""
    try:
        return UUID(row_id) == uuid5(namespace, own)
    except ValueError:
        return False


def _restored(copy: JSON, own: JSON | Absent) -> JSON:
    """Chroma has no null: LlamaIndex writes an empty string beside the node's null."""
    return None if own is None and copy == "" else copy


def _free_name(metadata: Mapping[str, JSON]) -> str:
    name = WHOLE
    while name in metadata:
        name += WHOLE
    return name


def _without(fields: Mapping[str, JSON], path: Path) -> Mapping[str, JSON]:
    head, *rest = path
    if head not in fields:
        return fields
    kept = dict(fields)
    inner = kept.pop(head)
    if rest and isinstance(inner, Mapping):
        left = _without(inner, tuple(rest))
        if left:
            kept[head] = left
    elif rest:
        kept[head] = inner
    return kept


def _is_past(day: JSON | Absent, today: date) -> bool:
    if not isinstance(day, str) or not day:
        return False
    try:
        return date.fromisoformat(day) < today
    except ValueError:
        return False  # as mem0 does: what is no date never comes
