"""Point ids, which are integers or UUIDs, as the strings that rows are known by."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from a2m_gateway.store.rows import JSON
from a2m_gateway.store.text import is_text

__all__ = ["point_ids"]

_U64 = 2**64


def point_ids(ids: Iterable[str], *, any_string: bool = False) -> list[int | str]:
    """The point ids that are spelled as ``ids``, each once; what can be none is left out.

    Only canonical spellings: ``"007"`` is not the point 7, and Qdrant answers every spelling of a
    UUID with the lower-case one with dashes.

    Args:
        any_string: For local mode, which holds what no server takes: integers of any size or sign,
            and (written by old versions) strings that are no UUID.
    """
    return [point for name in dict.fromkeys(ids) for point in _spelled(name, any_string)]


def _spelled(name: str, any_string: bool) -> list[int | str]:
    number = _integer(name)
    if any_string:
        spelled: list[int | str] = [name] if is_text(name) else []
        return spelled if number is None else [number, name]
    if number is not None:
        return [number] if 0 <= number < _U64 else []
    return [name] if _is_uuid(name) else []


def _integer(name: str) -> int | None:
    digits = name.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 40:
        return None
    number = int(name)
    return number if str(number) == name else None


def _is_uuid(name: JSON) -> bool:
    try:
        return isinstance(name, str) and str(UUID(name)) == name
    except ValueError:
        return False
