"""Ranking by words: BM25 over the records that contain one.

The store proposes candidates (``Store.search_text``); this ranks them. Words are runs of word
characters, lower-cased, English stop words left out, stemmed by Snowball.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

import bm25s
import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS

__all__ = ["CANDIDATES_PER_TERM", "MAX_TERMS", "rank_by_words", "search_terms"]

MAX_TERMS = 16
"""Words of a query that are looked up: the longest, which are the rarest as a rule."""

CANDIDATES_PER_TERM = 100
"""Records that are ranked for each word; a word that more records contain says little."""

_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(STOPWORDS_EN_PLUS)


def search_terms(query: str, *, whole_words: bool = False) -> list[str]:
    """What to ask the store for: the beginnings that all inflections of a query's words share.

    Empty where the query has only stop words and punctuation.

    Args:
        whole_words: The store finds no beginnings, so the words as they are.

    >>> search_terms("How does the rotation of E4211 keys work?")
    ['e4211', 'rotat', 'work', 'key']
    """
    terms = {word for word in _WORD.findall(query.lower()) if word not in _STOP_WORDS}
    if not whole_words:
        stemmer = Stemmer.Stemmer("english")
        terms = {_common_beginning(word, stemmer.stemWord(word)) for word in terms}
    return sorted(terms, key=lambda term: (-len(term), term))[:MAX_TERMS]


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
    asked = _tokens([query])[0]
    tokens = _tokens(list(texts.values()))
    if not asked or not any(tokens):
        return {}
    index = bm25s.BM25()
    index.index(tokens, show_progress=False)
    known = [token for token in asked if token in index.vocab_dict]
    if not known:
        return {}
    scores = index.get_scores(known)
    return {name: float(score) for name, score in zip(texts, scores, strict=True) if score > 0}


def _tokens(texts: Sequence[str]) -> list[list[str]]:
    stemmer = Stemmer.Stemmer("english")
    return [
        stemmer.stemWords([word for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS])
        for text in texts
    ]
