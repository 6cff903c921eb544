"""From store features to A2M capabilities: one table."""

from __future__ import annotations

from dataclasses import dataclass

from a2m_gateway.capability.profile import Feature, Profile

__all__ = ["CAPABILITIES", "Verdict", "verdicts"]

CAPABILITIES = (
    "core", "tiers", "salience", "scopes", "sessions", "keys",
    "embeddings", "external", "events", "summarize", "prompt",
)  # fmt: skip
"""The eleven of spec 2, in its order."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """The features a capability needs of a server that reads, and further of one that writes."""

    reads: tuple[Feature, ...]
    writes: tuple[Feature, ...] = ()


REQUIREMENTS: dict[str, Requirement] = {
    "core": Requirement(
        reads=(Feature.READ, Feature.EXACT_FILTER, Feature.CREATION_ORDER),
        writes=(Feature.WRITE,),
    ),
    "embeddings": Requirement(
        reads=(Feature.VECTOR_SEARCH, Feature.RETURN_VECTORS),
        writes=(Feature.WRITE,),
    ),
}

_NO_FIELD = {
    "tiers": "the records lie in one collection without tiers",
    "salience": "the records carry no salience or access counts",
    "scopes": "callers are not told apart by owner",
    "sessions": "the records carry no session",
    "keys": "the records carry no key or revision",
    "external": "the records carry no uri or media_type",
    "events": "changes are not recorded",
    "summarize": "it writes records, and this server is read-only",
    "prompt": "rendering is not implemented in this version",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a capability is declared, and because of what."""

    capability: str
    declared: bool
    reason: str


def verdicts(profile: Profile, *, read_only: bool) -> tuple[Verdict, ...]:
    """Every capability of the specification, with a yes or no and its reason, in its order.

    ``profile`` is the effective one, after the layers.
    """
    return tuple(_verdict(name, profile, read_only=read_only) for name in CAPABILITIES)


def _verdict(name: str, profile: Profile, *, read_only: bool) -> Verdict:
    requirement = REQUIREMENTS.get(name)
    if requirement is None:
        return Verdict(name, False, _NO_FIELD[name])
    needed = requirement.reads if read_only else requirement.reads + requirement.writes
    for feature in needed:
        claim = profile.claim(feature)
        if not claim.held:
            return Verdict(name, False, f"no {feature}: {claim.reason or 'the store has none'}")
    if name == "embeddings" and profile.metric is None:
        return Verdict(name, False, "the collection compares by a metric that A2M has no name for")
    how = ", ".join(f"{feature} ({profile.claim(feature).support})" for feature in needed)
    return Verdict(name, True, how + (", read-only" if read_only and requirement.writes else ""))
