"""Servers to talk to: a stub whose calls are controlled, and real ones on real sockets."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import server_program
from raw_http import Running
from stub_responder import Stub

from a2m_gateway.layers import ExactLayer
from a2m_gateway.memory import Endpoint, Memory
from a2m_gateway.store import Row
from a2m_gateway.store.memory import MemoryStore
from a2m_gateway.transports import HttpServer, HttpSettings, Server


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
async def memory_endpoint() -> AsyncIterator[Endpoint]:
    """A real endpoint over three records."""
    rows = [
        Row(
            f"r{number}",
            {"content": text, "created_at": f"2026-01-0{number}T00:00:00.000Z", "metadata": {}},
            vector=vector,
        )
        for number, text, vector in (
            (1, "naïve café ☕", (1.0, 0.0)),
            (2, "line one\nline two", (0.0, 1.0)),
            (3, 'tab\tquote"back\\slash', (0.7, 0.7)),
        )
    ]
    endpoint = Endpoint(Memory(ExactLayer(MemoryStore(rows))))
    yield endpoint
    await endpoint.aclose()


@pytest.fixture
async def serve_http() -> AsyncIterator[Callable[..., Awaitable[Running]]]:
    """Start servers on free ports; settings by keyword."""
    async with AsyncExitStack() as stack:

        async def start(responder: Any, **settings: Any) -> Running:
            server = HttpServer(responder, HttpSettings(**{"port": 0, **settings}))
            await server.start()
            waiting = asyncio.create_task(server.wait())

            async def end() -> None:
                if waiting.done():
                    return
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)

            stack.push_async_callback(end)
            return Running(server, waiting)

        yield start


@pytest.fixture
async def run_server() -> AsyncIterator[Callable[[Server], Awaitable[asyncio.Task[None]]]]:
    """Start any server; the task is its ``wait``."""
    tasks: list[asyncio.Task[None]] = []

    async def start(server: Server) -> asyncio.Task[None]:
        await server.start()
        tasks.append(asyncio.create_task(server.wait()))
        return tasks[-1]

    yield start
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], Awaitable[None]]:
    """Wait until a condition holds, at most ten seconds."""

    async def wait(condition: Callable[[], object]) -> None:
        async with asyncio.timeout(10):
            while not condition():  # noqa: ASYNC110 - any condition, not just ours
                await asyncio.sleep(0.005)

    return wait


@pytest.fixture
def request_line() -> Callable[..., bytes]:
    """A JSON-RPC request as bytes, without a newline."""

    def make(request_id: object, method: str, params: object = None) -> bytes:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        return json.dumps(message).encode()

    return make


PROGRAM = Path(server_program.__file__)


@pytest.fixture
async def start_program() -> AsyncIterator[Callable[..., Awaitable[asyncio.subprocess.Process]]]:
    """Start ``server_program.py`` in a process of its own; see there for its arguments."""
    processes: list[asyncio.subprocess.Process] = []

    async def start(*arguments: str, **streams: Any) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        streams = {"stdin": pipe, "stdout": pipe, "stderr": pipe, **streams}
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(PROGRAM), *arguments, limit=64 * 1024 * 1024, **streams
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
def free_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
