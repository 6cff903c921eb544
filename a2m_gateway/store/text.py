"""Whether a text contains a word, for stores that read their texts themselves."""

from __future__ import annotations

import re

__all__ = ["contains"]


def contains(text: str, term: str, *, whole: bool = False) -> bool:
    """Whether ``term`` occurs in ``text``, both folded alike; ``whole``: not within a longer word.

    >>> contains("the catalan", "catala"), contains("the catalan", "catala", whole=True)
    (True, False)
    """
    if term not in text:
        return False
    return not whole or re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text) is not None
