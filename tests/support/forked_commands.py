"""Many command lines at little cost: a process that has loaded the command forks for each.

Run as a program it takes one order a line on standard input and answers with the exit code. Its
in-memory collections are those of ``command_corpora``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["Done", "ForkedCommands"]

_SECONDS = 120


@dataclass(frozen=True)
class Done:
    """What became of a command."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """Standard output, which is JSON."""
        return json.loads(self.out)


class ForkedCommands:
    """Runs command lines, each in a process of its own whose streams are files.

    Args:
        folder: For the streams.
    """

    def __init__(self, folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if not name.startswith("A2M_")},
        )

    def __call__(self, *args: str | bytes, env: Mapping[str, str] | None = None) -> Done:
        """Run ``a2m-gateway ARGS``, with variables beside those of this process."""
        order = {
            "args": [os.fsdecode(arg) for arg in args],
            "env": dict(env or {}),
            "streams": [str(self._out), str(self._err)],
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that forks has ended: what it said is on this one's stderr"
        code = json.loads(answer)
        out, err = (path.read_bytes().decode() for path in (self._out, self._err))
        return Done(code, out, err)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def main() -> None:
    import command_corpora
    import uvloop  # noqa: F401 - what is loaded before the first fork is loaded once
    from typer.main import get_command

    from a2m_gateway.cli import main
    from a2m_gateway.cli.app import app

    with contextlib.suppress(ModuleNotFoundError):
        import a2m_qdrant  # noqa: F401
    with contextlib.suppress(Exception):
        get_command(app)(["recall"], standalone_mode=False)  # it misses a TARGET
    command_corpora.create_all()
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.set_inheritable(answers.fileno(), False)
    orders = os.fdopen(os.dup(0), "rb", buffering=0)
    for line in orders:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(order)
            _run(main)
        answers.write(json.dumps(_code(child)).encode() + b"\n")


def _become(order: Mapping[str, Any]) -> None:
    os.setsid()
    signal.alarm(_SECONDS)
    streams = [os.devnull, *order["streams"]]
    for number, (path, flags) in enumerate(
        zip(streams, (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2), strict=True)
    ):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.update(order["env"])
    sys.argv = ["a2m-gateway", *order["args"]]


def _run(main: Callable[[], None]) -> NoReturn:
    """Run the command and end without taking the interpreter apart, which takes most of the time.

    That a whole process ends well is for tests that start one.
    """
    code: Any = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:  # noqa: BLE001 - the parent wants to see it
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _code(child: int) -> int:
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # nothing that it started outlives it
    return code


if __name__ == "__main__":
    main()
