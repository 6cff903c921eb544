"""What a call answers when what it depends on fails, hangs or is cancelled."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any

import oracle
import pytest
from awkward_store import FORWARD, AwkwardStore
from small_memory import CORPUS, WIDTH, Bag, service
from structlog.testing import capture_logs

from a2m_gateway.capability import Metric, Ordering, Pushdown
from a2m_gateway.errors import (
    EmbedderError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.memory import Limits
from a2m_gateway.store import Filter, Hit, Page, Row

VECTOR = [1.0] * WIDTH
READS: list[tuple[str, dict[str, Any]]] = [
    ("memory/recall", {}),
    ("memory/recall", {"embedding": VECTOR}),
    ("memory/recall", {"query": "deploy key"}),
    ("memory/recall", {"embedding": VECTOR, "where": {"page": 3}}),
    ("memory/recall", {"where": {"id": "r1"}}),
    ("memory/timeline", {}),
    ("memory/timeline", {"where": {"page": 3}, "embeddings": True}),
]
EACH_READ = pytest.mark.parametrize(("method", "params"), READS)


class Broken(AwkwardStore):
    """Raises, or waits for ever, from the given call on."""

    def __init__(self, failure: BaseException | None, after: int = 0) -> None:
        super().__init__(CORPUS, metric=Metric.COSINE, page=2, pushdown=Pushdown.NONE)
        self.failure = failure
        self.after = after
        self.entered = asyncio.Event()

    async def _fail(self) -> None:
        if len(self.calls) < self.after:
            return
        self.entered.set()
        if self.failure is None:
            await asyncio.Event().wait()
        else:
            raise self.failure

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        await self._fail()
        return await super().get(ids, vectors=vectors)

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        await self._fail()
        return await super().search(vector, k, conditions, vectors=vectors)

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        await self._fail()
        return await super().search_text(terms, limit, conditions)

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = FORWARD,
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        await self._fail()
        return await super().scan(conditions, order, cursor, limit, vectors=vectors)


class ClientError(Exception):
    """Of a client library."""


@pytest.mark.requirement("7-32603")
@EACH_READ
@pytest.mark.parametrize(
    ("failure", "fault", "retry"),
    [
        (StoreRefused("no permission"), "store", False),
        (StoreTimeout("slow"), "store", True),
        (ClientError("secret"), "store", False),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_a_failing_store(
    method: str, params: dict[str, Any], failure: Exception, fault: str, retry: bool
) -> None:
    with capture_logs():
        error = await service(store=Broken(failure), embedder=Bag()).error(
            method, params, fault=True
        )
    assert error["code"] == -32603
    assert (error["data"]["fault"], error["data"]["retry"]) == (fault, retry)
    assert "secret" not in json.dumps(error)


@EACH_READ
async def test_a_store_that_fails_half_way_gives_no_part_of_an_answer(
    method: str, params: dict[str, Any]
) -> None:
    for after in range(1, 12):
        store = Broken(StoreRefused("no"), after=after)
        answer = await service(store=store, embedder=Bag()).call(method, params, fault=True)
        if store.entered.is_set():
            assert answer["error"]["code"] == -32603
        else:
            assert answer["result"] == (
                await service(
                    store=AwkwardStore(CORPUS, metric=Metric.COSINE), embedder=Bag()
                ).result(method, params)
            )


@EACH_READ
async def test_a_store_that_hangs_ends_at_the_deadline_with_an_error(
    method: str, params: dict[str, Any]
) -> None:
    there = service(store=Broken(None), embedder=Bag(), deadline=0.05)
    error = await there.error(method, params, fault=True)
    assert error["code"] == -32603
    assert error["data"]["retry"] is True
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_call_of_many_quick_steps_has_a_deadline_of_its_own() -> None:
    """Each page comes in time; all of them do not. The answer is an error, never short."""

    class Endless(AwkwardStore):
        async def scan(self, *_: object, **__: object) -> Page:
            await asyncio.sleep(0.001)
            self.calls.append("scan")
            return Page([oracle.record(str(len(self.calls)))], str(len(self.calls)))

    there = service(store=Endless(CORPUS, pushdown=Pushdown.NONE), deadline=0.1)
    for method, params in (
        ("memory/timeline", {"limit": 1}),
        ("memory/recall", {"embedding": VECTOR, "where": {"page": "absent"}, "limit": 1}),
    ):
        error = await there.error(method, params, fault=True)
        assert error["code"] == -32603
        assert (error["data"]["fault"], error["data"]["retry"]) == ("server", True)
        assert "0.1 s" in error["message"]


async def test_a_store_that_was_away_for_a_moment_is_served() -> None:
    class Away(AwkwardStore):
        left = 2

        async def search(self, *args: Any, **kwargs: Any) -> Sequence[Hit]:
            if self.left:
                self.left -= 1
                raise StoreUnavailable("restarting")
            return await super().search(*args, **kwargs)

    there = service(store=Away(CORPUS, metric=Metric.COSINE))
    with capture_logs():
        assert len(await there.recall(embedding=VECTOR)) == 8


class Failing(Bag):
    """An embedder that raises."""

    def __init__(self, failure: Exception | None) -> None:
        super().__init__()
        self.failure = failure

    async def embed_query(self, text: str) -> list[float]:
        if self.failure is None:
            await asyncio.Event().wait()
            raise AssertionError
        raise self.failure


@pytest.mark.requirement("7-32603")
@pytest.mark.parametrize("weight", [0.0, 0.5], ids=["alone", "in a task group"])
@pytest.mark.parametrize(
    ("failure", "fault", "retry"),
    [
        (EmbedderError("the service is away"), "embedder", True),
        (ClientError("secret"), "server", False),
        (ExceptionGroup("g", [ExceptionGroup("h", [EmbedderError("x")])]), "embedder", True),
    ],
    ids=["its own", "foreign", "nested"],
)
async def test_a_failing_embedder(
    weight: float, failure: Exception, fault: str, retry: bool
) -> None:
    there = service(embedder=Failing(failure), words_weight=weight)
    with capture_logs() as logged:
        error = await there.error("memory/recall", {"query": "key"}, fault=True)
    assert error["code"] == -32603
    assert (error["data"]["fault"], error["data"]["retry"]) == (fault, retry)
    assert "secret" not in json.dumps(error)
    assert bool(logged) == (fault == "server"), "what nobody foresaw is in the log"
    assert await there.recall(embedding=VECTOR), "what needs no embedder still works"


async def test_of_two_failing_legs_the_one_that_says_what_it_is_is_reported() -> None:
    store = Broken(StoreRefused("the store said no"))
    there = service(store=store, embedder=Failing(ClientError("secret")))
    with capture_logs():
        error = await there.error("memory/recall", {"query": "key"}, fault=True)
    assert error["code"] == -32603
    assert "secret" not in json.dumps(error)


async def test_an_embedder_that_hangs_ends_at_the_deadline() -> None:
    there = service(embedder=Failing(None), deadline=0.05)
    error = await there.error("memory/recall", {"query": "key"}, fault=True)
    assert (error["code"], error["data"]["retry"]) == (-32603, True)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(
    "broken",
    [
        oracle.record("x", metadata={"a": math.nan}),
        oracle.record("x", metadata={"a": [1, {"b": math.inf}]}),
        oracle.record("x", "a lone \ud800 surrogate"),
        oracle.record("x", metadata={"a": object()}),
        oracle.record("x", vector=[math.nan] * WIDTH),
    ],
    ids=["NaN", "infinity", "surrogate", "no JSON", "NaN in the vector"],
)
async def test_what_no_json_can_say_is_an_error_and_never_null(broken: Row) -> None:
    there = service(store=AwkwardStore([*CORPUS, broken], metric=Metric.COSINE))
    with capture_logs():
        error = await there.error("memory/timeline", {"embeddings": True}, fault=True)
        assert error["code"] == -32603
        assert await there.timeline(where={"page": 3}), "the others are served"


async def test_two_hundred_calls_at_once() -> None:
    there = service(embedder=Bag())
    calls = [READS[number % len(READS)] for number in range(200)]
    alone = {str(call): await there.result(*call) for call in READS}
    together = await asyncio.gather(*(there.result(*call) for call in calls))
    assert together == [alone[str(call)] for call in calls]
    assert asyncio.all_tasks() == {asyncio.current_task()}


@EACH_READ
async def test_a_cancelled_call_leaves_nothing_behind(method: str, params: dict[str, Any]) -> None:
    store = Broken(None)
    there = service(store=store, embedder=Bag())
    task = asyncio.ensure_future(there.call(method, params))
    async with asyncio.timeout(10):
        await store.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}
    store.after = 10**9
    assert await there.timeline()


async def test_closing_closes_the_store_and_the_embedder() -> None:
    store, embedder = AwkwardStore(CORPUS, metric=Metric.COSINE), Bag()
    there = service(store=store, embedder=embedder)
    await there.endpoint.ready()
    await there.endpoint.aclose()
    assert store.calls[-1] == "aclose"
    assert embedder.closed


async def test_ready_says_when_the_store_is_not() -> None:
    with pytest.raises(StoreRefused):
        await service(store=Broken(StoreRefused("no"))).endpoint.ready()


async def test_limits_hold_before_anything_is_asked_of_the_store() -> None:
    store = AwkwardStore(CORPUS, metric=Metric.COSINE)
    there = service(store=store, embedder=Bag(), limits=Limits(max_recall_limit=5))
    refused: list[tuple[str, dict[str, Any]]] = [
        ("memory/recall", {"limit": 6, "query": "key"}),
        ("memory/recall", {"where": {"a": {}}, "query": "key"}),
        ("memory/recall", {"embedding": [1.0]}),
        ("memory/timeline", {"limit": 10**9}),
        ("memory/remember", {"records": []}),
        ("memory/fetch", {"key": "a"}),
    ]
    for method, params in refused:
        await there.error(method, params)
    assert store.calls == []
