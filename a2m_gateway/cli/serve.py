"""``serve``: one collection as an A2M server, over HTTP, stdio or a Unix socket."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from a2m_gateway.cli.assembly import opened
from a2m_gateway.cli.choice import Choice, takes_a_store
from a2m_gateway.cli.console import STDERR, visible
from a2m_gateway.cli.listening import http_settings, renamed
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import (
    HttpServer,
    HttpSettings,
    Server,
    StdioServer,
    UnixServer,
    claim_stdio,
    run,
    serve,
)

__all__ = ["CONTEXT", "serve_command"]

CONTEXT = {"allow_extra_args": True}
"""Of the command, so that a second STORE is refused by name and not as an argument too many."""


@takes_a_store()
def serve_command(
    choice: Choice,
    context: typer.Context,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve HTTP there. [127.0.0.1:8778]"),
    ] = None,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Serve standard input and output.")
    ] = False,
    unix: Annotated[
        Path | None, typer.Option("--unix", metavar="PATH", help="Serve a Unix socket.")
    ] = None,
    allow_unauthenticated: Annotated[
        bool,
        typer.Option(
            "--allow-unauthenticated",
            help="Serve other machines without tokens: whoever can connect reads everything.",
        ),
    ] = False,
    read_only: Annotated[
        bool,
        typer.Option(
            "--read-only/--no-read-only",
            help="Take no writes, which this version never does.",
            show_default=False,
        ),
    ] = True,
) -> None:
    """Serve a collection read-only to every A2M client."""
    if context.args:
        raise typer.BadParameter(
            f"this version serves one collection, and there is another, {context.args[0]!r}: "
            "start one server for each, or quote a URL that holds blanks",
            param_hint="STORE",
        )
    if not read_only:
        raise typer.BadParameter(
            "this version takes no writes: what a store holds is loaded by its own pipeline",
            param_hint="--no-read-only",
        )
    table = choice.settings.http
    wanted = None
    if http is not None or not (stdio or unix):
        wanted = http_settings(table, http, allow_unauthenticated=allow_unauthenticated)
    try:
        run(_until_ended(choice, wanted, stdio, unix))
    except ConfigurationError as error:
        raise renamed(error, "http.listen" if http is None else "--http") from None


async def _until_ended(
    choice: Choice, wanted: HttpSettings | None, stdio: bool, unix: Path | None
) -> None:
    with _cancelled_by_sigterm():
        await _serve(choice, wanted, stdio, unix)


@contextmanager
def _cancelled_by_sigterm() -> Iterator[None]:
    """Have SIGTERM end the opening of a store as a success; ``serve`` then takes the signal over.

    SIGINT needs nothing: asyncio cancels the task, and raises KeyboardInterrupt.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    asked = False

    def end() -> None:
        nonlocal asked
        asked = True
        if task is not None:
            task.cancel()

    # Not the main thread, or a platform without: then it ends this process as any other.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGTERM, end)
    try:
        yield
    except asyncio.CancelledError:
        if not asked:
            raise


async def _serve(
    choice: Choice, wanted: HttpSettings | None, stdio: bool, unix: Path | None
) -> None:
    # Before a store is opened: its engine may print, or keep the peer's pipe in a child.
    pipes = claim_stdio() if stdio else None
    grace = choice.settings.http.shutdown_grace
    async with opened(choice) as memory:
        endpoint = Endpoint(memory.memory, deadline=choice.settings.server.deadline)
        servers: list[tuple[Server, Callable[[], str]]] = []
        if wanted is not None:
            http = HttpServer(endpoint, wanted)
            servers.append((http, lambda: http.url))  # its port is known once it has started
        if unix is not None:
            servers.append((UnixServer(endpoint, unix, grace=grace), lambda: f"unix:{unix}"))
        if pipes is not None:
            servers.append((StdioServer(endpoint, pipes, grace=grace), lambda: "stdio"))

        def started() -> None:
            where = ", ".join(place() for _, place in servers)
            store = visible(choice.required_target)
            STDERR.print(f"serving {store} read-only on {where}")

        await serve([server for server, _ in servers], started=started)
