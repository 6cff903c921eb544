"""Names of fields as people write them: ``metadata.ts``, ``metadata."a.b"``, ``*``.

The grammar is small: names joined by dots; a name that holds a dot, a quote or nothing at all
stands in double quotes, in which a backslash takes the next character as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from a2m_gateway.store import JSON, Path, Row
from a2m_gateway.store.rows import ABSENT, Absent

__all__ = ["EVERYTHING", "format_field", "parse_field", "value_at"]

EVERYTHING: Path = ()
"""The record itself. As the metadata field: all that is not the text. Written ``*``."""

_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"|([^."]+)', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = re.compile(r'[^."\\\s*](?:[^."\\]*[^."\\\s])?')


def parse_field(text: str) -> Path:
    """The path that ``text`` names.

    Raises:
        ValueError: It is empty, has an empty name that is not quoted, or an open quote.

    >>> parse_field('metadata."a.b"'), parse_field("*"), parse_field('"*"')
    (('metadata', 'a.b'), (), ('*',))
    """
    if text == "*":
        return EVERYTHING
    names: list[str] = []
    position = 0
    while True:
        found = _NAME.match(text, position)
        if found is None:
            raise ValueError(_expected(text, position))
        quoted, plain = found.groups()
        names.append(_ESCAPE.sub(r"\1", quoted) if plain is None else plain)
        position = found.end()
        if position == len(text):
            return tuple(names)
        if text[position] != ".":
            raise ValueError(_expected(text, position))
        position += 1


def format_field(path: Path) -> str:
    """``path`` as ``parse_field`` reads it."""
    return ".".join(map(_quoted, path)) if path else "*"


def value_at(row: Row, path: Path) -> JSON | Absent:
    """What the payload of ``row`` carries at ``path``, or ``ABSENT``.

    Unlike ``store.rows.lookup`` it finds a field called ``id``, which is not the row's own id.
    """
    value: JSON = row.fields
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return ABSENT
        value = value[name]
    return value


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _expected(text: str, position: int) -> str:
    return (
        f"not a field name at character {position + 1}: {text!r}; write name, outer.inner, "
        'outer."name.with.dots", or * for the whole record'
    )
