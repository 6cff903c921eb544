"""A shape as data: where the parts of a record lie in somebody else's layout."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from a2m_gateway.shapes.fields import EVERYTHING
from a2m_gateway.shapes.times import TimeKind
from a2m_gateway.store import Path, Scalar

__all__ = ["Candidate", "Decoding", "NodeCopies", "Recognition", "Shape", "Tenant"]


class Decoding(StrEnum):
    """How a writer turned metadata values into what its store takes."""

    NONE = "none"
    PYTHON_REPR = "python repr"
    """Lists and objects lie as the text that Python prints for them (Open WebUI)."""


class NodeCopies(StrEnum):
    """Whether the metadata within ``_node_content`` (LlamaIndex) also lies beside it."""

    COPIED = "copied"
    """Every key is a field of the record too, which is what the store can filter by."""
    NODE_ONLY = "node only"


@dataclass(frozen=True, slots=True)
class Tenant:
    """The records that are served are those whose field equals one of the values."""

    path: Path
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """Where things lie in a record.

    Attributes:
        name: Of the layout, for people: ``"page_content + metadata"``.
        writer: Who writes such records, or ``""`` where several do or nobody known.
        text: The content. With ``node`` the text within it comes first, this where that is empty.
        metadata: The object that holds it, or ``EVERYTHING``: all that is not the text.
        id: The field records are known by, or None for the store's own id.
        id_namespace: The store's id is the UUID version 5 of ``id`` in this namespace.
        created_at: The time of creation, or None where the record has none of its own.
        created_kind: How times are written when all sampled ones are written alike, else None.
        role: The field that becomes ``role``.
        expires: The day after which the writer hides a record (mem0).
        tenant: The filter that always applies.
        vector_name: The vector to search and return; None is none.
        decoding: Of metadata values.
        node: The field that holds a LlamaIndex node as JSON text.
        node_copies: With ``node``, where its metadata is read from.
    """

    name: str
    text: Path
    metadata: Path = EVERYTHING
    writer: str = ""
    id: Path | None = None
    id_namespace: UUID | None = None
    created_at: Path | None = None
    created_kind: TimeKind | None = None
    role: Path | None = None
    expires: Path | None = None
    tenant: Tenant | None = None
    vector_name: str | None = None
    decoding: Decoding = Decoding.NONE
    node: Path | None = None
    node_copies: NodeCopies = NodeCopies.NODE_ONLY
    text_in_node: bool = False

    @property
    def is_flat(self) -> bool:
        return self.metadata == EVERYTHING


@dataclass(frozen=True, slots=True)
class Candidate:
    """A field that could be chosen by an option.

    Attributes:
        option: The option that would choose it: ``text_field``, ``created_at_field``, …
        path: The field.
        what: What its values look like, in words.
        samples: A few of them, shortened.
    """

    option: str
    path: Path
    what: str
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognition:
    """What was recognised, how sure that is, and why.

    Attributes:
        shape: The layout.
        confidence: The share of the sample that is laid out so; 0.0 for an empty one.
        evidence: Sentences for ``inspect``.
        times_known: Whether records carry their own time of creation.
        times: Why, or why not, in a sentence.
        candidates: Fields that options could choose instead.
        model: The embedding model that the records themselves name, or None.
    """

    shape: Shape
    confidence: float
    evidence: tuple[str, ...] = ()
    times_known: bool = False
    times: str = ""
    candidates: tuple[Candidate, ...] = ()
    model: str | None = None
