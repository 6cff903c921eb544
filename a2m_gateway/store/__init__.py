"""What an adapter implements, and what it needs to do so."""

from a2m_gateway.store.filter import Condition, Filter, matches
from a2m_gateway.store.interface import (
    Adapter,
    CollectionInfo,
    CollectionSummary,
    Connection,
    Selection,
    Store,
    VectorField,
)
from a2m_gateway.store.rows import DOCUMENT, JSON, Hit, Page, Path, Row, Scalar
from a2m_gateway.store.url import StoreURL

__all__ = [
    "DOCUMENT",
    "JSON",
    "Adapter",
    "CollectionInfo",
    "CollectionSummary",
    "Condition",
    "Connection",
    "Filter",
    "Hit",
    "Page",
    "Path",
    "Row",
    "Scalar",
    "Selection",
    "Store",
    "StoreURL",
    "VectorField",
    "matches",
]
