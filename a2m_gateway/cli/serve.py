"""``serve``: one collection as an A2M server, over HTTP, stdio or a Unix socket."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from a2m_gateway.cli.assembly import opened
from a2m_gateway.cli.choice import Choice, takes_a_store
from a2m_gateway.cli.console import STDERR
from a2m_gateway.cli.settings import HttpTable
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import (
    HttpServer,
    HttpSettings,
    Server,
    StdioServer,
    TokenHash,
    UnixServer,
    claim_stdio,
    run,
    serve,
)

__all__ = ["http_settings", "serve_command"]


@takes_a_store()
def serve_command(
    choice: Choice,
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
        bool, typer.Option("--read-only", help="Take no writes; this version never does.")
    ] = True,
) -> None:
    """Serve a collection read-only to every A2M client."""
    run(_serve(choice, http, stdio, unix, allow_unauthenticated))


async def _serve(
    choice: Choice, http: str | None, stdio: bool, unix: Path | None, allow_unauthenticated: bool
) -> None:
    table = choice.settings.http
    # Before a store is opened: its engine may print, or keep the peer's pipe in a child.
    pipes = claim_stdio() if stdio else None
    grace = choice.settings.http.shutdown_grace
    wanted = None
    if http is not None or not (stdio or unix):
        wanted = http_settings(table, http or table.listen, allow_unauthenticated)
    async with opened(choice) as memory:
        endpoint = Endpoint(memory.memory, deadline=choice.settings.server.deadline)
        servers: list[Server] = []
        places: list[str] = []
        http_server = HttpServer(endpoint, wanted) if wanted else None
        if http_server is not None:
            servers.append(http_server)
        if unix is not None:
            servers.append(UnixServer(endpoint, unix, grace=grace))
            places.append(f"unix:{unix}")
        if pipes is not None:
            servers.append(StdioServer(endpoint, pipes, grace=grace))
            places.append("stdio")

        def started() -> None:
            where = ", ".join([http_server.url, *places] if http_server else places)
            STDERR.print(f"serving {choice.required_target} read-only on {where}")

        await serve(servers, started=started)


def http_settings(table: HttpTable, listen: str, allow_unauthenticated: bool) -> HttpSettings:
    """The HTTP transport's settings from the file and the command line.

    Raises:
        ConfigurationError: Names the setting.
    """
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit():
        raise ConfigurationError(
            f"{listen!r} is not HOST:PORT, such as 127.0.0.1:8778", setting="--http"
        )
    return HttpSettings(
        host=host.strip("[]"),
        port=int(port),
        tokens=tuple(TokenHash(token.name, token.sha256) for token in table.tokens),
        allowed_origins=table.allowed_origins,
        allowed_hosts=table.allowed_hosts,
        allow_unauthenticated=table.allow_unauthenticated or allow_unauthenticated,
        shutdown_grace=table.shutdown_grace,
    )
