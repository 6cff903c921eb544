"""Recall: from a query to ranked records (spec 4.3, 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from a2m_gateway.capability import Feature, Metric, score
from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.errors import EmbeddingMismatch, InvalidParams
from a2m_gateway.layers import ExactLayer
from a2m_gateway.memory.ranking import blend, by_score
from a2m_gateway.memory.words import (
    CANDIDATES_PER_TERM,
    MAX_TERMS,
    beginnings,
    held_by_none,
    rank_by_words,
    search_words,
)
from a2m_gateway.store import Filter, Hit, Row
from a2m_gateway.store.distance import distances

__all__ = ["Ranked", "Recall"]

_DEPTH = 50
"""Records that each leg of a blended ranking contributes at the least."""


@dataclass(frozen=True, slots=True)
class Ranked:
    row: Row
    score: float


class Recall:
    """Ranks the records of one store.

    Args:
        embedder: Turns queries into vectors of the store's own space; None ranks by words alone.
        words_weight: Of the word leg in a blend, from 0 (off) to 1.
    """

    def __init__(
        self, store: ExactLayer, embedder: Embedder | None, *, words_weight: float
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._words_weight = words_weight if store.profile.has(Feature.TEXT_SEARCH) else 0.0

    async def newest(self, conditions: Filter, limit: int, *, vectors: bool) -> list[Ranked]:
        """Without a query: newest first (spec 4.3 recommends it), with strictly falling scores."""
        rows = await self._store.newest(conditions, limit, vectors=vectors)
        return [Ranked(row, 1.0 / (1.0 + place)) for place, row in enumerate(rows)]

    async def by_vector(
        self, vector: Sequence[float], conditions: Filter, limit: int, *, vectors: bool
    ) -> list[Ranked]:
        """By the store's metric alone: what a caller's vector asks for."""
        self.check_vector(vector)
        return self._scored(await self._store.search(vector, limit, conditions, vectors=vectors))

    async def by_text(
        self, query: str, conditions: Filter, limit: int, *, vectors: bool
    ) -> list[Ranked]:
        """By meaning and words together, or by the one of them that this store has."""
        if self._embedder is None:
            return await self._by_words(query, conditions, limit, vectors=vectors)
        if not self._words_weight:
            vector = await self._embedder.embed_query(query)
            return await self.by_vector(vector, conditions, limit, vectors=vectors)
        return await self._blended(self._embedder, query, conditions, limit, vectors=vectors)

    def check_vector(self, vector: Sequence[float]) -> None:
        """Refuse what can't be compared here.

        Raises:
            EmbeddingMismatch: Of another width than the store's (spec 3.7).
            InvalidParams: Of no width, or all zeros under cosine: it has no direction, so nothing
                is near it.
        """
        width = self._store.profile.width
        if width is not None and len(vector) != width:
            raise EmbeddingMismatch(
                f"`embedding` has {len(vector)} components, and the vectors here {width}",
                given=len(vector),
                dimensions=width,
            )
        if not vector:
            raise InvalidParams("`embedding`: has no components", field="embedding")
        if self._store.profile.metric is Metric.COSINE and not any(vector):
            raise InvalidParams(
                "`embedding`: all zeros, which under cosine is near to nothing", field="embedding"
            )

    async def _blended(
        self, embedder: Embedder, query: str, conditions: Filter, limit: int, *, vectors: bool
    ) -> list[Ranked]:
        depth = max(limit, _DEPTH)
        async with asyncio.TaskGroup() as legs:
            by_meaning = legs.create_task(
                self._meaning(embedder, query, conditions, depth, vectors=vectors)
            )
            by_words = legs.create_task(
                self._candidates(search_words(query)[:MAX_TERMS], conditions, CANDIDATES_PER_TERM)
            )
        vector, hits = by_meaning.result()
        meaning = {hit.row.id: self._score(hit.distance) for hit in hits}
        # What is near may hold common words as well, which propose only some of their records.
        rows = by_words.result() | {hit.row.id: hit.row for hit in hits}
        words = dict(by_score(await rank_by_words(query, _texts(rows)))[:depth])
        unmeasured = [name for name in words if name not in meaning]
        for row in await self._store.get(unmeasured, vectors=True) if unmeasured else ():
            if row.vector is not None:
                meaning[row.id] = self._nearness(vector, row.vector)
                rows[row.id] = row if vectors else replace(row, vector=None)
        order = by_score(blend(meaning, words, words_weight=self._words_weight))[:limit]
        return [Ranked(rows[name], value) for name, value in order]

    async def _meaning(
        self, embedder: Embedder, query: str, conditions: Filter, depth: int, *, vectors: bool
    ) -> tuple[Sequence[float], Sequence[Hit]]:
        vector = await embedder.embed_query(query)
        return vector, await self._store.search(vector, depth, conditions, vectors=vectors)

    async def _candidates(
        self, words: Sequence[str], conditions: Filter, for_each: int
    ) -> dict[str, Row]:
        search = self._store.search_text
        if not words:
            return {}
        if self._store.profile.whole_words:
            return {row.id: row for row in await search(words, for_each, conditions, whole=True)}
        rows = {row.id: row for row in await search(beginnings(words), for_each, conditions)}
        # A rare word may lie behind the common ones that begin with it.
        missed = held_by_none(words, _texts(rows).values())
        if missed and (rows or conditions):
            more = await search(missed, for_each, conditions, whole=True)
            rows |= {row.id: row for row in more}
        return rows

    async def _by_words(
        self, query: str, conditions: Filter, limit: int, *, vectors: bool
    ) -> list[Ranked]:
        words = search_words(query)
        rows: dict[str, Row] = {}
        scores: dict[str, float] = {}
        for start in range(0, len(words), MAX_TERMS):
            some = words[start : start + MAX_TERMS]
            rows |= await self._candidates(some, conditions, max(limit, CANDIDATES_PER_TERM))
            scores = await rank_by_words(query, _texts(rows))
            if len(scores) >= limit:
                break
        if words and len(scores) < limit and conditions:
            rows |= await self._containing(beginnings(words), conditions, limit)
            scores = await rank_by_words(query, _texts(rows))
        best = dict(by_score(scores)[:limit])
        if vectors:
            rows |= {row.id: row for row in await self._store.get(list(best), vectors=True)}
        order = by_score(blend({}, best, words_weight=1.0))
        return [Ranked(rows[name], value) for name, value in order if name in rows]

    async def _containing(
        self, terms: Sequence[str], conditions: Filter, limit: int
    ) -> dict[str, Row]:
        """Records that were not among the candidates, which a store caps before it compares."""
        rows: dict[str, Row] = {}
        cursor: str | None = None
        while len(rows) < limit + CANDIDATES_PER_TERM:
            page = await self._store.scan(conditions, cursor=cursor)
            rows |= {row.id: row for row in page.rows if _has_any(row, terms)}
            cursor = page.cursor
            if cursor is None:
                break
        return rows

    def _scored(self, hits: Sequence[Hit]) -> list[Ranked]:
        # Two distances may have one score, and equal scores are by id.
        ranked = [Ranked(hit.row, self._score(hit.distance)) for hit in hits]
        return sorted(ranked, key=lambda one: (-one.score, one.row.id))

    def _score(self, distance: float) -> float:
        metric = self._store.profile.metric
        return score(metric, distance) if metric is not None else 0.0

    def _nearness(self, vector: Sequence[float], other: Sequence[float]) -> float:
        metric = self._store.profile.metric
        return self._score(distances(metric, vector, [other])[0]) if metric is not None else 0.0


def _texts(rows: Mapping[str, Row]) -> dict[str, str]:
    return {name: str(row.fields["content"]) for name, row in rows.items()}


def _has_any(row: Row, terms: Sequence[str]) -> bool:
    text = str(row.fields["content"]).lower()
    return any(term in text for term in terms)
