"""Parameters of the methods: unknown ones ignored, wrong types refused by name (spec 2, 4)."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from a2m_gateway.errors import CapabilityNotSupported, InvalidParams

__all__ = ["DescribeParams", "RecallParams", "TimelineParams", "read_params"]


class DescribeParams(msgspec.Struct, frozen=True):
    protocol: str | None = None


class Selection(msgspec.Struct, frozen=True):
    """Of the methods that select records, which a restriction narrows."""


class TimelineParams(Selection, frozen=True):
    limit: int | None = None
    where: dict[str, object] | None = None
    embeddings: bool | None = None


class RecallParams(Selection, frozen=True):
    query: str | None = None
    limit: int | None = None
    where: dict[str, object] | None = None
    min_score: float | None = None
    embedding: list[float] | None = None
    embeddings: bool | None = None


RESTRICTIONS = {"tier": "tiers", "embedding": "embeddings", "key_prefix": "keys"}
"""Parameters that narrow what a call touches. Of an undeclared capability they are an error:
ignoring one would return what the caller excluded."""

ADDITIONS = {"owner": "scopes", "prompt": "prompt", "embeddings": "embeddings"}
"""Parameters that are ignored, whatever they hold, where their capability is not declared."""

_WHERE_IT_IS = re.compile(r" - at `(?:key` in `)?\$\.?(.*?)`$")

P = TypeVar("P", bound=msgspec.Struct)


def read_params(given: object, form: type[P], declared: frozenset[str]) -> P:
    """The parameters of a call as ``form``; null is the same as absence.

    Raises:
        InvalidParams: Not an object, or a member of the wrong type, which it names.
        CapabilityNotSupported: A restriction by an undeclared capability.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise InvalidParams("parameters are passed by name, as an object", field="params")
    if issubclass(form, Selection):
        _refuse_restrictions(given, declared)
    if any(name in given and capability not in declared for name, capability in ADDITIONS.items()):
        given = {
            key: value for key, value in given.items() if ADDITIONS.get(key, "core") in declared
        }
    try:
        return msgspec.convert(given, form)
    except msgspec.ValidationError as error:
        raise _named(error) from None


def _refuse_restrictions(given: dict[str, object], declared: frozenset[str]) -> None:
    for name, capability in RESTRICTIONS.items():
        if given.get(name) is not None and capability not in declared:
            raise CapabilityNotSupported(capability, what=f"`{name}`")


def _named(error: msgspec.ValidationError) -> InvalidParams:
    text = str(error)
    found = _WHERE_IT_IS.search(text)
    field = found.group(1) if found else "params"
    return InvalidParams(f"`{field}`: {text[: found.start()] if found else text}", field=field)
