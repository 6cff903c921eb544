"""Peers that send too much, too slowly, or leave: raw sockets against a real server."""

from __future__ import annotations

import asyncio
import json
import resource
import time
from collections.abc import Awaitable, Callable

import pytest
from raw_http import Running, one_response
from stub_responder import Stub

from a2m_gateway.transports.http.connection import MAX_HEAD_BYTES

Serve = Callable[..., Awaitable[Running]]
Line = Callable[..., bytes]
Eventually = Callable[[Callable[[], object]], Awaitable[None]]

JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(10):
        return await reader.read()


async def sent_until_cut_off(writer: asyncio.StreamWriter, data: bytes) -> int:
    """How often ``data`` could be sent, at most 3000 times."""
    times = 0
    try:
        while times < 3000:
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0)
            times += 1
    except ConnectionError:
        return times
    finally:
        writer.close()
    return times


@pytest.mark.requirement("8.3-transport-failure-status")
async def test_a_length_over_the_cap_is_refused_unread(stub: Stub, serve_http: Serve) -> None:
    stub.max_request_bytes = 100
    running = await serve_http(stub)
    # No body is sent: the answer can't have waited for it. And 100-continue is not given.
    head = running.head(JSON, "Content-Length: 101", "Expect: 100-continue")
    answer = await running.send(head)
    assert status(answer) == 413
    assert b"max_request_bytes, 100" in answer


