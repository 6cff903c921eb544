"""``describe``, ``recall`` and ``timeline``: asking a collection or a server, as a client does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from a2m_gateway.cli.choice import Choice, takes_a_store
from a2m_gateway.cli.conditions import read_score, read_vector, read_where
from a2m_gateway.cli.console import print_json, print_text, working
from a2m_gateway.cli.target import client_of, question_of
from a2m_gateway.client import Record
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
    str | None,
    typer.Option(
        "--token-env",
        metavar="VARIABLE",
        help="The variable that holds a server's bearer token. [A2M_TOKEN]",
    ),
]


@takes_a_store("TARGET")
def describe_command(choice: Choice, token_env: TokenVariable = None) -> None:
    """Print what a server declares (memory/describe)."""

    async def ask() -> None:
        async with client_of(choice, token_env) as client:
            with working("Asking"):
                server = await client.describe()
            print_json(server.raw)

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
    token_env: TokenVariable = None,
) -> None:
    """Search by relevance (memory/recall)."""
    choice, query = question_of(choice, query)
    given = read_where(where)
    vector = read_vector(embedding)
    floor = read_score(min_score)

    async def ask() -> None:
        async with client_of(choice, token_env) as client:
            with working("Searching"):
                records = await client.recall(
                    query,
                    limit=limit,
                    where=given,
                    min_score=floor,
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
    token_env: TokenVariable = None,
) -> None:
    """Read in the order of creation, oldest first; a limit keeps the newest (memory/timeline)."""
    given = read_where(where)

    async def ask() -> None:
        async with client_of(choice, token_env) as client:
            with working("Reading"):
                records = await client.timeline(
                    limit=limit, where=given, embeddings=embeddings or None
                )
            _print(records, as_json or embeddings)

    run(ask())


def print_records(records: Sequence[Record]) -> None:
    """Print records for people: what is needed to judge an answer, the text in full."""
    if not records:
        print_text("no records")
    for record in records:
        score = f"{record['score']:.3f}  " if "score" in record else ""
        print_text(f"{score}{record['id']}  {record['created_at']}", style="bold")
        print_text(record["content"])
        if record.get("metadata"):
            metadata = json.dumps(record["metadata"], ensure_ascii=False, sort_keys=True)
            print_text(metadata, style="dim")
        print_text("")


def _print(records: Sequence[Record], as_json: bool) -> None:
    if as_json:
        print_json({"records": records})
    else:
        print_records(records)
