"""Paired measurements: callers in random order within each block, and what their medians differ by.

Two callers are measured in the same block, so that what the machine does meanwhile meets both.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Difference", "difference", "measure"]

Call = Callable[[int], Awaitable[object]]


async def measure(
    callers: Mapping[str, Call], *, blocks: int, calls: int, seed: int = 1
) -> dict[str, list[list[float]]]:
    """Seconds of each call: caller → block → call. The first block is thrown away.

    Args:
        callers: Each takes the number of the call, the same for all callers of a block, so that
            all answer the same questions.
    """
    order = random.Random(seed)
    seconds: dict[str, list[list[float]]] = {name: [] for name in callers}
    for block in range(blocks + 1):
        names = list(callers)
        order.shuffle(names)
        for name in names:
            taken = []
            for call in range(calls):
                started = time.perf_counter()
                await callers[name](block * calls + call)
                taken.append(time.perf_counter() - started)
            if block:
                seconds[name].append(taken)
        await asyncio.sleep(0)
    return seconds


@dataclass(frozen=True, slots=True)
class Difference:
    """How much longer one caller's median call takes than another's, in seconds.

    Attributes:
        low, high: The 95% bootstrap interval over blocks.
    """

    median: float
    low: float
    high: float


def difference(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], *, rounds: int = 2_000
) -> Difference:
    """The difference of the p50s, and its interval by resampling blocks with replacement."""
    mine, other = np.asarray(ours), np.asarray(theirs)
    chance = np.random.default_rng(1)
    drawn = chance.integers(0, len(mine), size=(rounds, len(mine)))
    resampled = [np.median(mine[pick]) - np.median(other[pick]) for pick in drawn]
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Difference(float(np.median(mine) - np.median(other)), float(low), float(high))
