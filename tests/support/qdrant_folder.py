"""Folders of Qdrant's local mode, written by Qdrant's own client."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

__all__ = ["read_dump", "write_dump", "write_passages"]

CORPORA = Path(__file__).parents[1] / "corpora"


def read_dump(framework: str) -> dict[str, Any]:
    """``tests/corpora/<framework>-qdrant.json``."""
    dump: dict[str, Any] = json.loads((CORPORA / f"{framework}-qdrant.json").read_text("utf-8"))
    return dump


def write_dump(
    folder: Path, dump: Mapping[str, Any], points: Iterable[Mapping[str, Any]] | None = None
) -> None:
    """Every collection of a dump as it was configured, with its points or changed ones."""
    client = QdrantClient(path=str(folder))
    try:
        for name, info in dump["collection_info"].items():
            if isinstance(info, dict) and "vectors" in info:
                client.create_collection(
                    name,
                    vectors_config=_dense(info["vectors"]),
                    sparse_vectors_config=_sparse(info.get("sparse_vectors")),
                )
        for point in dump["points"] if points is None else points:
            client.upsert(point["_collection"], [_point(point)])
    finally:
        client.close()


def write_passages(
    folder: Path, name: str, payloads: Sequence[tuple[str | int, Any]], vectors: Any
) -> None:
    """A collection as LangChain configures one: an unnamed vector, compared by cosine."""
    client = QdrantClient(path=str(folder))
    try:
        client.create_collection(
            name, models.VectorParams(size=len(vectors[0]), distance=models.Distance.COSINE)
        )
        client.upload_collection(
            name,
            ids=[point for point, _ in payloads],
            payload=[dict(payload) for _, payload in payloads],
            vectors=[list(map(float, vector)) for vector in vectors],
        )
    finally:
        client.close()


def _dense(given: Mapping[str, Any]) -> Any:
    if "size" in given:
        return models.VectorParams(**given)
    return {name: models.VectorParams(**one) for name, one in given.items()}


def _sparse(given: Mapping[str, Any] | None) -> Any:
    return (
        {name: models.SparseVectorParams(**one) for name, one in given.items()} if given else None
    )


def _point(point: Mapping[str, Any]) -> models.PointStruct:
    vector = point["vector"]
    if isinstance(vector, dict):
        vector = {
            name: models.SparseVector(**one) if isinstance(one, dict) else one
            for name, one in vector.items()
        }
    return models.PointStruct(id=point["id"], vector=vector, payload=point["payload"])
