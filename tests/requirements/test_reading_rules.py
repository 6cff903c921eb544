"""Sections 3 to 5 and 7: what recall and timeline return."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest

from a2m_gateway.memory import Endpoint
from a2m_gateway.store import Row


class Corpus(Protocol):
    rows: list[Row]
    times: dict[str, str]
    metadata: dict[str, dict[str, Any]]
    oldest_first: list[str]


Ask = Callable[..., Awaitable[dict[str, Any]]]
READS = ("memory/recall", "memory/timeline")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def records(asked: Awaitable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await asked)["result"]["records"]
    return found


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [record["id"] for record in found]


def code(response: dict[str, Any]) -> int | None:
    return response["error"]["code"] if "error" in response else None


def cosine(one: Any, other: Any) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return float(product / math.hypot(*one) / math.hypot(*other))


# ---- records (3)


@pytest.mark.requirement("2.1-read-only-reads")
@pytest.mark.requirement("3.1-record-fields")
@pytest.mark.requirement("3.3-timestamp-format")
@pytest.mark.requirement("3.3-no-numeric-timestamps")
@pytest.mark.parametrize("method", READS)
async def test_records_are_complete(ask: Ask, corpus: Corpus, method: str) -> None:
    found = await records(ask(method, limit=1000))
    contents = {row.id: row.fields["page_content"] for row in corpus.rows}
    assert {record["id"]: record["content"] for record in found} == contents
    assert {record["id"]: record["created_at"] for record in found} == corpus.times
    assert all(TIMESTAMP.fullmatch(record["created_at"]) for record in found)


@pytest.mark.requirement("3.1-metadata-read-unchanged")
@pytest.mark.parametrize("method", READS)
async def test_metadata_is_unchanged(ask: Ask, corpus: Corpus, method: str) -> None:
    for record in await records(ask(method, limit=1000)):
        stored = corpus.metadata[record["id"]]
        assert json.dumps(record["metadata"], sort_keys=True) == json.dumps(stored, sort_keys=True)


@pytest.mark.requirement("3.7-vectors-on-request")
@pytest.mark.requirement("3.7-returned-as-stored")
@pytest.mark.parametrize("method", READS)
async def test_vectors_come_on_request(ask: Ask, corpus: Corpus, method: str) -> None:
    stored = {row.id: row.vector for row in corpus.rows}
    for embeddings in (None, False):
        found = await records(ask(method, limit=1000, embeddings=embeddings))
        assert all("embedding" not in record for record in found)
    found = await records(ask(method, limit=1000, embeddings=True))
    assert {record["id"]: record["embedding"] for record in found} == stored


# ---- recall (4.3, 5)


@pytest.mark.requirement("4.3-no-query")
@pytest.mark.requirement("4.3-no-query-recency")
@pytest.mark.parametrize("params", [{}, {"query": ""}, {"query": None}, {"query": "  "}])
async def test_no_query(ask: Ask, corpus: Corpus, params: dict[str, Any]) -> None:
    found = await records(ask("memory/recall", limit=12, **params))
    assert ids(found) == corpus.oldest_first[::-1][:12]


@pytest.mark.requirement("5.3-descending")
@pytest.mark.requirement("5.3-unit-range")
@pytest.mark.parametrize(
    "params", [{}, {"query": "errors E4213"}, {"embedding": [0.3, 1, -1, 0]}, {"query": "absent"}]
)
async def test_scores(ask: Ask, params: dict[str, Any]) -> None:
    scores = [r["score"] for r in await records(ask("memory/recall", limit=30, **params))]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_nearest_first(ask: Ask, corpus: Corpus) -> None:
    query = [0.3, 1.0, 0.2, 0.0]
    near = {row.id: cosine(query, row.vector) for row in corpus.rows}
    found = await records(ask("memory/recall", embedding=query, limit=7))
    assert ids(found) == sorted(near, key=lambda name: (-near[name], name))[:7]


async def test_a_word_is_found(ask: Ask) -> None:
    assert ids(await records(ask("memory/recall", query="what is E4217?", limit=3)))[0] == "r17"


@pytest.mark.requirement("4.3-min-score")
async def test_min_score(ask: Ask) -> None:
    everything = await records(ask("memory/recall", embedding=[0, 1, 0, 0], limit=30))
    least = everything[10]["score"]
    kept = await records(ask("memory/recall", embedding=[0, 1, 0, 0], limit=30, min_score=least))
    assert kept == [record for record in everything if record["score"] >= least]
    assert 0 < len(kept) < len(everything)


@pytest.mark.requirement("4.3-limit-zero")
async def test_limit_zero_is_refused_where_a_cap_is_declared(ask: Ask) -> None:
    limits = (await ask("memory/describe"))["result"]["limits"]
    assert limits["max_recall_limit"] > 0
    assert code(await ask("memory/recall", limit=0)) == -32602


@pytest.mark.requirement("3.7-query-width-32008")
@pytest.mark.requirement("7-32008")
@pytest.mark.parametrize("width", [0, 1, 3, 5, 384])
async def test_a_vector_of_another_width(ask: Ask, width: int) -> None:
    assert code(await ask("memory/recall", embedding=[1.0] * width)) == -32008


@pytest.mark.requirement("4.3-restriction-32003")
@pytest.mark.parametrize("method", READS)
@pytest.mark.parametrize("params", [{"tier": "working"}, {"key_prefix": "a/"}, {"key_prefix": 7}])
async def test_restrictions_of_undeclared_capabilities(
    ask: Ask, method: str, params: dict[str, Any]
) -> None:
    assert code(await ask(method, **params)) == -32003
    plain = await ask(method)
    assert await ask(method, **dict.fromkeys(params)) == plain


@pytest.mark.requirement("4.3-restriction-32003")
async def test_a_vector_where_there_are_none(ask_texts: Ask) -> None:
    assert code(await ask_texts("memory/recall", embedding=[1, 2, 3, 4])) == -32003


@pytest.mark.requirement("4.3-undeclared-ignored")
@pytest.mark.requirement("4.16-undeclared-ignored")
@pytest.mark.requirement("4.16-same-records")
@pytest.mark.requirement("4.16-recall-unchanged")
@pytest.mark.parametrize("method", READS)
@pytest.mark.parametrize(
    "params",
    [
        {"prompt": True},
        {"prompt": {"method": "model", "budget": 1}},
        {"prompt": 7},
        {"owner": "me"},
        {"owner": []},
        {"embeddings": True},
        {"embeddings": "yes"},
    ],
)
async def test_additions_of_undeclared_capabilities(
    ask_texts: Ask, method: str, params: dict[str, Any]
) -> None:
    plain = await ask_texts(method)
    assert plain["result"].keys() == {"records"}
    assert await ask_texts(method, **params) == plain


# ---- where (5.2)


@pytest.mark.requirement("5.2-equality")
@pytest.mark.requirement("5.2-any-of")
@pytest.mark.requirement("5.2-field-then-metadata")
@pytest.mark.requirement("4.4-timeline-where")
@pytest.mark.parametrize("method", READS)
@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({}, lambda number: True),
        ({"topic": "keys"}, lambda number: number % 3 == 0),
        ({"topic": ["keys", "errors"]}, lambda number: number % 3 < 2),
        ({"topic": "keys", "page": 1}, lambda number: number % 3 == 0 and number % 5 == 1),
        ({"page": 1.0}, lambda number: number % 5 == 1),
        ({"page": True}, lambda number: False),
        ({"page": [0, "1", 2]}, lambda number: number % 5 in (0, 2)),
        ({"draft": True}, lambda number: number % 2 == 0),
        ({"draft": 1}, lambda number: False),
        ({"nothing": None}, lambda number: True),
        ({"absent": None}, lambda number: False),
        ({"topic": []}, lambda number: False),
        ({"tags": "a"}, lambda number: False),
        ({"id": "r07"}, lambda number: number == 7),
        ({"id": ["r07", "r08", "none"]}, lambda number: number in (7, 8)),
        ({"content": "Passage 7 is about errors, code E4207."}, lambda number: number == 7),
        ({"created_at": "2026-03-01T19:00:00.007Z"}, lambda number: number == 7),
        ({"tier": "working"}, lambda number: False),
    ],
)
async def test_where(
    ask: Ask, method: str, where: dict[str, Any], wanted: Callable[[int], bool]
) -> None:
    found = await records(ask(method, where=where, limit=1000))
    assert sorted(ids(found)) == [f"r{number:02}" for number in range(30) if wanted(number)]


# ---- timeline (4.4)


@pytest.mark.requirement("4.4-ascending")
async def test_timeline_is_ascending(ask: Ask, corpus: Corpus) -> None:
    assert ids(await records(ask("memory/timeline"))) == corpus.oldest_first


@pytest.mark.requirement("4.4-limit-newest")
@pytest.mark.parametrize("limit", [1, 2, 7, 29, 30, 31])
async def test_timeline_keeps_the_newest(ask: Ask, corpus: Corpus, limit: int) -> None:
    assert ids(await records(ask("memory/timeline", limit=limit))) == corpus.oldest_first[-limit:]


@pytest.mark.requirement("4.4-own-implementation")
async def test_neither_reading_goes_through_the_other(
    ask: Ask, endpoint: Endpoint, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With either broken, and all that ranks, the other answers as before, in an order of its own.

    The scores and times of the corpus have different orders, so neither could pass for the other.
    """

    def broken(*_: object, **__: object) -> None:
        raise AssertionError("one reading went through the other")

    recalled: list[dict[str, Any]] = [{}, {"embedding": [0, 1, 0, 0]}, {"query": "errors E4213"}]
    before = [await records(ask("memory/recall", limit=30, **params)) for params in recalled]
    assert ids(before[1]) not in (corpus.oldest_first, corpus.oldest_first[::-1])
    with monkeypatch.context() as patch:
        patch.setattr(endpoint.memory, "timeline", broken)
        after = [await records(ask("memory/recall", limit=30, **params)) for params in recalled]
        assert after == before
    monkeypatch.setattr(endpoint.memory, "recall", broken)
    monkeypatch.setattr(endpoint.memory.store, "search", broken)
    monkeypatch.setattr(endpoint.memory.store, "search_text", broken)
    assert ids(await records(ask("memory/timeline"))) == corpus.oldest_first


