"""An engine that runs in-process, run in a child process of its own.

Such an engine would stall the event loop for as long as each call takes, and could not be stopped
when it hangs. Here every call has a deadline, a child that keeps a call longer is killed, and the
next call starts a new one.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from a2m_gateway import errors
from a2m_gateway.errors import (
    CollectionNotFound,
    SetupError,
    StoreCorrupt,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store.rows import JSON
from a2m_gateway.store.worker_main import HEADER, frame

__all__ = ["WorkerProcess"]

_GOODBYE = 2.0
"""Seconds that a child has to end by itself."""


class WorkerProcess:
    """Calls the methods of an object that lives in a child process.

    The child serves one call after another. It ends with ``aclose``, and by itself when this
    process is gone.

    Args:
        factory: ``"package.module:callable"``, imported and called in the child.
        arguments: Of the factory, by name.
        name: Of the engine, for messages.
        call_timeout: Seconds a caller waits, and the child may work, for one call.
        start_timeout: Seconds that the factory may take. A caller in the meantime still waits no
            longer than ``call_timeout``.
    """

    def __init__(
        self,
        factory: str,
        arguments: Mapping[str, JSON],
        *,
        name: str,
        call_timeout: float,
        start_timeout: float = 120.0,
    ) -> None:
        self._order = {"factory": factory, "arguments": arguments}
        self._name = name
        self._call_timeout = call_timeout
        self._start_timeout = start_timeout
        self._child: _Child | None = None
        self._starting: asyncio.Task[_Child] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, or None while there is no child."""
        return self._child.pid if self._child is not None and self._child.alive else None

    async def start(self) -> None:
        """Start the child and wait until the engine is ready.

        Raises:
            SetupError: The factory's own.
            StoreUnavailable: The child ended before it was ready.
            StoreTimeout: It was not ready within ``start_timeout``.
        """
        await self._ready()

    async def call(self, method: str, **arguments: Any) -> Any:
        """Call a method of the engine.

        Args:
            method: Its name.
            **arguments: JSON values.

        Returns:
            The method's result, a JSON value; a number that is not finite arrives as None.

        Raises:
            StoreTimeout: No answer in time. A child that still works on it then is killed.
            StoreUnavailable: The child ended; the next call starts another.
            StoreError: The method's own.
        """
        try:
            async with asyncio.timeout(self._call_timeout):
                child = await self._ready()
                return await child.call(method, arguments)
        except TimeoutError:
            raise StoreTimeout(
                f"{self._name} did not answer within {self._call_timeout:g} s"
            ) from None
        except UnicodeEncodeError as error:
            raise StoreRefused(f"{self._name}: half a surrogate pair is no text") from error
        except CollectionNotFound:
            raise
        except SetupError as error:
            # What only serving can find out, such as a lock that somebody took in between.
            raise StoreUnavailable(f"{self._name} could not be restarted: {error}") from error

    async def aclose(self) -> None:
        """End the child. Calls under way fail. Idempotent."""
        self._closed = True
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._child is not None:
            await self._child.aclose()

    async def _ready(self) -> _Child:
        if self._closed:
            raise StoreUnavailable(f"{self._name} has been closed")
        if self._child is not None and self._child.alive:
            return self._child
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(_retrieve)
        # Shielded: a caller whose time is up must not end the start that others wait for.
        return await asyncio.shield(self._starting)

    async def _start(self) -> _Child:
        if self._child is not None:
            await self._child.ended.wait()  # it may hold a lock until then
        process = await asyncio.create_subprocess_exec(
            # -P: the working directory is no place to import from.
            *(sys.executable, "-P", "-m", "a2m_gateway.store.worker_main"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": _import_path()},
        )
        child = _Child(process, self._name, self._call_timeout)
        try:
            async with asyncio.timeout(self._start_timeout):
                await child.begin(self._order)
        except BaseException as error:
            child.kill()
            await child.ended.wait()
            if isinstance(error, TimeoutError):
                raise StoreTimeout(
                    f"{self._name} was not ready within {self._start_timeout:g} s"
                ) from None
            raise
        self._child = child
        return child


class _Child:
    """One life of the process."""

    def __init__(self, process: asyncio.subprocess.Process, name: str, call_timeout: float) -> None:
        if process.stdin is None or process.stdout is None:
            raise TypeError("a child without pipes")
        self.alive = True
        self.ended = asyncio.Event()
        self.pid = process.pid
        self._process = process
        self._requests = process.stdin
        self._answers = process.stdout
        self._name = name
        self._call_timeout = call_timeout
        self._numbers = itertools.count()
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._watch: asyncio.TimerHandle | None = None
        self._reader = asyncio.create_task(self._read())

    async def begin(self, order: Mapping[str, object]) -> None:
        await self._send(next(self._numbers), order)

    async def call(self, method: str, arguments: Mapping[str, object]) -> Any:
        number = next(self._numbers)
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(self._call_timeout, self._hung)
        try:
            return await self._send(
                number, {"id": number, "method": method, "arguments": arguments}
            )
        except asyncio.CancelledError:
            # The number stays pending: until the child is done with it, it is what the child does.
            self._write({"cancel": number})
            raise

    def kill(self) -> None:
        self.alive = False
        with suppress(ProcessLookupError):
            self._process.kill()

    async def aclose(self) -> None:
        self.alive = False
        self._requests.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                await self.ended.wait()
        self.kill()
        await asyncio.wait([self._reader])

    async def _send(self, number: int, message: Mapping[str, object]) -> Any:
        body = frame(message)
        answer = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            if self.alive:
                self._requests.write(body)
                with suppress(ConnectionError):  # then the reader finds out why
                    await self._requests.drain()
            elif self.ended.is_set():
                self._fail()
            return await answer
        except asyncio.CancelledError:
            answer.cancel()
            raise

    def _write(self, message: Mapping[str, object]) -> None:
        if self.alive:
            self._requests.write(frame(message))

    async def _read(self) -> None:
        try:
            while True:
                header = await self._answers.readexactly(HEADER.size)
                self._answer(await self._answers.readexactly(HEADER.unpack(header)[0]))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # it ended
        except msgspec.DecodeError:
            self.kill()  # what it wrote is no answer
        finally:
            self.alive = False
            self._requests.close()
            await self._exit()
            self.ended.set()
            self._fail()

    async def _exit(self) -> None:
        """Wait for the process to end. Asked first: killing it once more would hide its code."""
        try:
            async with asyncio.timeout(_GOODBYE):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()

    def _answer(self, body: bytes) -> None:
        message = msgspec.json.decode(body)
        waiting = self._pending.pop(message["id"], None)
        self._rearm()
        if waiting is None or waiting.done():
            return
        if "error" in message:
            waiting.set_exception(_error(self._name, message["error"]))
        else:
            waiting.set_result(message["result"])

    def _rearm(self) -> None:
        """The child turns to the next call now."""
        if self._watch is not None:
            self._watch.cancel()
        later = asyncio.get_running_loop().call_later
        self._watch = later(self._call_timeout, self._hung) if self._pending else None

    def _hung(self) -> None:
        self._watch = None
        first = next(iter(self._pending.values()), None)
        if first is not None and not first.done():
            first.set_exception(
                StoreTimeout(f"{self._name} did not answer within {self._call_timeout:g} s")
            )
        self.kill()

    def _fail(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        code = self._process.returncode
        pending, self._pending = self._pending, {}
        for waiting in pending.values():
            if not waiting.done():
                waiting.set_exception(
                    StoreUnavailable(f"{self._name}: its process ended with code {code}")
                )


def _error(name: str, error: Mapping[str, Any]) -> Exception:
    """An error of the child's as the same class here; of a class that is none, a corrupt store."""
    kind = getattr(errors, error["kind"], None)
    if isinstance(kind, type) and issubclass(kind, SetupError):
        return kind(error["message"])
    if isinstance(kind, type) and issubclass(kind, errors.StoreError):
        return kind(error["message"], **error["data"])
    return StoreCorrupt(f"{name}: {error['message']}")


def _import_path() -> str:
    """What the child needs to import what this process can."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)


def _retrieve(task: asyncio.Task[_Child]) -> None:
    """Keep asyncio from reporting a failure that no caller was left to see."""
    if not task.cancelled():
        task.exception()
