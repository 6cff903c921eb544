"""Timeline: the order of creation, and the newest of it."""

from __future__ import annotations

from typing import Any

import oracle
import pytest
from awkward_store import AwkwardStore
from small_memory import CORPUS, service

from a2m_gateway.capability import Pushdown
from a2m_gateway.memory import Limits
from a2m_gateway.store import Row

OLDEST_FIRST = oracle.newest(CORPUS)[::-1]


def ids(records: list[Any]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.requirement("4.4-ascending")
@pytest.mark.requirement("4.4-own-implementation")
async def test_the_order_is_that_of_creation_and_not_of_the_store() -> None:
    records = await service().timeline()
    assert ids(records) == OLDEST_FIRST
    assert ids(records) != [row.id for row in CORPUS]
    moments = [record["created_at"] for record in records]
    assert moments == sorted(moments)
    assert not any("score" in record for record in records)


@pytest.mark.requirement("4.4-limit-newest")
@pytest.mark.parametrize("limit", range(1, len(CORPUS) + 3))
async def test_a_limit_keeps_the_newest_still_ascending(limit: int) -> None:
    assert ids(await service().timeline(limit=limit)) == OLDEST_FIRST[-limit:]


@pytest.mark.requirement("4.4-timeline-where")
@pytest.mark.requirement("5.2-equality")
@pytest.mark.parametrize(
    "where", [{"even": True}, {"page": [1, 2, 7]}, {"role": "user"}, {"page": []}, {}]
)
@pytest.mark.parametrize("limit", [None, 1, 2, 100])
@pytest.mark.parametrize("pushdown", Pushdown)
async def test_where(where: dict[str, Any], limit: int | None, pushdown: Pushdown) -> None:
    wanted = oracle.newest(oracle.rows_where(CORPUS, where))[:limit][::-1]
    there = service(store=AwkwardStore(CORPUS, pushdown=pushdown, page=2))
    assert ids(await there.timeline(where=where, limit=limit)) == wanted


@pytest.mark.requirement("3.1-record-fields")
@pytest.mark.requirement("3.1-metadata-read-unchanged")
@pytest.mark.requirement("3.3-timestamp-format")
@pytest.mark.requirement("3.3-no-numeric-timestamps")
@pytest.mark.requirement("3.7-vectors-on-request")
@pytest.mark.requirement("3.7-returned-as-stored")
@pytest.mark.parametrize("embeddings", [None, False, True])
async def test_records_are_as_they_lie(embeddings: bool | None) -> None:
    records = {one["id"]: one for one in await service().timeline(embeddings=embeddings)}
    for row in CORPUS:
        wanted: dict[str, Any] = {"id": row.id, **row.fields}
        if embeddings and row.vector is not None:
            wanted["embedding"] = row.vector
        assert records[row.id] == wanted
    big = records["r3"]["metadata"]
    assert (type(big["big"]), type(big["float"]), type(big["even"])) == (int, float, bool)


async def test_a_corpus_without_times_keeps_its_stable_order() -> None:
    rows = [oracle.record(f"r{number * 7 % 10}") for number in range(10)]
    there = service(rows)
    assert ids(await there.timeline()) == [row.id for row in rows]
    assert ids(await there.timeline(limit=3)) == [row.id for row in rows[-3:]]
    assert len({record["created_at"] for record in await there.timeline()}) == 1


def _many(count: int) -> list[Row]:
    return [oracle.record(str(place), metadata={"even": place % 2 == 0}) for place in range(count)]


@pytest.mark.requirement("4.1-limits-enforced")
@pytest.mark.requirement("7-32006")
async def test_more_than_a_timeline_may_have_is_refused_with_the_count() -> None:
    there = service(_many(51), limits=Limits(max_timeline_limit=50))
    error = await there.error("memory/timeline")
    assert error["code"] == -32006
    assert error["data"]["count"] == 51
    assert error["data"]["max_timeline_limit"] == 50
    assert "51" in error["message"]
    assert len(await there.timeline(limit=50)) == 50
    assert (await there.error("memory/timeline", {"limit": 51}))["code"] == -32006
    assert len(await there.timeline(where={"even": True})) == 26

    exactly = service(_many(50), limits=Limits(max_timeline_limit=50))
    assert len(await exactly.timeline()) == 50


async def test_the_count_is_of_what_matches() -> None:
    there = service(
        store=AwkwardStore(_many(100), pushdown=Pushdown.NONE), limits=Limits(max_timeline_limit=9)
    )
    error = await there.error("memory/timeline", {"where": {"even": True}})
    assert error["data"]["count"] == 50


async def test_an_empty_collection_has_an_empty_timeline() -> None:
    assert await service([]).timeline() == []
    assert await service([]).timeline(limit=5) == []