# ---- envelopes and errors (4, 7, 8)


@pytest.mark.requirement("4-by-name")
async def test_parameters_are_named(ask: Ask, corpus: Corpus) -> None:
    found = await records(ask("memory/timeline", where={"page": 1}, limit=2))
    assert ids(found) == [n for n in corpus.oldest_first if corpus.metadata[n]["page"] == 1][-2:]


@pytest.mark.requirement("7-32602")
@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"limit": "3"}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": -1}, "limit"),
        ({"where": []}, "where"),
        ({"where": {"topic": {"$ne": "keys"}}}, "where.topic"),
        ({"where": {"topic": [["keys"]]}}, "where.topic[0]"),
        ({"embeddings": 1}, "embeddings"),
    ],
)
@pytest.mark.parametrize("method", READS)
async def test_malformed_parameters_are_named(
    ask: Ask, method: str, params: dict[str, Any], field: str
) -> None:
    error = (await ask(method, **params))["error"]
    assert (error["code"], error["data"]["field"]) == (-32602, field)


@pytest.mark.requirement("7-32603")
async def test_a_fault_of_ours(
    ask: Ask, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(endpoint.memory.store, "newest", broken)
    error = (await ask("memory/timeline"))["error"]
    assert error["code"] == -32603
    assert "secret" not in json.dumps(error)


@pytest.mark.requirement("7-32700")
@pytest.mark.parametrize("message", [b"", b"{", b"nonsense", b'{"a":NaN}', b'"\xff"', b"[" * 5000])
async def test_malformed_json(endpoint: Endpoint, message: bytes) -> None:
    answer = json.loads(await endpoint.answer(message) or b"")
    assert answer["error"]["code"] == -32700
    assert answer["id"] is None


@pytest.mark.requirement("7-32600")
@pytest.mark.requirement("8-array-32600")
@pytest.mark.parametrize(
    "message",
    [
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"memory/describe"}]',
        b"7",
        b"null",
        b"{}",
        b'{"id":1,"method":"memory/describe"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"2.0","id":{},"method":"memory/describe"}',
    ],
)
async def test_no_request(endpoint: Endpoint, message: bytes) -> None:
    answer = json.loads(await endpoint.answer(message) or b"")
    assert answer["error"]["code"] == -32600
    assert "result" not in answer
