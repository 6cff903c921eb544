"""How each family of models wants to be used, as data: prefixes, pooling, window.

From the models' cards. Settings override every column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from a2m_gateway.embedding.names import canonical_name
from a2m_gateway.embedding.settings import Pooling

__all__ = ["Prefixes", "Recipe", "prefixes_for", "recipe_for"]

_SEARCH = "Represent this sentence for searching relevant passages: "
_SEARCH_ZH = "为这个句子生成表示以用于检索相关文章："
_WEB_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What precedes a text before it is embedded, by what the text is."""

    query: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is used.

    Attributes:
        pooling: How its token vectors become one, where it is run from the bare ONNX file.
        max_tokens: Its window.
    """

    prefixes: Prefixes = Prefixes()
    pooling: Pooling = "mean"
    max_tokens: int = 512


_RECIPES: tuple[tuple[str, Recipe], ...] = (
    (r"all-minilm-l(6|12)-v[12]", Recipe(max_tokens=256)),
    (r"multilingual-e5-.*-instruct", Recipe(Prefixes(f"Instruct: {_WEB_SEARCH}\nQuery: "))),
    (r"(multilingual-)?e5-(small|base|large)(-v2)?", Recipe(Prefixes("query: ", "passage: "))),
    (
        r"nomic-embed-text-v(1|1-5|2-moe)",
        Recipe(Prefixes("search_query: ", "search_document: "), max_tokens=2048),
    ),
    (r"bge-(small|base|large)-en(-v1-5)?", Recipe(Prefixes(_SEARCH), "cls")),
    (
        r"bge-(small|base|large)-zh.*",
        Recipe(Prefixes("为这个句子生成表示以用于检索相关文章："), "cls"),
    ),
    (r"bge-m3", Recipe(pooling="cls", max_tokens=8192)),
    (r"snowflake-arctic-embed-[ml]-v2-0", Recipe(Prefixes("query: "), "cls", 8192)),
    (r"snowflake-arctic-embed-(xs|s|m|l|m-v1-5)", Recipe(Prefixes(_SEARCH), "cls")),
    (r"mxbai-embed-large-v1", Recipe(Prefixes(_SEARCH), "cls")),
    (
        r"embeddinggemma.*",
        Recipe(Prefixes("task: search result | query: ", "title: none | text: "), max_tokens=2048),
    ),
    (
        r"qwen3-embedding.*",
        Recipe(Prefixes(f"Instruct: {_WEB_SEARCH}\nQuery:"), max_tokens=8192),
    ),
)
"""The first pattern that is the whole of the canonical name; a model that is not here has none."""


def recipe_for(model: str) -> Recipe:
    """What the table says of a model, however its name is spelt.

    >>> recipe_for("intfloat/e5-base-v2").prefixes.query
    'query: '
    """
    name = canonical_name(model)
    return next((recipe for rule, recipe in _RECIPES if re.fullmatch(rule, name)), Recipe())


def prefixes_for(model: str, query: str | None = None, passage: str | None = None) -> Prefixes:
    """The prefixes of a model, each replaced by the setting where one is given."""
    known = recipe_for(model).prefixes
    return Prefixes(
        known.query if query is None else query,
        known.passage if passage is None else passage,
    )
