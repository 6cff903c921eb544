"""An embedded engine that has a server of its own: run as a child process, one for each store.

The child starts at the first call, again at the first call after it died, and never outlives this
process: a guard between the two (``server_guard``) ends it when this process is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import socket
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from a2m_gateway.errors import StoreUnavailable
from a2m_gateway.store import server_guard
from a2m_gateway.store.environment import child_environment

__all__ = ["ServerProcess"]

log = logging.getLogger(__name__)  # the library's: it never falls back to standard output

_POLL = 0.02
_LONGEST_LINE = 65_536
_LAST_WORDS = 8


class ServerProcess:
    """A server on a free port of the loopback interface.

    Args:
        name: For errors and logs: ``"chroma"``.
        command: The command line that serves on a port.
        ready: Whether the server on a port answers; called again and again until it does.
        start_within: Seconds until ``ready``, after which the child is killed.
        stop_within: Seconds between SIGTERM and SIGKILL in ``aclose``.
        environment: Beside what ``child_environment`` lets through of this process's own.
        scratch: A folder that is removed when the server is closed or this process dies.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[int], Sequence[str]],
        ready: Callable[[int], Awaitable[bool]],
        *,
        start_within: float = 30.0,
        stop_within: float = 5.0,
        environment: Mapping[str, str] = MappingProxyType({}),
        scratch: Path | None = None,
    ) -> None:
        self._name = name
        self._command = command
        self._ready = ready
        self._start_within = start_within
        self._stop_within = stop_within
        self._environment = {**child_environment(), **environment}
        self._scratch = scratch
        self._process: asyncio.subprocess.Process | None = None
        self._port = 0
        self._starting: asyncio.Task[int] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._suspected = False
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process group of the child, or None where none runs."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def port(self) -> int:
        """The port of a server that runs, started if need be.

        A caller that is cancelled leaves the start to the next one.

        Raises:
            StoreUnavailable: It can't be started; carries its last words.
        """
        if self._closed:
            raise StoreUnavailable(f"the embedded {self._name} server is closed")
        if self._starting is None and self.pid is not None and not self._suspected:
            return self._port
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
        return await asyncio.shield(self._starting)

    def suspect(self) -> None:
        """Say that a call got no answer: the next one replaces a child that hangs."""
        self._suspected = True

    async def aclose(self) -> None:
        """End the child and remove its scratch folder. Idempotent."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        await self._end(patiently=True)
        if self._scratch is not None:
            await asyncio.to_thread(shutil.rmtree, self._scratch, ignore_errors=True)

    def _started(self, task: asyncio.Task[int]) -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # every waiter may have been cancelled: it has been looked at

    async def _start(self) -> int:
        if self.pid is not None and await self._answers(within=1.0):
            self._suspected = False
            return self._port
        await self._end(patiently=False)
        try:
            await self._start_at(_free_port())
        except StoreUnavailable:
            if _is_free(self._port):
                raise
            # Somebody else took the port before the child did.
            await self._start_at(_free_port())
        self._suspected = False
        return self._port

    async def _start_at(self, port: int) -> None:
        self._port = port
        try:
            await self._spawn()
            await self._until_ready()
        except BaseException:
            await asyncio.shield(self._end(patiently=False))
            raise

    async def _spawn(self) -> None:
        self._last_words.clear()
        guard = [sys.executable, "-I", "-S", server_guard.__file__, str(self._scratch or "")]
        try:
            self._process = await asyncio.create_subprocess_exec(
                *guard,
                *self._command(self._port),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,  # one group to signal, and Ctrl-C is not for it
            )
        except OSError as error:
            raise StoreUnavailable(f"{self._name} could not be started: {error}") from error
        self._reader = asyncio.create_task(self._read(self._process))

    async def _until_ready(self) -> None:
        try:
            async with asyncio.timeout(self._start_within):
                while not await self._answers(within=self._start_within):
                    await asyncio.sleep(_POLL)
                    if self.pid is None:
                        raise StoreUnavailable(await self._obituary())
                if self.pid is None:  # what answers is somebody else's
                    raise StoreUnavailable(await self._obituary())
        except TimeoutError:
            raise StoreUnavailable(
                f"{self._name} was not ready within {self._start_within:g} s"
            ) from None

    async def _answers(self, *, within: float) -> bool:
        try:
            async with asyncio.timeout(within):
                return await self._ready(self._port)
        except TimeoutError:
            return False

    async def _obituary(self) -> str:
        if self._reader is not None:
            await asyncio.wait([self._reader], timeout=1.0)
        words = " / ".join(self._last_words) or "it said nothing"
        return f"{self._name} ended while it started: {words}"

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        begun = b""
        while chunk := await process.stdout.read(65536):
            *lines, begun = (begun + chunk).split(b"\n")
            if len(begun) > _LONGEST_LINE:
                lines, begun = [*lines, begun], b""
            self._note(lines)
        self._note([begun])

    def _note(self, lines: Iterable[bytes]) -> None:
        for line in (one.decode("utf-8", "replace").strip() for one in lines):
            if line:
                self._last_words.append(line[:300])
                log.debug("%s: %s", self._name, line)

    async def _end(self, *, patiently: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if patiently and process.returncode is None:
                _signal(process.pid, signal.SIGTERM)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), self._stop_within)
        finally:
            _signal(process.pid, signal.SIGKILL)  # the group: the guard may have died alone
        await process.wait()
        if self._reader is not None:
            await asyncio.wait([self._reader], timeout=1.0)
            self._reader.cancel()


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # A connection that was closed a moment ago holds no port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
