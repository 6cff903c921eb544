"""How words are asked for, by what the server can do."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from a2m_gateway.capability import Feature, Pushdown, ValueType
from a2m_gateway.errors import StoreRefused, StoreUnavailable
from a2m_gateway.store import Condition

SCROLL = "POST /collections/docs/points/scroll"

WHERE = (Condition((("metadata", "page"),), (1,)),)
PUSHED = {"must": [{"key": "metadata.page", "range": {"gte": 1.0, "lte": 1.0}}]}


def texts(key: str, *spellings: str) -> list[dict[str, Any]]:
    return [{"key": key, "match": {"text": one}} for one in spellings]


def parts(key: str, *spellings: str) -> list[dict[str, Any]]:
    return [{"key": key, "match": {"substring": one}} for one in spellings]


async def asked_for(server: Any, store: Any, term: str) -> list[dict[str, Any]]:
    server.answers[SCROLL] = server.ok({"points": [server.record(1)]})
    rows = await store.search_text([term], 4)
    assert [row.id for row in rows] == ["1"]
    (_, body), = server.bodies()  # fmt: skip
    assert body["limit"] == 4
    should: list[dict[str, Any]] = body["filter"]["must"][0]["should"]
    return should


@pytest.mark.parametrize(
    ("version", "text_index", "expected", "how"),
    [
        ("1.17.0", None, texts("t", "oolo", "Oolo", "OOLO"), "whole words only"),
        ("1.20.0", None,
         texts("t", "oolo", "Oolo", "OOLO") + parts("t", "oolo", "Oolo", "OOLO"), "beginnings"),
        ("1.17.0", {"tokenizer": "word"}, texts("t", "oolo"), "whole words only"),
        ("1.17.0", {"tokenizer": "word", "lowercase": False},
         texts("t", "oolo", "Oolo", "OOLO"), "whole words only"),
        ("1.20.1", {"tokenizer": "prefix"}, texts("t", "oolo"), "beginnings of words, in any case"),
    ],
)  # fmt: skip
async def test_words_are_asked_for_as_the_server_can_find_them(
    server: Any, opened: Any, version: str, text_index: Any, expected: Any, how: str
) -> None:
    server.answers["GET /"]["version"] = version
    server.describe(indexes={"t": server.index("text", **text_index)} if text_index else {})
    store = await opened(text_path=("t",))
    assert await asked_for(server, store, "oolo") == expected
    assert how in store.profile.claim(Feature.TEXT_SEARCH).reason


async def test_words_in_json_are_asked_for_raw_and_escaped(server: Any, opened: Any) -> None:
    server.describe(indexes={"t": server.index("text", tokenizer="prefix")})
    store = await opened(text_path=("t",), text_is_json=True)
    asked = {one["match"]["text"] for one in await asked_for(server, store, "élan")}
    assert {"élan", r"\u00e9lan", "Élan", r"\u00c9lan", "nélan", r"n\u00e9lan"} <= asked


async def test_each_term_is_asked_for_once_and_points_come_once(server: Any, opened: Any) -> None:
    store = await opened(text_path=("t",))
    server.answers[SCROLL] = server.ok({"points": [server.record(1)]})
    rows = await store.search_text(["a", "b", "a"], 2, WHERE)
    assert [row.id for row in rows] == ["1"]
    filters = [body["filter"]["must"] for _, body in server.bodies()]
    assert len(filters) == 2
    assert all(one[1] == PUSHED for one in filters)


async def test_strict_mode_without_a_text_index_finds_no_words(server: Any, opened: Any) -> None:
    server.describe(strict={"unindexed_filtering_retrieve": False})
    store = await opened(text_path=("t",))
    claim = store.profile.claim(Feature.TEXT_SEARCH)
    assert not claim.held
    assert "strict mode" in claim.reason
    with pytest.raises(StoreRefused, match="strict mode"):
        await store.search_text(["a"], 1)
    await store.count(WHERE)
    assert server.bodies() == [("/collections/docs/points/count", {"exact": True})]
    assert set(store.profile.filters.values()) == {Pushdown.NONE}


async def test_strict_mode_with_a_text_index_asks_by_it_alone(server: Any, opened: Any) -> None:
    server.answers["GET /"]["version"] = "1.20.0"
    server.describe(
        indexes={"t": server.index("text", tokenizer="word"), "k": server.index("keyword")},
        strict={"unindexed_filtering_retrieve": False},
    )
    store = await opened(text_path=("t",))
    assert await asked_for(server, store, "a") == texts("t", "a")
    assert store.profile.pushdown(ValueType.STRING) is Pushdown.LOOSE
    assert store.profile.pushdown(ValueType.BOOLEAN) is Pushdown.NONE


async def test_strict_mode_bounds_a_page_and_not_the_answer(server: Any, opened: Any) -> None:
    server.describe(strict={"max_query_limit": 2})
    store = await opened(text_path=("t",))
    server.answers[SCROLL] = [
        server.ok({"points": [server.record(1), server.record(2)], "next_page_offset": 3}),
        server.ok({"points": [server.record(3), server.record(4)], "next_page_offset": 5}),
        server.ok({"points": [server.record(5)], "next_page_offset": 6}),
    ]
    rows = await store.search_text(["a"], 5)
    assert [row.id for row in rows] == ["1", "2", "3", "4", "5"]
    pages = [(body.get("offset"), body["limit"]) for _, body in server.bodies()]
    assert pages == [(None, 2), (3, 2), (5, 1)]


async def test_one_failing_term_fails_the_search_as_one_of_ours(server: Any, opened: Any) -> None:
    """Part of an answer is no answer; nor does a group of errors come out."""
    store = await opened(text_path=("t",))
    server.answers[SCROLL] = [
        server.ok({"points": []}),
        httpx.Response(503),
        httpx.Response(503),
        server.ok({"points": []}),
    ]
    with pytest.raises(StoreUnavailable):
        await store.search_text(["a", "b", "c", "d"], 1)
