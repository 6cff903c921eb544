"""Standard output and error: pipes, locales, colours, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import command_corpora
import pytest
from forked_commands import ForkedCommands
from gateway import poll

WITH_CORPORA = [sys.executable, command_corpora.__file__]
ESCAPE = re.compile(r"\x1b")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|38;[\d;]+)(?:;\d+)*m")
SECONDS = 90


def run(
    *args: str, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*WITH_CORPORA, *args], env={**os.environ, **(env or {})}, timeout=SECONDS, **options
    )


def on_a_terminal(
    *args: str, env: Mapping[str, str] | None = None, answer: Callable[[str], None] | None = None
) -> tuple[int, str]:
    """Exit code and what a terminal got.

    Args:
        answer: Called with all that has come so far.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*WITH_CORPORA, *args],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **(env or {})},
    )
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + SECONDS
    try:
        while True:
            assert time.monotonic() < deadline, shown
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                piece = b""
            if not piece:
                break
            shown += piece
            if answer is not None:
                answer(shown.decode(errors="replace"))
        return process.wait(SECONDS), shown.decode()
    finally:
        os.close(ours)
        process.kill()
        process.wait()


@pytest.mark.parametrize("args", [("timeline", "memory:///plain"), ("--help",)], ids=" ".join)
def test_a_reader_that_has_seen_enough(args: tuple[str, ...]) -> None:
    """It is gone before the first byte, as ``head`` might be."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*args, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_an_error() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        done = run("describe", "memory:///plain", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"error: standard output can't be written: No space left on device\n"


def test_without_standard_streams() -> None:
    shell = 'exec "$@" >&- 2>&- <&-'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *WITH_CORPORA, "timeline", "memory:///plain"], timeout=SECONDS
    )
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["C", "POSIX"])
def test_the_plainest_locale(name: str) -> None:
    args = ("timeline", "memory:///escapes")
    env = {"LC_ALL": name, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for more in ((), ("--json",)):
        done = run(*args, *more, env=env, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.isascii()
    (record,) = json.loads(done.stdout)["records"]
    assert record["content"] == command_corpora.ESCAPES


def test_json_is_utf_8_elsewhere(command: ForkedCommands) -> None:
    assert "烏龍茶" in command("timeline", "memory:///escapes", "--json").out


@pytest.mark.parametrize(
    "args", [("inspect", "memory:///vectors"), ("recall", "memory:///nope"), ("serve",)]
)
def test_no_colours_where_no_terminal_is(command: ForkedCommands, args: tuple[str, ...]) -> None:
    done = command(*args, "--log-level", "debug", env={"TERM": "xterm-256color"})
    assert not ESCAPE.search(done.out)
    assert not ESCAPE.search(done.err)


def test_colours_on_a_terminal_unless_they_are_not_wanted() -> None:
    args = ("recall", "memory:///nope", "--log-level", "info")
    code, shown = on_a_terminal(*args)
    assert (code, bool(COLOUR.search(shown))) == (3, True)
    code, shown = on_a_terminal(*args, env={"NO_COLOR": "1"})
    assert "no collection 'nope'" in shown
    assert (code, COLOUR.search(shown)) == (3, None)


def test_progress_on_a_terminal_and_a_log_line_elsewhere(
    command: ForkedCommands, embedding_service: Callable[..., Any]
) -> None:
    service = embedding_service(held=True)
    embedder = ("--embedder", f"openai:m@{service.remote}")
    env = {"NO_PROXY": "*", "no_proxy": "*"}
    frames: set[str] = set()

    def watch(shown: str) -> None:
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
        frames.update(re.findall(r"([⠀-⣿]) Opening memory:///vectors", plain))
        if len(frames) > 2:  # it moves, while the embedder keeps it waiting
            service.release()

    args = ("recall", "memory:///vectors", "keys", *embedder)
    code, shown = on_a_terminal(*args, env=env, answer=watch)
    assert code == 0
    assert "Searching" in shown
    assert shown.index("warning: ") < shown.index("Opening ")
    quiet, said = command(*args, env=env), command(*args, "--log-level", "info", env=env)
    assert quiet.err.count("\n") == 1  # the warning
    assert "Opening memory:///vectors" in said.err
    assert not re.search(r"[⠀-⣿]", said.err + said.out)


def test_ctrl_c(embedding_service: Callable[..., Any]) -> None:
    service = embedding_service(held=True)
    embedder = ("--embedder", f"openai:m@{service.loopback}")
    with subprocess.Popen(
        [*WITH_CORPORA, "recall", "memory:///vectors", "x", *embedder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        poll(service.arrived.is_set, within=SECONDS, what="a request to the embedder")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
