"""What a filter selects: strict JSON equality, against a comparison of fractions."""

from __future__ import annotations

import math
from typing import Any

import oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from a2m_gateway.capability import ValueType
from a2m_gateway.store import Condition, Row, Scalar, matches
from a2m_gateway.store.filter import equal, value_type
from a2m_gateway.store.rows import ABSENT, ID, lookup

BIG = 2**53
SCALARS: list[Scalar] = [
    None, True, False, 0, 1, -1, 0.0, -0.0, 1.0, 0.5, BIG, BIG + 1, float(BIG), 10**400, 1e308,
    "", "0", "1", "1.0", "true", "null", "a", "A", "é", "e\u0301", " a", "\u0000",
]  # fmt: skip
FOUND: list[Any] = [*SCALARS, [], [1], [None], ["a"], {}, {"a": 1}, [[1]], ABSENT, math.nan]


@pytest.mark.requirement("5.2-equality")
@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_equality_is_that_of_json(value: Scalar) -> None:
    for found in FOUND:
        assert equal(found, value) == oracle.same(found, value), (found, value)


def test_the_meanings_that_the_design_names() -> None:
    assert equal(1, 1.0)
    assert not equal(1, True)
    assert not equal(True, 1.0)
    assert not equal(0, False)
    assert not equal("1", 1)
    assert not equal("true", True)
    assert equal(None, None)
    assert not equal(ABSENT, None)
    assert not equal([1], 1)
    assert not equal({"a": 1}, 1)
    assert not equal(BIG + 1, float(BIG)), "one of them would have to be rounded"


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, 1.0, 0.5, "", "1", "a", "A", BIG, BIG + 1, float(BIG)]),
)
NAMES = st.sampled_from(["a", "b", "role", "group", ""])
STORED = st.one_of(VALUES, st.lists(VALUES, max_size=2), st.dictionaries(NAMES, VALUES))
ROWS = st.builds(
    Row,
    st.sampled_from(["1", "2", "a"]),
    st.fixed_dictionaries(
        {"content": st.just("x"), "metadata": st.dictionaries(NAMES, STORED, max_size=4)},
        optional={"role": VALUES, "group": VALUES},
    ),
)
PATHS = {
    "id": (ID,),
    "role": (("role",), ("metadata", "role")),
    "group": (("group",), ("metadata", "group")),
    "a": (("metadata", "a"),),
    "": (("metadata", ""),),
}
WHERES = st.dictionaries(
    st.sampled_from(list(PATHS)), st.one_of(VALUES, st.lists(VALUES, max_size=3)), max_size=3
)


@pytest.mark.requirement("5.2-equality")
@pytest.mark.requirement("5.2-any-of")
@pytest.mark.requirement("5.2-field-then-metadata")
@given(ROWS, WHERES)
@settings(max_examples=1000, deadline=None, derandomize=True)
@example(Row("1", {"role": None, "metadata": {"role": "a"}}), {"role": "a"})
@example(Row("1", {"metadata": {"role": "a"}}), {"role": "a"})
@example(Row("1", {"metadata": {}}), {"id": [1]})
@example(Row("1", {"metadata": {"a": 1}}), {"a": []})
def test_a_conjunction_selects_what_brute_force_does(row: Row, where: dict[str, Any]) -> None:
    conditions = tuple(
        Condition(PATHS[name], tuple(given) if isinstance(given, list) else (given,))
        for name, given in where.items()
    )
    assert matches(row, conditions) == oracle.selected(row, where)


def test_no_condition_selects_all_and_no_value_none() -> None:
    row = Row("1", {"a": 1})
    assert matches(row, ())
    assert not matches(row, (Condition((("a",),), ()),))
    assert not matches(row, (Condition((), (1,)),))


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (("a",), {"b": [1], "": 0}),
        (("a", "b"), [1]),
        (("a", ""), 0),
        (("a", "b", "0"), ABSENT),
        (("a", "c"), ABSENT),
        (("a.b",), "dotted"),
        (("n",), None),
        (("n", "x"), ABSENT),
        (("s", "0"), ABSENT),
        (ID, "7"),
        (("id", "x"), ABSENT),
        ((), {"a": {"b": [1], "": 0}, "a.b": "dotted", "n": None, "s": "text", "id": "inner"}),
    ],
)
def test_lookup(path: tuple[str, ...], wanted: object) -> None:
    fields: dict[str, Any] = {
        "a": {"b": [1], "": 0},
        "a.b": "dotted",
        "n": None,
        "s": "text",
        "id": "inner",
    }
    found = lookup(Row("7", fields), path)
    assert found is ABSENT if wanted is ABSENT else found == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, ValueType.NULL),
        (True, ValueType.BOOLEAN),
        (0, ValueType.INTEGER),
        (2.0, ValueType.INTEGER),
        (-0.0, ValueType.INTEGER),
        (1e300, ValueType.INTEGER),
        (0.5, ValueType.FLOAT),
        (math.inf, ValueType.FLOAT),
        (math.nan, ValueType.FLOAT),
        ("", ValueType.STRING),
        ("1", ValueType.STRING),
    ],
)
def test_the_type_under_which_a_profile_lists_a_value(value: Scalar, wanted: ValueType) -> None:
    assert value_type(value) is wanted
