"""A command as a process of its own, whose standard error is read as it comes."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from gateway import command_line

__all__ = ["RunningCommand"]

_PATIENCE = 90.0


class RunningCommand:
    """Ended with the block, whatever became of it.

    Args:
        args: Of ``a2m-gateway``.
        program: What runs instead of it.
    """

    def __init__(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        program: Sequence[str] | None = None,
    ) -> None:
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [*(program or command_line()), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def log(self) -> str:
        """Standard error as far as it has been waited for, or all of it after ``wait``."""
        return "".join(self.said)

    def hear(self, beginning: str) -> str:
        """The next line on standard error that begins so."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            assert line is not None, f"it ended without {beginning!r}: {self.log}"
            self.said.append(line)
            if line.startswith(beginning):
                return line.rstrip("\n")

    def places(self) -> list[str]:
        """Where it serves, once it does."""
        return self.hear("serving ").rpartition(" read-only on ")[2].split(", ")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """Its exit code, once it has ended by itself."""
        code = self.process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        while (line := self._lines.get(timeout=_PATIENCE)) is not None:
            self.said.append(line)
        return code

    def out(self) -> bytes:
        """All of standard output, once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line.decode("utf-8", "backslashreplace"))
        self._lines.put(None)
