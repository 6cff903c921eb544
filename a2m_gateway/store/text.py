"""What is text, and whether it contains a word."""

from __future__ import annotations

import re

__all__ = ["contains", "is_text"]


def contains(text: str, term: str, *, whole: bool = False) -> bool:
    """Whether ``term`` occurs in ``text``, both folded alike; ``whole``: not within a longer word.

    >>> contains("the catalan", "catala"), contains("the catalan", "catala", whole=True)
    (True, False)
    """
    if term not in text:
        return False
    return not whole or re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None


def is_text(value: str) -> bool:
    """Whether ``value`` has a UTF-8 form: half a surrogate pair has none, so nothing equals it.

    >>> is_text("🦜"), is_text("\\ud83e")
    (True, False)
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
