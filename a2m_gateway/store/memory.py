"""The in-memory store: for documentation, tests, and as the plainest reading of the interface.

``memory:///example`` is a handful of records that is always there; Python code adds its own with
``create``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from a2m_gateway.capability import (
    Claim,
    Feature,
    Metric,
    Ordering,
    Profile,
    Pushdown,
    Support,
    ValueType,
)
from a2m_gateway.errors import StoreRefused
from a2m_gateway.store.distance import distances
from a2m_gateway.store.filter import Filter, matches
from a2m_gateway.store.interface import (
    CollectionInfo,
    CollectionSummary,
    Selection,
    VectorField,
)
from a2m_gateway.store.missing import no_such_collection
from a2m_gateway.store.rows import JSON, Hit, Page, Row, lookup
from a2m_gateway.store.text import contains
from a2m_gateway.store.url import StoreURL

__all__ = ["MemoryConnection", "MemoryStore", "adapter", "create", "drop"]

_NATIVE = Claim(Support.NATIVE, "held in this process")
_FORWARD, _BACKWARD = Ordering(), Ordering(descending=True)


class MemoryStore:
    """Rows in a list, compared one by one."""

    def __init__(
        self,
        rows: Sequence[Row],
        *,
        metric: Metric | None = Metric.COSINE,
        selection: Selection = Selection(vector_name=""),  # noqa: B008 - frozen
    ) -> None:
        self._rows = list(rows)
        self._text_path = selection.text_path
        widths = {len(row.vector) for row in rows if row.vector is not None}
        searchable = selection.vector_name is not None and metric is not None and bool(widths)
        self.profile = Profile(
            engine="memory",
            features={
                Feature.READ: _NATIVE,
                Feature.COUNT: _NATIVE,
                Feature.VECTOR_SEARCH: _NATIVE if searchable else Claim(reason="no vectors"),
                Feature.RETURN_VECTORS: _NATIVE if searchable else Claim(reason="no vectors"),
                Feature.TEXT_SEARCH: Claim(Support.NATIVE, "substring, case folded")
                if self._text_path
                else Claim(reason="no text field"),
            },
            metric=metric if searchable else None,
            metrics=frozenset(Metric),
            width=next(iter(widths)) if searchable else None,
            filters=dict.fromkeys(ValueType, Pushdown.EXACT),
            orderings=frozenset({_FORWARD, _BACKWARD}),
            consistency="reads see every write",
            durability="none: the records end with the process",
        )

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        wanted = set(ids)
        return [self._shown(row, vectors) for row in self._rows if row.id in wanted]

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        if self.profile.metric is None:
            raise StoreRefused(f"no vector search here: {self._reason()}")
        rows = [row for row in self._rows if row.vector is not None and matches(row, conditions)]
        found = distances(self.profile.metric, vector, [row.vector or () for row in rows])
        hits = [Hit(self._shown(row, vectors), far) for row, far in zip(rows, found, strict=True)]
        return sorted(hits, key=lambda hit: (hit.distance, hit.row.id))[:k]

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        found: dict[str, Row] = {}
        candidates = [row for row in self._rows if matches(row, conditions)]
        for term in terms:
            with_term = (row for row in candidates if self._contains(row, term, whole))
            for _, row in zip(range(limit), with_term, strict=False):
                found[row.id] = self._shown(row, vectors=False)
        return list(found.values())

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = _FORWARD,
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        if order not in self.profile.orderings:
            raise StoreRefused(f"no such order here: {order}")
        rows = [row for row in self._rows if matches(row, conditions)]
        if order.descending:
            rows.reverse()
        start = int(cursor or 0)
        end = start + limit
        page = [self._shown(row, vectors) for row in rows[start:end]]
        return Page(page, str(end) if end < len(rows) else None)

    async def count(self, conditions: Filter = ()) -> int:
        return sum(matches(row, conditions) for row in self._rows)

    async def aclose(self) -> None:
        pass

    def _contains(self, row: Row, term: str, whole: bool) -> bool:
        text = lookup(row, self._text_path) if self._text_path else None
        return isinstance(text, str) and contains(text.casefold(), term.casefold(), whole=whole)

    def _shown(self, row: Row, vectors: bool) -> Row:
        return row if vectors else Row(row.id, row.fields)

    def _reason(self) -> str:
        return self.profile.claim(Feature.VECTOR_SEARCH).reason


class MemoryConnection:
    """The collections that this process has created."""

    async def collections(self) -> Sequence[CollectionSummary]:
        return [CollectionSummary(name, len(rows)) for name, (rows, _) in sorted(_HELD.items())]

    async def describe(self, collection: str) -> CollectionInfo:
        rows, metric = self._held(collection)
        widths = {len(row.vector) for row in rows if row.vector is not None}
        vectors = tuple(VectorField("", width, metric, str(metric)) for width in widths)
        return CollectionInfo(collection, len(rows), vectors, indexed={}, metadata={})

    async def open(self, collection: str, selection: Selection) -> MemoryStore:
        rows, metric = self._held(collection)
        return MemoryStore(rows, metric=metric, selection=selection)

    async def aclose(self) -> None:
        pass

    @staticmethod
    def _held(collection: str) -> tuple[Sequence[Row], Metric]:
        if collection not in _HELD:
            raise no_such_collection("memory", collection, _HELD)
        return _HELD[collection]


class _Adapter:
    async def connect(
        self, url: StoreURL, *, secret: str | None = None, deadline: float = 10.0
    ) -> MemoryConnection:
        url.check_options()
        return MemoryConnection()


adapter = _Adapter()


def create(collection: str, rows: Sequence[Row], *, metric: Metric = Metric.COSINE) -> None:
    """Make ``rows`` the collection that ``memory:///COLLECTION`` opens.

    Raises:
        ValueError: An id twice, vectors of several widths, or a component that is not finite.
    """
    if len({row.id for row in rows}) != len(rows):
        raise ValueError("every row of a collection has an id of its own")
    vectors = [row.vector for row in rows if row.vector is not None]
    if len({len(vector) for vector in vectors}) > 1:
        raise ValueError("all vectors of a collection have one width")
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise ValueError("every component of a vector is a finite number")
    _HELD[collection] = (tuple(rows), metric)


def drop(collection: str) -> None:
    """Forget a collection; one that is not there is no error."""
    _HELD.pop(collection, None)


def _example(number: int, text: str, metadata: Mapping[str, JSON]) -> Row:
    return Row(f"example-{number}", {"page_content": text, "metadata": metadata})


_HELD: dict[str, tuple[Sequence[Row], Metric]] = {
    "example": (
        (
            _example(
                1,
                "The deploy key of the staging cluster rotates every ninety days.",
                {"source": "ops/keys.md", "page": 1},
            ),
            _example(
                2,
                "Error E4211 means that the replica has fallen behind the primary.",
                {"source": "ops/errors.md", "page": 7},
            ),
            _example(
                3,
                "Invoices are archived for ten years and deleted in the eleventh.",
                {"source": "finance/archive.md", "page": 2},
            ),
        ),
        Metric.COSINE,
    )
}
