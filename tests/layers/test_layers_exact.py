"""The exact layer over a store that is as awkward as it may be, against brute force."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import oracle
import pytest
from awkward_store import FORWARD, AwkwardStore
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.capability import Claim, Feature, Metric, Profile, Pushdown, Support
from a2m_gateway.layers import ExactLayer, guarded
from a2m_gateway.memory.where import read_where
from a2m_gateway.store import Row

QUICK = settings(max_examples=300, deadline=None, derandomize=True)

# A row and a store are each drawn as one number, whose digits choose: that is quick, and shrinks.
# The vectors are of small whole numbers, so that no distance is rounded and equal ones are equal.
VALUES: list[Any] = [None, True, False, 0, 1, 1.0, 2, 0.5, "a", "A", "1", "", "true"]
STORED: list[Any] = [*VALUES, [], [1], ["a", None], {"a": 1}]
NAMES = ["page", "lang", "role"]
VECTORS = [None, None, *([float(x), float(y)] for x in range(-3, 4) for y in range(-3, 4))]


class Digits:
    """Chooses by the digits of a number."""

    def __init__(self, number: int) -> None:
        self._left = number

    def choose(self, among: Sequence[Any]) -> Any:
        self._left, digit = divmod(self._left, len(among))
        return among[digit]

    def chance(self) -> bool:
        return bool(self.choose((False, True)))


def _row(place: int, number: int) -> Row:
    digits = Digits(number)
    metadata = {name: digits.choose(STORED) for name in NAMES if digits.chance()}
    role = {"role": digits.choose(VALUES)} if digits.chance() else {}
    return oracle.record(
        f"r{place * 5 % 13:02}",  # not in the order in which they lie
        created_at=f"2026-01-0{digits.choose((1, 2, 3))}T00:00:00.000Z",
        vector=digits.choose(VECTORS),
        metadata=metadata,
        fields=role,
    )


def _store(numbers: Sequence[int], number: int) -> AwkwardStore:
    rows = [_row(place, one) for place, one in enumerate(numbers)]
    digits = Digits(number)

    def some() -> frozenset[str]:
        return frozenset(row.id for row in rows if digits.choose((0, 0, 1)))

    return AwkwardStore(
        rows,
        metric=digits.choose((Metric.L2, Metric.DOT)),
        pushdown=digits.choose(list(Pushdown)),
        max_k=digits.choose((None, None, 1, 3)),
        filters_late=digits.chance(),
        page=digits.choose((1000, 1, 2, 3)),
        empty_pages=digits.chance(),
        seeks=digits.chance(),
        missing=some() if digits.chance() else frozenset(),
        hidden=some() if digits.chance() else frozenset(),
        lacks_order=some() if digits.chance() else frozenset(),
    )


def _where(number: int) -> dict[str, Any]:
    digits = Digits(number)
    where: dict[str, Any] = {}
    for name in NAMES:
        if digits.chance():
            some = [digits.choose(VALUES) for _ in range(digits.choose((0, 1, 2, 3)))]
            where[name] = some if digits.chance() else digits.choose(VALUES)
    if digits.choose((False, False, False, True)):
        names = ["r00", "r05", "r10", "r10", "nobody", 1, None]
        some = [digits.choose(names) for _ in range(digits.choose((0, 1, 2, 5)))]
        where = {"id": some if digits.chance() else digits.choose(names), **where}
    return where


NUMBERS = st.integers(0, 2**60)
STORES = st.builds(_store, st.lists(NUMBERS, max_size=13), NUMBERS)
WHERES = st.one_of(st.just({}), st.builds(_where, NUMBERS))


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as one:
        yield one


def exact(store: AwkwardStore) -> ExactLayer:
    return ExactLayer(guarded(store, deadline=60))


def visible(store: AwkwardStore, where: Mapping[str, Any]) -> list[Row]:
    shown = [row for row in store.rows if row.id not in store.hidden]
    return oracle.rows_where(shown, where)


@pytest.mark.requirement("5.2-equality")
@pytest.mark.requirement("5.2-any-of")
@pytest.mark.requirement("5.2-field-then-metadata")
@given(STORES, WHERES, st.integers(1, 20), st.booleans())
@QUICK
def test_search_is_what_brute_force_finds(
    runner: asyncio.Runner, store: AwkwardStore, where: dict[str, Any], k: int, vectors: bool
) -> None:
    there = visible(store, where)
    query = [1.0, -2.0]
    wanted = oracle.nearest(there, str(store.metric), query)[:k]
    if store.profile.width is None:
        return
    hits = runner.run(exact(store).search(query, k, read_where(where), vectors=vectors))
    if not store.missing or len(wanted) < k:
        assert [(hit.distance, hit.row.id) for hit in hits] == wanted
    else:
        # What the index has lost may be passed over, but only by as many others.
        assert len(hits) == k
        assert [hit.row.id for hit in hits] == [
            name
            for _, name in oracle.nearest(
                [row for row in there if row.id in {hit.row.id for hit in hits}],
                str(store.metric),
                query,
            )
        ]
    by_id = {row.id: row for row in there}
    for hit in hits:
        assert hit.row.fields == by_id[hit.row.id].fields
        assert hit.row.vector == (by_id[hit.row.id].vector if vectors else None)


@given(STORES, WHERES, st.integers(1, 20), st.booleans())
@QUICK
def test_newest_is_what_brute_force_finds(
    runner: asyncio.Runner, store: AwkwardStore, where: dict[str, Any], limit: int, vectors: bool
) -> None:
    there = visible(store, where)
    found = runner.run(exact(store).newest(read_where(where), limit, vectors=vectors))
    by_id = {row.id: row for row in there}
    wanted = oracle.newest(there)[:limit]
    if not (store.seeks and store.lacks_order):
        assert [row.id for row in found] == wanted
    else:
        # Rows without the field are not in the store's order, so they are found only when it ends.
        assert len(found) == len(wanted)
        assert set(wanted) - {row.id for row in found} <= store.lacks_order
    for row in found:
        assert row.fields == by_id[row.id].fields
        assert row.vector == (by_id[row.id].vector if vectors else None)


@given(STORES, WHERES)
@QUICK
def test_count_and_scan_are_what_brute_force_finds(
    runner: asyncio.Runner, store: AwkwardStore, where: dict[str, Any]
) -> None:
    there = visible(store, where)
    layer, conditions = exact(store), read_where(where)
    if where:
        assert runner.run(layer.count(conditions)) == len(there)
    scanned = runner.run(_scanned(layer, conditions))
    assert [row.id for row in scanned] == [row.id for row in there]
    assert all(row.vector is None for row in scanned)


async def _scanned(layer: ExactLayer, conditions: Any) -> list[Row]:
    found: list[Row] = []
    cursor: str | None = None
    while True:
        page = await layer.scan(conditions, FORWARD, cursor, 4)
        found += page.rows
        cursor = page.cursor
        if cursor is None:
            return found


@given(STORES, WHERES, st.booleans())
@QUICK
def test_words_are_found_in_what_matches_alone(
    runner: asyncio.Runner, store: AwkwardStore, where: dict[str, Any], finds: bool
) -> None:
    inner = store if finds else WithoutWords(**vars(store))
    found = runner.run(exact(inner).search_text(["tex", "absent"], 100, read_where(where)))
    assert sorted(row.id for row in found) == sorted(row.id for row in visible(store, where))


class WithoutWords(AwkwardStore):
    """Can't find words, and says so."""

    @property
    def profile(self) -> Profile:
        profile = super().profile
        features: dict[Feature, Claim] = {
            feature: claim
            for feature, claim in profile.features.items()
            if feature is not Feature.TEXT_SEARCH
        }
        return Profile(
            engine=profile.engine,
            features=features,
            metric=profile.metric,
            width=profile.width,
            filters=profile.filters,
            orderings=profile.orderings,
            limits=profile.limits,
        )

    async def search_text(self, *_: object, **__: object) -> Sequence[Row]:
        raise AssertionError("it said that it can't")


# ---- the profile says what the layer does


@pytest.mark.parametrize("pushdown", Pushdown)
@pytest.mark.parametrize("seeks", [True, False])
def test_the_profile_says_how(pushdown: Pushdown, seeks: bool) -> None:
    profile = exact(AwkwardStore([], pushdown=pushdown, seeks=seeks)).profile
    filters = Support.NATIVE if pushdown is Pushdown.EXACT else Support.EMULATED
    assert profile.claim(Feature.EXACT_FILTER).support is filters
    order = Support.NATIVE if seeks else Support.EMULATED
    assert profile.claim(Feature.CREATION_ORDER).support is order
    for claim in profile.features.values():
        assert bool(claim.loss) == (claim.support is Support.EMULATED)


def test_a_store_that_can_not_be_read_emulates_nothing() -> None:
    class Unreadable(AwkwardStore):
        @property
        def profile(self) -> Profile:
            return Profile(engine="unreadable")

    assert not any(exact(Unreadable([])).profile.has(feature) for feature in Feature)
