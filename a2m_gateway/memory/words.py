"""Ranking by words: BM25 over the records that contain one.

The store proposes candidates (``Store.search_text``); this ranks them. Words are runs of word
characters, lower-cased, English stop words left out, stemmed by Snowball.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import bm25s
import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS

from a2m_gateway.store.text import contains

__all__ = [
    "CANDIDATES_PER_TERM",
    "MAX_TERMS",
    "beginnings",
    "held_by_none",
    "rank_by_words",
    "search_words",
]

MAX_TERMS = 12
"""Words that are looked up at once: those with a digit and the longest, the rarest as a rule."""

CANDIDATES_PER_TERM = 100
"""Records that are ranked for each word; a word that more records contain says little."""

_LONGEST = 64
"""Characters of a word that a store is asked for: enough to tell it, and no pattern to choke on."""

_EXACT = "="
"""Marks a word as it stands; no stem begins so."""
_EXACT_WEIGHT = 0.5
"""Of a word as it stands beside its stem: two words of a query count more than one twice."""

_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(STOPWORDS_EN_PLUS)


def search_words(query: str) -> list[str]:
    """The words of a query that say something, the rarest as a rule first.

    All of its words where none does; empty where it has none.

    >>> search_words("How does the rotation of E4211 keys work?")
    ['e4211', 'rotation', 'keys', 'work']
    >>> search_words("To be or not to be")
    ['not', 'be', 'or', 'to']
    """
    words = set(_WORD.findall(query.lower()))
    return sorted(words - _STOP_WORDS or words, key=_rarity)


def beginnings(words: Sequence[str]) -> list[str]:
    """What all inflections of each word begin with.

    >>> beginnings(["e4211", "rotation", "happy"])
    ['e4211', 'rotat', 'happ']
    """
    stemmer = Stemmer.Stemmer("english")
    begun = (_common_beginning(word, stemmer.stemWord(word)) for word in words)
    return list(dict.fromkeys(one[:_LONGEST] for one in begun))


def held_by_none(words: Sequence[str], texts: Iterable[str]) -> list[str]:
    """Those of ``words`` that no text holds as they stand, and that may be looked for so."""
    folded = [text.lower() for text in texts]
    return [
        word
        for word in words
        if len(word) <= _LONGEST and not any(contains(one, word, whole=True) for one in folded)
    ]


def _rarity(word: str) -> tuple[bool, int, str]:
    return (not any(char.isdigit() for char in word), -len(word), word)


def _common_beginning(word: str, stem: str) -> str:
    while stem and not word.startswith(stem):  # "happy" stems to "happi"
        stem = stem[:-1]
    return stem or word


async def rank_by_words(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """BM25 scores of ``texts`` (by id) for ``query``, without those that share no word with it."""
    if not texts:
        return {}
    return await asyncio.to_thread(_rank, query, texts)


def _rank(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    meant = frozenset(search_words(query))
    left_out = _STOP_WORDS - meant
    (asked,), held = _tokens([query], left_out), _tokens(list(texts.values()), left_out)
    if not any(held):
        return {}
    index = bm25s.BM25()
    index.index(held, show_progress=False)
    known = [token for token in asked if token in index.vocab_dict]
    stems = [token for token in known if not token.startswith(_EXACT)]
    if not stems:
        return {}
    scores = index.get_scores(stems)
    words = [token for token in known if token.startswith(_EXACT)]
    if words:
        scores = scores + _EXACT_WEIGHT * index.get_scores(words)
    return {name: float(score) for name, score in zip(texts, scores, strict=True) if score > 0}


def _tokens(texts: Sequence[str], left_out: AbstractSet[str]) -> list[list[str]]:
    """Stems, and beside each its word: of two inflections the one that was asked for wins."""
    stemmer = Stemmer.Stemmer("english")
    tokens = []
    for text in texts:
        words = [word for word in _WORD.findall(text.lower()) if word not in left_out]
        tokens.append([*stemmer.stemWords(words), *(_EXACT + word for word in words)])
    return tokens
