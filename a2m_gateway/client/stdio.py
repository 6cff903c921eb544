"""A server as a child process (spec 8.2)."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from a2m_gateway.client.channel import NotificationCallback
from a2m_gateway.client.stream import StreamChannel
from a2m_gateway.errors import ServerUnreachable

__all__ = ["StdioChannel"]

PATIENCE = 15.0
"""Seconds for the server to end by itself once its stdin is closed, before it is terminated."""


class StdioChannel(StreamChannel):
    """Starts a command and talks to it over its stdin and stdout; its stderr is this process's.

    Args:
        command: The program and its arguments; no shell is involved.
        env: The environment; None is this process's.
        cwd: Where it runs; None is here.
        on_notification: See ``StreamChannel``.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        on_notification: NotificationCallback | None = None,
    ) -> None:
        super().__init__(on_notification=on_notification)
        self._command = list(command)
        self._env = env
        self._cwd = cwd
        self._process: asyncio.subprocess.Process | None = None

    @property
    def returncode(self) -> int | None:
        """The exit code of the server, once it has ended."""
        return None if self._process is None else self._process.returncode

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
            )
        except OSError as error:
            raise ServerUnreachable(
                f"{self._command[0]!r} can't be started: {error.strerror}"
            ) from None
        if process.stdout is None or process.stdin is None:
            raise ServerUnreachable("the server was started without its pipes")
        return process.stdout, process.stdin

    async def _disconnect(self) -> None:
        process = self._process
        if process is None:
            return
        try:
            # Closing stdin is the one portable signal to end (spec 8.2).
            if await _ends(process, PATIENCE):
                return
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await _ends(process, PATIENCE)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()

    async def _why_it_ended(self) -> str:
        if self._process is None:
            return await super()._why_it_ended()
        if not await _ends(self._process, PATIENCE):
            return "the server closed its stdout"
        return f"the server ended with exit code {self._process.returncode}"


async def _ends(process: asyncio.subprocess.Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True
