"""Recall by text: words alone, meaning alone, and both together."""

from __future__ import annotations

from typing import Any

import oracle
import pytest
from awkward_store import AwkwardStore
from small_memory import CORPUS, WIDTH, Bag, bag, service

from a2m_gateway.capability import Metric, Pushdown
from a2m_gateway.memory.ranking import blend, by_score
from a2m_gateway.memory.words import (
    CANDIDATES_PER_TERM,
    MAX_TERMS,
    beginnings,
    rank_by_words,
    search_words,
)
from a2m_gateway.protocol import EPOCH
from a2m_gateway.store import Row


def ids(records: list[Any]) -> list[str]:
    return [record["id"] for record in records]


def _haystack(count: int, token: str) -> list[Row]:
    """``token`` stands in one record, whose vector is the farthest from any query's.

    The others turn away from the query one after the other.
    """
    pump = bag("how do i reset the pump valve")
    rows = [
        oracle.record(
            f"{place:05}",
            f"the pump was checked and its valve replaced, note {place}",
            vector=[number + place / 20 for number in pump],
            metadata={"shift": place % 7},
        )
        for place in range(count)
    ]
    needle = oracle.record(
        "needle",
        f"part {token} was ordered",
        vector=[-1.0] * WIDTH,
        metadata={"shift": 1},
    )
    rows.insert(count // 2, needle)
    return rows


@pytest.mark.parametrize("token", ["E4211", "0x7f3a9c", "deadbeefcafe", "Müller", "x_y_z", "42"])
@pytest.mark.parametrize("embedder", [None, Bag()], ids=["words", "blended"])
@pytest.mark.parametrize("words", [True, False], ids=["finds words", "reads"])
async def test_a_rare_token_is_found(token: str, embedder: Bag | None, words: bool) -> None:
    there = service(_haystack(400, token), embedder=embedder, words=words)
    for query in (token, token.upper(), f"What about {token}?"):
        assert "needle" in ids(await there.recall(query=query, limit=5)), query


@pytest.mark.parametrize("pushdown", Pushdown)
@pytest.mark.parametrize("embedder", [None, Bag()], ids=["words", "blended"])
async def test_a_rare_token_is_found_through_a_filter(
    pushdown: Pushdown, embedder: Bag | None
) -> None:
    store = AwkwardStore(_haystack(400, "E4211"), metric=Metric.COSINE, pushdown=pushdown)
    there = service(store=store, embedder=embedder)
    records = await there.recall(query="E4211", where={"shift": 1}, limit=5)
    assert "needle" in ids(records)
    assert {record["metadata"]["shift"] for record in records} == {1}
    assert "needle" not in ids(await there.recall(query="E4211", where={"shift": 2}))


@pytest.mark.parametrize("pushdown", Pushdown)
async def test_words_fill_the_limit_from_what_matches(pushdown: Pushdown) -> None:
    """The store proposes the first hundred with a word; those of the filter lie behind them."""
    rows = [
        oracle.record(f"{place:04}", "the pump stands", metadata={"late": place >= 700})
        for place in range(710)
    ]
    there = service(store=AwkwardStore(rows, metric=None, pushdown=pushdown))
    records = await there.recall(query="pump", where={"late": True}, limit=20)
    assert sorted(ids(records)) == [row.id for row in rows[700:]]


async def test_words_alone_find_inflections_and_nothing_without_a_word() -> None:
    there = service(vectors=False)
    assert set(ids(await there.recall(query="How are keys rotated?"))) == {"r0", "r5"}
    assert ids(await there.recall(query="keys rotation"))[0] == "r0"
    assert await there.recall(query="zebra") == []


@pytest.mark.parametrize("query", ["the of and", "?!", "...", "\u0000", "—", "'\" OR 1=1"])
async def test_a_query_without_a_word_is_no_error(query: str) -> None:
    for embedder in (None, Bag()):
        await service(embedder=embedder).recall(query=query)
        await service(vectors=False).recall(query=query)


@pytest.mark.requirement("5.3-unit-range")
@pytest.mark.requirement("5.3-descending")
@pytest.mark.parametrize("weight", [0.0, 0.1, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("metric", Metric)
async def test_a_blend_is_of_both_legs(weight: float, metric: Metric) -> None:
    there = service(embedder=Bag(), words_weight=weight, metric=metric)
    records = await there.recall(query="replica and primary keys", limit=100)
    scores = [record["score"] for record in records]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert {row.id for row in CORPUS if row.vector} <= set(ids(records))
    if weight == 0.0:
        query = bag("replica and primary keys")
        wanted = [name for _, name in oracle.nearest(CORPUS, metric.value, query)]
        distance = {name: far for far, name in oracle.nearest(CORPUS, metric.value, query)}
        assert [distance[name] for name in ids(records)] == pytest.approx(
            [distance[name] for name in wanted]
        )


@pytest.mark.requirement("3.7-vectors-on-request")
@pytest.mark.parametrize("embeddings", [None, False, True])
async def test_a_blend_returns_vectors_on_request_alone(embeddings: bool | None) -> None:
    """Also of a record that words alone have found, whose vector was read to be compared."""
    rows = _haystack(400, "E4211")
    vectors = {row.id: row.vector for row in rows}
    records = await service(rows, embedder=Bag()).recall(
        query="E4211", limit=5, embeddings=embeddings
    )
    assert "needle" in ids(records)
    for record in records:
        assert record.get("embedding") == (vectors[record["id"]] if embeddings else None)


async def test_a_record_without_a_vector_is_found_by_its_words() -> None:
    there = service(embedder=Bag())
    records = await there.recall(query="no vector at all, a vector", limit=3)
    assert "bare" in ids(records)


async def test_an_embedding_and_a_query_together_rank_by_the_embedding() -> None:
    there = service(embedder=Bag())
    vector = bag("which key is rotated by the replica")
    alone = await there.recall(embedding=vector)
    assert await there.recall(embedding=vector, query="invoices") == alone


@pytest.mark.parametrize(
    "query",
    [
        "a" * 200_000,
        "word " * 50_000,
        " ".join(f"w{number}" for number in range(5_000)),
        "😀" * 10_000,
        "\u202e\u0000\ufeff key",
        "e\u0301" * 1000,
        "'; DROP TABLE x; -- key",
        '{"$gt": ""} @f:{x}|* key',
        "%_\\ key",
    ],
    ids=lambda query: query[:8].encode("unicode_escape").decode(),
)
async def test_hostile_queries_are_only_text(query: str) -> None:
    there = service(embedder=Bag())
    records = await there.recall(query=query)
    assert len(records) <= len(CORPUS)
    if "key" in query:
        assert {"r0", "r5"} <= set(ids(records))


def test_the_rarest_words_come_first_and_lower_case() -> None:
    short = " ".join(f"a{number}" for number in range(99))
    assert search_words(f"{short} zqxjkvbpyg4211")[0] == "zqxjkvbpyg4211"
    assert "e7" in search_words("extraordinarily wordy sentences e7")[:1]
    assert search_words("") == []
    assert search_words("?!") == []
    assert set(search_words("This is a")) == {"this", "is", "a"}
    for word in ("Deployments", "running", "happily", "E4211", "ÄPFEL", "x" * 5000):
        (term,) = beginnings(search_words(word))
        assert word.lower().startswith(term), "a store that finds substrings finds the word by it"
        assert 0 < len(term) <= 64


async def test_every_word_of_a_long_query_is_looked_for() -> None:
    absent = " ".join(f"absentword{number}" for number in range(3 * MAX_TERMS))
    (record, *_) = await service(vectors=False).recall(query=f"{absent} replica", limit=1)
    assert "replica" in record["content"]


async def test_stop_words_are_looked_for_where_there_is_nothing_else() -> None:
    rows = [
        Row(name, {"content": text, "created_at": EPOCH, "metadata": {}})
        for name, text in {"r0": "to be or not to be", "r1": "a pump"}.items()
    ]
    assert ids(await service(rows, vectors=False).recall(query="To be")) == ["r0"]


async def test_a_rare_word_is_found_among_longer_ones_that_begin_with_it() -> None:
    """More records than are looked at hold a longer word; one, the last, holds the word itself."""
    crowd = [f"the catalan letter {number}" for number in range(CANDIDATES_PER_TERM + 20)]
    rows = [
        Row(f"r{place}", {"content": text, "created_at": EPOCH, "metadata": {}})
        for place, text in enumerate([*crowd, "the Catala itself"])
    ]
    for words in (True, False):
        (record,) = await service(rows, words=words, vectors=False).recall(query="catala", limit=1)
        assert record["content"] == "the Catala itself"


async def test_words_rank_by_rarity_and_leave_out_what_shares_none() -> None:
    texts = {"a": "pump pump", "b": "pump valve", "c": "rare valve", "d": "nothing", "e": ""}
    ranked = await rank_by_words("rare pump", texts)
    assert set(ranked) == {"a", "b", "c"}
    assert max(ranked, key=lambda name: ranked[name]) == "c"
    assert await rank_by_words("rare", {}) == {}
    assert await rank_by_words("?", texts) == {}
    assert await rank_by_words("the pump", {"a": "the", "b": ""}) == {}
    assert set(await rank_by_words("the", {"a": "the", "b": ""})) == {"a"}


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.5, 1.0])
def test_blend_by_hand(weight: float) -> None:
    """Meaning stretched to [0, 1], words by the best of them, added by weight."""
    meaning = {"a": 0.9, "b": 0.7, "c": 0.8}
    words = {"b": 4.0, "d": 1.0}
    assert blend(meaning, words, words_weight=weight) == pytest.approx(
        {
            "a": (1 - weight) * 1.0,
            "b": weight * 1.0,
            "c": (1 - weight) * 0.5,
            "d": weight * 0.25,
        }
    )
    assert blend(meaning, {}, words_weight=weight) == pytest.approx({"a": 1.0, "b": 0.0, "c": 0.5})
    assert blend({}, {}, words_weight=weight) == {}
    assert by_score({"b": 0.5, "a": 0.5, "c": 1.0}) == [("c", 1.0), ("a", 0.5), ("b", 0.5)]


@pytest.mark.parametrize("where", [None, {"even": True}])
async def test_words_alone_fill_a_limit_beyond_the_candidates(
    where: dict[str, bool] | None,
) -> None:
    rows = [
        Row(
            f"r{place}",
            {"content": f"pump {place}", "created_at": EPOCH, "metadata": {"even": place % 2 == 0}},
        )
        for place in range(6 * CANDIDATES_PER_TERM)
    ]
    limit = 3 * CANDIDATES_PER_TERM
    there = service(rows, vectors=False)
    assert len(await there.recall(query="pumps", where=where, limit=limit)) == limit


async def test_a_rare_word_is_found_behind_a_filter_that_the_store_can_not_apply() -> None:
    """The store caps its candidates before they are compared, and most of them don't match."""
    crowd = [
        Row(
            f"r{place}",
            {"content": "the catalan letter", "created_at": EPOCH, "metadata": {"n": place}},
        )
        for place in range(2 * CANDIDATES_PER_TERM)
    ]
    rare = Row("rare", {"content": "the Catala", "created_at": EPOCH, "metadata": {"n": 7}}, [1.0])
    store = AwkwardStore([*crowd, rare], metric=None, pushdown=Pushdown.NONE)
    (first, *_) = await service(store=store).recall(query="catala", where={"n": 7}, limit=2)
    assert first["id"] == "rare"
