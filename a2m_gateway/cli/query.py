"""``describe``, ``recall`` and ``timeline``: asking a collection or a server, as a client does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeAlias

import typer

from a2m_gateway.cli.assembly import opened
from a2m_gateway.cli.choice import Choice, takes_a_store
from a2m_gateway.cli.console import STDOUT, print_json, working
from a2m_gateway.cli.settings import secret_from
from a2m_gateway.client import Client, Record
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import run

__all__ = ["describe_command", "print_records", "recall_command", "timeline_command"]

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="Records at the most.")
]
Where: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        "-w",
        metavar="NAME=VALUE",
        help="Only records with this value, which is JSON or else a string. Repeatable.",
    ),
]
Vectors: TypeAlias = Annotated[
    bool, typer.Option("--embeddings", help="With the records' vectors; implies --json.")
]
TokenVariable: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token-env", metavar="VARIABLE", help="The variable that holds a server's bearer token."
    ),
]
_TOKEN = "A2M_TOKEN"  # noqa: S105 - the variable's name


@takes_a_store("TARGET")
def describe_command(choice: Choice, token_env: TokenVariable = _TOKEN) -> None:
    """Print what a server declares (memory/describe)."""

    async def ask() -> None:
        async with _client(choice, token_env) as client:
            print_json((await client.describe()).raw)

    run(ask())


@takes_a_store("TARGET")
def recall_command(
    choice: Choice,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="Without one, the newest.")
    ] = None,
    limit: Limit = None,
    where: Where = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="Only records that score as much.")
    ] = None,
    embedding: Annotated[
        str | None,
        typer.Option("--embedding", metavar="JSON", help="A vector to search by, as JSON."),
    ] = None,
    embeddings: Vectors = False,
    as_json: AsJson = False,
    token_env: TokenVariable = _TOKEN,
) -> None:
    """Search by relevance (memory/recall)."""
    vector = _vector(embedding)

    async def ask() -> None:
        async with _client(choice, token_env) as client:
            with working("Searching"):
                records = await client.recall(
                    query,
                    limit=limit,
                    where=_where(where),
                    min_score=min_score,
                    embedding=vector,
                    embeddings=embeddings or None,
                )
            _print(records, as_json or embeddings)

    run(ask())


@takes_a_store("TARGET")
def timeline_command(
    choice: Choice,
    limit: Limit = None,
    where: Where = None,
    embeddings: Vectors = False,
    as_json: AsJson = False,
    token_env: TokenVariable = _TOKEN,
) -> None:
    """Read in the order of creation, oldest first; a limit keeps the newest (memory/timeline)."""

    async def ask() -> None:
        async with _client(choice, token_env) as client:
            with working("Reading"):
                records = await client.timeline(
                    limit=limit, where=_where(where), embeddings=embeddings or None
                )
            _print(records, as_json or embeddings)

    run(ask())


@asynccontextmanager
async def _client(choice: Choice, token_variable: str) -> AsyncIterator[Client]:
    """A client of the server that the target names, or of one in this process on its store."""
    target = choice.required_target
    scheme = target.partition(":")[0].lower()
    if scheme in {"http", "https"}:
        async with Client.http(target, token=secret_from(token_variable)) as client:
            yield client
    elif scheme == "unix":
        async with Client.unix(target.partition(":")[2]) as client:
            yield client
    else:
        async with opened(choice) as memory:
            endpoint = Endpoint(memory.memory, deadline=choice.settings.server.deadline)
            yield Client.in_process(endpoint)


def print_records(records: Sequence[Record]) -> None:
    """Print records for people: what is needed to judge an answer, the text in full."""
    if not records:
        STDOUT.print("no records")
    for record in records:
        score = f"{record['score']:.3f}  " if "score" in record else ""
        STDOUT.print(f"{score}{record['id']}  {record['created_at']}", style="bold")
        STDOUT.print(record["content"])
        if record.get("metadata"):
            STDOUT.print(
                json.dumps(record["metadata"], ensure_ascii=False, sort_keys=True), style="dim"
            )
        STDOUT.print()


def _print(records: Sequence[Record], as_json: bool) -> None:
    if as_json:
        print_json({"records": records})
    else:
        print_records(records)


def _where(conditions: Sequence[str] | None) -> dict[str, Any] | None:
    where: dict[str, Any] = {}
    for condition in conditions or ():
        name, equals, value = condition.partition("=")
        if not equals:
            raise ConfigurationError(f"{condition!r} is not NAME=VALUE", setting="--where")
        if name in where:
            raise ConfigurationError(
                f"{name!r} is given twice; any of several values is {name}=[1,2]",
                setting="--where",
            )
        where[name] = _json_or_text(value)
    return where or None


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _vector(text: str | None) -> list[float] | None:
    if text is None:
        return None
    given = _json_or_text(text)
    if not isinstance(given, list) or not all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in given
    ):
        raise ConfigurationError(
            "must be a JSON array of numbers, such as [0.1, 0.2]", setting="--embedding"
        )
    return given
