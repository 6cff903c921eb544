"""What one collection can do, from its configuration and the engine's version."""

from __future__ import annotations

from collections.abc import Mapping

from qdrant_client import models

from a2m_gateway.capability import (
    Claim,
    Feature,
    Metric,
    Ordering,
    Profile,
    Pushdown,
    StoreLimits,
    Support,
    ValueType,
)
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.store import CollectionInfo, Path, Selection, VectorField
from a2m_qdrant.engine import Engine
from a2m_qdrant.schema import strict_mode

__all__ = ["selected_vector", "store_profile"]

_READ = Claim(Support.NATIVE, "by point id, and scrolling by id")
_COUNT = Claim(Support.NATIVE, "exact")
_KEPT = Claim(Support.NATIVE, "as it was written, as float32")
_NORMALISED = Claim(Support.NATIVE, "normalised, as Qdrant does under cosine when it is written")


def selected_vector(described: CollectionInfo, name: str | None) -> VectorField | None:
    """The vector that a selection names.

    Raises:
        ConfigurationError: There is none of that name, or it can't be searched.
    """
    if name is None:
        return None
    for vector in described.vectors:
        if vector.name == name and vector.searchable:
            return vector
    dense = [repr(vector.name) for vector in described.vectors if vector.searchable]
    there = f"the dense ones are {', '.join(dense)}" if dense else "there is no dense one"
    raise ConfigurationError(
        f"{described.name} has no dense vector {name!r}; {there}", setting="vector_name"
    )


def store_profile(
    engine: Engine,
    described: CollectionInfo,
    info: models.CollectionInfo,
    selection: Selection,
    *,
    text: Claim,
    whole_words: bool,
    filters: Mapping[ValueType, Pushdown],
    order_path: Path | None,
) -> Profile:
    """The profile of a store.

    Args:
        order_path: The selection's, where a scroll can be ordered by it.
    """
    vector = selected_vector(described, selection.vector_name)
    orderings = {Ordering()}
    if order_path is not None:
        orderings |= {Ordering(order_path), Ordering(order_path, descending=True)}
    return Profile(
        engine=engine.name,
        version=engine.version,
        features={
            Feature.READ: _READ,
            Feature.COUNT: _COUNT,
            Feature.VECTOR_SEARCH: _search(engine, vector),
            Feature.RETURN_VECTORS: _vectors(engine, vector),
            Feature.TEXT_SEARCH: text,
        },
        metric=vector.metric if vector is not None else None,
        metrics=frozenset(Metric),
        width=vector.width if vector is not None else None,
        filters=filters,
        whole_words=whole_words,
        orderings=frozenset(orderings),
        limits=StoreLimits(max_k=strict_mode(info).max_query_limit),
        consistency=(
            "nobody else can write while the folder is locked"
            if engine.local
            else "reads see what was written with wait=true"
        ),
        durability="a SQLite file per collection"
        if engine.local
        else "the server's write-ahead log",
        model=vector.model if vector is not None else None,
        notes=described.notes,
    )


def _search(engine: Engine, vector: VectorField | None) -> Claim:
    if vector is None:
        return Claim(reason="no vector was chosen")
    if vector.metric is None:
        return Claim(reason=f"A2M has no name for the metric {vector.engine_metric}")
    how = "every vector is compared" if engine.local else "by Qdrant's index"
    return Claim(Support.NATIVE, f"{how}, {vector.engine_metric}")


def _vectors(engine: Engine, vector: VectorField | None) -> Claim:
    if vector is None:
        return Claim(reason="no vector was chosen")
    if vector.metric is Metric.COSINE and not engine.local:
        return _NORMALISED
    return _KEPT  # local mode normalises too, but keeps on disk what it was given
