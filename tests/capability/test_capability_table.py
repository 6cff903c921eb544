"""What is declared, and because of what."""

from __future__ import annotations

import itertools

import pytest

from a2m_gateway.capability import (
    Claim,
    Feature,
    Metric,
    Profile,
    Pushdown,
    Support,
    ValueType,
    Verdict,
    verdicts,
)
from a2m_gateway.capability.table import CAPABILITIES

# Section 2, in its order.
NAMES = (
    "core",
    "tiers",
    "salience",
    "scopes",
    "sessions",
    "keys",
    "embeddings",
    "external",
    "events",
    "summarize",
    "prompt",
)
NATIVE = Claim(Support.NATIVE, "it has it")
EVERYTHING = dict.fromkeys(Feature, NATIVE)
NEEDED = {
    "core": {Feature.READ, Feature.EXACT_FILTER, Feature.CREATION_ORDER},
    "embeddings": {Feature.VECTOR_SEARCH, Feature.RETURN_VECTORS},
}


def declared(profile: Profile, *, read_only: bool = True) -> set[str]:
    return {one.capability for one in verdicts(profile, read_only=read_only) if one.declared}


def test_the_capabilities_are_those_of_the_table() -> None:
    assert CAPABILITIES == NAMES
    assert tuple(one.capability for one in verdicts(Profile("x"), read_only=True)) == NAMES


@pytest.mark.requirement("2-declared-is-implemented")
@pytest.mark.parametrize("read_only", [True, False])
def test_every_default_denies(read_only: bool) -> None:
    profile = Profile("x")
    assert declared(profile, read_only=read_only) == set()
    assert not any(profile.has(feature) for feature in Feature)
    assert {profile.pushdown(kind) for kind in ValueType} == {Pushdown.NONE}
    assert (profile.metric, profile.width, profile.orderings) == (None, None, frozenset())


@pytest.mark.requirement("2-declared-is-implemented")
@pytest.mark.requirement("4.15-unable-undeclared")
@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_with_everything_gets_what_this_release_keeps(read_only: bool) -> None:
    profile = Profile("x", features=EVERYTHING, metric=Metric.DOT, metrics=frozenset(Metric))
    assert declared(profile, read_only=read_only) == {"core", "embeddings"}


@pytest.mark.parametrize(
    ("capability", "missing", "read_only"), list(itertools.product(NEEDED, Feature, [True, False]))
)
def test_a_missing_feature_takes_away_what_needs_it(
    capability: str, missing: Feature, read_only: bool
) -> None:
    features = {feature: NATIVE for feature in Feature if feature is not missing}
    needed = NEEDED[capability] | (set() if read_only else {Feature.WRITE})
    profile = Profile("x", features=features, metric=Metric.L2)
    assert (capability in declared(profile, read_only=read_only)) == (missing not in needed)


@pytest.mark.parametrize("support", Support)
def test_emulated_is_support_and_unsupported_is_none(support: Support) -> None:
    claims = EVERYTHING | {Feature.CREATION_ORDER: Claim(support)}
    profile = Profile("x", features=claims)
    assert ("core" in declared(profile)) == (support is not Support.UNSUPPORTED)


def test_vectors_by_another_metric_are_not_declared() -> None:
    profile = Profile("x", features=EVERYTHING, metric=None)
    assert "embeddings" not in declared(profile)
    verdict = _verdict(profile, "embeddings")
    assert "metric" in verdict.reason


def test_every_verdict_has_a_reason_and_repeats_the_stores_own() -> None:
    for profile in (Profile("x"), Profile("x", features=EVERYTHING, metric=Metric.L2)):
        assert all(one.reason for one in verdicts(profile, read_only=True))
    refusing = EVERYTHING | {Feature.VECTOR_SEARCH: Claim(reason="the index is being built")}
    verdict = _verdict(Profile("x", features=refusing, metric=Metric.L2), "embeddings")
    assert "vector_search" in verdict.reason
    assert "the index is being built" in verdict.reason


def test_a_profile_can_not_be_changed_behind_its_back() -> None:
    features = {Feature.READ: NATIVE}
    profile = Profile("x", features=features)
    features[Feature.WRITE] = NATIVE
    assert not profile.has(Feature.WRITE)
    with pytest.raises(TypeError):
        profile.features[Feature.WRITE] = NATIVE  # type: ignore[index]


def _verdict(profile: Profile, capability: str) -> Verdict:
    (found,) = (one for one in verdicts(profile, read_only=True) if one.capability == capability)
    return found
