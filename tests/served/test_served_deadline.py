"""A deadline that comes before an answer is complete makes it an error, never a short answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Protocol

import pytest
from gateway import request
from passages import FIVE
from served_passages import Corpus
from watching_proxy import watching

from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL
from a2m_gateway.store.worker_process import WorkerProcess

DEADLINE = 0.15


class Hanging(Protocol):
    """A way to the store that lets ``left`` calls through, and never answers the others."""

    left: float


@pytest.fixture
async def chroma(passages_url: Callable[[str], str]) -> AsyncIterator[tuple[StoreURL, Hanging]]:
    url = StoreURL.parse(passages_url("chroma by time"))
    assert url.port is not None
    async with watching(url.port) as proxy:
        yield replace(url, port=proxy.port), proxy


@pytest.fixture
def qdrant(
    passages_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> tuple[StoreURL, Hanging]:
    way = SimpleNamespace(left=float("inf"))
    real = WorkerProcess.call

    async def call(worker: WorkerProcess, method: str, **arguments: Any) -> Any:
        way.left -= 1
        if way.left < 0:
            await asyncio.Event().wait()
        return await real(worker, method, **arguments)

    monkeypatch.setattr(WorkerProcess, "call", call)
    return StoreURL.parse(passages_url("qdrant")), way


METHODS = ("recall by vector", "recall by words", "recall", "timeline")


@pytest.mark.parametrize("method", METHODS)
async def test_a_scan_of_chroma_that_is_cut_off_is_an_error(
    method: str, chroma: tuple[StoreURL, Hanging], corpus: Corpus
) -> None:
    await compare(*chroma, message(method, corpus))


@pytest.mark.parametrize("method", METHODS)
async def test_a_scan_of_qdrant_that_is_cut_off_is_an_error(
    method: str, qdrant: tuple[StoreURL, Hanging], corpus: Corpus
) -> None:
    await compare(*qdrant, message(method, corpus))


def message(method: str, corpus: Corpus) -> bytes:
    params: dict[str, Any] = {"where": FIVE["float"], "limit": 10}
    if method == "recall by vector":
        params["embedding"] = corpus.near(1)
    elif method == "recall by words":
        params["query"] = "names"
    return request(method.partition(" ")[0], params)


async def compare(url: StoreURL, way: Hanging, asked: bytes) -> None:
    """The call with the store gone after 0, 1, 2 … calls to it, until it is complete."""
    opened = await open_memory(MemorySettings(url=url))
    try:
        way.left = start = 1000.0
        whole = await answer(Endpoint(opened.memory, deadline=30), asked)
        assert len(whole["result"]["records"]) == 5
        needed = int(start - way.left)
        assert needed > 0
        for let_through in range(needed):
            way.left = let_through
            cut = await answer(Endpoint(opened.memory, deadline=DEADLINE), asked)
            assert cut.get("error", {}).get("code") == -32603, f"{let_through} of {needed}: {cut}"
        way.left = float("inf")
        assert await answer(Endpoint(opened.memory, deadline=30), asked) == whole
    finally:
        await opened.aclose()


async def answer(endpoint: Endpoint, message: bytes) -> Any:
    answer = await endpoint.answer(message)
    assert answer is not None
    return json.loads(answer)
