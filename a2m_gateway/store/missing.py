"""How it is said that a collection is not there."""

from __future__ import annotations

from collections.abc import Iterable

from a2m_gateway.errors import CollectionNotFound

__all__ = ["no_such_collection"]

_NAMED = 20


def no_such_collection(engine: str, collection: str, there: Iterable[str]) -> CollectionNotFound:
    """The error that names what there is.

    >>> print(no_such_collection("chroma", "dosc", ["notes", "docs"]))
    chroma has no collection 'dosc'; there are docs, notes
    """
    names = sorted(there)
    shown = ", ".join(name if name.isprintable() else ascii(name) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    listed = f"there are {shown}{more}" if names else "there is none"
    return CollectionNotFound(f"{engine} has no collection {collection!r}; {listed}")
