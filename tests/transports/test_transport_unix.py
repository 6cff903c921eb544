"""A server on a Unix socket (spec 8.2)."""

# ruff: noqa: ASYNC240 - a stat of a file in a temporary folder blocks nobody

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import socket
import stat
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stub_responder import Stub

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import Server, UnixServer

Run = Callable[[Server], Awaitable[asyncio.Task[None]]]
Start = Callable[..., Awaitable[asyncio.subprocess.Process]]
Eventually = Callable[[Callable[[], object]], Awaitable[None]]
Line = Callable[..., bytes]


@pytest.fixture
def path() -> Iterator[Path]:
    # Not pytest's tmp_path: a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="a2m") as folder:
        yield Path(folder) / "socket"


async def ask(path: Path, *lines: bytes, answers: int) -> list[dict[str, Any]]:
    reader, writer = await asyncio.open_unix_connection(str(path), limit=64 * 1024 * 1024)
    try:
        writer.write(b"".join(line + b"\n" for line in lines))
        async with asyncio.timeout(10):
            return [json.loads(await reader.readline()) for _ in range(answers)]
    finally:
        writer.close()


def accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@pytest.mark.requirement("8.2-same-framing")
async def test_the_framing_of_stdio(
    memory_endpoint: Endpoint, path: Path, run_server: Run, request_line: Line
) -> None:
    await run_server(UnixServer(memory_endpoint, path))
    (found,) = await ask(path, b"", request_line(1, "memory/timeline", {}) + b"\r", answers=1)
    assert [record["id"] for record in found["result"]["records"]] == ["r1", "r2", "r3"]


async def test_only_its_owner_may_use_it_and_it_is_removed(
    stub: Stub, path: Path, run_server: Run
) -> None:
    server = UnixServer(stub, path)
    ended = await run_server(server)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    server.stop()
    await ended
    assert not path.exists()


async def test_many_peers_at_once(
    stub: Stub, path: Path, run_server: Run, request_line: Line
) -> None:
    await run_server(UnixServer(stub, path))
    asked = (ask(path, request_line(i, "echo", {"n": i}), answers=1) for i in range(50))
    found = await asyncio.gather(*asked)
    assert [answers[0]["result"]["n"] for answers in found] == list(range(50))


async def test_five_megabytes_both_ways(
    stub: Stub, path: Path, run_server: Run, request_line: Line
) -> None:
    await run_server(UnixServer(stub, path))
    text = "x" * 5_000_000
    (found,) = await ask(path, request_line(1, "echo", {"text": text}), answers=1)
    assert found["result"]["text"] == text


async def test_half_closed_peers_get_their_answers(
    stub: Stub, path: Path, run_server: Run, request_line: Line, eventually: Eventually
) -> None:
    await run_server(UnixServer(stub, path))
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(request_line(1, "wait") + b"\n")
    writer.write_eof()
    await eventually(lambda: stub.running)
    stub.released.set()
    async with asyncio.timeout(10):
        assert json.loads(await reader.read())["id"] == 1
    writer.close()


async def test_a_peer_that_left_does_not_hurt_the_others(
    stub: Stub, path: Path, run_server: Run, request_line: Line, eventually: Eventually
) -> None:
    await run_server(UnixServer(stub, path))
    _, writer = await asyncio.open_unix_connection(str(path))
    writer.write(request_line(1, "big", {"bytes": 3_000_000}) + b"\n")
    writer.transport.abort()
    (found,) = await ask(path, request_line(3, "echo"), answers=1)
    assert found["id"] == 3
    await eventually(lambda: not stub.running)


async def test_a_stale_socket_is_replaced(stub: Stub, path: Path, run_server: Run) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
        dead.listen()
    assert path.is_socket()
    await run_server(UnixServer(stub, path))
    (found,) = await ask(path, b'{"jsonrpc":"2.0","id":1,"method":"echo"}', answers=1)
    assert found["id"] == 1


async def test_a_socket_that_is_in_use_is_left_alone(
    stub: Stub, path: Path, run_server: Run
) -> None:
    await run_server(UnixServer(stub, path))
    with pytest.raises(ConfigurationError, match="another server is listening"):
        await UnixServer(stub, path).start()
    (found,) = await ask(path, b'{"jsonrpc":"2.0","id":1,"method":"echo"}', answers=1)
    assert found["id"] == 1


async def test_of_two_that_start_at_once_one_serves(
    stub: Stub, path: Path, run_server: Run
) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    outcomes = await asyncio.gather(
        *(run_server(UnixServer(stub, path)) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(outcome, ConfigurationError) for outcome in outcomes) == 7
    (found,) = await ask(path, b'{"jsonrpc":"2.0","id":1,"method":"echo"}', answers=1)
    assert found["id"] == 1


async def test_a_server_that_starts_waits_for_one_that_is_starting(
    stub: Stub, path: Path, run_server: Run
) -> None:
    """Else both may find the old socket stale, and the later one removes the earlier one's."""
    folder = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    starting = asyncio.ensure_future(run_server(UnixServer(stub, path)))
    await asyncio.wait([starting], timeout=0.2)
    assert not path.exists()
    os.close(folder)
    async with asyncio.timeout(10):
        await starting
    assert path.is_socket()


async def test_other_files_are_never_removed(stub: Stub, path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(ConfigurationError, match="no socket"):
        await UnixServer(stub, path).start()
    assert path.read_text() == "precious"
    path.unlink()
    path.symlink_to("/dev/null")
    with pytest.raises(ConfigurationError, match="no socket"):
        await UnixServer(stub, path).start()


async def test_another_server_s_socket_is_not_unlinked(
    stub: Stub, path: Path, run_server: Run
) -> None:
    server = UnixServer(stub, path)
    ended = await run_server(server)
    path.unlink()
    await run_server(UnixServer(stub, path))
    server.stop()
    await ended
    assert path.is_socket()


@pytest.mark.parametrize("name", ["missing/socket", "x" * 200])
async def test_a_place_where_none_can_be_is_named(stub: Stub, path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="no socket can be made"):
        await UnixServer(stub, path.parent / name).start()
    assert list(path.parent.iterdir()) == []


async def test_stop_finishes_what_was_accepted(
    stub: Stub, path: Path, run_server: Run, request_line: Line, eventually: Eventually
) -> None:
    server = UnixServer(stub, path)
    ended = await run_server(server)
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(request_line(1, "wait") + b"\n")
    await eventually(lambda: stub.running)
    server.stop()
    await eventually(lambda: not accepts(path))
    stub.released.set()
    await ended
    assert json.loads(await reader.readline())["id"] == 1
    assert await reader.read() == b""
    writer.close()


async def test_sigterm_ends_the_process(
    start_program: Start, path: Path, request_line: Line
) -> None:
    process = await start_program("unix", str(path))
    assert process.stderr is not None
    while b"ready" not in await process.stderr.readline():
        pass
    assert len(await ask(path, request_line(1, "echo"), answers=1)) == 1
    process.terminate()
    assert await process.wait() == 0
    assert not os.path.lexists(path)
