"""Vectors of the bundled model, made once and kept by content hash under ``.cache/vectors``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cached_embedder import CachedEmbedder

from a2m_gateway.embedding import build
from a2m_gateway.embedding.settings import Minilm

__all__ = ["embedded"]

CACHE = Path(__file__).parents[2] / ".cache" / "vectors"
_BATCH = 64


async def embedded(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of ``texts``; a minute for thousands the first time."""
    model = CachedEmbedder(build(Minilm()), CACHE)
    # Batches of texts of like length pad least.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    vectors: dict[int, list[float]] = {}
    try:
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            made = await model.embed_passages([texts[index] for index in batch])
            vectors |= dict(zip(batch, made, strict=True))
    finally:
        await model.aclose()
    return [vectors[index] for index in range(len(texts))]
