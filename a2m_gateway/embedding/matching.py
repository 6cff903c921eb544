"""Whether an embedder's vectors live in the same space as a collection's.

Three witnesses, by strength: the stored vectors themselves (the *fingerprint*: embed a few stored
passages and compare), the model's name where the collection says one, and the width. A width that
differs settles it; a width that agrees proves nothing, since a dozen common models have 384.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.embedding.names import is_vague, same_model
from a2m_gateway.store import VectorField
from a2m_gateway.store.text import is_text

__all__ = ["Certainty", "Evidence", "Fit", "StoredPassage", "assess"]

PROOF = 0.99
"""Measured: the same model in other arithmetic (float32, int8) agrees to 0.998 and better, another
pooling or prefix to 0.95 at most."""

_PASSAGES = 5
_IDEAL_LENGTH = 300
"""Characters: enough to be a text, and short enough that no writer's window has cut it."""

_PROBE = "The quick brown fox jumps over the lazy dog."


class Certainty(StrEnum):
    """How it is known that an embedder fits."""

    PROVEN = "proven"
    NAMED = "named"
    WIDTH_ONLY = "width-only"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Fit:
    """The verdict on one embedder for one collection.

    Attributes:
        ok: Nothing speaks against it.
        reason: One sentence, for ``inspect`` and for errors.
        trustable: A refusal that the setting ``trust`` overrides.
    """

    ok: bool
    certainty: Certainty
    reason: str
    trustable: bool = False


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A record's text and the vector that its writer stored with it."""

    text: str
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a collection tells of the model that made its vectors.

    Attributes:
        vector: The field that is searched; None where the collection has none.
        names: Models named in places other than ``vector.model``, such as the records.
        passages: A sample of the records; a few dozen leave room to choose from.
    """

    vector: VectorField | None
    names: Sequence[str] = ()
    passages: Sequence[StoredPassage] = ()

    @property
    def width(self) -> int | None:
        """As declared, else as found in the sample."""
        if self.vector is None:
            return None
        found = (len(passage.vector) for passage in self.passages if len(passage.vector))
        return self.vector.width or next(found, None)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that is named, once each, as written."""
        own = self.vector.model if self.vector is not None else None
        return tuple(dict.fromkeys(name for name in (own, *self.names) if name and name.strip()))


async def assess(
    embedder: Embedder, evidence: Evidence, *, allow_remote: bool = False, trust: bool = False
) -> Fit:
    """Whether ``embedder`` fits, by the cheapest witness that settles it.

    Runs the embedder once at least unless the width or the name rules it out, so that one which
    can't be loaded or reached is found out here.

    Args:
        allow_remote: Stored texts may leave the machine for the fingerprint.
        trust: The owner answers for it: names and fingerprint don't count, the width does.

    Raises:
        EmbedderError: It could not be run.
        SetupError: Its model could not be loaded.
    """
    if evidence.vector is None:
        return _refused("the collection has no vectors that a text can be compared with")
    known = _width_fit(embedder, embedder.width, evidence) or _name_fit(embedder, evidence, trust)
    if known is not None:
        return known
    width = len(await embedder.embed_query(_PROBE))
    mismatch = _width_fit(embedder, width, evidence)
    if mismatch is not None:
        return mismatch
    named = [name for name in evidence.models if same_model(name, embedder.model)]
    if trust:
        return Fit(
            True, Certainty.WIDTH_ONLY, f"`trust` is set: {embedder.model} was not checked further"
        )
    passages = _chosen(evidence.passages, width)
    if passages and (embedder.remote is None or allow_remote):
        return await _fingerprint(embedder, passages)
    if named:
        return Fit(True, Certainty.NAMED, f"the collection names its model, {named[0]}")
    unread = "its stored texts may not be sent there" if passages else "it has no text to compare"
    return Fit(
        True,
        Certainty.WIDTH_ONLY,
        f"{embedder.model} has the collection's width"
        + (f", {evidence.width}" if evidence.width else "")
        + f"; the collection names no model, and {unread}",
    )


def _width_fit(embedder: Embedder, width: int | None, evidence: Evidence) -> Fit | None:
    if width is None or evidence.width is None or width == evidence.width:
        return None
    names = [name for name in evidence.models if not is_vague(name)]
    named = f" ({' and '.join(names)})" if names else ""
    return _refused(
        f"{embedder.model} makes vectors of {width} components, and those of the collection{named} "
        f"have {evidence.width}"
    )


def _name_fit(embedder: Embedder, evidence: Evidence, trust: bool) -> Fit | None:
    """A refusal where the collection names another model and no name that is the embedder's."""
    others = [
        name
        for name in evidence.models
        if not is_vague(name) and not same_model(name, embedder.model)
    ]
    if trust or not others:
        return None
    return _refused(
        f"the collection names its model as {' and '.join(others)}, and the embedder is "
        f"{embedder.model}",
        trustable=True,
    )


async def _fingerprint(embedder: Embedder, passages: Sequence[StoredPassage]) -> Fit:
    vectors = await embedder.embed_passages([passage.text for passage in passages])
    cosine = median(
        _cosine(vector, passage.vector) for vector, passage in zip(vectors, passages, strict=True)
    )
    count = f"{len(passages)} stored passage{'s' if len(passages) > 1 else ''}"
    if cosine > PROOF:
        return Fit(
            True,
            Certainty.PROVEN,
            f"{embedder.model} makes the vectors that {count} have (median cosine {cosine:.4f})",
        )
    return _refused(
        f"{embedder.model} makes other vectors than {count} have (median cosine {cosine:.4f}, the "
        f"same model gives more than {PROOF}): they are another model's, or were made from more "
        "than the text, such as a title or a prefix",
        trustable=True,
    )


def _chosen(passages: Iterable[StoredPassage], width: int) -> list[StoredPassage]:
    """A few distinct passages of moderate length, with usable vectors."""
    usable = {
        passage.text: passage
        for passage in passages
        if passage.text.strip() and is_text(passage.text)
        if len(passage.vector) == width and any(passage.vector)
    }
    by_length = sorted(usable.values(), key=lambda passage: abs(len(passage.text) - _IDEAL_LENGTH))
    return by_length[:_PASSAGES]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    length = math.hypot(*one) * math.hypot(*other)
    return product / length if length else 0.0


def _refused(reason: str, *, trustable: bool = False) -> Fit:
    return Fit(False, Certainty.REFUSED, reason, trustable)
