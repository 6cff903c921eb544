"""One stream of messages: concurrency, backpressure, the end (spec 8.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from stub_responder import Stub

from a2m_gateway.transports.stream import MAX_IN_FLIGHT, StreamSession

Eventually = Callable[[Callable[[], object]], Awaitable[None]]
Line = Callable[..., bytes]


class Pipe:
    """A byte stream in memory, whose peer may stop reading or go away."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes | OSError] = asyncio.Queue()
        self.written = bytearray()
        self.reads = 0
        self.taking = asyncio.Event()
        self.taking.set()
        self.broken = False

    async def read(self) -> bytes:
        got = await self.incoming.get()
        self.reads += 1
        if isinstance(got, OSError):
            raise got
        return got

    async def write(self, data: bytes) -> None:
        # In two halves, so that two writers at once would be seen.
        self.written += data[: len(data) // 2]
        await self.taking.wait()
        await asyncio.sleep(0)
        if self.broken:
            raise BrokenPipeError
        self.written += data[len(data) // 2 :]

    def feed(self, *lines: bytes) -> None:
        for line in lines:
            self.incoming.put_nowait(line + b"\n")

    def end(self) -> None:
        self.incoming.put_nowait(b"")

    def answers(self) -> list[dict[str, Any]]:
        assert self.written.endswith(b"\n") or not self.written
        return [json.loads(line) for line in self.written.splitlines()]


@pytest.fixture
def pipe() -> Pipe:
    return Pipe()


def running(
    stub: Stub, pipe: Pipe, *, grace: float = 10
) -> tuple[StreamSession, asyncio.Task[None]]:
    session = StreamSession(stub, pipe, grace=grace)
    return session, asyncio.create_task(session.run())


@pytest.mark.requirement("8.2-line-framing")
@pytest.mark.requirement("8.2-one-line")
async def test_each_response_is_one_line(stub: Stub, pipe: Pipe, request_line: Line) -> None:
    pipe.feed(request_line(1, "echo", {"text": "one\ntwo\r\n\u2028☕"}))
    pipe.end()
    _, run = running(stub, pipe)
    await run
    assert pipe.written.count(b"\n") == 1
    assert pipe.answers()[0]["result"] == {"text": "one\ntwo\r\n\u2028☕"}
    assert "☕".encode() in pipe.written


async def test_a_slow_request_holds_up_no_other(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.feed(request_line("slow", "wait"), request_line("fast", "echo", {}))
    _, run = running(stub, pipe)
    await eventually(lambda: b"fast" in pipe.written)
    stub.released.set()
    pipe.end()
    await run
    assert [answer["id"] for answer in pipe.answers()] == ["fast", "slow"]


async def test_200_at_once_are_bounded_whole_and_all_answered(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.feed(*(request_line(i, "wait") for i in range(200)))
    pipe.end()
    _, run = running(stub, pipe)
    await eventually(lambda: stub.running == MAX_IN_FLIGHT)
    stub.released.set()
    await run
    assert stub.most_running == MAX_IN_FLIGHT
    assert sorted(answer["id"] for answer in pipe.answers()) == list(range(200))


async def test_a_peer_that_does_not_read_is_not_read_from(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.taking.clear()
    pipe.feed(*(request_line(i, "echo", {}) for i in range(1000)))
    _, run = running(stub, pipe)
    await eventually(lambda: len(stub.calls) >= MAX_IN_FLIGHT)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(stub.calls) == MAX_IN_FLIGHT
    assert pipe.reads <= MAX_IN_FLIGHT + 1
    pipe.taking.set()
    pipe.end()
    await run
    assert len(pipe.answers()) == 1000


async def test_too_long_a_line_is_refused_and_the_next_one_served(
    stub: Stub, pipe: Pipe, request_line: Line
) -> None:
    stub.max_request_bytes = 200
    pipe.feed(b"x" * 5000, request_line(2, "echo", {}))
    pipe.end()
    _, run = running(stub, pipe)
    await run
    refused, served = sorted(pipe.answers(), key=lambda answer: answer["id"] or 0)
    assert (refused["id"], refused["error"]["code"]) == (None, -32006)
    assert (served["id"], served["result"]) == (2, {})


async def test_a_notification_gets_no_line(stub: Stub, pipe: Pipe) -> None:
    pipe.feed(b'{"jsonrpc":"2.0","method":"echo"}', b'{"jsonrpc":"2.0","method":"nonsense"}')
    pipe.end()
    _, run = running(stub, pipe)
    await run
    assert stub.calls == ["echo", "nonsense"]
    assert pipe.written == b""


async def test_the_end_waits_for_what_was_accepted(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.incoming.put_nowait(request_line(1, "wait"))  # and no newline
    pipe.end()
    _, run = running(stub, pipe)
    await eventually(lambda: stub.running)
    stub.released.set()
    await run
    assert [answer["id"] for answer in pipe.answers()] == [1]


async def test_half_a_message_at_the_end_is_malformed(stub: Stub, pipe: Pipe) -> None:
    pipe.incoming.put_nowait(b'{"jsonrpc":"2.0","id":1,"me')
    pipe.end()
    _, run = running(stub, pipe)
    await run
    assert pipe.answers()[0]["error"]["code"] == -32700


async def test_stop_finishes_what_was_accepted_and_takes_no_more(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.feed(request_line(1, "wait"))
    session, run = running(stub, pipe)
    await eventually(lambda: stub.running)
    session.stop()
    for _ in range(10):
        await asyncio.sleep(0)
    pipe.feed(request_line(2, "echo"))
    for _ in range(10):
        await asyncio.sleep(0)
    stub.released.set()
    await run
    assert [answer["id"] for answer in pipe.answers()] == [1]
    assert stub.calls == ["wait"]


async def test_what_outlasts_the_grace_is_cancelled(
    stub: Stub, pipe: Pipe, request_line: Line
) -> None:
    pipe.feed(request_line(1, "wait"))
    pipe.end()
    _, run = running(stub, pipe, grace=0.05)
    async with asyncio.timeout(5):
        await run
    assert (stub.cancelled, stub.running) == (1, 0)


async def test_a_peer_that_is_gone_ends_the_session_and_its_calls(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.broken = True
    pipe.feed(request_line(1, "wait"))
    _, run = running(stub, pipe)
    await eventually(lambda: stub.running)
    pipe.feed(request_line(2, "echo"))
    async with asyncio.timeout(5):
        await run
    assert (stub.cancelled, stub.running) == (1, 0)


async def test_a_connection_that_is_reset_ends_the_session(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.feed(request_line(1, "wait"))
    _, run = running(stub, pipe)
    await eventually(lambda: stub.running)
    pipe.incoming.put_nowait(ConnectionResetError())
    async with asyncio.timeout(5):
        await run
    assert stub.cancelled == 1


async def test_cancelling_leaves_nothing_running(
    stub: Stub, pipe: Pipe, request_line: Line, eventually: Eventually
) -> None:
    pipe.feed(request_line(1, "wait"), request_line(2, "wait"))
    _, run = running(stub, pipe)
    await eventually(lambda: stub.running == 2)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (stub.cancelled, stub.running) == (2, 0)
    assert len(asyncio.all_tasks()) == 1
