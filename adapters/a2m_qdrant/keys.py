"""A path in a payload as Qdrant's JSON path."""

from __future__ import annotations

import re

from a2m_gateway.store import Path
from a2m_gateway.store.text import is_text

__all__ = ["payload_key"]

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def payload_key(path: Path) -> str | None:
    r"""The key that addresses ``path``, or None where there is none.

    A segment of other characters is quoted, and within quotes nothing can be escaped: a name with
    ``"`` or ``\`` is inexpressible (the client's local mode wrongly accepts some).

    >>> payload_key(("metadata", "page")), payload_key(("a.b", "")), payload_key(('a"b',))
    ('metadata.page', '"a.b".""', None)
    """
    if not path or not all(map(_expressible, path)):
        return None
    return ".".join(name if _PLAIN.fullmatch(name) else f'"{name}"' for name in path)


def _expressible(name: str) -> bool:
    return '"' not in name and "\\" not in name and is_text(name)
