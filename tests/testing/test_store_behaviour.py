"""The behaviour suite passes what is right and fails every kind of liar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from a2m_gateway.capability import Claim, Feature, Metric, Ordering, Pushdown, Support, ValueType
from a2m_gateway.store import Filter, Hit, Page, Row, Selection
from a2m_gateway.store.memory import MemoryStore
from a2m_gateway.testing import Loaded, StoreBehaviour, sample_rows

ROWS = sample_rows()
SELECTION = Selection(vector_name="", text_path=("text",))


@pytest.mark.parametrize("metric", [*Metric, None])
class TestMemoryStore(StoreBehaviour):
    @pytest.fixture
    def loaded(self, metric: Metric | None) -> Loaded:
        return Loaded(MemoryStore(ROWS, metric=metric, selection=SELECTION), ROWS, ("text",))


class Honest(MemoryStore):
    def __init__(self) -> None:
        super().__init__(ROWS, selection=SELECTION)


class LosesTheLastPage(Honest):
    async def scan(self, *args: Any, **options: Any) -> Page:
        page = await super().scan(*args, **options)
        return page if page.cursor else Page(page.rows[:-1])


class NeverEnds(Honest):
    async def scan(self, *args: Any, **options: Any) -> Page:
        return Page((await super().scan(*args, **options)).rows, "0")


class FiltersAway(Honest):
    """Compares 1 and 1.0 as different, as many a database does."""

    async def scan(self, conditions: Filter = (), *args: Any, **options: Any) -> Page:
        page = await super().scan(conditions, *args, **options)
        strict = any(isinstance(v, float) for one in conditions for v in one.values)
        return Page([], page.cursor) if strict else page


class CountsLess(Honest):
    async def count(self, conditions: Filter = ()) -> int:
        return max(0, await super().count(conditions) - bool(conditions))


class SaysExactAndIsNot(Honest):
    async def scan(self, conditions: Filter = (), *args: Any, **options: Any) -> Page:
        return await super().scan((), *args, **options)


class AnswersSimilarities(Honest):
    async def search(self, *args: Any, **options: Any) -> Sequence[Hit]:
        hits = await super().search(*args, **options)
        return [Hit(hit.row, 1.0 - hit.distance) for hit in hits]


class SearchesOutsideTheFilter(Honest):
    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), **options: Any
    ) -> Sequence[Hit]:
        return (await super().search(vector, k, conditions, **options))[1:]


class AlwaysSendsVectors(Honest):
    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        return await super().get(ids, vectors=True)


class MistakesTrueForOne(Honest):
    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        rows = await super().get(ids, vectors=vectors)
        return [
            replace(row, fields={**row.fields, "draft": 1}) for row in rows if row.fields["draft"]
        ]


class RaisesForUnknownIds(Honest):
    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        rows = await super().get(ids, vectors=vectors)
        if len(rows) < len(set(ids)):
            raise KeyError(ids)
        return rows


class FindsWholeWordsOnly(Honest):
    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        rows = await super().search_text(terms, limit, conditions)
        return [row for row in rows if set(terms) & set(str(row.fields["text"]).lower().split())]


class ClaimsAnOrder(Honest):
    def __init__(self) -> None:
        super().__init__()
        orders = self.profile.orderings | {Ordering(("page",), descending=True)}
        self.profile = replace(self.profile, orderings=orders)

    async def scan(self, conditions: Filter = (), *args: Any, **options: Any) -> Page:
        options.pop("order", None)
        return await super().scan(conditions, Ordering(), *args[1:], **options)


class EmulatesByItself(Honest):
    def __init__(self) -> None:
        super().__init__()
        claims = {**self.profile.features, Feature.EXACT_FILTER: Claim(Support.EMULATED, "so")}
        self.profile = replace(self.profile, features=claims)


class ClaimsAnotherWidth(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.profile = replace(self.profile, width=384)


class BreaksWhenClosedTwice(Honest):
    closed = False

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed")
        self.closed = True


LIARS: dict[type[Honest], str] = {
    LosesTheLastPage: "test_scan_returns_every_row_once",
    NeverEnds: "test_scan_returns_every_row_once",
    FiltersAway: "test_filters_only_narrow",
    CountsLess: "test_filters_only_narrow",
    SaysExactAndIsNot: "test_filters_only_narrow",
    AnswersSimilarities: "test_search_finds_the_nearest",
    SearchesOutsideTheFilter: "test_search_within_a_filter",
    AlwaysSendsVectors: "test_vectors_come_when_asked_for",
    MistakesTrueForOne: "test_get",
    RaisesForUnknownIds: "test_get",
    FindsWholeWordsOnly: "test_words_are_found",
    ClaimsAnOrder: "test_every_claimed_order_is_kept",
    EmulatesByItself: "test_profile_is_consistent",
    ClaimsAnotherWidth: "test_profile_is_consistent",
    BreaksWhenClosedTwice: "test_closing_twice",
}
"""Each with the test that has to see through it."""
TESTS = sorted(name for name in dir(StoreBehaviour) if name.startswith("test_"))


async def run(name: str, store: MemoryStore) -> None:
    """Run one test of the suite on a store."""
    await getattr(StoreBehaviour(), name)(Loaded(store, ROWS, ("text",)))


@pytest.mark.parametrize("name", TESTS)
async def test_the_honest_store_passes(name: str) -> None:
    await run(name, Honest())


@pytest.mark.parametrize(("liar", "name"), LIARS.items())
async def test_every_liar_is_seen_through(liar: type[Honest], name: str) -> None:
    with pytest.raises((AssertionError, KeyError, RuntimeError)):
        await run(name, liar())


class PushesNothing(Honest):
    def __init__(self) -> None:
        super().__init__()
        self.profile = replace(self.profile, filters=dict.fromkeys(ValueType, Pushdown.NONE))

    async def scan(self, conditions: Filter = (), *args: Any, **options: Any) -> Page:
        return await super().scan((), *args, **options)

    async def count(self, conditions: Filter = ()) -> int:
        return await super().count()


@pytest.mark.parametrize("name", TESTS)
async def test_claiming_less_is_allowed(name: str) -> None:
    """Filters may select too much: the gateway compares again."""
    await run(name, PushesNothing())
