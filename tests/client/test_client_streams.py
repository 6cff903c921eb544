"""A client on a stream: any order, in between, late, cut off (spec 8.2)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from scripted_server import Request, Scripted, result

from a2m_gateway.client import Client
from a2m_gateway.errors import CallTimeout, ClientError, MalformedAnswer, ServerUnreachable


@pytest.mark.requirement("8.2-client-interleaved")
async def test_notifications_and_any_order(streamed: Client, scripted: Scripted) -> None:
    held: list[Request] = []
    event = {"jsonrpc": "2.0", "method": "memory/event", "params": {"kind": "written"}}

    def say(request: Request) -> list[bytes]:
        held.append(request)
        lines = [json.dumps(event).encode(), b""]
        if len(held) == 10:
            lines += [result(one, {"echo": one["params"]}) for one in reversed(held)]
        return lines

    scripted.say = say
    calls = (streamed.call("memory/fetch", {"key": str(i)}) for i in range(10))
    answers = await asyncio.gather(*calls)
    assert [answer["echo"]["key"] for answer in answers] == [str(i) for i in range(10)]
    assert scripted.heard == [event] * 10


async def test_a_request_of_the_server_is_passed_over(streamed: Client, scripted: Scripted) -> None:
    asked = b'{"jsonrpc":"2.0","id":1,"method":"sampling/create","params":{}}'
    scripted.say = lambda request: [asked, result(request, {"records": []})]
    assert await streamed.recall("x") == []
    assert scripted.heard == []


async def test_a_callback_that_fails_harms_no_call(
    scripted: Scripted, streamed: Client, socket_path: Path
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("of the caller's own")

    event = b'{"jsonrpc":"2.0","method":"memory/event"}'
    scripted.say = lambda request: [event, result(request, {"records": []})]
    async with Client.unix(socket_path, on_notification=fail, timeout=5) as client:
        assert await client.recall("x") == []


async def test_the_deadline_and_a_late_answer(streamed: Client, scripted: Scripted) -> None:
    held: list[Request] = []

    def say(request: Request) -> list[bytes]:
        held.append(request)
        return [] if len(held) == 1 else [result(one, {"n": one["id"]}) for one in held]

    scripted.say = say
    await streamed.describe()
    with pytest.raises(CallTimeout, match=r"memory/fetch: no answer within 0\.5 s"):
        await streamed.call("memory/fetch", {"key": "k"}, timeout=0.5)
    # The late answer comes first, and is nobody's.
    answer = await streamed.call("memory/fetch", {"key": "k"})
    assert answer == {"n": held[1]["id"]}


async def test_a_cancelled_call_leaves_the_others(streamed: Client, scripted: Scripted) -> None:
    held: list[Request] = []

    def say(request: Request) -> list[bytes]:
        held.append(request)
        return [result(one, {"n": one["id"]}) for one in held] if len(held) == 2 else []

    scripted.say = say
    first = asyncio.create_task(streamed.call("memory/fetch", {"key": "k"}))
    async with asyncio.timeout(5):
        while not held:  # noqa: ASYNC110 - the script is no coroutine
            await asyncio.sleep(0.001)
    first.cancel()
    await asyncio.wait([first])
    assert await streamed.call("memory/fetch", {"key": "k"}) == {"n": held[1]["id"]}


async def test_a_line_that_is_no_answer_fails_all_that_wait(
    streamed: Client, scripted: Scripted
) -> None:
    scripted.say = lambda request: (
        [b"Traceback (most recent call last):"] if len(scripted.seen) == 4 else []
    )
    calls = (streamed.call("memory/fetch", {"key": "k"}) for _ in range(3))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [MalformedAnswer] * 3


async def test_a_server_that_hangs_up(streamed: Client, scripted: Scripted) -> None:
    scripted.say = lambda request: []
    await streamed.describe()
    scripted.hang_up = True
    with pytest.raises(ServerUnreachable, match="closed the connection"):
        await streamed.recall("x")
    with pytest.raises(ServerUnreachable):
        await streamed.recall("x")


async def test_nobody_there(tmp_path: Path) -> None:
    for client in (
        Client.unix(tmp_path / "none"),
        Client.stdio([str(tmp_path / "none")]),
        Client.http("http://127.0.0.1:9/"),
    ):
        with pytest.raises(ServerUnreachable):
            await client.recall("x")
        await client.aclose()
        with pytest.raises(ClientError):
            await client.recall("x")
