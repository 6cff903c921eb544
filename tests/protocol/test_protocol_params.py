"""Parameters: unknown ones ignored, null as absence, wrong types refused by name."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from a2m_gateway.errors import CapabilityNotSupported, InvalidParams
from a2m_gateway.protocol import DescribeParams, RecallParams, TimelineParams, decode, read_params

DECLARED = frozenset({"core", "embeddings"})

# The parameters of section 4 that core and embeddings give a reader, and a good value of each.
STRING, INTEGER, NUMBER, BOOLEAN, OBJECT, NUMBERS = "s", 1, 0.5, True, {"a": 1}, [0.5, 1]
PARAMETERS: dict[type[msgspec.Struct], dict[str, object]] = {
    DescribeParams: {"protocol": STRING},
    RecallParams: {
        "query": STRING,
        "limit": INTEGER,
        "where": OBJECT,
        "min_score": NUMBER,
        "embedding": NUMBERS,
        "embeddings": BOOLEAN,
    },
    TimelineParams: {"limit": INTEGER, "where": OBJECT, "embeddings": BOOLEAN},
}
FORMS = list(PARAMETERS)

VALUES: list[object] = [
    "x", "", "1", "true", 1, 0, -3, 2**70, 1.5, True, False, [], [1], [0.5, 1.0], ["x"], [None],
    [True], [[1]], [10**400], {}, {"a": 1}, 10**400,
]  # fmt: skip


def _fits(good: object, value: object) -> bool:
    """Whether ``value`` is of the type of the parameter whose good value is ``good``."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    in_range = number and abs(value) < 10**300  # type: ignore[arg-type]
    if good is STRING:
        return isinstance(value, str)
    if good is BOOLEAN:
        return isinstance(value, bool)
    if good is INTEGER:
        return number and isinstance(value, int)
    if good is NUMBER:
        return in_range
    if good is OBJECT:
        return isinstance(value, dict)
    return isinstance(value, list) and all(_fits(NUMBER, one) for one in value)


CASES = [
    pytest.param(form, name, good, value, id=f"{form.__name__}-{name}-{str(value)[:12]}")
    for form, there in PARAMETERS.items()
    for (name, good), value in itertools.product(there.items(), VALUES)
]


def _read(form: type[msgspec.Struct], given: object, declared: frozenset[str] = DECLARED) -> Any:
    return read_params(given, form, declared)


@pytest.mark.requirement("7-32602")
@pytest.mark.parametrize(("form", "name", "good", "value"), CASES)
def test_a_value_is_taken_as_it_is_or_refused_by_name(
    form: type[msgspec.Struct], name: str, good: object, value: object
) -> None:
    others = {other: there for other, there in PARAMETERS[form].items() if other != name}
    if _fits(good, value):
        assert getattr(_read(form, {**others, name: value}), name) == value
        return
    with pytest.raises(InvalidParams) as caught:
        _read(form, {**others, name: value})
    assert str(caught.value.data["field"]).startswith(name)
    assert f"`{caught.value.data['field']}`" in caught.value.message


@pytest.mark.parametrize("form", FORMS)
def test_null_is_absence(form: type[msgspec.Struct]) -> None:
    absent = _read(form, {})
    assert _read(form, None) == absent
    assert _read(form, dict.fromkeys(PARAMETERS[form])) == absent
    assert _read(form, {"tier": None, "key_prefix": None, "owner": None, "prompt": None}) == absent


@pytest.mark.requirement("2-unknown-params-accepted")
@pytest.mark.requirement("2-unknown-params-ignored")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value)[:12])
def test_unknown_parameters_are_ignored(form: type[msgspec.Struct], value: object) -> None:
    given = PARAMETERS[form]
    for name in ("x", "", "Limit", "limits", "query ", "records", "ids", "__class__", "a.b"):
        assert _read(form, {**given, name: value}) == _read(form, given)


@pytest.mark.requirement("2-unknown-params-ignored")
@pytest.mark.parametrize("name", ["tier", "key_prefix", "embedding", "embeddings", "prompt"])
def test_describe_knows_no_restriction_and_ignores_them(name: str) -> None:
    assert _read(DescribeParams, {name: "x"}, frozenset({"core"})) == DescribeParams()


@pytest.mark.requirement("4.3-restriction-32003")
@pytest.mark.requirement("7-32003")
@pytest.mark.parametrize("form", [RecallParams, TimelineParams])
@pytest.mark.parametrize(
    ("name", "capability"),
    [("tier", "tiers"), ("embedding", "embeddings"), ("key_prefix", "keys")],
)
@pytest.mark.parametrize("value", ["a", "", 5, [], [0.5], {}, False])
def test_a_restriction_by_an_undeclared_capability(
    form: type[msgspec.Struct], name: str, capability: str, value: object
) -> None:
    with pytest.raises(CapabilityNotSupported) as caught:
        _read(form, {name: value}, frozenset({"core"}))
    assert caught.value.data["capability"] == capability
    assert f"`{name}`" in caught.value.message


@pytest.mark.requirement("4.3-undeclared-ignored")
@pytest.mark.requirement("4.16-undeclared-ignored")
@pytest.mark.parametrize("form", [RecallParams, TimelineParams])
@pytest.mark.parametrize("name", ["owner", "prompt", "embeddings"])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value)[:12])
def test_an_addition_by_an_undeclared_capability_is_ignored(
    form: type[msgspec.Struct], name: str, value: object
) -> None:
    core = frozenset({"core"})
    assert _read(form, {"limit": 3, name: value}, core) == _read(form, {"limit": 3}, core)


@pytest.mark.requirement("4-by-name")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", [[], ["x"], [{}], "x", 1, True])
def test_parameters_by_position_are_refused(form: type[msgspec.Struct], given: object) -> None:
    with pytest.raises(InvalidParams) as caught:
        _read(form, given)
    assert caught.value.data["field"] == "params"


def test_reading_changes_nothing_of_what_was_given() -> None:
    given = {"limit": 1, "owner": "x", "prompt": True, "where": {"a": [1]}}
    before = repr(given)
    _read(RecallParams, given, frozenset({"core"}))
    assert repr(given) == before


def test_where_keeps_its_values_as_they_came() -> None:
    where = decode(b'{"a":1,"b":1.0,"c":true,"d":null,"e":[1,"x",null],"f":{"g":[{}]},"":""}')
    read = _read(RecallParams, {"where": where}).where
    assert repr(read) == repr(where)
