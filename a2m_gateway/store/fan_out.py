"""Several requests at once, for stores that answer one search by many."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TypeVar

__all__ = ["at_once"]

T = TypeVar("T")


async def at_once(calls: Sequence[Coroutine[object, object, T]], most: int) -> list[T]:
    """What each of ``calls`` returns, in order; part of an answer is no answer.

    Args:
        most: How many run at a time.

    Raises:
        Exception: That of the first to fail, which ends the others.
    """
    turns = asyncio.Semaphore(most)

    async def in_turn(call: Coroutine[object, object, T]) -> T:
        async with turns:
            return await call

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(in_turn(call)) for call in calls]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        for call in calls:
            call.close()  # one whose turn never came
    return [task.result() for task in tasks]
