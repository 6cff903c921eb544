"""Which of a collection's vectors is searched."""

from __future__ import annotations

from a2m_gateway.errors import ConfigurationError, UnrecognisedLayout
from a2m_gateway.store import CollectionInfo

__all__ = ["choose_vector"]


def choose_vector(info: CollectionInfo, named: str | None) -> tuple[str | None, str]:
    """The vector's name and why it is that one; None where no vector can be searched.

    Args:
        named: What the owner says, if anything.

    Raises:
        ConfigurationError: There is no such vector, or it can't be searched.
        UnrecognisedLayout: Several could be meant.
    """
    dense = [vector.name for vector in info.vectors if vector.searchable]
    if named is not None:
        return _named(info, dense, named), "the vector was named"
    if "" in dense:
        return "", "the unnamed vector is searched"
    if len(dense) == 1:
        return dense[0], f"`{dense[0]}` is the only vector that can be searched"
    if not dense:
        return None, "no vector can be searched: the collection has none, or sparse ones only"
    raise UnrecognisedLayout(
        f"the records of {info.name!r} carry several vectors, and none is unnamed: "
        f"{', '.join(map(repr, dense))}.\nTo settle it, give one of:\n"
        + "\n".join(f"  --vector-name {name}" for name in dense)
    )


def _named(info: CollectionInfo, dense: list[str], named: str) -> str:
    if named in dense:
        return named
    kinds = [vector.kind for vector in info.vectors if vector.name == named]
    problem = f"{named!r} is {kinds[0]} and can't be searched" if kinds else f"no vector {named!r}"
    there = ", ".join(map(repr, dense)) or "none that can be searched"
    raise ConfigurationError(f"{problem}; there is {there}", setting="vector_name")
