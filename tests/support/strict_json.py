"""What JSON is, said once more by Python's own json module: the tests' oracle.

It shares no code with the gateway. The rules: UTF-8 without a byte order mark, no name twice in an
object, no number that a double or Python's integers can't carry, no lone surrogate, and at most 100
levels of nesting.
"""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["MAX_DEPTH", "loads"]

MAX_DEPTH = 100


def loads(message: bytes) -> Any:
    """The value of ``message``.

    Raises:
        ValueError: It is no JSON, or none that can be kept exactly.
    """
    text = message.decode("utf-8")
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except RecursionError:
        raise ValueError("too deep") from None
    _check(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name twice")
    return members


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("out of range")
    return value


def _integer(text: str) -> int:
    if len(text) > 4300:  # as Python, which does not count the sign
        raise ValueError("too many digits")
    return int(text)


def _check(value: Any) -> None:
    level = [value]
    for depth in range(MAX_DEPTH + 2):
        containers = [one for one in level if isinstance(one, dict | list)]
        if containers and depth == MAX_DEPTH:
            raise ValueError("too deep")
        for one in level:
            if isinstance(one, str):
                one.encode()  # a lone surrogate is a UnicodeEncodeError, which is a ValueError
        level = [
            inner
            for one in containers
            for inner in ([*one.keys(), *one.values()] if isinstance(one, dict) else one)
        ]
