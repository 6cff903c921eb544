"""Collections that a framework keeps for itself and nobody means to serve."""

from __future__ import annotations

from collections.abc import Sequence

from a2m_gateway.store import Row

__all__ = ["bookkeeping"]

_CACHES = ("semantic_cache", "semantic-cache", "semanticcache", "llmcache", "llm_cache")


def bookkeeping(name: str, sample: Sequence[Row] = ()) -> str | None:
    """What a collection is kept for, or None where it may well be a corpus.

    A name alone only convicts where no one would choose it; with a sample the records decide.
    """
    if name == "mem0migrations":
        return "mem0 keeps who installed it here"
    if name.startswith("store_vectors:"):
        return "LangGraph keeps the vectors of its store here, apart from their records"
    if any(hint in name.lower() for hint in _CACHES):
        return "these are a model's cached answers"
    if sample:
        return _by_records(sample)
    if name.endswith("_entities"):
        return "mem0 keeps the entities of the collection of that name here"
    return None


def _by_records(sample: Sequence[Row]) -> str | None:
    if all({"entity_type", "linked_memory_ids"} <= row.fields.keys() for row in sample):
        return "mem0 keeps the entities that its memories name here"
    if all(row.fields.get("type") == "user_identity" for row in sample):
        return "mem0 keeps who installed it here"
    if all(_is_cached(row) for row in sample):
        return "these are a model's cached answers"
    return None


def _is_cached(row: Row) -> bool:
    return {"return_val", "llm_string"} <= row.fields.keys()
