"""Collections in memory for tests of commands: ``memory:///NAME`` once they are created.

``python command_corpora.py ARGS`` is ``a2m-gateway ARGS`` with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from a2m_gateway.store import Row
from a2m_gateway.store.memory import create

__all__ = ["ESCAPES", "SENTENCES", "WIDTH", "create_all", "vector"]

WIDTH = 8
SENTENCES = (
    "The deploy key of the staging cluster rotates every ninety days.",
    "Error E4211 means that the replica has fallen behind the primary.",
    "Invoices are archived for ten years and deleted in the eleventh.",
    "A deployment is rolled back when its health check fails twice.",
)
ESCAPES = (
    "Coloured \x1b[31mred\x1b[0m, renamed \x1b]0;title\x07, erased \r\x9b2K, kept \tété 烏龍茶."
)


def vector(number: int) -> list[float]:
    """A unit vector for each number, no two of them the same."""
    angle = 0.1 + number
    return [math.cos(angle), math.sin(angle), *[0.0] * (WIDTH - 2)]


def create_all() -> None:
    create("plain", _rows(lambda n, text: {"page_content": text, "metadata": _metadata(n)}))
    create(
        "vectors",
        _rows(lambda n, text: {"page_content": text, "metadata": _metadata(n)}, vectors=True),
    )
    create("ambiguous", _rows(lambda n, text: {"body": text, "summary": f"In short: {text}"}))
    create(
        "named",
        _rows(
            lambda n, text: {
                "text": text,
                "metadata": {
                    **_metadata(n),
                    "hash": f"{n:064x}",
                    "file_id": f"f-{n}",
                    "embedding_config": "{'engine': '', 'model': 'nomic-embed-text'}",
                },
            },
            vectors=True,
        ),
    )
    create("escapes", [Row("r-0", {"page_content": ESCAPES, "metadata": {"\x1b[2J": ESCAPES}})])
    create("empty", [])


def _metadata(number: int) -> dict[str, Any]:
    return {
        "page": number,
        "topic": "ops" if number < 2 else "finance",
        "code": str(number),
        "final": number == 3,
        "weight": number + 0.5,
        "reviewer": None,
    }


def _rows(fields: Any, *, vectors: bool = False) -> list[Row]:
    made: list[Row] = []
    for number, text in enumerate(SENTENCES):
        payload: Mapping[str, Any] = fields(number, text)
        made.append(Row(f"r-{number}", payload, vector(number) if vectors else None))
    return made


def main() -> None:
    from a2m_gateway.cli import main as command

    create_all()
    command()


if __name__ == "__main__":
    main()
