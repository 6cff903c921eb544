"""The methods of a read-only memory over one store (spec 2.1, 4)."""

from __future__ import annotations

from a2m_gateway.capability import Verdict, verdicts
from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.errors import ProtocolNotSupported, QuotaExceeded
from a2m_gateway.layers import ExactLayer
from a2m_gateway.memory.limits import Limits
from a2m_gateway.memory.recall import Ranked, Recall
from a2m_gateway.memory.where import read_where
from a2m_gateway.protocol import (
    METHODS,
    PROTOCOL,
    DescribeParams,
    RecallParams,
    Record,
    RecordsResult,
    TimelineParams,
    compatible,
)
from a2m_gateway.store import Filter, Row

__all__ = ["Memory"]


class Memory:
    """What A2M's methods mean over one store of canonical rows.

    Args:
        store: The effective store, after all layers; its profile decides what is declared.
        embedder: One that fits the store, or None.
        model: The embedding model of the stored vectors, where it is known for certain.
        words_weight: Of the word leg in a blended ranking.
        name: The server's, for ``describe``.
    """

    read_only = True

    def __init__(
        self,
        store: ExactLayer,
        *,
        embedder: Embedder | None = None,
        model: str | None = None,
        words_weight: float = 0.5,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        name: str = "a2m-gateway",
    ) -> None:
        self.store = store
        self.limits = limits
        self.verdicts: tuple[Verdict, ...] = verdicts(store.profile, read_only=self.read_only)
        self.declared = frozenset(one.capability for one in self.verdicts if one.declared)
        self._embedder = embedder
        self._recall = Recall(store, embedder, words_weight=words_weight)
        self._model = model
        self._name = name

    def describe(self, params: DescribeParams) -> dict[str, object]:
        """The describe result (spec 4.1). It counts nothing, so anyone may see it.

        Raises:
            ProtocolNotSupported: The client declares another version.
        """
        if params.protocol is not None and not compatible(params.protocol):
            raise ProtocolNotSupported(
                f"this server speaks {PROTOCOL}, not {params.protocol[:40]!r}", supported=[PROTOCOL]
            )
        described: dict[str, object] = {
            "protocol": PROTOCOL,
            "name": self._name,
            "read_only": self.read_only,
            "capabilities": [one.capability for one in self.verdicts if one.declared],
            "methods": [m.name for m in METHODS.values() if m.capability in self.declared],
            "limits": self.limits,
        }
        if "embeddings" in self.declared:
            described["embeddings"] = self._embeddings()
        return described

    async def recall(self, params: RecallParams) -> RecordsResult:
        limit = self.limits.recall(params.limit)
        conditions = read_where(params.where)
        ranked = await self._ranked(params, conditions, limit)
        least = params.min_score
        return RecordsResult(
            [
                _record(one.row, score=one.score)
                for one in ranked
                if least is None or one.score >= least
            ]
        )

    async def timeline(self, params: TimelineParams) -> RecordsResult:
        """Ascending ``created_at``; a limit keeps the newest (spec 4.4).

        Raises:
            QuotaExceeded: No limit was given and there are more records than a timeline may have.
        """
        conditions = read_where(params.where)
        limit = self.limits.timeline(params.limit)
        largest = self.limits.max_timeline_limit
        rows = await self.store.newest(
            conditions, largest + 1 if limit is None else limit, vectors=bool(params.embeddings)
        )
        if limit is None and len(rows) > largest:
            count = await self.store.count(conditions)
            raise QuotaExceeded(
                f"{count} records match, and a timeline has at most {largest}: give a limit",
                count=count,
                max_timeline_limit=largest,
            )
        return RecordsResult([_record(row) for row in reversed(rows)])

    async def ready(self) -> None:
        """Raises an ``A2MError`` when the store does not answer."""
        await self.store.scan(limit=1)

    async def aclose(self) -> None:
        """Release the store and the embedder. Idempotent."""
        try:
            await self.store.aclose()
        finally:
            if self._embedder is not None:
                await self._embedder.aclose()

    async def _ranked(self, params: RecallParams, conditions: Filter, limit: int) -> list[Ranked]:
        vectors = bool(params.embeddings)
        query = (params.query or "").strip()
        if params.embedding is not None:
            return await self._recall.by_vector(
                params.embedding, conditions, limit, vectors=vectors
            )
        if query:
            return await self._recall.by_text(query, conditions, limit, vectors=vectors)
        return await self._recall.newest(conditions, limit, vectors=vectors)

    def _embeddings(self) -> dict[str, object]:
        profile = self.store.profile
        described: dict[str, object] = {
            "dimensions": profile.width,
            "metric": profile.metric,
            "metrics": sorted(profile.metrics),
        }
        if self._model is not None:
            described["model"] = self._model
        return described


def _record(row: Row, **scored: float) -> Record:
    present: dict[str, object] = dict(row.fields)
    if row.vector is not None:
        present["embedding"] = row.vector
    return Record(id=row.id, **present, **scored)  # type: ignore[arg-type]
