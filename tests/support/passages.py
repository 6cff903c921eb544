"""A corpus of real prose that is on every machine, laid out as LangChain does it.

Some 2,500 passages of Python's language reference. Their metadata hides, among common values, some
that exactly five passages carry, of each JSON scalar type, with neighbours that a careless
comparison would take for the same.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pydoc_data.topics import topics
from typing import Any

__all__ = ["ABSENT", "FIVE", "Passage", "of_chroma", "passages", "rare_words"]

_LEAST, _MOST = 60, 330
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_IDENTIFIER = re.compile(r"\b(?:_*[a-z]+_\w+|[A-Z][a-z]+[A-Z]\w+)\b")
_START = datetime(2026, 1, 1, tzinfo=UTC)
_LARGE = 2**53 + 1
ODD = 'l\'été "où" \\ {"$ne": 1} 烏龍茶 \u2028'

FIVE: Mapping[str, Mapping[str, Any]] = {
    "string": {"shelf": "rare"},
    "string of odd characters": {"shelf": ODD},
    "integer": {"edition": 17},
    "integer that no double holds": {"edition": _LARGE},
    "integral float": {"weight": 7.0},
    "integral float, asked as an integer": {"weight": 7},
    "float": {"price": 0.1 + 0.2},
    "negative float": {"price": -2.5},
    "true": {"checked": True},
    "false among numbers": {"mixed": False},
    "number among booleans": {"mixed": 0},
    "string among numbers": {"mixed": "0"},
    "null": {"reviewer": None},
    "any of two": {"edition": [17, "17", 1e300], "shelf": ["common", "rare", ODD]},
    "two at once": {"shelf": "rare", "checked": False},
}
"""``where`` by name; five passages match each."""

ABSENT: Mapping[str, Mapping[str, Any]] = {
    "string": {"shelf": "RARE"},
    "beginning of a string": {"shelf": "rar"},
    "integer": {"edition": 18},
    "integer next to one that no double holds": {"edition": _LARGE + 1},
    "float": {"price": 0.30000000000000010},
    "boolean": {"shelf": True},
    "one for true": {"checked": 1},
    "string for a number": {"edition": "17"},
    "null for a missing name": {"nothing": None},
    "empty list": {"edition": []},
    "contradiction": {"shelf": "rare", "edition": 17},
    "name of a member": {"metadata.shelf": "rare"},
}
"""``where`` by name; no passage matches any."""


@dataclass(frozen=True)
class Passage:
    """One passage.

    Attributes:
        created_at: As spec 3.3 writes it; the metadata has it too, and as epoch seconds.
    """

    id: str
    topic: str
    text: str
    created_at: str
    metadata: Mapping[str, Any]


def passages() -> list[Passage]:
    """The corpus, in the order in which it is written, which is not that of its times."""
    pieces = [(topic, text) for topic, body in sorted(topics.items()) for text in _pieces(body)]
    chance = random.Random(2)
    hidden = _hidden(len(pieces), chance)
    seconds = list(range(len(pieces)))
    chance.shuffle(seconds)
    made = []
    for number, (topic, text) in enumerate(pieces):
        moment = _START + timedelta(seconds=seconds[number])
        metadata = {
            "source": f"reference/{topic}.rst",
            "part": number % 40,
            "created_at": moment.isoformat().replace("+00:00", "Z"),
            "epoch": int(moment.timestamp()),
            "shelf": "common",
            "edition": _LARGE - 1 if number % 3 else number % 5,
            "weight": number % 5 + 0.25,
            "price": 0.3,
            "checked": False,
            "mixed": 1 if number % 2 else "1",
            **hidden[number],
        }
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{number}"))
        time = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        made.append(Passage(name, topic, text, time, metadata))
    return made


def of_chroma(passage: Passage) -> dict[str, Any]:
    """The metadata that Chroma can hold: none that is null."""
    return {name: value for name, value in passage.metadata.items() if value is not None}


def rare_words(corpus: Sequence[Passage], count: int) -> dict[str, str]:
    """Identifiers that are in exactly one passage, and in no other word → its id."""
    rare = {}
    texts = [(passage.id, passage.text.lower()) for passage in corpus]
    for word in sorted({word for one in corpus for word in _IDENTIFIER.findall(one.text)}):
        holding = [name for name, text in texts if word.lower() in text]
        if len(holding) == 1:
            rare[word] = holding[0]
    return dict(random.Random(3).sample(sorted(rare.items()), count))


def _hidden(count: int, chance: random.Random) -> list[dict[str, Any]]:
    """Rare values, each on five passages of its own."""
    rare: tuple[tuple[str, Any], ...] = (
        ("shelf", "rare"), ("shelf", ODD), ("edition", 17), ("edition", _LARGE), ("weight", 7.0),
        ("price", 0.1 + 0.2), ("price", -2.5), ("checked", True), ("mixed", False), ("mixed", "0"),
        ("reviewer", None), ("reviewer", "null"),
    )  # fmt: skip
    places = iter(chance.sample(range(count), 5 * len(rare) + 5))
    hidden: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, value in rare:
        for _ in range(5):
            hidden[next(places)][name] = value
    for number in range(5):  # equal to JSON, whichever way it is written
        hidden[next(places)]["mixed"] = 0 if number % 2 else 0.0
    return hidden


def _pieces(body: str) -> Iterator[str]:
    """Paragraphs: short ones joined, long ones split between sentences."""
    piece = ""
    for paragraph in body.split("\n\n"):
        for part in _parts(paragraph.strip("\n")):
            if piece and len(piece) + len(part) > _MOST:
                yield piece
                piece = ""
            piece = f"{piece}\n\n{part}" if piece else part
            if len(piece) >= _LEAST:
                yield piece
                piece = ""
    if piece.strip():
        yield piece


def _parts(paragraph: str) -> Iterator[str]:
    if len(paragraph) <= _MOST:
        yield paragraph
        return
    part = ""
    for sentence in _SENTENCE.split(paragraph):
        if part and len(part) + len(sentence) > _MOST:
            yield part
            part = ""
        part = f"{part} {sentence}" if part else sentence
    yield part
