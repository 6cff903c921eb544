"""What a collection's persisted configuration says, read as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2m_chroma.answers import CollectionAnswer
from a2m_gateway.capability import Metric
from a2m_gateway.store import Path, VectorField

__all__ = ["VECTOR_NAME", "indexed_fields", "vector_field"]

VECTOR_NAME = ""
"""Chroma has one vector per record, without a name."""

_METRICS = {"cosine": Metric.COSINE, "ip": Metric.DOT, "l2": Metric.L2}
_DEFAULT_MODEL, _DEFAULT_WIDTH = "all-MiniLM-L6-v2", 384
_DEFAULT_FUNCTIONS = {"default", "onnx_mini_lm_l6_v2"}
_MODEL_KEYS = ("model_name", "model")
_VALUE_TYPES = ("string", "int", "float", "bool")


def vector_field(collection: CollectionAnswer) -> VectorField:
    """The collection's one vector: width, metric and, where it is named, the model."""
    space = _space(collection)
    return VectorField(
        VECTOR_NAME,
        collection.dimension,
        _METRICS.get(space),
        space,
        model=_model(collection),
    )


def indexed_fields(collection: CollectionAnswer) -> dict[Path, str]:
    """The metadata keys that the schema lists, and the types of value it indexes for each."""
    keys = _mapping(_mapping(collection.schema).get("keys"))
    found = {(key,): _indexed_types(_mapping(types)) for key, types in sorted(keys.items())}
    return {path: types for path, types in found.items() if types and not path[0].startswith("#")}


def _space(collection: CollectionAnswer) -> str:
    for index in ("hnsw", "spann"):
        space = _mapping(collection.configuration_json.get(index)).get("space")
        if isinstance(space, str):
            return space
    legacy = _mapping(collection.metadata).get("hnsw:space")  # before configurations were kept
    return legacy if isinstance(legacy, str) else ""


def _model(collection: CollectionAnswer) -> str | None:
    function = _mapping(_embedding_function(collection))
    config = _mapping(function.get("config"))
    for key in _MODEL_KEYS:
        if isinstance(config.get(key), str):
            return str(config[key])
    # Chroma records its default also where a writer brings vectors of its own and passes no
    # function, so a width that the default does not have means that it made none of them.
    if (
        function.get("name") in _DEFAULT_FUNCTIONS
        and (collection.dimension or _DEFAULT_WIDTH) == _DEFAULT_WIDTH
    ):
        return _DEFAULT_MODEL
    return None


def _embedding_function(collection: CollectionAnswer) -> object:
    function = collection.configuration_json.get("embedding_function")
    if function is not None:
        return function
    node: object = collection.schema
    for key in ("keys", "#embedding", "float_list", "vector_index", "config", "embedding_function"):
        node = _mapping(node).get(key)
    return node


def _indexed_types(types: Mapping[str, Any]) -> str:
    return ", ".join(name for name in _VALUE_TYPES if _is_indexed(_mapping(types.get(name))))


def _is_indexed(indexes: Mapping[str, Any]) -> bool:
    return any(_mapping(index).get("enabled") is True for index in indexes.values())


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
