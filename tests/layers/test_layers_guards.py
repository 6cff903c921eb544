"""Check, deadline, retry and errors around stores that break their promises."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import oracle
import pytest
from awkward_store import FORWARD, AwkwardStore
from structlog.testing import capture_logs

from a2m_gateway.capability import Ordering
from a2m_gateway.errors import (
    EmbeddingMismatch,
    InternalError,
    StoreCorrupt,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.layers import CheckLayer, DeadlineLayer, ErrorsLayer, RetryLayer, guarded
from a2m_gateway.store import Filter, Hit, Page, Row, Store

ROWS = [oracle.record(name, vector=[float(place), 1.0]) for place, name in enumerate("abcd")]
Call = Callable[[Store], Awaitable[Any]]
CALLS: dict[str, Call] = {
    "get": lambda store: store.get(["a"]),
    "search": lambda store: store.search([0.0, 1.0], 3),
    "search_text": lambda store: store.search_text(["text"], 3),
    "scan": lambda store: store.scan(limit=3),
    "count": lambda store: store.count(),
}
EACH_CALL = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


class Scripted(AwkwardStore):
    """Does what its script says before it answers: raises an error, or calls a function."""

    def __init__(self, *script: Any, rows: Sequence[Row] = ROWS) -> None:
        super().__init__(rows)
        self.script = list(script)

    async def _act(self) -> None:
        if self.script:
            act = self.script.pop(0)
            if isinstance(act, BaseException):
                raise act
            await act()

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        await self._act()
        return await super().get(ids, vectors=vectors)

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        await self._act()
        return await super().search(vector, k, conditions, vectors=vectors)

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        await self._act()
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
        await self._act()
        return await super().scan(conditions, order, cursor, limit, vectors=vectors)

    async def count(self, conditions: Filter = ()) -> int:
        await self._act()
        return await super().count(conditions)


class Lying(AwkwardStore):
    """Answers what it was told to."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(ROWS)
        self.answers = answers

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        return self.answers["get"]  # type: ignore[no-any-return]

    async def search(self, *_: object, **__: object) -> Sequence[Hit]:
        return self.answers["search"]  # type: ignore[no-any-return]

    async def search_text(self, *_: object, **__: object) -> Sequence[Row]:
        return self.answers["search_text"]  # type: ignore[no-any-return]

    async def scan(self, *_: object, **__: object) -> Page:
        return self.answers["scan"]  # type: ignore[no-any-return]

    async def count(self, conditions: Filter = ()) -> int:
        return self.answers["count"]  # type: ignore[no-any-return]


A, B = ROWS[0], ROWS[1]


# ---- check


@pytest.mark.parametrize(
    ("answers", "call"),
    [
        ({"get": [A, A]}, CALLS["get"]),
        ({"get": [B]}, CALLS["get"]),
        ({"search": [Hit(A, 0.1), Hit(A, 0.2)]}, CALLS["search"]),
        ({"search": [Hit(row, 0.1) for row in ROWS]}, CALLS["search"]),
        ({"search_text": [A, B, A]}, CALLS["search_text"]),
        ({"scan": Page([A, A])}, CALLS["scan"]),
        ({"scan": Page([A], "here")}, lambda store: store.scan(cursor="here")),
        ({"scan": Page([], "here")}, lambda store: store.scan(cursor="here")),
    ],
    ids=[
        "a row twice", "a row not asked for", "a hit twice", "more than k", "a text twice",
        "twice on a page", "the same page", "the same empty page",
    ],
)  # fmt: skip
async def test_an_answer_that_can_not_be_is_refused(answers: dict[str, Any], call: Call) -> None:
    with pytest.raises(StoreCorrupt, match="awkward"):
        await call(CheckLayer(Lying(**answers)))


@pytest.mark.requirement("3.7-query-width-32008")
@pytest.mark.parametrize("width", [0, 1, 3, 1000])
async def test_a_query_of_another_width_never_reaches_the_store(width: int) -> None:
    store = AwkwardStore(ROWS)
    with pytest.raises(EmbeddingMismatch) as caught:
        await CheckLayer(store).search([0.5] * width, 3)
    assert caught.value.data == {"given": width, "dimensions": 2}
    assert store.calls == []


