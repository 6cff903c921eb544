"""Whatever a server does, one of our errors says it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from a2m_gateway.capability import Ordering
from a2m_gateway.errors import (
    StoreCorrupt,
    StoreError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)

SCROLL = "POST /collections/docs/points/scroll"


def result(value: Any) -> dict[str, Any]:
    return {"result": value, "status": "ok", "time": 0.001}


def said(status: int, error: str = "said", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"status": {"error": error}}, headers=headers)


@pytest.mark.parametrize(
    ("answer", "error", "match"),
    [
        (httpx.ConnectError("refused"), StoreUnavailable, "nothing answers at http://host:6333"),
        (httpx.ReadError("reset"), StoreUnavailable, "cut the connection"),
        (httpx.RemoteProtocolError("gone"), StoreUnavailable, "cut the connection"),
        (httpx.ConnectTimeout("slow"), StoreTimeout, "in time"),
        (httpx.ReadTimeout("slow"), StoreTimeout, "in time"),
        (httpx.PoolTimeout("full"), StoreTimeout, "in time"),
        (httpx.DecodingError("gzip"), StoreCorrupt, "decoded"),
        (said(400, "Index required"), StoreRefused, "400: Index required"),
        (said(401), StoreRefused, "A2M_STORE_SECRET"),
        (said(403), StoreRefused, "A2M_STORE_SECRET"),
        (said(404, "Collection `docs` doesn't exist!"), StoreRefused, "doesn't exist"),
        (said(408), StoreTimeout, "408"),
        (said(413), StoreRefused, "413"),
        (said(422), StoreRefused, "422"),
        (said(429), StoreUnavailable, "429"),
        (said(500, "Service internal error"), StoreUnavailable, "internal error"),
        (said(502), StoreUnavailable, "502"),
        (said(503), StoreUnavailable, "503"),
        (said(504), StoreTimeout, "504"),
        (httpx.Response(503, text="<html>"), StoreUnavailable, "503"),
        (httpx.Response(400, json=[1]), StoreRefused, "400"),
        (httpx.Response(204), StoreCorrupt, "204"),
        (httpx.Response(301, headers={"location": "/x"}), StoreCorrupt, "301"),
        (httpx.Response(200, text=""), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, text='{"result": {"cou'), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, content=b"\xff\xfe"), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, text="[" * 100_000), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, json={}), StoreCorrupt, "without a result"),
        (httpx.Response(200, json=result(None)), StoreCorrupt, "without a result"),
        (httpx.Response(200, json=result({"count": "3"})), None, ""),
        (httpx.Response(200, json=result({"count": "three"})), StoreCorrupt, "no Qdrant"),
        (httpx.Response(200, json=result([])), StoreCorrupt, "no Qdrant"),
    ],
)
async def test_every_failure_is_one_of_ours(
    server: Any, opened: Any, answer: Any, error: type[StoreError] | None, match: str
) -> None:
    store = await opened()
    server.answers["POST /collections/docs/points/count"] = answer
    if error is None:
        assert await store.count() == 3
        return
    with pytest.raises(error, match=match):
        await store.count()
    assert len(server.requests) == 1, "retrying is a layer's work"


@pytest.mark.parametrize(
    ("header", "data"), [("7", {"retry_after": 7.0}), ("Wed, 21 Oct 2026 07:28:00 GMT", {})]
)
async def test_a_rate_limit_says_when_to_come_back(
    server: Any, opened: Any, header: str, data: Any
) -> None:
    store = await opened()
    answer = httpx.Response(429, json={"status": {"error": "x"}}, headers={"Retry-After": header})
    server.answers["POST /collections/docs/points/count"] = answer
    with pytest.raises(StoreUnavailable, match="rate limit") as caught:
        await store.count()
    assert caught.value.data == data


@pytest.mark.parametrize("vector", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], {"": [1.0]}, {"x": 1}])
async def test_a_vector_of_another_width_is_corrupt(server: Any, opened: Any, vector: Any) -> None:
    store = await opened(vector_name="")
    server.answers["POST /collections/docs/points"] = server.ok([server.record(1, vector=vector)])
    with pytest.raises(StoreCorrupt):
        await store.get(["1"], vectors=True)


async def test_a_scroll_by_value_without_values_is_corrupt(server: Any, opened: Any) -> None:
    server.describe(indexes={"n": server.index("integer")})
    store = await opened(order_path=("n",))
    server.answers[SCROLL] = server.ok({"points": [server.record(1)]})
    with pytest.raises(StoreCorrupt, match="by value"):
        await store.scan(order=Ordering(("n",)), limit=1)


async def test_no_answer_within_the_deadline(server: Any, opened: Any) -> None:
    store = await opened(deadline=0.2)

    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    server.answers["POST /collections/docs/points/count"] = never
    async with asyncio.timeout(5):
        with pytest.raises(StoreTimeout, match=r"0\.2 s"):
            await store.count()


async def test_a_cancelled_call_leaves_the_next_alone(server: Any, opened: Any) -> None:
    store = await opened()
    arrived = asyncio.Event()

    async def never(request: httpx.Request) -> httpx.Response:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    server.answers["POST /collections/docs/points/count"] = [never, server.ok({"count": 9})]
    call = asyncio.create_task(store.count())
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await store.count() == 9
