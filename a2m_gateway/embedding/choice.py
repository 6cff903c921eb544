"""Which embedder a collection is served with, if any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from a2m_gateway.embedding.build import build
from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.embedding.matching import Certainty, Evidence, Fit, assess
from a2m_gateway.embedding.settings import EmbedderSettings, Minilm, NoEmbedder
from a2m_gateway.errors import EmbedderMismatch

__all__ = ["Choice", "choose"]

_DEFAULTS = (Minilm(), Minilm(max_tokens=128), Minilm(pooling="cls"))
"""fastembed, and so mcp-server-qdrant, cuts this model's texts at 128 tokens, and early versions of
it pooled by the first token."""

_SURE = frozenset({Certainty.PROVEN, Certainty.NAMED})


@dataclass(frozen=True, slots=True)
class Choice:
    """The embedder to serve with, or None, and why.

    Whoever receives it closes the embedder.
    """

    embedder: Embedder | None
    fit: Fit


async def choose(
    explicit: EmbedderSettings | None,
    evidence: Evidence,
    *,
    allow_remote: bool = False,
    build: Callable[[EmbedderSettings], Embedder] = build,
) -> Choice:
    """The embedder that was named, if it fits; the bundled one, if it surely does.

    One that was named serves unless something speaks against it. The default serves only where the
    stored vectors or the collection's own word say that it made them: nobody asked for it, and a
    wrong one ranks by chance in silence.

    Args:
        explicit: What the owner named; None leaves it to us.
        allow_remote: Stored texts may be sent to a remote embedder to compare vectors.

    Raises:
        EmbedderMismatch: The named one does not fit; says which both are.
        ConfigurationError: The named one can't be built or loaded.
        EmbedderError: The named one can't be run or reached.
    """
    if isinstance(explicit, NoEmbedder):
        return Choice(None, Fit(False, Certainty.REFUSED, "the settings say that there is none"))
    if explicit is None:
        return await _default(evidence, build)
    embedder = build(explicit)
    choice = await _assessed(embedder, evidence, allow_remote=allow_remote, trust=explicit.trust)
    if choice.embedder is None:
        remedy = (
            "if it is the right one all the same, set `trust = true` under [embedder]"
            if choice.fit.trustable
            else "name another embedder, or `none`"
        )
        raise EmbedderMismatch(f"{choice.fit.reason}; {remedy}")
    return choice


async def _default(evidence: Evidence, build: Callable[[EmbedderSettings], Embedder]) -> Choice:
    first: Choice | None = None
    for settings in _DEFAULTS:
        choice = await _assessed(build(settings), evidence)
        if choice.embedder is not None and choice.fit.certainty in _SURE:
            return choice
        if choice.embedder is not None:
            await choice.embedder.aclose()
        first = first or Choice(None, choice.fit)
        if not choice.fit.trustable:
            break  # no vectors disproved it, so none can prove another
    assert first is not None  # noqa: S101 - there are defaults
    return first


async def _assessed(
    embedder: Embedder, evidence: Evidence, *, allow_remote: bool = False, trust: bool = False
) -> Choice:
    """The embedder with its verdict; closed and left out where it does not fit."""
    try:
        fit = await assess(embedder, evidence, allow_remote=allow_remote, trust=trust)
    except BaseException:
        await embedder.aclose()
        raise
    if fit.ok:
        return Choice(embedder, fit)
    await embedder.aclose()
    return Choice(None, fit)
