"""A filter never selects too little; where the profile says EXACT, not too much either.

The oracle is ``store.filter.matches``, over the rows as they are read back.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from a2m_chroma.filters import translate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2m_gateway.capability import Pushdown
from a2m_gateway.store import Condition, Filter, Row, Scalar, Store, matches
from a2m_gateway.store.filter import value_type

Make = Callable[..., Any]
Open = Callable[..., Awaitable[Store]]

VALUES: list[Any] = [
    True, False, 0, 1, -1, 2, 1.5, -0.0, 0.1, 1.0, 2**53, 2**53 + 1, 2.0**53, 2**63 - 1, 2.0**63,
    -(2**63), 1e300, -1e300, 5e-324, 1.7976931348623157e308, "", "1", "true", "x", "X", "xy",
    "é", "e\u0301", "v\0w", "v", "a\"b'c\\d", "%", "_", "*", "烏龍", "🙂", " x", "null", "x" * 5000,
]  # fmt: skip
LISTS: list[Any] = [["x", "y"], [1, 2], [1.5], [True]]
DOCUMENTS = [
    None,
    "",
    "x",
    "X",
    "xx",
    "a\0b",
    "b",
    "a.c",
    "abc",
    "(",
    "\\",
    "é",
    "line\nline",
    "^$",
]
KEYS = ["k", "other", "a.b", "ключ", "k'\"", "k\0"]
ABSENT = ["$k", "#k", "", "chroma:document", "missing", "k" * 3000]


def corpus() -> Iterator[dict[str, Any]]:
    for number, value in enumerate([*VALUES, *LISTS]):
        yield {"id": f"k{number}", "metadata": {"k": value}}
        key = KEYS[number % len(KEYS)]
        other = VALUES[(number * 7) % len(VALUES)]
        yield {"id": f"m{number}", "metadata": {key: value, "other": other}}
    for number, document in enumerate(DOCUMENTS):
        yield {"id": f"d{number}", "document": document}
    yield {"id": "bare"}


@pytest.fixture
async def store(chroma_collection: Make, open_store: Open) -> Store:
    filled = chroma_collection([{"vector": [1.0, 2.0], **row} for row in corpus()])
    return await open_store(filled.url)


async def everything(store: Store) -> list[Row]:
    page = await store.scan(limit=5000)
    assert page.cursor is None
    return list(page.rows)


async def selected(store: Store, conditions: Filter) -> set[str]:
    return {row.id for row in (await store.scan(conditions, limit=5000)).rows}


@pytest.mark.parametrize("value", [*VALUES, None, 10**30, -(2**63) - 1, 2**63, 10**400, "\ud800"])
async def test_every_value_against_every_row(store: Store, value: Scalar) -> None:
    conditions = (Condition((("k",),), (value,)),)
    expected = {row.id for row in await everything(store) if matches(row, conditions)}
    found = await selected(store, conditions)
    assert expected <= found
    assert await store.count(conditions) == len(found)
    if store.profile.pushdown(value_type(value)) is Pushdown.EXACT:
        assert found == expected


async def test_the_loose_types_are_loose(store: Store) -> None:
    """Else the profile would claim less than there is."""
    rows = await everything(store)
    for value in (1.5, 2**53 + 1):
        conditions = (Condition((("k",),), (value,)),)
        assert await selected(store, conditions) > {r.id for r in rows if matches(r, conditions)}


@pytest.mark.parametrize("text", [d for d in DOCUMENTS if d is not None] + ["x" * 9000])
async def test_documents_are_compared_exactly(store: Store, text: str) -> None:
    conditions = (Condition((("#document",),), (text, 1, None)),)
    expected = {row.id for row in await everything(store) if matches(row, conditions)}
    assert await selected(store, conditions) == expected


async def test_a_very_long_document_is_narrowed_by_its_beginning(
    chroma_collection: Make, open_store: Open
) -> None:
    long = "word " * 20_000
    filled = chroma_collection(
        [{"id": "a", "vector": [1, 0], "document": long + "a"},
         {"id": "b", "vector": [0, 1], "document": "other"}]
    )  # fmt: skip
    store = await open_store(filled.url)
    assert await selected(store, (Condition((("#document",),), (long + "a",)),)) == {"a"}


@pytest.mark.parametrize("key", ABSENT)
async def test_keys_that_chroma_refuses_select_no_less(store: Store, key: str) -> None:
    conditions = (Condition(((key,), ("k",)), ("x",)),)
    expected = {row.id for row in await everything(store) if matches(row, conditions)}
    assert expected
    assert expected <= await selected(store, conditions)


@pytest.mark.parametrize(
    "condition",
    [
        Condition((("id",),), ("k1",)),
        Condition((("k", "nested"),), ("x",)),
        Condition((("k",), ("id",)), ("bare",)),
        Condition((("k",), ("#document",)), ("x",)),
    ],
)
async def test_what_cannot_be_pushed_narrows_nothing_away(
    store: Store, condition: Condition
) -> None:
    expected = {row.id for row in await everything(store) if matches(row, (condition,))}
    assert expected <= await selected(store, (condition,))


async def test_no_values_and_null_select_nothing_without_asking() -> None:
    assert translate((Condition((("k",),), ()),)).empty
    assert translate((Condition((("k",), ("#document",)), (None,)),)).empty
    assert translate((Condition((("k",),), (math.nan, math.inf, 2**63 + 1, 10**400)),)).empty
    assert not translate((Condition((("k",),), (None, 1)),)).empty
    assert translate(()).body() == {}


@pytest.mark.parametrize("count", [1, 2, 100, 4000, 20_000])
async def test_any_number_of_values_and_conditions(store: Store, count: int) -> None:
    """5,000 clauses in one ``$or`` overflow the server's stack: it would be gone."""
    rows = await everything(store)
    for conditions in (
        (Condition((("k",),), tuple(range(count))),),
        (Condition((("k",),), tuple(n + 0.5 for n in range(count))),),
        (Condition((("k",),), (*(f"v{n}" for n in range(count)), "x")),),
        tuple(Condition((("k",),), ("x", n)) for n in range(min(count, 1000))),
        (Condition((*((f"p{n}",) for n in range(min(count, 500))), ("k",)), ("x",)),),
    ):
        expected = {row.id for row in rows if matches(row, conditions)}
        assert expected <= await selected(store, conditions)
    assert await store.count() == len(rows)


