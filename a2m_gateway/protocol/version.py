"""Which protocol versions this gateway speaks (spec 4.1, 9)."""

from __future__ import annotations

__all__ = ["PROTOCOL", "compatible"]

PROTOCOL = "a2m/0.1"


def compatible(version: str) -> bool:
    """Whether a client that declares ``version`` can be served.

    While the major version is 0, the minor one must match exactly (spec 4.1).

    >>> compatible("a2m/0.1"), compatible("a2m/0.2"), compatible("a2m/1.0"), compatible("0.1")
    (True, False, False, False)
    """
    return version == PROTOCOL
