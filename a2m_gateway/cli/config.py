"""``config``: checking a configuration file, and making what goes into one."""

from __future__ import annotations

import hashlib
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from a2m_gateway.cli.console import STDERR, STDOUT
from a2m_gateway.cli.serve import http_settings
from a2m_gateway.cli.settings import read_settings
from a2m_gateway.embedding import embedder_settings
from a2m_gateway.shapes import LayoutOptions
from a2m_gateway.store import StoreURL
from a2m_gateway.store.registry import adapter_for

__all__ = ["app"]

app = typer.Typer(help="Check a configuration file, or make a token for it.", no_args_is_help=True)


@app.command("check")
def check_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Configuration file (TOML).")],
) -> None:
    """Check every setting of a file without connecting to anything."""
    settings = read_settings(file)
    if settings.store.url is not None:
        adapter_for(StoreURL.parse(settings.store.url).scheme)
    LayoutOptions.parse(settings.store.layout)
    if settings.embedder is not None:
        embedder_settings(settings.embedder)
    http_settings(settings.http, settings.http.listen, allow_unauthenticated=False)
    STDOUT.print(f"{file}: ok")


@app.command("token")
def token_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is.")],
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Take the token from standard input, one line.")
    ] = False,
) -> None:
    """Make a bearer token; print the lines for the file, and the token itself once."""
    token = sys.stdin.readline().rstrip("\r\n") if from_stdin else secrets.token_urlsafe(32)
    if not from_stdin:
        STDERR.print(f"the token, which is stored nowhere: {token}")
    STDOUT.print(f'[[http.tokens]]\nname = "{name}"')
    STDOUT.print(f'sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"')
