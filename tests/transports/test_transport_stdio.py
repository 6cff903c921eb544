"""A server on the stdin and stdout of a real process (spec 8.2)."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import server_program

Process = asyncio.subprocess.Process
Start = Callable[..., Awaitable[Process]]
Line = Callable[..., bytes]


async def answer(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    async with asyncio.timeout(20):
        line = await process.stdout.readline()
    assert line.endswith(b"\n"), line
    message: dict[str, Any] = json.loads(line)
    return message


async def rest(process: Process) -> tuple[bytes, str]:
    """What is left on both outputs; closes stdin."""
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(20):
        out, err = await process.communicate()
    return out, (err or b"").decode()


def send(process: Process, *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(line + b"\n" for line in lines))


async def heard(process: Process, word: bytes) -> None:
    """Until the program says ``word`` on stderr."""
    assert process.stderr is not None
    async with asyncio.timeout(20):
        while word not in await process.stderr.readline():
            pass


@pytest.mark.requirement("8.2-stdin-close")
@pytest.mark.requirement("8.2-exit-at-eof")
async def test_answers_and_ends_with_stdin(start_program: Start, request_line: Line) -> None:
    process = await start_program("stdio")
    send(process, request_line(1, "echo", {"a": "ü"}))
    assert await answer(process) == {"jsonrpc": "2.0", "id": 1, "result": {"a": "ü"}}
    out, _ = await rest(process)
    assert out == b""
    assert process.returncode == 0


@pytest.mark.requirement("8.2-stdout-clean")
@pytest.mark.requirement("8.2-logs-stderr")
async def test_nothing_stray_gets_into_the_stream(start_program: Start, request_line: Line) -> None:
    process = await start_program("stdio")
    # The child of ``stray`` reads its stdin to the end: it must not be this one.
    send(process, request_line(1, "stray"), request_line(2, "echo"))
    assert {(await answer(process))["id"], (await answer(process))["id"]} == {1, 2}
    out, err = await rest(process)
    assert out == b""
    for way in ("print", "descriptor", "libc, flushed", "libc, left in its buffer", "child"):
        assert f"stray: {way}" in err
    assert process.returncode == 0


@pytest.mark.requirement("8.2-stdout-clean")
async def test_nothing_stray_before_the_start_either(
    start_program: Start, request_line: Line
) -> None:
    process = await start_program("stdio", "--early")
    send(process, request_line(1, "echo"))
    assert (await answer(process))["id"] == 1
    out, err = await rest(process)
    assert out == b""
    assert "stray: before start" in err


async def test_five_megabytes_both_ways(start_program: Start, request_line: Line) -> None:
    process = await start_program("stdio")
    text = "é\n" * 625_000  # eight bytes each, escaped
    send(process, request_line(1, "echo", {"text": text}), request_line(2, "echo"))
    answers = [await answer(process), await answer(process)]
    assert next(a for a in answers if a["id"] == 1)["result"]["text"] == text
    await rest(process)
    assert process.returncode == 0


async def test_200_requests_at_once(start_program: Start, request_line: Line) -> None:
    process = await start_program("stdio")
    send(process, *(request_line(i, "sleep", {"seconds": 0.05}) for i in range(200)))
    out, _ = await rest(process)
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == list(range(200))
    assert process.returncode == 0


async def test_a_message_without_a_newline_at_the_end(
    start_program: Start, request_line: Line
) -> None:
    process = await start_program("stdio")
    assert process.stdin is not None
    process.stdin.write(request_line(7, "echo"))
    out, _ = await rest(process)
    assert json.loads(out)["id"] == 7
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_finishes_the_request(
    start_program: Start, request_line: Line, number: signal.Signals
) -> None:
    process = await start_program("stdio")
    send(process, request_line(1, "sleep", {"seconds": 0.5}))
    await heard(process, b"sleeping")
    process.send_signal(number)
    assert (await answer(process))["id"] == 1
    async with asyncio.timeout(10):
        assert await process.wait() == 0  # with stdin open


async def test_the_grace_is_bounded(start_program: Start, request_line: Line) -> None:
    process = await start_program("stdio", "--grace", "0.1")
    send(process, request_line(1, "sleep", {"seconds": 60}))
    await heard(process, b"sleeping")
    process.terminate()
    out, _ = await rest(process)
    assert out == b""
    assert process.returncode == 0


async def test_a_second_signal_does_not_wait(start_program: Start, request_line: Line) -> None:
    process = await start_program("stdio", "--grace", "60")
    send(process, request_line(1, "sleep", {"seconds": 60}))
    await heard(process, b"sleeping")
    process.terminate()
    await heard(process, b"again=False")
    process.terminate()
    async with asyncio.timeout(10):
        assert await process.wait() == 0


async def test_a_reader_that_is_gone(start_program: Start, request_line: Line) -> None:
    source, sink = os.pipe()
    process = await start_program("stdio", stdout=sink)
    os.close(sink)
    os.close(source)
    send(process, request_line(1, "sleep", {"seconds": 60}), request_line(2, "echo"))
    async with asyncio.timeout(10):
        assert await process.wait() == 0  # with stdin open, and a call in flight


async def test_a_reader_that_stopped_reading_does_not_keep_it_alive(
    start_program: Start, request_line: Line
) -> None:
    source, sink = os.pipe()
    process = await start_program("stdio", "--grace", "0.2", stdout=sink)
    os.close(sink)
    send(process, request_line(1, "big", {"bytes": 1_000_000}))
    assert await asyncio.to_thread(os.read, source, 10) == b'{"jsonrpc"'
    process.terminate()
    async with asyncio.timeout(10):
        assert await process.wait() == 0
    os.close(source)


def run(stdin: Any, stdout: Any, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The program on streams that asyncio would not take."""
    command = [sys.executable, server_program.__file__, "stdio", *arguments]
    return subprocess.run(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=20)


def test_files(tmp_path: Path, request_line: Line) -> None:
    asked, answered = tmp_path / "in", tmp_path / "out"
    asked.write_bytes(b"\r\n".join(request_line(i, "echo") for i in range(3)))
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        assert run(stdin, stdout).returncode == 0
    lines = answered.read_bytes().splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == [0, 1, 2]


def test_dev_null() -> None:
    done = run(subprocess.DEVNULL, subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_terminal(request_line: Line) -> None:
    keyboard, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, server_program.__file__, "stdio"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(terminal)
        os.write(keyboard, request_line(1, "echo") + b"\n")
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == 1
        os.write(keyboard, b"\x04")  # Ctrl-D
        assert process.wait(timeout=20) == 0
    os.close(keyboard)


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_stream_that_is_closed_is_named(closed: str) -> None:
    """Its number would be some other file's, which messages would be written into."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$1" stdio {closed}', sys.executable, server_program.__file__],
        capture_output=True,
        timeout=20,
    )
    name = "stdin" if closed == "<&-" else "stdout"
    assert done.returncode == 1
    assert f"ConfigurationError: {name} is closed" in done.stderr.decode()


def test_without_stderr(request_line: Line) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$1" stdio 2>&-', sys.executable, server_program.__file__],
        input=request_line(1, "stray") + b"\n",
        stdout=subprocess.PIPE,
        timeout=20,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]
