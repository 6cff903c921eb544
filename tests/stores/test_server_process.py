"""A child process that serves on a port: started when needed, and gone when its parent is."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from a2m_gateway.errors import StoreUnavailable
from a2m_gateway.store.server_process import ServerProcess

SERVER = """
import http.server, os, signal, sys
print("hello from the server", flush=True)
names = "A2M_STORE_SECRET", "OPENAI_API_KEY", "TZ", "MARK"
print(*(os.environ.get(name) for name in names), flush=True)
handler = http.server.SimpleHTTPRequestHandler
handler.log_message = lambda *arguments: None
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()
"""


def serving(*flags: str) -> Callable[[int], Sequence[str]]:
    return lambda port: [sys.executable, "-c", SERVER, str(port), *flags]


async def ready(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nothing tells of another process's end
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return _state(pid) != "Z"


def _state(pid: int) -> str:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return listed.stdout.decode().strip()[:1] or "Z"


def group(pgid: int) -> list[int]:
    """The living processes of a group."""
    listed = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, check=True)
    pairs = [line.split() for line in listed.stdout.decode().splitlines()]
    return [int(pid) for pid, of in pairs if int(of) == pgid and alive(int(pid))]


async def test_it_starts_at_the_first_call_and_once_for_all() -> None:
    server = ServerProcess("toy", serving(), ready)
    assert not server.pid
    ports = set(await asyncio.gather(*(server.port() for _ in range(20))))
    assert len(ports) == 1
    assert await ready(ports.pop())
    pid = server.pid
    assert pid is not None
    assert len(group(pid)) == 2  # the guard and the server
    await server.aclose()
    await server.aclose()
    assert group(pid) == []
    with pytest.raises(StoreUnavailable, match="closed"):
        await server.port()


@pytest.mark.parametrize("victim", ["all", "server", "guard"])
async def test_it_starts_again_after_a_crash(victim: str) -> None:
    server = ServerProcess("toy", serving(), ready)
    await server.port()
    guard = server.pid
    assert guard is not None
    others = [pid for pid in group(guard) if pid != guard]
    for pid in {"all": [guard, *others], "server": others, "guard": [guard]}[victim]:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: server.pid is None)
    assert await ready(await server.port())
    assert server.pid != guard
    assert group(guard) == []  # nothing of the first one is left
    await server.aclose()


async def test_one_that_hangs_is_replaced_when_it_is_suspected() -> None:
    server = ServerProcess("toy", serving(), _answers_http)
    await server.port()
    first = server.pid
    assert first is not None
    server.suspect()
    await server.port()
    assert server.pid == first  # it answers: a slow call is no reason to kill it
    os.killpg(first, signal.SIGSTOP)
    server.suspect()
    await server.port()
    assert server.pid != first
    assert group(first) == []
    await server.aclose()


async def _answers_http(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.write(b"HEAD / HTTP/1.0\r\n\r\n")
    answer = await reader.read(4)
    writer.close()
    return answer == b"HTTP"


async def test_one_that_ends_at_once_is_quoted() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such database')"]
    server = ServerProcess("toy", lambda port: command, ready)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="toy ended while it started: no such database"):
            await server.port()
    assert server.pid is None
    await server.aclose()


async def test_a_command_that_is_not_there() -> None:
    server = ServerProcess("toy", lambda port: ["/nonexistent/server"], ready)
    with pytest.raises(StoreUnavailable, match="nonexistent"):
        await server.port()
    await server.aclose()


async def test_one_that_is_never_ready_is_killed() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    server = ServerProcess("toy", lambda port: command, ready, start_within=0.5)
    start = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"not ready within 0\.5 s"):
        await server.port()
    assert time.monotonic() - start < 3
    assert server.pid is None
    await server.aclose()


async def test_a_stubborn_one_is_killed_in_the_end() -> None:
    server = ServerProcess("toy", serving("stubborn"), ready, stop_within=0.3)
    await server.port()
    pid = server.pid
    assert pid is not None
    await server.aclose()
    assert group(pid) == []


async def test_a_port_that_somebody_else_takes_is_left_to_them() -> None:
    """Between the choice of a port and the child's start; the other one even answers."""
    taken: list[socket.socket] = []
    ports: list[int] = []

    def command(port: int) -> Sequence[str]:
        ports.append(port)
        if not taken:
            taken.append(socket.create_server(("127.0.0.1", port)))
        return serving()(port)

    async def ready_in_the_end(port: int) -> bool:
        if port == ports[0]:
            await until(lambda: server.pid is None)
        return await ready(port)

    server = ServerProcess("toy", command, ready_in_the_end)
    assert await server.port() == ports[1] != ports[0]
    assert server.pid is not None
    await server.aclose()
    taken[0].close()


async def test_a_cancelled_caller_leaves_the_start_to_the_next() -> None:
    server = ServerProcess("toy", serving(), ready)
    first = asyncio.create_task(server.port())
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await ready(await server.port())
    await server.aclose()


async def test_closing_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    server = ServerProcess("toy", lambda port: command, ready, scratch=scratch)
    starting = asyncio.create_task(server.port())
    await until(lambda: server.pid is not None)
    pid = server.pid
    assert pid is not None
    await server.aclose()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert group(pid) == []
    assert not scratch.exists()


async def test_output_and_settings(
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Standard output is the protocol's alone, and the child sees no secret."""
    monkeypatch.setenv("A2M_STORE_SECRET", "s3cret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-s3cret")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    caplog.set_level("DEBUG", logger="a2m_gateway.store.server_process")
    server = ServerProcess("toy", serving(), ready, environment={"MARK": "seen"})
    await server.port()
    await until(
        lambda: (
            "hello from the server" in caplog.text and "None None Asia/Tokyo seen" in caplog.text
        )
    )
    await server.aclose()
    assert capfd.readouterr().out == ""
    assert "s3cret" not in caplog.text


PARENT = """
import asyncio, sys
sys.path[:0] = [sys.argv[1]]
from pathlib import Path
from a2m_gateway.store.server_process import ServerProcess

async def ready(port):
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True

async def main():
    command = lambda port: [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]
    server = ServerProcess("toy", command, ready, scratch=Path(sys.argv[2]))
    port = await server.port()
    print(server.pid, port, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_it_does_not_outlive_its_parent(number: signal.Signals, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "file").touch()
    root = str(Path(__file__).parents[2])
    parent = subprocess.Popen(  # noqa: ASYNC220 - it ends by a signal, not by the loop
        [sys.executable, "-c", PARENT, root, str(scratch)], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    line = await asyncio.to_thread(parent.stdout.readline)
    pid, port = (int(word) for word in line.split())
    assert len(group(pid)) == 2
    parent.send_signal(number)
    parent.wait()
    parent.stdout.close()
    await until(lambda: group(pid) == [] and not scratch.exists())
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
