"""``config``: checking a configuration file, and making what goes into one."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from a2m_gateway.cli.checks import read_settings, within
from a2m_gateway.cli.console import STDERR, STDOUT, visible
from a2m_gateway.cli.listening import http_settings
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.store import StoreURL
from a2m_gateway.store.registry import adapter_for
from a2m_gateway.transports import HttpSettings
from a2m_gateway.transports.http.binding import refuse_strangers

__all__ = ["app"]

app = typer.Typer(help="Check a configuration file, or make a token for it.", no_args_is_help=True)

_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
"""RFC 6750, 2.1: what a client can send as a bearer token."""


@app.command("check")
def check_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Configuration file (TOML).")],
) -> None:
    """Check every setting of a file without connecting to anything."""
    settings = read_settings(file)
    if settings.store.url is not None:
        try:
            adapter_for(StoreURL.parse(settings.store.url).scheme)
        except ConfigurationError as error:
            raise within(error, f"{file}: store.url", inner=False) from None
    try:
        _check_reach(http_settings(settings.http, None))
    except ConfigurationError as error:
        raise within(error, f"{file}: ") from None
    STDOUT.print(f"{visible(str(file))}: ok")


def _check_reach(settings: HttpSettings) -> None:
    """As ``serve`` would, where that takes no name server."""
    try:
        ipaddress.ip_address(settings.host)
    except ValueError:
        return
    refuse_strangers(settings, [settings.host])


@app.command("token", short_help="Make a bearer token, and the lines for the file.")
def token_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is.")],
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Take the token from standard input, one line.")
    ] = False,
) -> None:
    """Make a bearer token; print the lines for the file, and the token itself once."""
    if not name.isprintable() or not name:
        raise typer.BadParameter("must be one line of text", param_hint="NAME")
    token = sys.stdin.readline().rstrip("\r\n") if from_stdin else secrets.token_urlsafe(32)
    if not _TOKEN.fullmatch(token):
        raise typer.BadParameter(
            "what came is no bearer token: letters, digits and -._~+/ alone, = at the end",
            param_hint="--stdin",
        )
    if not from_stdin:
        STDERR.print(f"the token, which is stored nowhere: {token}")
    # A printable string is written alike in JSON and in TOML.
    STDOUT.print(f"[[http.tokens]]\nname = {json.dumps(name, ensure_ascii=False)}")
    STDOUT.print(f'sha256 = "{hashlib.sha256(token.encode()).hexdigest()}"')
