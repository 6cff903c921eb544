"""Values that a writer stored as the text Python prints for them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from a2m_gateway.store import JSON

__all__ = ["from_python_repr"]


def from_python_repr(text: str) -> JSON:
    """The list or object that ``text`` is the ``repr`` of, else ``text`` itself.

    Only where nothing is lost: the result's ``repr`` is ``text`` again, and it is JSON. A string
    that merely looks like a number stays a string.

    >>> from_python_repr("{'a': [1, None]}"), from_python_repr("[1,2]"), from_python_repr("7")
    ({'a': [1, None]}, '[1,2]', '7')
    """
    if text[:1] not in {"[", "{"}:
        return text
    try:
        value = ast.literal_eval(text)
        exact = repr(value) == text and _is_json(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if exact else text


def _is_json(value: object) -> bool:
    if value is None or isinstance(value, bool | int | float | str):
        return True
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _is_json(inner) for name, inner in value.items())
    return False