async def test_floats_that_lose_their_last_place_are_found_again(
    chroma_collection: Make, open_store: Open
) -> None:
    numbers = random.Random(3)
    floats = [
        value
        for value in (struct.unpack("d", numbers.randbytes(8))[0] for _ in range(600))
        if math.isfinite(value)
    ]
    filled = chroma_collection(
        [{"id": f"f{n}", "vector": [1, 2], "metadata": {"x": x}} for n, x in enumerate(floats)]
    )
    store = await open_store(filled.url)
    rows = await everything(store)
    changed = sum(row.fields["x"] not in floats for row in rows)
    assert changed, "Chroma keeps floats exactly now: the profile's note is out of date"
    for row in rows[:150]:
        assert row.id in await selected(store, (Condition((("x",),), (row.fields["x"],)),))  # type: ignore[arg-type]


SCALARS = st.sampled_from([value for value in VALUES if not isinstance(value, list)]) | st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)
)
PATHS = st.sampled_from([(key,) for key in [*KEYS, *ABSENT, "#document", "id"]] + [("k", "x")])
CONDITIONS = st.builds(
    Condition,
    st.lists(PATHS, min_size=1, max_size=3).map(tuple),
    st.lists(SCALARS, max_size=4).map(tuple),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_random_filters_against_the_oracle(store: Store, data: st.DataObject) -> None:
    conditions = tuple(data.draw(st.lists(CONDITIONS, max_size=3)))
    expected = {row.id for row in await everything(store) if matches(row, conditions)}
    assert expected <= await selected(store, conditions)
    hits = await store.search([1.0, 2.0], 5000, conditions)
    assert expected <= {hit.row.id for hit in hits}
