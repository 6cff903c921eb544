"""``inspect``: what there is to serve, and what became of one collection, with the reasons."""

from __future__ import annotations

from typing import Annotated

import typer

from a2m_gateway.cli.assembly import memory_settings, naming, opened
from a2m_gateway.cli.choice import Choice, takes_a_store
from a2m_gateway.cli.console import print_json, working
from a2m_gateway.cli.report import print_catalogue, print_inspection
from a2m_gateway.memory.catalogue import catalogue
from a2m_gateway.memory.inspection import inspection
from a2m_gateway.transports import run

__all__ = ["inspect_command"]


@takes_a_store()
def inspect_command(
    choice: Choice,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what was recognised and what is declared, and why.

    Without a collection in the URL (``chroma://localhost:8000/``): what there is to serve.
    """
    run(_inspect(choice, as_json))


async def _inspect(choice: Choice, as_json: bool) -> None:
    settings = memory_settings(choice)
    if not settings.url.collection:
        with working(f"Looking into {settings.url}"), naming(settings.url):
            listed = await catalogue(settings)
        print_json(listed) if as_json else print_catalogue(listed)
        return
    async with opened(choice) as memory:
        report = inspection(settings.url, memory)
    print_json(report) if as_json else print_inspection(report)
