"""What ``recall``, ``timeline`` and ``describe`` ask: a server, or a collection in this process."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus

import typer

from a2m_gateway.cli.assembly import opened
from a2m_gateway.cli.checks import secret_from
from a2m_gateway.cli.choice import Choice
from a2m_gateway.cli.conditions import read_query
from a2m_gateway.client import Client
from a2m_gateway.errors import HttpRefused
from a2m_gateway.memory import Endpoint

__all__ = ["client_of", "question_of"]

_TOKEN = "A2M_TOKEN"  # noqa: S105 - the variable's name
_SERVER = re.compile(r"(https?|unix):", re.IGNORECASE)
_TARGET = re.compile(r"[a-z][a-z0-9+.-]*://|unix:", re.IGNORECASE)


def question_of(choice: Choice, query: str | None) -> tuple[Choice, str | None]:
    """Target and query; a sole argument that is no URL is the query of the file's collection."""
    from_file = choice.settings.store.url
    if query is None and from_file and choice.target and not _TARGET.match(choice.target):
        choice, query = replace(choice, target=from_file), choice.target
    return choice, read_query(query)


@asynccontextmanager
async def client_of(choice: Choice, token_variable: str | None) -> AsyncIterator[Client]:
    """A client of the server that the target names, or of one in this process on its store."""
    target = choice.required_target
    if not _SERVER.match(target):
        if token_variable is not None:
            raise typer.BadParameter(
                "is for a server, and TARGET is a store", param_hint="--token-env"
            )
        async with opened(choice) as memory:
            deadline = choice.settings.server.deadline
            endpoint = Endpoint(memory.memory, deadline=deadline)
            # The endpoint's own answer to a call that takes too long says more than the client's.
            yield Client.in_process(endpoint, timeout=deadline + 5)
        return
    _refuse_store_options(choice)
    async with _remote(target, token_variable) as client:
        yield client


def _refuse_store_options(choice: Choice) -> None:
    """A server has opened its store: options that say how would be ignored."""
    given = [*choice.layout, *(["embedder"] if choice.embedder is not None else [])]
    if given:
        raise typer.BadParameter(
            "says how a store is opened, and TARGET is a server, which has opened its own",
            param_hint="--" + given[0].replace("_", "-"),
        )


@asynccontextmanager
async def _remote(target: str, token_variable: str | None) -> AsyncIterator[Client]:
    scheme, _, rest = target.partition(":")
    if scheme.lower() == "unix":
        if not rest:
            raise typer.BadParameter("unix: takes the path of a socket", param_hint="TARGET")
        async with Client.unix(rest) as client:
            yield client
        return
    variable = token_variable or _TOKEN
    token = secret_from(variable, required_by=token_variable and "--token-env")
    try:
        async with Client.http(target, token=token) as client:
            yield client
    except HttpRefused as error:
        if error.status != HTTPStatus.UNAUTHORIZED:
            raise
        has = "which it does not accept" if token else "which is not set"
        raise HttpRefused(
            error.status, f"{target} asks for a bearer token; it is taken from {variable}, {has}"
        ) from None
