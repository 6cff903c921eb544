"""What the adapter asks of Qdrant: a handful of calls, answered by a server or by local mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from qdrant_client import models

from a2m_gateway.capability import Claim
from a2m_gateway.store import JSON, CollectionSummary, Path, Selection

__all__ = ["Engine", "Point", "Points", "TextSearch"]


@dataclass(frozen=True, slots=True)
class Point:
    """A point as any call answers it.

    Attributes:
        vector: The unnamed vector, or the named ones.
        score: Qdrant's own, in a query's answer; not a number where local mode divided by zero.
        order_value: The number that an ordered scroll sorted the point by; microseconds for a time.
    """

    id: int | str
    payload: Mapping[str, JSON]
    vector: Sequence[float] | Mapping[str, object] | None = None
    score: float = 0.0
    order_value: int | float | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """A page of points, and the id at which the next one begins."""

    points: Sequence[Point]
    next_id: int | str | None = None


class TextSearch(Protocol):
    """How the words of one field are found."""

    @property
    def claim(self) -> Claim: ...

    @property
    def whole_words(self) -> bool:
        """Beginnings of words are not found."""
        ...

    async def find(
        self,
        terms: Sequence[str],
        limit: int,
        narrowed: models.Filter | None,
        *,
        whole: bool,
    ) -> Sequence[Point]:
        """For each term at most ``limit`` points; one may come for several terms."""
        ...


class Engine(Protocol):
    """A Qdrant. Every call raises only ``StoreError``s, ``CollectionGone`` for a 404."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def local(self) -> bool:
        """Whether this is the client's local mode."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner of any collection here should know."""
        ...

    async def collections(self) -> Sequence[CollectionSummary]: ...

    async def describe(self, collection: str) -> models.CollectionInfo: ...

    async def query(self, collection: str, request: models.QueryRequest) -> Sequence[Point]: ...

    async def retrieve(self, collection: str, request: models.PointRequest) -> Sequence[Point]: ...

    async def scroll(self, collection: str, request: models.ScrollRequest) -> Points: ...

    async def count(self, collection: str, request: models.CountRequest) -> int: ...

    async def orders_by(self, collection: str, info: models.CollectionInfo, path: Path) -> bool:
        """Whether a scroll ordered by this field holds every point that carries it."""
        ...

    def text_search(
        self, collection: str, info: models.CollectionInfo, selection: Selection
    ) -> TextSearch:
        """How words in the selected field are found."""
        ...

    async def aclose(self) -> None: ...
