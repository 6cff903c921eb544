"""What a store can do, as frozen data in which every default denies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from a2m_gateway.capability.metrics import Metric

__all__ = [
    "Claim",
    "Feature",
    "Ordering",
    "Profile",
    "Pushdown",
    "StoreLimits",
    "Support",
    "ValueType",
]


class Support(StrEnum):
    """How a feature is there. Only a layer may say ``EMULATED``."""

    UNSUPPORTED = "unsupported"
    EMULATED = "emulated"
    NATIVE = "native"


class Feature(StrEnum):
    """What the A2M capabilities are made of; ``capability.table`` says which needs which."""

    READ = "read"
    """``get`` and ``scan`` in the store's own order."""
    COUNT = "count"
    VECTOR_SEARCH = "vector_search"
    RETURN_VECTORS = "return_vectors"
    """The vector as the store holds it comes back with its record."""
    TEXT_SEARCH = "text_search"
    """``search_text``: the records that contain a word."""
    EXACT_FILTER = "exact_filter"
    """A filter selects exactly what strict JSON equality does (design, "equality in `where`")."""
    CREATION_ORDER = "creation_order"
    """``scan`` in the order of ``created_at``."""
    WRITE = "write"


class ValueType(StrEnum):
    """The types a value in ``where`` can have."""

    STRING = "string"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    NULL = "null"


class Pushdown(StrEnum):
    """How far a store's own filter can be trusted with one type of value."""

    NONE = "none"
    """Not sent: every record is read and compared."""
    LOOSE = "loose"
    """Sent, and selects too much, never too little; every row is compared again."""
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Claim:
    """A feature's support, the reason for it, and what is lost where it is emulated."""

    support: Support = Support.UNSUPPORTED
    reason: str = ""
    loss: str = ""

    @property
    def held(self) -> bool:
        return self.support is not Support.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Ordering:
    """An order of rows: by a field, or (``path`` is None) the store's own stable order."""

    path: tuple[str, ...] | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """The largest a store takes; None is "no limit is known".

    Attributes:
        max_k: Hits of one search.
    """

    max_k: int | None = None


_DENIED = Claim()


@dataclass(frozen=True, slots=True)
class Profile:
    """What one store, as opened, can do.

    Attributes:
        engine: The database, for people: ``"chroma"``, ``"qdrant (local mode)"``.
        version: Of the database, or ``""`` where it doesn't say.
        features: Absent means unsupported, without a reason.
        metric: The comparison in use; None where it is none of A2M's three, or there is no vector.
        metrics: What the storage could be configured for.
        width: Components of a vector; None until the first vector fixes it.
        filters: Per type of value, how far the store's own filter is trusted.
        whole_words: ``search_text`` finds no beginnings of words, so it is asked for whole ones.
        orderings: The orders in which ``scan`` can seek, so that a page costs O(page).
        limits: The store's own.
        consistency: In words, for ``inspect``.
        durability: In words, for ``inspect``.
        model: The embedding model that the corpus itself names, or None.
        notes: What else an owner should know, one sentence each.
    """

    engine: str
    version: str = ""
    features: Mapping[Feature, Claim] = field(default_factory=dict)
    metric: Metric | None = None
    metrics: frozenset[Metric] = frozenset()
    width: int | None = None
    filters: Mapping[ValueType, Pushdown] = field(default_factory=dict)
    whole_words: bool = False
    orderings: frozenset[Ordering] = frozenset()
    limits: StoreLimits = StoreLimits()
    consistency: str = ""
    durability: str = ""
    model: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", MappingProxyType(dict(self.features)))
        object.__setattr__(self, "filters", MappingProxyType(dict(self.filters)))

    def claim(self, feature: Feature) -> Claim:
        return self.features.get(feature, _DENIED)

    def has(self, feature: Feature) -> bool:
        return self.claim(feature).held

    def pushdown(self, value_type: ValueType) -> Pushdown:
        return self.filters.get(value_type, Pushdown.NONE)
