"""JSON on the wire: strict going in, exact going out.

msgspec keeps integers of any size and refuses NaN, infinities, numbers out of range, invalid UTF-8
and lone surrogates. What it lets through, this module refuses: an object that names a member twice
(the last would silently win) and nesting that other parsers on the way would die of.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec

from a2m_gateway.errors import ParseError

__all__ = ["MAX_DEPTH", "decode", "encode"]

MAX_DEPTH = 100
"""Levels of nesting that a message may have."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def decode(message: bytes) -> Any:
    """The JSON value of ``message``, parsed once.

    Raises:
        ParseError: It is no JSON, or JSON that can't be kept exactly.
    """
    try:
        value = _decoder.decode(message)
    except RecursionError:
        raise ParseError(_TOO_DEEP) from None
    except msgspec.ValidationError as error:
        raise ParseError(f"a number can't be kept exactly: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"not valid JSON: {error}") from None
    if isinstance(value, dict | list):
        members = _count_members(value)
        if members != _STRING.sub(b"", message).count(b":"):
            raise ParseError("an object names the same member twice; only one could be kept")
    return value


def encode(value: object) -> bytes:
    """``value`` as JSON without a newline, UTF-8 (spec 8.2).

    Raises:
        TypeError, ValueError: It is no JSON value; callers hand over what came out of a store.
    """
    encoded = _encoder.encode(value)
    # msgspec writes NaN and the infinities as null, so only where there is a null need we look.
    if b"null" in encoded and not _finite(msgspec.to_builtins(value)):
        raise ValueError("a number that is not finite has no JSON")
    return encoded


_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def _count_members(value: dict[str, Any] | list[Any]) -> int:
    """The members of all objects in ``value``, which must not nest too deep."""
    members = 0
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for container in level:
            if type(container) is dict:
                members += len(container)
                below += [item for item in container.values() if type(item) in _CONTAINERS]
            else:
                below += [item for item in container if type(item) in _CONTAINERS]
        if not below:
            return members
        level = below
    raise ParseError(_TOO_DEEP)


def _finite(value: object) -> bool:
    """Whether every number in ``value`` is one that JSON can say."""
    level: list[Any] = [value]
    while level:
        below: list[Any] = []
        for one in level:
            if isinstance(one, float):
                if not math.isfinite(one):
                    return False
            elif isinstance(one, dict):
                below += one.values()
            elif isinstance(one, list | tuple):
                below += one
        level = below
    return True


_CONTAINERS = frozenset({dict, list})
