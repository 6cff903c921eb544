"""The README's table of what each store supports is what opened stores say of themselves.

``A2M_WRITE_DOCS=1`` writes it into the README instead, to be read before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from a2m_gateway.memory.inspection import inspection
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- begin: matrix -->\n", "<!-- end: matrix -->"
AT = 1_785_233_730
TEXTS = ("The badge has expired.", "Pay is visible to its receiver alone.")


async def _inspected(url: str, time_field: str) -> Mapping[str, Any]:
    """The inspection of a store, and of the same by its own times as ``by_time``."""
    parsed = StoreURL.parse(url)
    layout = {"created_at_field": time_field}
    async with await open_memory(MemorySettings(url=parsed)) as opened:
        report = inspection(parsed, opened)
    async with await open_memory(MemorySettings(url=parsed, layout=layout)) as opened:
        return {**report, "by_time": inspection(parsed, opened)["timeline"]}


@pytest.fixture
async def reports(
    chroma_collection: Callable[..., Any], needs_qdrant: None, tmp_path: Path
) -> Mapping[str, Mapping[str, Any]]:
    """The same two records in each kind of store."""
    from qdrant_folder import write_passages

    vectors = [[1.0, *[0.0] * 7], [0.0, 1.0, *[0.0] * 6]]
    rows = [
        {
            "id": f"r{number}",
            "document": text,
            "metadata": {"page": number, "at": AT + number},
            "vector": vector,
        }
        for number, (text, vector) in enumerate(zip(TEXTS, vectors, strict=True))
    ]
    chroma = chroma_collection(rows, space="cosine")
    folder = tmp_path / "qdrant"
    ids = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"]
    payloads = [
        (point, {"page_content": text, "metadata": {"page": number, "at": AT + number}})
        for number, (point, text) in enumerate(zip(ids, TEXTS, strict=True))
    ]
    write_passages(folder, "docs", payloads, vectors)
    return {
        "Chroma": await _inspected(str(chroma.url), "at"),
        "Qdrant, local mode": await _inspected(f"qdrant+file://{folder}/docs", "metadata.at"),
    }


def _table(reports: Mapping[str, Mapping[str, Any]]) -> str:
    first = next(iter(reports.values()))
    lines = ["| | " + " | ".join(reports) + " |", "|---" * (len(reports) + 1) + "|"]

    def row(name: str, cell: Callable[[Any], str]) -> None:
        lines.append(f"| {name} | " + " | ".join(map(cell, reports.values())) + " |")

    for number, one in enumerate(first["capabilities"]):
        lines.append(
            f"| `{one['capability']}` | "
            + " | ".join(_verdict(report["capabilities"][number]) for report in reports.values())
            + " |"
        )
    row("a vector's metric can be", lambda report: ", ".join(report["metrics"]))
    row("newest, where no record has a time", lambda report: report["timeline"]["reason"])
    row("newest, by a time in seconds", lambda report: report["by_time"]["reason"])
    row("`where`", lambda report: report["filters"]["compared"]["reason"])
    row("`where`, pushed down", lambda report: _pushed(report["filters"]["pushed_down"]))
    row("words", lambda report: report["ranking"]["words_reason"])
    row("consistency", lambda report: report["consistency"])
    row("durability", lambda report: report["durability"])
    return "\n".join(lines) + "\n"


def _pushed(filters: Mapping[str, str]) -> str:
    return ", ".join(f"{kind} {how}" for kind, how in filters.items())


def _verdict(one: Mapping[str, Any]) -> str:
    return "yes, read-only" if one["declared"] else f"no: {one['reason']}"


async def test_the_matrix_is_what_the_stores_say(reports: Mapping[str, Mapping[str, Any]]) -> None:
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    shown, _, after = rest.partition(END)
    table = _table(reports)
    if os.environ.get("A2M_WRITE_DOCS") == "1":
        README.write_text(before + BEGIN + table + END + after, encoding="utf-8")
        return
    assert shown == table
