"""Recall by vector and without a query."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import oracle
import pytest
from awkward_store import AwkwardStore
from small_memory import CORPUS, WIDTH, bag, service

from a2m_gateway.capability import Metric, Pushdown
from a2m_gateway.memory import Limits
from a2m_gateway.store import Row

QUERY = bag("which key is rotated by the replica")
WITH_VECTORS = [row for row in CORPUS if row.vector is not None]


def ids(records: list[Any]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.requirement("5.3-descending")
@pytest.mark.requirement("5.3-unit-range")
@pytest.mark.parametrize("metric", Metric)
async def test_a_vector_ranks_by_the_stores_metric(metric: Metric) -> None:
    records = await service(metric=metric).recall(embedding=QUERY, limit=100)
    wanted = oracle.nearest(CORPUS, metric.value, QUERY)
    distance = {name: far for far, name in wanted}
    got = [distance[record["id"]] for record in records]
    assert got == pytest.approx([far for far, _ in wanted])
    scores = [record["score"] for record in records]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    for one, other in pairwise(records):
        if one["score"] == other["score"]:
            assert one["id"] < other["id"]


async def test_equal_scores_are_by_id() -> None:
    rows = [oracle.record(name, vector=[1.0, 2.0]) for name in "cadb"]
    records = await service(rows).recall(embedding=[1.0, 1.0])
    assert ids(records) == ["a", "b", "c", "d"]
    # Too far to be told apart in a double: the scores are equal, the distances are not.
    far = [oracle.record("b", vector=[3e17, 0.0]), oracle.record("a", vector=[1e17, 0.0])]
    records = await service(far, metric=Metric.DOT).recall(embedding=[1.0, 0.0])
    assert records[0]["score"] == records[1]["score"]
    assert ids(records) == ["a", "b"]


@pytest.mark.parametrize("limit", [1, 2, 5, 8, 9, 1000])
async def test_a_limit_is_filled_while_there_are_vectors(limit: int) -> None:
    records = await service(metric=Metric.L2).recall(embedding=QUERY, limit=limit)
    assert ids(records) == [name for _, name in oracle.nearest(CORPUS, "l2", QUERY)][:limit]


async def test_ten_records_without_a_limit() -> None:
    rows = [oracle.record(f"{number:02}", vector=[float(number), 1.0]) for number in range(30)]
    assert len(await service(rows).recall(embedding=[1.0, 1.0])) == 10
    assert len(await service(rows).recall()) == 10
    assert len(await service(rows).recall(limit=None)) == 10


def _filtered_corpus(count: int = 2000) -> list[Row]:
    """Of 2,000 rows five match each value, and they are the farthest from the query."""
    values: list[Any] = ["rare", 7, 7.5, True, None, 2**70]
    return [
        oracle.record(
            f"{place:05}",
            vector=[float(count - place), 1.0],
            metadata={f"v{kind}": values[kind] for kind in range(len(values)) if place < 5}
            | {"common": "x"},
        )
        for place in range(count)
    ]


FILTERED = _filtered_corpus()


@pytest.mark.requirement("5.2-equality")
@pytest.mark.requirement("5.2-field-then-metadata")
@pytest.mark.parametrize("pushdown", Pushdown)
@pytest.mark.parametrize("value", ["rare", 7, 7.0, 7.5, True, None, 2**70], ids=str)
async def test_a_filter_that_few_match_finds_each_of_them(pushdown: Pushdown, value: Any) -> None:
    kinds = ["rare", 7, 7.5, True, None, 2**70]
    kind = next(k for k, one in enumerate(kinds) if oracle.same(one, value))
    store = AwkwardStore(FILTERED, pushdown=pushdown, filters_late=True)
    there = service(store=store)
    where = {f"v{kind}": value, "common": ["x", "y"]}
    found = ids(await there.recall(embedding=[0.0, 0.0], where=where, limit=10))
    assert found == ["00004", "00003", "00002", "00001", "00000"]
    assert await there.recall(embedding=[0.0, 0.0], where={f"v{kind}": "absent"}, limit=10) == []
    assert await there.recall(where={f"v{kind}": [], "common": "x"}) == []


@pytest.mark.requirement("5.2-any-of")
@pytest.mark.parametrize(
    "where",
    [
        {"page": [1, 3, 5]},
        {"page": [1, 3, 5], "even": False},
        {"page": [True, None]},
        {"lang": "en", "role": ["user", "nobody"]},
        {"id": ["r1", "r7", "nobody"]},
        {"content": CORPUS[2].fields["content"]},
        {"created_at": [CORPUS[2].fields["created_at"], 0]},
        {"nested": None},
        {"float": 1},
        {"big": 2**70},
        {"big": float(2**70)},
        {"metadata": None},
        {"": ""},
    ],
    ids=str,
)
@pytest.mark.parametrize("query", [{}, {"embedding": QUERY}, {"query": "key replica archive"}])
async def test_where(where: dict[str, Any], query: dict[str, Any]) -> None:
    records = await service().recall(query, where=where)
    candidates = CORPUS if not query else WITH_VECTORS if "embedding" in query else []
    wanted = {row.id for row in oracle.rows_where(CORPUS, where)}
    assert set(ids(records)) <= wanted
    if candidates:
        assert set(ids(records)) == wanted & {row.id for row in candidates}


@pytest.mark.requirement("3.7-vectors-on-request")
@pytest.mark.requirement("3.7-returned-as-stored")
@pytest.mark.parametrize("query", [{}, {"embedding": QUERY}, {"query": "key"}])
@pytest.mark.parametrize("embeddings", [None, False, True])
async def test_vectors_come_on_request_alone(query: dict[str, Any], embeddings: Any) -> None:
    vectors = {row.id: row.vector for row in CORPUS}
    records = await service().recall(query, embeddings=embeddings)
    assert records
    for record in records:
        wanted = vectors[record["id"]] if embeddings else None
        assert record.get("embedding") == wanted


@pytest.mark.requirement("4.3-min-score")
@pytest.mark.parametrize("query", [{}, {"embedding": QUERY}, {"query": "key replica"}])
async def test_min_score_leaves_out_what_scores_less(query: dict[str, Any]) -> None:
    there = service()
    everything = await there.recall(query)
    for record in everything:
        least = record["score"]
        kept = await there.recall(query, min_score=least)
        assert kept == [one for one in everything if one["score"] >= least]
    assert await there.recall(query, min_score=-1e300) == everything
    assert await there.recall(query, min_score=0) == everything
    assert await there.recall(query, min_score=1.0000001) == []


@pytest.mark.requirement("4.3-no-query")
@pytest.mark.requirement("4.3-no-query-recency")
@pytest.mark.parametrize("query", [{}, {"query": ""}, {"query": None}, {"query": " \t\n"}])
async def test_without_a_query_the_newest_come_first(query: dict[str, Any]) -> None:
    records = await service().recall(query)
    assert ids(records) == oracle.newest(CORPUS)
    scores = [record["score"] for record in records]
    assert all(one > other for one, other in pairwise(scores))
    assert ids(await service().recall(query, limit=2)) == oracle.newest(CORPUS)[:2]


@pytest.mark.requirement("4.3-limit-zero")
async def test_limit_zero_is_refused_where_a_cap_is_declared() -> None:
    error = await service().error("memory/recall", {"limit": 0})
    assert error["code"] == -32602
    assert "max_recall_limit" in error["message"]


@pytest.mark.requirement("3.7-query-width-32008")
@pytest.mark.requirement("7-32008")
@pytest.mark.parametrize("width", [0, 1, WIDTH - 1, WIDTH + 1, 4096])
async def test_a_vector_of_another_width_is_refused(width: int) -> None:
    error = await service().error("memory/recall", {"embedding": [0.5] * width})
    assert error["code"] == -32008
    assert error["data"]["given"] == width
    assert error["data"]["dimensions"] == WIDTH


@pytest.mark.parametrize("metric", Metric)
async def test_before_the_first_vector_a_query_finds_nothing_and_an_empty_one_is_refused(
    metric: Metric,
) -> None:
    there = service(store=AwkwardStore([], metric=metric))
    assert await there.recall(embedding=[0.5, 1.0]) == []
    assert (await there.error("memory/recall", {"embedding": []}))["code"] == -32602


@pytest.mark.parametrize("metric", Metric)
@pytest.mark.parametrize("huge", [1.7e308, -1.7e308, 5e-324])
async def test_vectors_at_the_edge_of_a_double(metric: Metric, huge: float) -> None:
    records = await service(metric=metric).recall(embedding=[huge] * WIDTH)
    assert len(records) == len(WITH_VECTORS)


async def test_zeros_under_cosine_are_refused_and_elsewhere_not() -> None:
    zeros = {"embedding": [0.0] * WIDTH}
    assert (await service().error("memory/recall", zeros))["code"] == -32602
    for metric in (Metric.DOT, Metric.L2):
        assert len(await service(metric=metric).recall(zeros)) == len(WITH_VECTORS)


@pytest.mark.requirement("4.1-limits-enforced")
async def test_more_than_the_declared_limit_is_refused() -> None:
    there = service(limits=Limits(max_recall_limit=5))
    for limit in (6, 2**63, 10**100):
        error = await there.error("memory/recall", {"limit": limit})
        assert (error["code"], error["data"]["max_recall_limit"]) == (-32006, 5)


@pytest.mark.requirement("4.4-own-implementation")
async def test_recall_and_timeline_are_each_their_own() -> None:
    there = service()
    ranked = ids(await there.recall(embedding=QUERY, limit=3))
    assert ranked != ids(await there.timeline(limit=3))
    assert ids(await there.timeline(limit=3)) == oracle.newest(CORPUS)[:3][::-1]
