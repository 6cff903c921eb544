"""``inspect`` for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from a2m_gateway.cli.console import STDOUT, print_text, visible
from a2m_gateway.memory.catalogue import Catalogue

__all__ = ["print_catalogue", "print_inspection"]

_LONGEST = 160


def print_catalogue(report: Catalogue) -> None:
    """What there is to serve, and the command that serves it."""
    entries = report["collections"]
    if not entries:
        print_text(f"{report['store']} holds no collections")
        return
    _table(
        ("collection", "records", "kind", "what it is"),
        (
            (
                entry["collection"],
                "?" if entry["records"] is None else str(entry["records"]),
                entry["kind"],
                entry["detail"],
            )
            for entry in entries
        ),
    )
    corpus = next((entry for entry in entries if entry["kind"] == "corpus"), None)
    if corpus is not None:
        print_text(f"\nServe one:  a2m-gateway serve '{corpus['url']}'")


def print_inspection(report: Mapping[str, Any]) -> None:
    """What was recognised, how sure, what is declared and why, and a few records."""
    version = f" {report['version']}" if report["version"] else ""
    print_text(report["store"], style="bold")
    _facts(
        ("engine", f"{report['engine']}{version}"),
        ("records", str(report["records"])),
        ("consistency", report["consistency"]),
        ("durability", report["durability"]),
    )
    _print_layout(report["layout"])
    _print_vectors(report["vectors"])
    _print_ranking(report["ranking"])
    _print_capabilities(report)
    _heading("Notes")
    _sentences(report["notes"] or ["nothing further"])
    _print_sample(report["sample"])


def _print_layout(layout: Mapping[str, Any]) -> None:
    _heading("Layout")
    writer = f", written by {layout['writer']}" if layout["writer"] else ""
    _facts(
        ("recognised", f"{layout['name']}{writer}"),
        ("how sure", f"{layout['confidence']:.0%} of the records looked at"),
        ("text", layout["text_field"]),
        ("metadata", layout["metadata_field"]),
        ("id", layout["id_field"] or "the store's own"),
        ("created_at", layout["created_at_field"] or "none"),
        ("vector", _vector_name(layout["vector_name"])),
        ("times", layout["times"]),
    )
    _sentences(layout["evidence"])
    for candidate in layout["candidates"]:
        option = candidate["option"].replace("_", "-")
        found = f"{candidate['what']} ({', '.join(candidate['samples'])})"
        print_text(f"  - could be --{option} {candidate['field']}: {found}")


def _print_vectors(vectors: Sequence[Mapping[str, Any]]) -> None:
    _heading("Vectors")
    if not vectors:
        print_text("  none")
        return
    _table(
        ("name", "kind", "numbers", "metric", "model it names", "searched"),
        (
            (
                _vector_name(vector["name"]),
                vector["kind"],
                "?" if vector["dimensions"] is None else str(vector["dimensions"]),
                vector["metric"] or vector["engine_metric"],
                vector["model"] or "none",
                "yes" if vector["searched"] else "no",
            )
            for vector in vectors
        ),
    )


def _print_ranking(ranking: Mapping[str, Any]) -> None:
    _heading("Ranking of text queries")
    where = f", at {ranking['embedder_remote']}" if ranking["embedder_remote"] else ""
    _facts(
        ("meaning", f"{ranking['embedder']}{where}" if ranking["embedder"] else "no"),
        ("because", ranking["embedder_reason"]),
        ("words", f"{ranking['words']}: {ranking['words_reason']}"),
        ("weight", _weight(ranking)),
    )


def _weight(ranking: Mapping[str, Any]) -> str:
    if not ranking["embedder"]:
        return "words alone"
    return ranking["words_left_out"] or f"words {ranking['words_weight']:g}"


def _print_capabilities(report: Mapping[str, Any]) -> None:
    _heading("Capabilities (read-only)")
    _table(
        ("capability", "declared", "because"),
        (
            (one["capability"], "yes" if one["declared"] else "no", one["reason"])
            for one in report["capabilities"]
        ),
    )
    _heading("How calls are answered")
    filters = report["filters"]
    pushed = ", ".join(f"{kind} {how}" for kind, how in filters["pushed_down"].items())
    _facts(
        ("timeline", _how(report["timeline"])),
        ("where", _how(filters["compared"])),
        ("pushed down", pushed),
        ("limits", json.dumps(_plain(report["limits"]))),
    )


def _print_sample(records: Sequence[Mapping[str, Any]]) -> None:
    _heading("Sample records")
    for record in records:
        for name, value in record.items():
            shown = json.dumps(value, ensure_ascii=False, sort_keys=True)
            text = value if isinstance(value, str) else shown
            print_text(f"  {name:<11} {_shortened(text)}")
        print_text("")


def _heading(text: str) -> None:
    print_text(f"\n{text}", style="bold")


def _facts(*facts: tuple[str, str]) -> None:
    for name, value in facts:
        if value:
            print_text(f"  {name:<12} {value}")


def _sentences(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print_text(f"  - {sentence}")


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=None, pad_edge=True, padding=(0, 2, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(visible, row))
    STDOUT.print(table)


def _vector_name(name: str | None) -> str:
    if name is None:
        return "none"
    return name or "the unnamed one"


def _how(claim: Mapping[str, Any]) -> str:
    return "; ".join(filter(None, (claim["reason"], claim["cost"])))


def _plain(value: Any) -> Any:
    import msgspec

    return msgspec.to_builtins(value)


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}… ({len(text)} characters)"
