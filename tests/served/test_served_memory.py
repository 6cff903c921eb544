"""What a gateway holds does not grow with what it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psutil
import pytest
from gateway import Gateway
from passages import FIVE
from served_passages import Corpus

CALLS = 300
WARMED_UP = 60
GROWTH = 10
"""MiB; measured: less than one. The answers that are given add up to some fifteen."""


@pytest.mark.parametrize("opening", ["chroma", "qdrant by time"])
def test_memory_stays_bounded(
    opening: str,
    corpus: Corpus,
    passages_url: Callable[[str], str],
    start_gateway: Callable[[str], Gateway],
) -> None:
    gateway = start_gateway(passages_url(opening))
    for number in range(WARMED_UP):
        ask(gateway, corpus, number)
    before = resident(gateway)
    for number in range(WARMED_UP, WARMED_UP + CALLS):
        ask(gateway, corpus, number)
    grown = resident(gateway) - before
    assert grown < GROWTH, f"{grown:.0f} MiB more than {before:.0f} MiB"
    assert gateway.end() == 0


def ask(gateway: Gateway, corpus: Corpus, number: int) -> None:
    near = corpus.near(number * 7 % len(corpus.passages))
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("recall", {"embedding": near, "limit": 100, "embeddings": number % 24 == 0}),
        ("recall", {"embedding": near, "where": FIVE["string"]}),
        ("timeline", {"limit": 100}),
        ("timeline", {"where": FIVE["float" if number % 24 == 3 else "integer"]}),
        ("recall", {"limit": 50, "where": {"checked": False}}),
        ("recall", {"query": f"what is said about matter {number}"}),
    )
    method, params = calls[number % len(calls)]
    records = gateway.call(method, **params)["result"]["records"]
    assert len(records) in (params.get("limit", 10), 5)


def resident(gateway: Gateway) -> float:
    """MiB of the gateway and its children."""
    process = psutil.Process(gateway.process.pid)
    held = [process, *process.children(recursive=True)]
    return sum(float(one.memory_info().rss) for one in held) / 2**20
