"""Real passages with known answers, and their vectors, made once and kept by content hash.

The judged sets are not part of the repository; ``A2M_EVAL_DIR`` says where they are.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2m_gateway.embedding import build
from a2m_gateway.embedding.cache import CachedEmbedder
from a2m_gateway.embedding.settings import Minilm

__all__ = ["Corpus", "Document", "embedded", "embedder", "judged_set", "twenty_thousand"]

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = REPOSITORY / ".cache" / "vectors"
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, questions, and which documents answer a question.

    Attributes:
        queries: Question → the ids of its answers.
    """

    documents: Sequence[Document]
    queries: Mapping[str, frozenset[str]]


def judged_set(name: str) -> Corpus:
    """One of the judged or known-item sets.

    Raises:
        FileNotFoundError: It is not there.
    """
    default = REPOSITORY.parent / "shared" / "eval"
    file = Path(os.environ.get("A2M_EVAL_DIR", default)) / f"{name}.json.gz"
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        data = json.load(stream)
    documents = [Document(doc["id"], doc["text"], doc.get("meta") or {}) for doc in data["docs"]]
    texts = {query["id"]: query["text"] for query in data["queries"]}
    queries = {texts[query]: frozenset(grades) for query, grades in data["qrels"].items()}
    return Corpus(documents, queries)


def twenty_thousand() -> Corpus:
    """20,000 passages: 9,995 beginnings of encyclopedia articles, 10,005 package descriptions.

    A question is a later sentence of an article, or the short description of a package.
    """
    wiki, packages = judged_set("wiki"), judged_set("debpkg")
    asked = frozenset().union(*list(packages.queries.values())[:500])
    ordered = sorted(packages.documents, key=lambda document: document.id not in asked)
    chosen = ordered[: 20_000 - len(wiki.documents)]
    known = {document.id for document in chosen}
    queries = {text: ids for text, ids in packages.queries.items() if ids <= known}
    return Corpus([*wiki.documents, *chosen], {**wiki.queries, **queries})


def embedder() -> CachedEmbedder:
    """The bundled model, with its vectors kept."""
    return CachedEmbedder(build(Minilm()), CACHE)


async def embedded(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of ``texts``; minutes for thousands the first time."""
    model = embedder()
    vectors: list[list[float]] = []
    try:
        for start in range(0, len(texts), _BATCH):
            vectors += await model.embed_passages(texts[start : start + _BATCH])
    finally:
        await model.aclose()
    return vectors
