"""``a2m-gateway serve`` as its user starts it: a process, spoken to over stdio and HTTP."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import httpx

__all__ = ["Gateway", "command_line", "poll", "request", "served"]

_PATIENCE = 60.0


def request(method: str, params: Any = None, request_id: Any = 1) -> bytes:
    """A call of ``memory/<method>`` as JSON."""
    call: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": f"memory/{method}"}
    if params is not None:
        call["params"] = params
    return json.dumps(call, ensure_ascii=False).encode()


def command_line() -> list[str]:
    """The installed command, or what it runs."""
    script = shutil.which("a2m-gateway", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-c", "import a2m_gateway.cli as c; c.main()"]


def poll(condition: Callable[[], Any], *, within: float, what: str) -> Any:
    """The first true value of ``condition``, asked again and again."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {within:g} s: {what}"
        time.sleep(0.02)
    return value


class Gateway:
    """One collection served on stdio and on a free port.

    Args:
        url: Of the collection.
        config: A settings file.
    """

    def __init__(self, url: str, *, config: Path | None = None):
        self._said: list[str] = []
        self._serving = threading.Event()
        options = ["--config", str(config)] if config else []
        self.process = subprocess.Popen(
            [*command_line(), "serve", url, "--stdio", "--http", "127.0.0.1:0", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stderr is not None
        self._listener = threading.Thread(target=self._listen, args=[self.process.stderr])
        self._listener.start()
        self._client = httpx.Client(trust_env=False, timeout=_PATIENCE)
        self._serving.wait(_PATIENCE)
        serving = next((line for line in self._said if line.startswith("serving ")), None)
        if serving is None:
            self.kill()
            raise AssertionError(f"it does not serve: {self.log}")
        self.http = serving.rpartition(" read-only on ")[2].partition(",")[0].strip()

    @property
    def log(self) -> str:
        return "".join(self._said)

    def ask(self, message: bytes) -> bytes:
        """The next line on stdout after ``message`` was written to stdin."""
        self.tell(message)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), self.log
        return line[:-1]

    def tell(self, message: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message + b"\n")
        self.process.stdin.flush()

    def post(self, message: bytes) -> httpx.Response:
        return self._client.post(
            self.http, content=message, headers={"content-type": "application/json"}
        )

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The response object to a call over HTTP."""
        response = self.post(request(method, params))
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def end(self) -> int:
        """Close stdin, which ends it; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(_PATIENCE)
        self._listener.join(_PATIENCE)
        return code

    def kill(self) -> None:
        """Make sure that it is gone, whatever became of it."""
        self._client.close()
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            _close(pipe)
        self.wait()

    def _listen(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            self._said.append(line.decode("utf-8", "replace"))
            if self._said[-1].startswith("serving "):
                self._serving.set()
        self._serving.set()
        stderr.close()


def _close(pipe: IO[bytes]) -> None:
    with suppress(BrokenPipeError):  # what it still held can't be delivered
        pipe.close()


@contextmanager
def served(url: str, *, config: Path | None = None) -> Iterator[Gateway]:
    """A gateway for as long as the block lasts."""
    gateway = Gateway(url, config=config)
    try:
        yield gateway
    finally:
        gateway.kill()
