"""An engine that runs in-process, run in a child process of its own.

Such an engine would stall the event loop for as long as each call takes, and could not be stopped
when it hangs. Here every call has a deadline, a child that keeps a call longer is killed, and the
next call starts a new one.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

from a2m_gateway.errors import (
    CollectionNotFound,
    SetupError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store.environment import child_environment
from a2m_gateway.store.rows import JSON
from a2m_gateway.store.worker_child import Child

__all__ = ["WorkerProcess"]


class WorkerProcess:
    """Calls the methods of an object that lives in a child process.

    The child serves one call after another, and sees of the environment what
    ``child_environment`` lets through. It ends with ``aclose``, and by itself when this
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
        self._child: Child | None = None
        self._starting: asyncio.Task[Child] | None = None
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

    async def _ready(self) -> Child:
        if self._closed:
            raise StoreUnavailable(f"{self._name} has been closed")
        if self._child is not None and self._child.alive:
            return self._child
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(_retrieve)
        # Shielded: a caller whose time is up must not end the start that others wait for.
        return await asyncio.shield(self._starting)

    async def _start(self) -> Child:
        if self._child is not None:
            await self._child.ended.wait()  # it may hold a lock until then
        process = await asyncio.create_subprocess_exec(
            # -P: the working directory is no place to import from.
            *(sys.executable, "-P", "-m", "a2m_gateway.store.worker_main"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment() | {"PYTHONPATH": _import_path()},
        )
        child = Child(process, self._name, self._call_timeout)
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


def _import_path() -> str:
    """What the child needs to import what this process can."""
    return os.pathsep.join(entry or os.getcwd() for entry in sys.path)


def _retrieve(task: asyncio.Task[Child]) -> None:
    """Keep asyncio from reporting a failure that no caller was left to see."""
    if not task.cancelled():
        task.exception()
