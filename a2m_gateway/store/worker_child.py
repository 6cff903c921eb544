"""One life of the process behind a ``WorkerProcess``, from its pipes to its end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from a2m_gateway import errors
from a2m_gateway.errors import SetupError, StoreCorrupt, StoreTimeout, StoreUnavailable
from a2m_gateway.store.worker_main import HEADER, frame

__all__ = ["Child"]

_GOODBYE = 2.0
"""Seconds that a child has to end by itself."""


class _Failure(msgspec.Struct):
    kind: str
    message: str
    data: dict[str, Any]


class _Answer(msgspec.Struct):
    id: int
    result: Any = None
    error: _Failure | None = None


_ANSWERS = msgspec.json.Decoder(_Answer)


class Child:
    """A running process.

    Args:
        process: Of ``store.worker_main``, with pipes.
        name: Of the engine, for messages.
        call_timeout: Seconds after which the call that it works on ends it.

    Attributes:
        alive: Whether it takes calls.
        ended: Set once the process is gone.
    """

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
        """Have the engine made. Raises the factory's error."""
        await self._send(next(self._numbers), frame(order))

    async def call(self, method: str, arguments: Mapping[str, object]) -> Any:
        """Have it call a method; raises the method's error, or why there is no answer."""
        number = next(self._numbers)
        request = frame({"id": number, "method": method, "arguments": arguments})
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(self._call_timeout, self._hung)
        try:
            return await self._send(number, request)
        except asyncio.CancelledError:
            # The number stays pending: until the child is done with it, it is what the child does.
            self._write({"cancel": number})
            raise

    def kill(self) -> None:
        """End it at once; ``ended`` follows."""
        self.alive = False
        with suppress(ProcessLookupError):
            self._process.kill()

    async def aclose(self) -> None:
        """Let it end, and end it if it does not. Calls under way fail."""
        self.alive = False
        self._requests.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                await self.ended.wait()
        self.kill()
        await asyncio.wait([self._reader])

    async def _send(self, number: int, request: bytes) -> Any:
        answer = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            if self.alive:
                self._requests.write(request)
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
            self.kill()  # what it wrote is no answer, so that nothing that follows need be one
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
        message = _ANSWERS.decode(body)
        waiting = self._pending.pop(message.id, None)
        self._rearm()
        if waiting is None or waiting.done():
            return
        if message.error is not None:
            waiting.set_exception(_error(self._name, message.error))
        else:
            waiting.set_result(message.result)

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


def _error(name: str, error: _Failure) -> Exception:
    """An error of the child's as the same class here; of a class that is none, a corrupt store."""
    kind = getattr(errors, error.kind, None)
    if isinstance(kind, type) and issubclass(kind, SetupError):
        return kind(error.message)
    if isinstance(kind, type) and issubclass(kind, errors.StoreError):
        return kind(error.message, **error.data)
    return StoreCorrupt(f"{name}: {error.message}")
