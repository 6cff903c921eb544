"""A small memory in this process, and how to call it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import answers
import oracle

from a2m_gateway.capability import Metric
from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.layers import ExactLayer, guarded
from a2m_gateway.memory import Endpoint, Limits, Memory
from a2m_gateway.store import Row, Selection, Store
from a2m_gateway.store.memory import MemoryStore

__all__ = ["CORPUS", "WIDTH", "Bag", "Service", "bag", "service"]

WIDTH = 24


def bag(text: str) -> list[float]:
    """The vector of a text: its words, each counted in a component that its hash chooses."""
    vector = [0.0] * WIDTH
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(word.encode()).digest()
        vector[digest[0] % WIDTH] += 1.0
    return vector


class Bag:
    """An embedder that needs no model."""

    model = "bag of words"
    width = WIDTH
    remote = None

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed = False

    async def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return bag(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        return [bag(text) for text in texts]

    async def aclose(self) -> None:
        self.closed = True


TEXTS = [
    "The deploy key of the staging cluster rotates every ninety days.",
    "Error E4211 means that the replica has fallen behind the primary.",
    "Invoices are archived for ten years and deleted in the eleventh.",
    "The replica is promoted when the primary does not answer.",
    "A deployment is rolled back when its health check fails twice.",
    "Keys are kept in the vault; nobody copies a key by hand.",
    "The archive is read once a year by the auditors.",
    "Backups of the primary are taken every night at two.",
]


def _corpus() -> list[Row]:
    odd: dict[str, Any] = {"big": 2**70, "float": 1.0, "nested": {"a": [1, None, {"b": "é"}]}}
    rows = [
        oracle.record(
            f"r{place}",
            text,
            f"2026-03-{28 - 3 * place:02}T10:00:00.{place:03}Z",  # the last is the oldest
            bag(text),
            {"page": place, "lang": "en", "even": place % 2 == 0, **(odd if place == 3 else {})},
            {"role": "user"} if place < 3 else None,
        )
        for place, text in enumerate(TEXTS)
    ]
    return [
        *rows,
        oracle.record("bare", "No vector at all", metadata={"role": "user", "page": None}),
    ]


CORPUS = _corpus()


class Service:
    """An endpoint and what is needed to call it as a client does."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._last = 0

    async def call(self, method: str, params: object = None, *, fault: bool = False) -> Any:
        """The whole answer, checked against the specifications.

        Args:
            fault: Whether -32603 is expected: something is broken on purpose.
        """
        self._last += 1
        message = json.dumps(
            {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        ).encode()
        largest = self.endpoint.max_request_bytes
        answer = await self.endpoint.answer(message)
        return answers.check(message, answer, largest=largest, fault=fault)

    async def result(self, method: str, params: object = None) -> Any:
        answer = await self.call(method, params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: object = None, *, fault: bool = False) -> Any:
        answer = await self.call(method, params, fault=fault)
        assert "error" in answer, answer
        return answer["error"]

    async def recall(self, params: Mapping[str, Any] | None = None, **more: Any) -> list[Any]:
        result = await self.result("memory/recall", {**(params or {}), **more})
        return list(result["records"])

    async def timeline(self, params: Mapping[str, Any] | None = None, **more: Any) -> list[Any]:
        result = await self.result("memory/timeline", {**(params or {}), **more})
        return list(result["records"])


def service(
    rows: Sequence[Row] = CORPUS,
    *,
    store: Store | None = None,
    metric: Metric | None = Metric.COSINE,
    embedder: Embedder | None = None,
    words_weight: float = 0.5,
    words: bool = True,
    vectors: bool = True,
    limits: Limits | None = None,
    model: str | None = None,
    deadline: float = 30.0,
) -> Service:
    """A service over ``store``, or over the in-memory store with ``rows``."""
    selection = Selection(
        vector_name="" if vectors else None, text_path=("content",) if words else None
    )
    inner = store or MemoryStore(rows, metric=metric, selection=selection)
    memory = Memory(
        ExactLayer(guarded(inner, deadline=deadline)),
        embedder=embedder,
        words_weight=words_weight,
        limits=limits or Limits(),
        model=model,
    )
    return Service(Endpoint(memory, deadline=deadline))
