"""Whether strings read like text that people wrote, in any script.

A field's name says little: a ``text`` may hold a category, a ``document`` an id, ``data`` base64.
So each value is judged by its words, and a field by its values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from a2m_gateway.shapes.times import read_time

__all__ = ["Reading", "judge_field", "judge_value"]


class Reading(StrEnum):
    """What strings look like."""

    PROSE = "reads like prose"
    WORDS = "holds a few words"
    SINGLE = "holds single words"
    LABELS = "holds the same few values again and again"
    CODES = "holds ids, numbers, links or encoded data"
    NOTHING = "holds no text"


_JUDGED = 2000
"""Characters of a value that are looked at: enough to tell, whatever its size."""

_PROSE_WORDS = 4.0
_LONGEST_WORD = 40
_CODE = re.compile(
    r"""
      [+-]?[\d.,:\s]+%?                                 # a number, a time of day
    | [0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}     # a UUID
    | [^\s@]+@[^\s@]+\.[^\s@]+                          # an address
    | (?:data|urn):\S+ | [a-z][a-z0-9+.-]*://\S+        # a link
    | [{\[].*[}\]]                                      # JSON
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han, kana
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u0f00-\u0fff]"  # Thai, Lao, Burmese, Khmer, Tibetan
)
_LISTED = re.compile(r"[,;|\n]")
_EDGES = re.compile(r"^\W+|\W+$")
_INNER = re.compile(r"[-'’·\u0300-\u036f]")


def judge_value(value: str) -> Reading:
    """What one string looks like: PROSE, WORDS, SINGLE, CODES or NOTHING."""
    text = value.strip()[:_JUDGED]
    if not text:
        return Reading.NOTHING
    if _CODE.fullmatch(text) or read_time(text) is not None:
        return Reading.CODES
    tokens = text.split()
    unspaced = len(_UNSPACED.findall(text)) / 2  # a word of these scripts is about two letters
    words = sum(map(_word_weight, tokens)) + unspaced
    if words < len(tokens) * 0.4 or words == 0:
        return Reading.CODES
    if words >= _PROSE_WORDS and not _is_list(text, words):
        return Reading.PROSE
    return Reading.WORDS if words > 1 else Reading.SINGLE


def judge_field(values: Sequence[str]) -> Reading:
    """What the values of one field look like together."""
    kinds = Counter(map(judge_value, values))
    filled = len(values) - kinds[Reading.NOTHING]
    if filled == 0:
        return Reading.NOTHING
    if _is_repeated(values):
        return Reading.LABELS
    if kinds[Reading.PROSE] >= 0.7 * filled and kinds[Reading.CODES] <= 0.1 * filled:
        return Reading.PROSE
    for common in (Reading.CODES, Reading.SINGLE):
        if kinds[common] > 0.5 * filled:
            return common
    return Reading.WORDS


def _word_weight(token: str) -> int:
    """1 for what looks like a word of a spaced script, else 0."""
    bare = _EDGES.sub("", token)
    if not bare or len(bare) > _LONGEST_WORD or _UNSPACED.search(bare):
        return 0
    letters = _INNER.sub("", bare)
    if letters.isalpha():
        return int(not _is_scrambled(letters))
    return int(sum(map(str.isalpha, letters)) > 0.8 * len(letters))


def _is_scrambled(letters: str) -> bool:
    """Long and of mixed case inside, as base64 is and no word."""
    return len(letters) > 16 and sum(map(str.isupper, letters[1:])) > 0.2 * len(letters)


def _is_list(text: str, words: float) -> bool:
    parts = [part for part in _LISTED.split(text) if part.strip()]
    return len(parts) >= 3 and words / len(parts) < 2


def _is_repeated(values: Sequence[str]) -> bool:
    distinct = len(set(values))
    return (len(values) >= 3 and distinct == 1) or (
        len(values) >= 8 and distinct <= len(values) / 4
    )
