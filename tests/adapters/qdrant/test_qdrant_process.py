"""Local mode in its process: calls at once, cancelled calls, and the process killed or hanging."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import pytest
from a2m_qdrant.local import LocalEngine

from a2m_gateway.errors import StoreTimeout, StoreUnavailable
from a2m_gateway.store import Selection
from a2m_gateway.testing import sample_rows


@pytest.fixture
async def served(write: Any, open_folder: Any) -> Any:
    """A store on ``sample_rows(200)`` whose engine runs in a process of its own."""
    connection = await open_folder(write(sample_rows(200)))
    return await connection.open("docs", Selection(vector_name="", text_path=("text",)))


async def test_many_calls_at_once_and_some_cancelled(served: Any) -> None:
    store, rows = served, sample_rows(200)
    calls = [
        asyncio.create_task(store.search(rows[n].vector, 3))
        if n % 2
        else asyncio.create_task(store.get([rows[n].id]))
        for n in range(60)
    ]
    await asyncio.sleep(0)
    for task in calls[::5]:
        task.cancel()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for n, answer in enumerate(answers):
        if n % 5 == 0:
            assert isinstance(answer, asyncio.CancelledError)
        elif isinstance(answer, list):
            nearest = answer[0].row if n % 2 else answer[0]
            assert nearest.id == rows[n].id


async def test_a_killed_engine_fails_the_call_and_serves_the_next(served: Any) -> None:
    store = served
    first = pid_of(store)
    os.kill(first, signal.SIGSTOP)
    call = asyncio.create_task(store.count())
    await asyncio.sleep(0)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(StoreUnavailable):
        await call
    assert await store.count() == 200
    assert pid_of(store) != first


async def test_a_hanging_engine_fails_within_the_deadline_and_recovers(
    write: Any, open_folder: Any
) -> None:
    connection = await open_folder(write(sample_rows()), deadline=2.0)
    store = await connection.open("docs", Selection(vector_name=""))
    os.kill(pid_of(store), signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(StoreTimeout):
        await store.count()
    assert time.monotonic() - began < 3.0
    async with asyncio.timeout(30):
        while True:
            try:
                assert await store.count() == 24
                break
            except (StoreTimeout, StoreUnavailable):  # the machine is slow to start another
                continue


def pid_of(store: Any) -> int:
    engine = store._engine
    assert isinstance(engine, LocalEngine)
    pid = engine._worker.pid
    assert pid is not None
    return pid
