"""``where`` (spec 5.2) as a filter over canonical rows."""

from __future__ import annotations

from collections.abc import Mapping

from a2m_gateway.errors import InvalidParams
from a2m_gateway.store import Condition, Filter, Path, Scalar

__all__ = ["read_where"]

_ALWAYS = frozenset({"id", "content", "created_at"})
_SOMETIMES = frozenset({"role", "metadata", "group"})


def read_where(where: Mapping[str, object] | None) -> Filter:
    """The conjunction that ``where`` says; a list means any of its values, an empty one none.

    A name is a record field that the record carries, else one of its metadata keys.

    Raises:
        InvalidParams: An object, or a list within a list, as a value: equality to one is undefined.
    """
    if not where:
        return ()
    return tuple(Condition(_paths(name), _values(name, given)) for name, given in where.items())


def _paths(name: str) -> tuple[Path, ...]:
    if name in _ALWAYS:
        return ((name,),)
    if name in _SOMETIMES:
        return ((name,), ("metadata", name))
    return (("metadata", name),)


def _values(name: str, given: object) -> tuple[Scalar, ...]:
    if isinstance(given, list):
        return tuple(_scalar(f"where.{name}[{index}]", one) for index, one in enumerate(given))
    return (_scalar(f"where.{name}", given),)


def _scalar(field: str, value: object) -> Scalar:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InvalidParams(
        f"`{field}`: a value is a string, number, boolean or null, or a list of those", field=field
    )