async def test_hits_are_put_in_order_and_no_number_is_farthest() -> None:
    hits = [
        Hit(ROWS[3], math.nan),
        Hit(ROWS[1], 0.5),
        Hit(ROWS[2], -0.5),
        Hit(ROWS[0], 0.5),
    ]
    found = await CheckLayer(Lying(search=hits)).search([0.0, 1.0], 4)
    assert [(hit.row.id, hit.distance) for hit in found] == [
        ("c", -0.5),
        ("a", 0.5),
        ("b", 0.5),
        ("d", math.inf),
    ]


# ---- deadline


@EACH_CALL
async def test_a_store_that_hangs_ends_at_the_deadline(call: Call) -> None:
    cancelled = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    started = asyncio.get_running_loop().time()
    with pytest.raises(StoreTimeout, match=r"within 0\.05 s"):
        await call(guarded(Scripted(hang), deadline=0.05))
    assert asyncio.get_running_loop().time() - started < 5
    assert cancelled.is_set()


async def test_the_deadline_holds_for_all_attempts_together() -> None:
    away = [StoreUnavailable("away") for _ in range(1000)]
    store = Scripted(*away)
    with pytest.raises((StoreTimeout, StoreUnavailable)):
        await guarded(store, deadline=0.1).count()
    assert len(store.script) > 990


async def test_cancellation_passes_through_and_leaves_no_task() -> None:
    entered = asyncio.Event()

    async def hang() -> None:
        entered.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(guarded(Scripted(hang), deadline=60).count())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}


# ---- retry


@EACH_CALL
async def test_what_was_away_for_a_moment_is_asked_again(call: Call) -> None:
    once = await call(CheckLayer(AwkwardStore(ROWS)))
    store = Scripted(StoreUnavailable("away"), StoreUnavailable("away"))
    assert await call(guarded(store, deadline=30)) == once
    assert store.script == []
    assert len(store.calls) == 1


@pytest.mark.parametrize("error", [StoreTimeout("slow"), StoreRefused("no"), StoreCorrupt("odd")])
async def test_nothing_else_is_asked_again(error: Exception) -> None:
    store = Scripted(error, error)
    with pytest.raises(type(error)):
        await guarded(store, deadline=30).count()
    assert len(store.script) == 1
    store = Scripted(StoreUnavailable("away"), error, error)
    with pytest.raises(type(error)):
        await guarded(store, deadline=30).count()
    assert len(store.script) == 1


async def test_what_stays_away_is_said_to_be_away() -> None:
    store = Scripted(*[StoreUnavailable("away") for _ in range(100)])
    with pytest.raises(StoreUnavailable, match="away"):
        await RetryLayer(store, attempts=2).count()
    assert len(store.script) >= 97


# ---- errors


class ClientError(Exception):
    """Of a client library; its text holds what nobody else may see."""


UNEXPECTED = [
    ClientError("secret"),
    ValueError("secret"),
    KeyError("secret"),
    OSError("secret"),
    RecursionError("secret"),
    ExceptionGroup("secret", [ClientError("secret")]),
]


@EACH_CALL
@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda error: type(error).__name__)
async def test_no_exception_of_a_client_library_comes_through(call: Call, error: Exception) -> None:
    with capture_logs() as logged, pytest.raises(InternalError) as caught:
        await call(guarded(Scripted(error), deadline=30))
    assert [entry["log_level"] for entry in logged] == ["error"]
    assert "secret" not in caught.value.message
    assert type(error).__name__ in caught.value.message
    assert "awkward" in caught.value.message


async def test_a_timeout_of_the_client_is_a_timeout() -> None:
    with pytest.raises(StoreTimeout):
        await ErrorsLayer(Scripted(TimeoutError("secret"))).count()
    with pytest.raises(StoreTimeout):
        await DeadlineLayer(Scripted(TimeoutError("secret")), 30).count()


@EACH_CALL
async def test_an_answer_comes_through_all_layers_as_it_is(call: Call) -> None:
    plain, around = AwkwardStore(ROWS), AwkwardStore(ROWS)
    answer = await call(CheckLayer(plain))
    layered = guarded(around, deadline=30)
    assert await call(layered) == answer
    assert around.calls == plain.calls
    assert layered.profile == around.profile
    await layered.aclose()
    assert around.calls[-1] == "aclose"
