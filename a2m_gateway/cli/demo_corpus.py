"""Real prose that is on every machine: Python's language reference, as ``help()`` carries it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Passage", "passages"]

_CHARACTERS = 700
_LARGE = frozenset({"compound", "specialnames", "types"})
"""Chapters that repeat what the smaller topics say."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a topic, with what an ingestion pipeline would note about it."""

    text: str
    metadata: Mapping[str, str | int]


def passages() -> list[Passage]:
    """Some five hundred passages, in the order of their topics."""
    from pydoc_data.topics import topics

    return [
        Passage(text, {"source": f"reference/{topic}", "title": _title(body), "part": part})
        for topic, body in sorted(topics.items())
        if topic not in _LARGE
        for part, text in enumerate(_pieces(body))
    ]


def _title(body: str) -> str:
    return body.lstrip().partition("\n")[0].replace('"', "")


def _pieces(body: str) -> Iterator[str]:
    """Whole paragraphs, as many as fit; one that is longer stands alone."""
    piece = ""
    for paragraph in body.split("\n\n"):
        if piece and len(piece) + len(paragraph) > _CHARACTERS:
            yield piece
            piece = ""
        piece = f"{piece}\n\n{paragraph}" if piece else paragraph.strip("\n")
    if piece.strip():
        yield piece
