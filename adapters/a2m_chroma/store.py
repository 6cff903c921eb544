"""One Chroma collection, read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from a2m_chroma.answers import (
    GetAnswer,
    QueryAnswer,
    distances_of,
    rows_of,
    rows_of_query,
)
from a2m_chroma.client import AnswerTooLarge, ChromaClient
from a2m_chroma.collection import Collection
from a2m_chroma.filters import Where, conjunction, translate
from a2m_chroma.paging import Pages
from a2m_chroma.patterns import containing
from a2m_chroma.profile import MAX_K
from a2m_gateway.capability import Feature, Metric, Ordering, Profile
from a2m_gateway.errors import StoreRefused
from a2m_gateway.store import Filter, Hit, Page, Row
from a2m_gateway.store.fan_out import at_once

__all__ = ["ChromaStore"]

_MAX_PAGE = 5000
_MAX_IDS = 1000
_MAX_ID_BYTES = 8 << 20
_VECTOR_BYTES = 8 << 20
_JSON_NUMBER = 13
_TERMS_AT_ONCE = 4
_LARGEST_FLOAT32 = 3.4028234e38

_FORWARD, _BACKWARD = Ordering(), Ordering(descending=True)


class ChromaStore:
    """The rows of one collection: ``fields`` is the metadata, and the document at ``#document``."""

    def __init__(self, client: ChromaClient, collection: Collection, profile: Profile) -> None:
        self.profile = profile
        self._client = client
        self._collection = collection

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        found: list[Row] = []
        async with self._client.deadline():
            for batch in _batches(ids):
                found += await self._get(batch, vectors)
        return found

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        metric = self._searchable(vector)
        where = translate(conditions)
        if where.empty or k <= 0:
            return []
        include = ["documents", "metadatas", "distances"] + (["embeddings"] if vectors else [])
        query = {
            "query_embeddings": [list(vector)],
            "n_results": min(k, MAX_K),
            "include": include,
            **where.body(),
        }
        async with self._client.deadline():
            answer = await self._collection.post("query", query, QueryAnswer)
            rows = rows_of_query(answer, vectors=vectors)
            gone = await self._gone([row.id for row in rows if not row.fields])
        pairs = zip(rows, distances_of(answer), strict=True)
        return [Hit(row, _canonical(metric, far)) for row, far in pairs if row.id not in gone]

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        if not self.profile.has(Feature.TEXT_SEARCH):
            raise StoreRefused(f"no words here: {self.profile.claim(Feature.TEXT_SEARCH).reason}")
        where = translate(conditions)
        if where.empty or limit <= 0:
            return []
        async with self._client.deadline():
            searches = [
                self._with_pattern(containing(term, whole=whole), limit, where)
                for term in terms
                if term
            ]
            found = await at_once(searches, _TERMS_AT_ONCE)
        return list({row.id: row for rows in found for row in rows}.values())

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
            raise StoreRefused(f"chroma has no such order: {order}")
        where = translate(conditions)
        if where.empty or limit <= 0:
            return Page([])
        pages = Pages(self._collection, where, vectors=vectors)
        turn = pages.backward if order.descending else pages.forward
        async with self._client.deadline():
            return await turn(cursor, min(limit, self._largest_page(vectors)))

    async def count(self, conditions: Filter = ()) -> int:
        where = translate(conditions)
        if where.empty:
            return 0
        async with self._client.deadline():
            return await Pages(self._collection, where, vectors=False).count()

    async def aclose(self) -> None:
        """Nothing is this store's own: the connection holds the sockets and the child process."""

    async def _get(self, ids: Sequence[str], vectors: bool) -> list[Row]:
        include = ["documents", "metadatas"] + (["embeddings"] if vectors else [])
        try:
            answer = await self._collection.post("get", {"ids": ids, "include": include}, GetAnswer)
        except AnswerTooLarge:
            if len(ids) == 1:
                raise
            half = len(ids) // 2
            return [*await self._get(ids[:half], vectors), *await self._get(ids[half:], vectors)]
        return rows_of(answer, vectors=vectors)

    async def _with_pattern(self, pattern: str, limit: int, where: Where) -> list[Row]:
        wanted = {"$regex": pattern}
        both = replace(where, document=conjunction([c for c in (where.document, wanted) if c]))
        return await Pages(self._collection, both, vectors=False).rows(0, limit)

    async def _gone(self, ids: Sequence[str]) -> set[str]:
        """Which of the rows without any field are not there at all.

        Chroma: metadata is committed before the vector index, so under concurrent writes a query
        may answer a deleted record's id, without document and metadata. So is a record that has
        neither, but that one can be got.
        """
        if not ids:
            return set()
        there = await self._collection.post("get", {"ids": ids, "include": []}, GetAnswer)
        return set(ids) - set(there.ids)

    def _searchable(self, vector: Sequence[float]) -> Metric:
        if self.profile.metric is None or not self.profile.has(Feature.VECTOR_SEARCH):
            reason = self.profile.claim(Feature.VECTOR_SEARCH).reason
            raise StoreRefused(f"no vector search here: {reason}")
        if not all(abs(number) <= _LARGEST_FLOAT32 for number in vector):
            raise StoreRefused("chroma compares float32: the vector has a component beyond them")
        return self.profile.metric

    def _largest_page(self, vectors: bool) -> int:
        if not vectors or not self.profile.width:
            return _MAX_PAGE
        return max(1, min(_MAX_PAGE, _VECTOR_BYTES // (_JSON_NUMBER * self.profile.width)))


def _canonical(metric: Metric, distance: float | None) -> float:
    """Chroma's distance as ``capability.metrics`` has it; one that is no number is farthest."""
    if distance is None:
        return math.inf
    if metric is Metric.L2:
        return math.sqrt(max(0.0, distance))  # Chroma's is squared
    if metric is Metric.DOT:
        return distance - 1.0  # Chroma's is 1 - dot
    return distance


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    """``ids``, each once, in requests that SQLite's variables and the payload cap allow."""
    batch: list[str] = []
    size = 0
    for id_ in dict.fromkeys(ids):
        length = _utf8_length(id_)
        if length == 0:
            continue
        if batch and (len(batch) == _MAX_IDS or size + length > _MAX_ID_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(id_)
        size += length
    if batch:
        yield batch


def _utf8_length(id_: str) -> int:
    """Bytes of an id; 0 where no id of Chroma's can be this one."""
    try:
        return len(id_.encode())
    except UnicodeEncodeError:
        return 0
