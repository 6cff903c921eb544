"""Servers side by side: start, signals, graceful end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import structlog

__all__ = ["DEFAULT_GRACE", "Server", "run", "serve"]

log = structlog.get_logger(__name__)

DEFAULT_GRACE = 10.0
"""Seconds that accepted requests may take once a server has been told to stop."""

T = TypeVar("T")


class Server(Protocol):
    """One transport on one endpoint, which it does not own."""

    async def start(self) -> None:
        """Bind and begin to answer.

        Raises:
            ConfigurationError: It can't be bound there, or may not be.
        """
        ...

    async def wait(self) -> None:
        """Return when the server has ended, by itself or after ``stop``.

        Cancelling it abandons the requests in flight and still releases everything.
        """
        ...

    def stop(self) -> None:
        """Accept nothing more, finish what was accepted within the grace. Idempotent."""
        ...


async def serve(servers: Sequence[Server], *, started: Callable[[], None] | None = None) -> None:
    """Run servers until SIGTERM, SIGINT, or the end of one of them, such as stdin's.

    The first signal ends them gracefully, a second one abandons what is in flight.

    Args:
        started: Called once when all of them answer.
    """
    running: list[tuple[Server, asyncio.Task[None]]] = []
    try:
        for server in servers:
            await server.start()
            running.append((server, asyncio.create_task(server.wait())))
        with _signals(_Ending(running)):
            if started is not None:
                started()
            waits = [wait for _, wait in running]
            await asyncio.wait(waits, return_when="FIRST_COMPLETED")
            _stop(running)
            await asyncio.wait(waits)
    except BaseException:
        for _, wait in running:
            wait.cancel()
        raise
    finally:
        _stop(running)
        ended = await asyncio.gather(*(wait for _, wait in running), return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            raise error


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` on uvloop, where there is one."""
    _occupy_standard_descriptors()
    if sys.platform == "win32":
        return asyncio.run(main)
    import uvloop

    return uvloop.run(main)


def _occupy_standard_descriptors() -> None:
    """Open /dev/null where the process was started without a stdin, stdout or stderr.

    The next file or socket would take that number, and what is printed would be written into it;
    libuv, under uvloop, aborts the process over one.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def _stop(running: Sequence[tuple[Server, asyncio.Task[None]]]) -> None:
    for server, _ in running:
        server.stop()


class _Ending:
    """What signals do: the first stops, the second cancels."""

    def __init__(self, running: Sequence[tuple[Server, asyncio.Task[None]]]) -> None:
        self._running = running
        self._asked = False

    def __call__(self, number: signal.Signals) -> None:
        log.info("signal", name=number.name, again=self._asked)
        if self._asked:
            for _, wait in self._running:
                wait.cancel()
        self._asked = True
        _stop(self._running)


@contextlib.contextmanager
def _signals(ending: _Ending) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    numbers: tuple[signal.Signals, ...] = (signal.SIGTERM, signal.SIGINT)
    try:
        for number in numbers:
            loop.add_signal_handler(number, ending, number)
    except (NotImplementedError, RuntimeError, ValueError):
        # Not the main thread, or a platform without: whoever embeds us stops us.
        numbers = ()
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
