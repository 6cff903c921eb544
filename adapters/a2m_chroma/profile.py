"""What a Chroma collection can do (probed against Chroma 1.5.9)."""

from __future__ import annotations

from a2m_chroma.configuration import VECTOR_NAME
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
from a2m_gateway.store import DOCUMENT, Selection, VectorField

__all__ = ["MAX_K", "profile"]

MAX_K = 10_000
"""Nearest records of one query: the metadata of more than 32,766 is more than SQLite binds."""

FILTERS = {
    ValueType.STRING: Pushdown.EXACT,
    ValueType.BOOLEAN: Pushdown.EXACT,
    ValueType.INTEGER: Pushdown.LOOSE,
    ValueType.FLOAT: Pushdown.LOOSE,
    ValueType.NULL: Pushdown.EXACT,
}
"""For a condition with one path. Several are sent as "any of them", which selects more.

An integer beyond 2^53 also matches a float next to it, and 1.5 the integer 1. No row carries a
null, so that one is answered without asking.
"""

_NOTES = (
    "Chroma's index never returns some records for any query vector (0.1% of 100,000, more among "
    "near duplicates); they are found by every other call.",
    "Chroma keeps no order but that of insertion, so the newest by a time take one scan.",
    "A number of metadata that is no integer may differ from what was written in its last place.",
)
_COSINE_NOTE = (
    "Under cosine, Chroma normalises vectors and scales them back, so they differ from what was "
    "written by up to 2 parts in 10 million."
)


def profile(
    field: VectorField, selection: Selection, *, version: str = "", notes: tuple[str, ...] = ()
) -> Profile:
    """The profile of a collection opened on ``selection``."""
    vectors = _vectors(field, selection)
    searched = vectors.held
    if searched and field.metric is Metric.COSINE:
        notes = (*notes, _COSINE_NOTE)
    return Profile(
        engine="chroma",
        version=version,
        features={
            Feature.READ: Claim(Support.NATIVE, "in the order of insertion"),
            Feature.COUNT: Claim(Support.NATIVE, "with a filter, by reading the ids it selects"),
            Feature.VECTOR_SEARCH: vectors,
            Feature.RETURN_VECTORS: vectors,
            Feature.TEXT_SEARCH: _words(selection),
            Feature.EXACT_FILTER: Claim(reason="1.5 also matches the integer 1"),
            Feature.CREATION_ORDER: Claim(reason="Chroma sorts by no field"),
        },
        metric=field.metric if searched else None,
        metrics=frozenset(Metric),
        width=field.width if searched else None,
        filters=FILTERS,
        orderings=frozenset({Ordering(), Ordering(descending=True)}),
        limits=StoreLimits(max_k=MAX_K),
        consistency="reads see every acknowledged write",
        durability="acknowledged writes survive a crash of the server",
        model=field.model if searched else None,
        notes=(*_NOTES, *notes),
    )


def _vectors(field: VectorField, selection: Selection) -> Claim:
    if selection.vector_name is None:
        return Claim(reason="opened without a vector")
    if selection.vector_name != VECTOR_NAME:
        return Claim(
            reason=f"no vector named {selection.vector_name!r}: a collection of Chroma's has one, "
            "without a name"
        )
    if field.metric is None:
        return Claim(reason=f"it compares by {field.engine_metric or 'an unknown metric'}")
    return Claim(Support.NATIVE, f"{field.engine_metric}, an approximate index")


def _words(selection: Selection) -> Claim:
    if selection.text_path is None:
        return Claim(reason="opened without a text field")
    if selection.text_path != (DOCUMENT,):
        return Claim(
            reason=f"the text lies in the metadata ({'.'.join(selection.text_path)}), and Chroma "
            "finds words in documents alone"
        )
    if selection.text_is_json:
        return Claim(reason="the text is escaped within JSON")
    return Claim(Support.NATIVE, "substrings of the document, any case")
