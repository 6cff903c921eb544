"""Requests that would upgrade are answered as HTTP/1.1 (RFC 9110 7.8): raw sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from raw_http import Running, one_response
from stub_responder import Stub

Serve = Callable[..., Awaitable[Running]]
Line = Callable[..., bytes]
Eventually = Callable[[Callable[[], object]], Awaitable[None]]

JSON = "Content-Type: application/json"
# As curl --http2 and Java's HttpClient send them.
H2C = (
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
)
WEBSOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def result_id(answer: bytes) -> object:
    assert status(answer) == 200, answer
    return json.loads(answer.partition(b"\r\n\r\n")[2])["id"]


def framed(body: bytes, chunked: bool) -> tuple[str, bytes]:
    if not chunked:
        return f"Content-Length: {len(body)}", body
    parts = (body[:7], body[7:])
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return "Transfer-Encoding: chunked", chunks + b"0\r\nOrigin: http://evil.example\r\n\r\n"


@pytest.mark.parametrize("upgrade", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "length"])
@pytest.mark.parametrize("cut", ["together", "later", "byte by byte"])
async def test_the_body_is_read_and_the_connection_goes_on(
    stub: Stub,
    serve_http: Serve,
    request_line: Line,
    eventually: Eventually,
    upgrade: tuple[str, ...],
    chunked: bool,
    cut: str,
) -> None:
    running = await serve_http(stub)
    length, body = framed(request_line(1, "echo"), chunked)
    head = running.head(JSON, length, *upgrade)
    reader, writer = await running.connect()
    for number in range(2):
        if cut == "together":
            writer.write(head + body)
        else:
            writer.write(head)
            await eventually(lambda: running.tasks)  # of a head that has arrived
            size = 1 if cut == "byte by byte" else len(body)
            for start in range(0, len(body), size):
                writer.write(body[start : start + size])
                await asyncio.sleep(0)
        async with asyncio.timeout(10):
            assert result_id(await one_response(reader)) == 1
        assert len(stub.calls) == number + 1
    writer.write(running.post(request_line(2, "echo")))
    async with asyncio.timeout(10):
        assert result_id(await one_response(reader)) == 2
    writer.close()


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "length"])
async def test_requests_in_one_write_are_told_apart(
    stub: Stub, serve_http: Serve, request_line: Line, chunked: bool
) -> None:
    running = await serve_http(stub)
    sent = b""
    for number in range(6):
        length, body = framed(request_line(number, "echo"), chunked)
        sent += running.head(JSON, length, *(H2C if number % 2 else ())) + body
    reader, writer = await running.connect()
    writer.write(sent)
    async with asyncio.timeout(10):
        assert [result_id(await one_response(reader)) for _ in range(6)] == list(range(6))
    writer.close()


async def test_a_body_over_the_cap_is_refused(stub: Stub, serve_http: Serve) -> None:
    stub.max_request_bytes = 100
    running = await serve_http(stub)
    for chunked in (True, False):
        length, body = framed(b"x" * 5000, chunked)
        assert status(await running.send(running.head(JSON, length, *H2C) + body)) == 413
    assert stub.calls == []


@pytest.mark.parametrize("upgrade", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
async def test_without_a_body_it_is_the_method_that_counts(
    stub: Stub, serve_http: Serve, request_line: Line, upgrade: tuple[str, ...]
) -> None:
    running = await serve_http(stub)
    get = running.head(*upgrade, line="GET / HTTP/1.1")
    reader, writer = await running.connect()
    writer.write(get + get + running.post(request_line(1, "echo")))
    async with asyncio.timeout(10):
        assert status(await one_response(reader)) == 405
        assert status(await one_response(reader)) == 405
        assert result_id(await one_response(reader)) == 1
    writer.close()


@pytest.mark.parametrize(
    ("line", "connection"),
    [("POST / HTTP/1.1", "Connection: Upgrade, close"), ("POST / HTTP/1.0", "Connection: Upgrade")],
)
async def test_a_last_request_is_the_last(
    stub: Stub, serve_http: Serve, request_line: Line, line: str, connection: str
) -> None:
    running = await serve_http(stub)
    body = request_line(1, "echo")
    head = running.head(JSON, connection, "Upgrade: h2c", f"Content-Length: {len(body)}", line=line)
    reader, writer = await running.connect()
    writer.write(head + body)
    async with asyncio.timeout(10):
        answer = await reader.read()
    assert result_id(answer) == 1
    assert b"connection: close" in answer
    writer.close()


async def test_what_is_no_body_is_refused(stub: Stub, serve_http: Serve) -> None:
    running = await serve_http(stub)
    head = running.head(JSON, "Transfer-Encoding: chunked", *H2C)
    answer = await running.send(head + b"no chunk\r\n\r\n")
    assert status(answer) == 400
    assert stub.calls == []
