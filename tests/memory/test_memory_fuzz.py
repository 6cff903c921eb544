"""Random and mutated messages never kill it, never hang it, and get well-formed answers alone."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import answers
import oracle
import pytest
from fuzz_messages import COUNT, SEED, messages
from small_memory import Bag, service
from structlog.testing import capture_logs

from a2m_gateway.memory import Limits
from a2m_gateway.store import Row

LARGEST = 16 * 1024
PROBE = b'{"jsonrpc":"2.0","id":"probe","method":"memory/recall","params":{"query":"deploy key"}}'


def _rows() -> list[Row]:
    return [
        oracle.record(
            f"r{place}",
            f"the deploy key E42{place} rotates",
            f"2026-01-{1 + place:02}T00:00:00.000Z",
            [float(place), 1.0, -1.0] if place % 3 else None,
            {"page": place, "source": "ab"[place % 2], "": None, "é": {"a": [1]}},
            {"role": "user"} if place % 2 else None,
        )
        for place in range(20)
    ]


class Three(Bag):
    """An embedder of the width that the messages' vectors have."""

    width = 3

    async def embed_query(self, text: str) -> list[float]:
        return [float(len(text) % 5), 1.0, -0.5]


@pytest.mark.requirement("2-undeclared-never-32601")
@pytest.mark.requirement("7-32700")
@pytest.mark.requirement("7-32600")
@pytest.mark.parametrize("embedder", [None, Three()], ids=["words", "blended"])
async def test_any_message_gets_a_well_formed_answer(embedder: Bag | None) -> None:
    there = service(
        _rows(), embedder=embedder, limits=Limits(max_request_bytes=LARGEST), deadline=20
    )
    endpoint = there.endpoint
    before = await endpoint.answer(PROBE)
    codes: Counter[object] = Counter()
    half = COUNT // 2
    with capture_logs() as logged:
        for number, message in enumerate(messages(SEED + (embedder is None), half)):
            async with asyncio.timeout(30):
                answer = await endpoint.answer(message)
            try:
                parsed = answers.check(message, answer, largest=LARGEST)
            except AssertionError as error:
                raise AssertionError(f"message {number}: {message[:2000]!r}") from error
            codes[_kind(parsed)] += 1
    assert logged == []
    assert await endpoint.answer(PROBE) == before
    assert asyncio.all_tasks() == {asyncio.current_task()}
    if half >= 5000:
        # The messages reach what they are to test.
        for kind in ("result", None, -32700, -32600, -32601, -32602, -32003, -32004):
            assert codes[kind] > 20, codes
        for rare in (-32006, -32007, -32008):
            assert codes[rare], codes


def _kind(parsed: object) -> object:
    if not isinstance(parsed, dict):
        return None
    return parsed["error"]["code"] if "error" in parsed else "result"


async def test_messages_at_once_are_answered_as_one_by_one() -> None:
    endpoint = service(_rows(), limits=Limits(max_request_bytes=LARGEST)).endpoint
    some = list(messages(SEED + 2, 500))
    alone = [await endpoint.answer(message) for message in some]
    async with asyncio.timeout(60):
        together = await asyncio.gather(*(endpoint.answer(message) for message in some))
    assert together == alone


def test_the_messages_are_the_same_for_the_same_seed() -> None:
    assert list(messages(1, 50)) == list(messages(1, 50))
    assert list(messages(1, 50)) != list(messages(2, 50))
    assert list(messages(1, 80))[:50] == list(messages(1, 50))


def test_the_checker_can_fail() -> None:
    """It refuses what a server must not answer."""
    call = b'{"jsonrpc":"2.0","id":1,"method":"memory/recall"}'
    wrong = [
        None,
        b"{}",
        b'{"jsonrpc":"2.0","id":"1","result":{}}',
        b'{"jsonrpc":"2.0","id":1.0,"result":{}}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32602,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":1,\n"result":{}}',
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"records": [{"id": 1}]}}).encode(),
    ]
    for answer in wrong:
        with pytest.raises((AssertionError, KeyError)):
            answers.check(call, answer, largest=1000)
    answers.check(call, b'{"jsonrpc":"2.0","id":1,"result":{}}', largest=1000)
    with pytest.raises(AssertionError):
        answers.check(call, b'{"jsonrpc":"2.0","id":1,"result":{}}', largest=10)
    with pytest.raises(AssertionError):
        answers.check(b"{", b'{"jsonrpc":"2.0","id":null,"result":{}}', largest=1000)
    with pytest.raises(AssertionError):
        answers.check(b'{"jsonrpc":"2.0","method":"m"}', b"{}", largest=1000)
