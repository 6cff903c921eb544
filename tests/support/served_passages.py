"""The passages in real engines, and calls to an endpoint over them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chroma_server
import numpy as np
import qdrant_folder
from chroma_server import ChromaServer
from gateway import request
from passages import Passage, of_chroma

from a2m_gateway.memory import Endpoint
from a2m_gateway.store import Row

__all__ = ["Asked", "Corpus", "in_chroma", "in_qdrant", "rows_of"]

NAME = "passages"
EPOCH = "1970-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Corpus:
    """The passages with their vectors, of unit length."""

    passages: Sequence[Passage]
    vectors: np.ndarray[Any, np.dtype[np.float32]]

    def nearest(self, vector: Sequence[float], count: int) -> list[str]:
        """Ids by cosine, compared one by one."""
        order = np.argsort(-(self.vectors @ np.asarray(vector)), kind="stable")
        return [self.passages[place].id for place in order[:count]]

    def near(self, place: int) -> list[float]:
        """A vector that is none of the passages', but close to one."""
        noise = np.random.default_rng(place).normal(0, 0.02, self.vectors.shape[1])
        return [float(number) for number in self.vectors[place] + noise]


@dataclass(frozen=True)
class Asked:
    """An endpoint over the passages, and what it holds.

    Attributes:
        rows: As A2M has to show them, in the order in which they were written.
    """

    endpoint: Endpoint
    engine: str
    rows: Mapping[str, Row]
    embedder: str | None

    async def answer(self, method: str, **params: Any) -> Any:
        answer = await self.endpoint.answer(request(method, params))
        assert answer is not None
        return json.loads(answer)

    async def records(self, method: str, **params: Any) -> list[dict[str, Any]]:
        answer = await self.answer(method, **params)
        assert "result" in answer, answer
        records: list[dict[str, Any]] = answer["result"]["records"]
        return records

    async def ids(self, method: str, **params: Any) -> list[str]:
        return [record["id"] for record in await self.records(method, **params)]


def rows_of(corpus: Corpus, *, engine: str, timed: bool) -> dict[str, Row]:
    """The passages as canonical rows."""
    return {
        passage.id: Row(
            passage.id,
            {
                "content": passage.text,
                "created_at": passage.created_at if timed else EPOCH,
                "metadata": of_chroma(passage) if engine == "chroma" else passage.metadata,
            },
            [float(number) for number in vector],
        )
        for passage, vector in zip(corpus.passages, corpus.vectors, strict=True)
    }


def in_chroma(server: ChromaServer, corpus: Corpus, name: str = NAME) -> str:
    """What ``langchain_chroma`` writes: the text as the document, the metadata flat.

    Returns:
        The URL.
    """
    rows = [
        {
            "id": passage.id,
            "vector": [float(number) for number in vector],
            "document": passage.text,
            "metadata": of_chroma(passage),
        }
        for passage, vector in zip(corpus.passages, corpus.vectors, strict=True)
    ]
    made = chroma_server.create(server, rows, name=name, space="cosine")
    return str(made.url)


def in_qdrant(folder: Path, corpus: Corpus) -> str:
    """What ``langchain_qdrant`` writes: ``page_content`` and a nested ``metadata``.

    Returns:
        The URL.
    """
    payloads = [
        (passage.id, {"page_content": passage.text, "metadata": dict(passage.metadata)})
        for passage in corpus.passages
    ]
    qdrant_folder.write_passages(folder, NAME, payloads, corpus.vectors)
    return f"qdrant+file://{folder}/{NAME}"