@pytest.mark.requirement("8.3-transport-failure-status")
async def test_a_body_of_exactly_the_cap_is_served(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    body = request_line(1, "echo")
    stub.max_request_bytes = len(body)
    running = await serve_http(stub)
    assert status(await running.send(running.post(body))) == 200
    assert status(await running.send(running.post(body + b" "))) == 413
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    assert status(await running.send(running.head(JSON, CHUNKED) + chunked)) == 200
    chunked = b"%x\r\n%b \r\n0\r\n\r\n" % (len(body) + 1, body)
    assert status(await running.send(running.head(JSON, CHUNKED) + chunked)) == 413


async def test_chunks_are_never_held_beyond_the_cap(stub: Stub, serve_http: Serve) -> None:
    stub.max_request_bytes = 1_000_000
    running = await serve_http(stub)
    reader, writer = await running.connect()
    writer.write(running.head(JSON, CHUNKED))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    for _ in range(600):  # 39 MB, all of which a client may send before it reads
        writer.write(chunk)
        await writer.drain()
    async with asyncio.timeout(10):
        assert status(await one_response(reader)) == 413
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # KiB
    writer.close()


async def test_an_endless_body_is_cut_off_in_the_end(stub: Stub, serve_http: Serve) -> None:
    stub.max_request_bytes = 1000
    running = await serve_http(stub)
    _, writer = await running.connect()
    writer.write(running.head(JSON, CHUNKED))
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    assert await sent_until_cut_off(writer, chunk) < 3000, "196 MB were taken"


async def test_the_connection_goes_on_after_a_refusal(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    stub.max_request_bytes = 100
    running = await serve_http(stub)
    reader, writer = await running.connect()
    writer.write(running.post(b"x" * 5000) + running.post(request_line(2, "echo")))
    async with asyncio.timeout(10):
        assert status(await one_response(reader)) == 413
        assert json.loads((await one_response(reader)).partition(b"\r\n\r\n")[2])["id"] == 2
    writer.close()


async def test_pipelined_requests_are_answered_in_order(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(stub)
    reader, writer = await running.connect()
    writer.write(b"".join(running.post(request_line(i, "echo")) for i in range(20)))
    async with asyncio.timeout(10):
        answers = [await one_response(reader) for _ in range(20)]
    bodies = [json.loads(answer.partition(b"\r\n\r\n")[2]) for answer in answers]
    assert [body["id"] for body in bodies] == list(range(20))
    writer.close()


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.parametrize("sent", [b"", b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
async def test_a_head_that_is_late(stub: Stub, serve_http: Serve, sent: bytes) -> None:
    running = await serve_http(stub, receive_timeout=0.2)
    reader, writer = await running.connect()
    writer.write(sent)
    assert status(await until_closed(reader)) == 408
    writer.close()


async def test_a_head_that_is_late_on_a_used_connection(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(stub, receive_timeout=0.6)
    reader, writer = await running.connect()
    writer.write(running.post(request_line(1, "echo")))
    assert status(await one_response(reader)) == 200
    writer.write(b"POST / HTTP/1.1\r\n")
    assert status(await until_closed(reader)) == 408
    writer.close()


async def test_a_head_that_is_late_does_not_spoil_the_answer_before(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub, receive_timeout=0.6)
    reader, writer = await running.connect()
    writer.write(running.post(request_line(1, "wait")) + b"POST / HT")
    await eventually(lambda: stub.running)
    (connection,) = running.connections
    first = connection._head_timer
    await eventually(lambda: connection._head_timer is not first)  # the deadline has passed
    stub.released.set()
    async with asyncio.timeout(5):
        assert status(await one_response(reader)) == 200
    assert status(await until_closed(reader)) == 408
    writer.close()


@pytest.mark.requirement("8.3-transport-failure-status")
async def test_a_body_that_is_late(stub: Stub, serve_http: Serve) -> None:
    running = await serve_http(stub, receive_timeout=0.6)
    reader, writer = await running.connect()
    writer.write(running.head(JSON, "Content-Length: 50") + b"{")
    answer = await until_closed(reader)
    assert status(answer) == 408
    assert b"connection: close" in answer
    assert stub.calls == []
    writer.close()


async def test_a_slow_call_is_not_a_late_body(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub, receive_timeout=0.6)
    asked = asyncio.create_task(running.send(running.post(request_line(1, "wait"))))
    await eventually(lambda: stub.running)
    over = time.monotonic() + 0.7
    await eventually(lambda: time.monotonic() > over)
    stub.released.set()
    assert status(await asked) == 200


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.parametrize("together", [True, False], ids=["one write", "two writes"])
async def test_the_size_of_a_head_is_exact(
    stub: Stub, serve_http: Serve, request_line: Line, together: bool
) -> None:
    running = await serve_http(stub)
    body = request_line(1, "echo")
    head = running.head(JSON, f"Content-Length: {len(body)}")
    for spare, expected in ((0, 200), (1, 431), (10_000, 431)):
        padding = b"X: " + b"x" * (MAX_HEAD_BYTES + spare - len(head) - 5) + b"\r\n"
        padded = head[:-2] + padding + b"\r\n"
        assert len(padded) == MAX_HEAD_BYTES + spare
        reader, writer = await running.connect()
        # uvloop and asyncio read up to 256 KiB at once, of what has arrived by then.
        writer.write(padded[:40_000])
        if not together:
            await asyncio.sleep(0)
        writer.write(padded[40_000:] + body)
        async with asyncio.timeout(10):
            assert status(await one_response(reader)) == expected
        writer.close()


@pytest.mark.parametrize(
    "junk",
    [
        b"X-Long: " + b"x" * 600_000,
        b"".join(b"X-%d: y\r\n" % i for i in range(60_000)),
        b"x" * 600_000,
    ],
)
async def test_a_head_without_end(stub: Stub, serve_http: Serve, junk: bytes) -> None:
    running = await serve_http(stub)
    reader, writer = await running.connect()
    writer.write(running.head()[:-2] + junk)
    assert status(await until_closed(reader)) in {400, 431}
    assert stub.calls == []
    writer.close()


@pytest.mark.parametrize("megabytes", [1, 20])
async def test_who_is_refused_while_it_sends_gets_to_see_why(
    stub: Stub, serve_http: Serve, megabytes: int, eventually: Eventually
) -> None:
    """With ``Connection: close``: the answer comes at once, and all may be sent nevertheless."""
    stub.max_request_bytes = 1000
    running = await serve_http(stub)
    reader, writer = await running.connect()
    size = megabytes * 1_000_000
    writer.write(running.head(JSON, f"Content-Length: {size}", "Connection: close"))
    async with asyncio.timeout(10):
        assert status(await one_response(reader)) == 413
        for _ in range(megabytes):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    await eventually(lambda: not running.connections)


async def test_who_is_refused_and_goes_on_has_an_end(
    stub: Stub, serve_http: Serve, eventually: Eventually
) -> None:
    stub.max_request_bytes = 1000
    running = await serve_http(stub, receive_timeout=0.6)
    head = running.head(JSON, CHUNKED, "Connection: close") + b"800\r\n" + b"x" * 2048
    reader, writer = await running.connect()
    writer.write(head)
    assert status(await until_closed(reader)) == 413
    await eventually(lambda: not running.connections)  # though it keeps its side open
    writer.close()
    _, writer = await running.connect()
    writer.write(head + b"\r\n")
    assert await sent_until_cut_off(writer, b"x" * 65536) < 3000


async def test_trailers_are_no_headers_and_have_an_end(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(stub)
    body = request_line(1, "echo")
    chunked = running.head(JSON, CHUNKED) + b"%x\r\n%b\r\n0\r\n" % (len(body), body)
    answer = await running.send(chunked + b"Origin: http://evil.example\r\nHost: evil\r\n\r\n")
    assert status(answer) == 200
    _, writer = await running.connect()
    writer.write(chunked)
    assert await sent_until_cut_off(writer, b"X-Trailer: " + b"x" * 65536) < 3000


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # the hello of TLS
        b"GARBAGE\r\n\r\n",
        b"POST / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        b"CONNECT evil:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST \xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused(
    stub: Stub, serve_http: Serve, request_line: Line, raw: bytes
) -> None:
    running = await serve_http(stub)
    assert 400 <= status(await running.send(raw)) < 500
    assert stub.calls == []
    assert status(await running.send(running.post(request_line(1, "echo")))) == 200


@pytest.mark.parametrize("how", ["close", "abort", "half close"])
async def test_who_leaves_has_the_call_cancelled(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually, how: str
) -> None:
    running = await serve_http(stub)
    _, writer = await running.connect()
    writer.write(running.post(request_line(1, "wait")))
    await eventually(lambda: stub.running)
    if how == "close":
        writer.close()
    elif how == "abort":
        writer.transport.abort()
    else:
        writer.write_eof()  # one who closes can't be told from one who only stops sending
    await eventually(lambda: stub.cancelled == 1)
    assert status(await running.send(running.post(request_line(2, "echo")))) == 200
    writer.close()


async def test_who_leaves_in_the_middle_of_a_body(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(stub)
    reader, writer = await running.connect()
    writer.write(running.head(JSON, "Content-Length: 50") + b"{")
    writer.write_eof()
    assert await until_closed(reader) == b""
    assert stub.calls == []
    assert status(await running.send(running.post(request_line(2, "echo")))) == 200
    writer.close()


async def test_who_takes_no_answer_is_cut_off(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub, receive_timeout=0.6)
    _, writer = await running.connect()
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(running.post(request_line(1, "big", {"bytes": 30_000_000})))
    await eventually(lambda: stub.calls)
    await eventually(lambda: not running.connections)
    writer.close()


async def test_more_connections_than_are_served(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(stub, max_connections=3)
    held = [await running.connect() for _ in range(3)]
    assert status(await running.send(running.post(request_line(1, "echo")))) == 503
    for _, writer in held:
        writer.close()
    async with asyncio.timeout(5):
        while status(await running.send(running.post(request_line(1, "echo")))) != 200:
            pass
