"""What a collection's configuration says, in the gateway's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qdrant_client import models

from a2m_gateway.capability import Metric
from a2m_gateway.store import CollectionInfo, Path, VectorField

__all__ = ["collection_info", "dense_vectors", "index_of", "metric_of", "strict_mode"]

_METRICS = {
    models.Distance.COSINE: Metric.COSINE,
    models.Distance.DOT: Metric.DOT,
    models.Distance.EUCLID: Metric.L2,
}
_FASTEMBED = "fast-"
"""``fast-<model>`` is how qdrant-client's ``add()`` and mcp-server-qdrant name their vector."""


def collection_info(
    name: str, count: int, info: models.CollectionInfo, notes: tuple[str, ...]
) -> CollectionInfo:
    """The collection as the interface describes it.

    Args:
        count: Exact; the configuration's own is an approximation.
        notes: What there is to say of the engine.
    """
    return CollectionInfo(
        name=name,
        count=count,
        vectors=tuple(_vectors(info.config.params)),
        indexed={
            _path(key): index.data_type.value for key, index in sorted(info.payload_schema.items())
        },
        metadata=info.config.metadata or {},
        notes=(*notes, *_notes(info)),
    )


def index_of(info: models.CollectionInfo, path: Path) -> models.PayloadIndexInfo | None:
    """The payload index on ``path``, however its key is spelled."""
    for key, index in info.payload_schema.items():
        if _path(key) == path:
            return index
    return None


def strict_mode(info: models.CollectionInfo) -> models.StrictModeConfigOutput:
    """The limits of strict mode; where it is off, there is none."""
    config = info.config.strict_mode_config
    return config if config is not None and config.enabled else models.StrictModeConfigOutput()


def dense_vectors(params: models.CollectionParams) -> Mapping[str, models.VectorParams]:
    """By name, ``""`` for the unnamed one; multivectors too."""
    vectors = params.vectors
    if isinstance(vectors, models.VectorParams):
        return {"": vectors}
    return vectors or {}


def metric_of(params: models.VectorParams) -> Metric | None:
    """A2M's name for the comparison; None for Manhattan, which has none."""
    return _METRICS.get(params.distance)


def _vectors(params: models.CollectionParams) -> Iterator[VectorField]:
    for name, dense in dense_vectors(params).items():
        multiple = dense.multivector_config is not None
        yield VectorField(
            name=name,
            width=dense.size,
            metric=metric_of(dense),
            engine_metric=dense.distance.value,
            searchable=not multiple,
            model=name.removeprefix(_FASTEMBED) if name.startswith(_FASTEMBED) else None,
            kind="multivector" if multiple else "dense",
        )
    for name in params.sparse_vectors or {}:
        yield VectorField(name, None, None, "sparse dot", searchable=False, kind="sparse")


def _notes(info: models.CollectionInfo) -> Iterator[str]:
    strict = info.config.strict_mode_config
    if strict is not None and strict.enabled:
        yield "strict mode is on: the server refuses what is over its limits"
    if info.config.quantization_config is not None:
        yield "vectors are quantised: the server's ranking is an approximation"
    for name, dense in dense_vectors(info.config.params).items():
        shown = f"the vector {name!r}" if name else "the vector"
        if dense.quantization_config is not None:
            yield f"{shown} is quantised: the server's ranking is an approximation"
        if dense.datatype is not None and dense.datatype is not models.Datatype.FLOAT32:
            yield f"{shown} is kept as {dense.datatype.value}: less than was written"


def _path(key: str) -> Path:
    """A JSON path of an index as a path of ours; one through an array keeps its brackets."""
    path: list[str] = []
    rest = key
    while rest:
        if rest.startswith('"'):
            name, _, rest = rest[1:].partition('"')
            rest = rest.removeprefix(".")
        else:
            name, _, rest = rest.partition(".")
        path.append(name)
    return tuple(path)
