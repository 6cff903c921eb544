"""The end of an HTTP server, and of several servers in one process."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from raw_http import Running, one_response
from stub_responder import Stub

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports import HttpServer, HttpSettings, UnixServer, serve

Serve = Callable[..., Awaitable[Running]]
Start = Callable[..., Awaitable[asyncio.subprocess.Process]]
Line = Callable[..., bytes]
Eventually = Callable[[Callable[[], object]], Awaitable[None]]


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


async def refuses(running: Running) -> bool:
    try:
        _, writer = await running.connect()
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def test_stop_finishes_what_was_accepted(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub)
    idle, idle_writer = await running.connect()
    asked = asyncio.create_task(running.send(running.post(request_line(1, "wait"))))
    await eventually(lambda: stub.running)
    running.server.stop()
    async with asyncio.timeout(5):
        assert await idle.read() == b"", "a connection without a request holds nobody up"
        while not await refuses(running):
            pass
    assert not running.waiting.done()
    stub.released.set()
    answer = await asked
    assert status(answer) == 200
    assert b"connection: close" in answer
    async with asyncio.timeout(5):
        await running.waiting
    idle_writer.close()


async def test_what_outlasts_the_grace_is_cancelled_and_told(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub, shutdown_grace=0.2)
    asked = asyncio.create_task(running.send(running.post(request_line(1, "wait"))))
    late, writer = await running.connect()
    head = running.head("Content-Type: application/json", "Content-Length: 9")
    writer.write(head)  # and no body
    await eventually(lambda: stub.running and len(running.tasks) == 2)
    running.server.stop()
    assert status(await asked) == 503
    async with asyncio.timeout(5):
        assert status(await one_response(late)) == 503
        await running.waiting
    assert (stub.cancelled, stub.running) == (1, 0)
    writer.close()


async def test_cancelling_wait_leaves_nothing_behind(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub, shutdown_grace=60)
    asked = asyncio.create_task(running.send(running.post(request_line(1, "wait"))))
    await eventually(lambda: stub.running)
    running.waiting.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait([running.waiting])
        await asked
    assert (stub.cancelled, stub.running) == (1, 0)
    assert await refuses(running)


async def test_stop_without_requests_is_quick(stub: Stub, serve_http: Serve) -> None:
    running = await serve_http(stub)
    running.server.stop()
    running.server.stop()
    async with asyncio.timeout(2):
        await running.waiting


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_finishes_the_request_and_exits_0(
    start_program: Start, request_line: Line, number: signal.Signals
) -> None:
    process = await start_program("http")
    assert process.stderr is not None
    async with asyncio.timeout(20):
        while not (found := re.search(rb"ready http://127.0.0.1:(\d+)/", await line(process))):
            pass
    reader, writer = await asyncio.open_connection("127.0.0.1", int(found[1]))
    body = request_line(1, "sleep", {"seconds": 0.5})
    writer.write(
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    async with asyncio.timeout(20):
        while b"sleeping" not in await line(process):
            pass
        process.send_signal(number)
        answer = await one_response(reader)
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["id"] == 1
        assert await process.wait() == 0
    writer.close()


async def line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stderr is not None
    return await process.stderr.readline()


async def test_several_transports_on_one_endpoint_end_together(
    stub: Stub, tmp_path: Path, request_line: Line
) -> None:
    http = HttpServer(stub, HttpSettings(port=0))
    unix = UnixServer(stub, Path(f"{tmp_path}/s"))
    ready = asyncio.Event()
    serving = asyncio.create_task(serve([http, unix], started=ready.set))
    async with asyncio.timeout(10):
        await ready.wait()
        running = Running(http, serving)
        assert status(await running.send(running.post(request_line(1, "echo")))) == 200
        reader, writer = await asyncio.open_unix_connection(f"{tmp_path}/s")
        writer.write(request_line(2, "echo") + b"\n")
        assert json.loads(await reader.readline())["id"] == 2
        unix.stop()
        await serving
    assert await refuses(running)
    writer.close()


async def test_one_that_can_t_start_takes_the_others_with_it(stub: Stub, tmp_path: Path) -> None:
    http = HttpServer(stub, HttpSettings(port=0))
    unix = UnixServer(stub, tmp_path / "missing" / "socket")
    async with asyncio.timeout(10):
        with pytest.raises(ConfigurationError):
            await serve([http, unix])
    assert await refuses(Running(http, asyncio.create_task(asyncio.sleep(0))))
