"""Candidates by words: every document that contains a term, in any case."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2m_gateway.store import Condition, Store

Make = Callable[..., Any]
Open = Callable[..., Awaitable[Store]]

DOCUMENTS = {
    "upper": "Drink OOLONG now",
    "title": "Oolong",
    "lower": "some oolong.",
    "summer": "L'ÉTÉ dernier",
    "ete": "été",
    "sigma": "ΣΊΣΥΦΟΣ",
    "dotted": "İZMİR",
    "kelvin": "5 \u212a",
    "nul": "before\0after",
    "regex": "a.c a|c [x] (y) \\d $ ^ * + ? { }",
    "code": "Error E4211: disk full",
    "han": "烏龍茶",
    "none": None,
    "empty": "",
}


def filled(make: Make) -> Any:
    return make(
        [
            {"id": id_, "vector": [1, 2], "document": text, "metadata": {"id_": id_}}
            for id_, text in DOCUMENTS.items()
        ]
    )


async def found(store: Store, *terms: str, limit: int = 100) -> set[str]:
    return {row.id for row in await store.search_text(terms, limit)}


async def test_case_does_not_matter(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(filled(chroma_collection).url)
    assert await found(store, "oolong") == {"upper", "title", "lower"}
    assert await found(store, "ool") == {"upper", "title", "lower"}
    assert await found(store, "été") == {"summer", "ete"}
    assert await found(store, "σίσυφος") == {"sigma"}
    assert await found(store, "zmi") == {"dotted"}
    assert "kelvin" in await found(store, "k")
    assert await found(store, "e4211") == {"code"}
    assert await found(store, "烏龍") == {"han"}
    assert await found(store, "after") == {"nul"}


async def test_terms_are_text_and_never_patterns(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(filled(chroma_collection).url)
    assert await found(store, ".*") == set()
    assert await found(store, "a.c") == {"regex"}
    for hostile in ("(", "[", "\\", "{", "*", "+?", "(?i", "\\d", "^", "$"):
        assert "regex" in await found(store, hostile) or hostile in ("+?", "(?i")
    assert await found(store, "\0") == {"nul"}
    assert await found(store, "") == set()
    assert await store.search_text([], 5) == []
    assert await store.search_text(["oolong"], 0) == []


async def test_each_row_once_and_each_term_up_to_the_limit(
    chroma_collection: Make, open_store: Open
) -> None:
    store = await open_store(filled(chroma_collection).url)
    rows = await store.search_text(["oolong", "drink", "ool", "e4211"], 2)
    ids = [row.id for row in rows]
    assert len(set(ids)) == len(ids)
    assert {"upper", "code"} <= set(ids)
    assert len(await found(store, "oolong", limit=2)) == 2


async def test_conditions_narrow_candidates(chroma_collection: Make, open_store: Open) -> None:
    store = await open_store(filled(chroma_collection).url)
    one = (Condition((("id_",),), ("lower",)),)
    assert [row.id for row in await store.search_text(["oolong"], 9, one)] == ["lower"]
    document = (Condition((("#document",),), ("Oolong",)),)
    assert [row.id for row in await store.search_text(["oolong"], 9, document)] == ["title"]
    assert await store.search_text(["oolong"], 9, (Condition((("id_",),), ()),)) == []


async def test_every_letter_that_has_a_lower_case(
    chroma_collection: Make, open_store: Open
) -> None:
    """Whatever Python's ``lower`` makes of a letter finds that letter (the İ by its i)."""
    letters = [
        char
        for char in map(chr, range(0x180))
        if char.lower() != char and unicodedata.category(char) == "Lu"
    ]
    made = chroma_collection(
        [{"id": char, "vector": [1, 2], "document": f"x{char}x"} for char in letters]
    )
    store = await open_store(made.url)
    hits = await asyncio.gather(*(store.search_text([c.lower()[0]], 100) for c in letters))
    missed = [c for c, rows in zip(letters, hits, strict=True) if c not in {r.id for r in rows}]
    assert len(letters) > 100
    assert missed == []


TEXTS = st.text(alphabet="aAbBéÉ*?[]%_\"'^\\ \n\0🙂ßiIİ.|-()", min_size=1, max_size=10)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(TEXTS, min_size=1, max_size=12, unique=True), data=st.data())
async def test_random_substrings_are_found(
    chroma_collection: Make, open_store: Open, texts: list[str], data: st.DataObject
) -> None:
    made = chroma_collection(
        [{"id": f"t{n}", "vector": [1, 2], "document": text} for n, text in enumerate(texts)]
    )
    store = await open_store(made.url)
    text = data.draw(st.sampled_from(texts)).replace("İ", "I")
    start = data.draw(st.integers(0, len(text) - 1))
    term = text[start : start + 5].lower()
    expected = {f"t{n}" for n, other in enumerate(texts) if term in other.lower()}
    assert expected <= await found(store, term)
