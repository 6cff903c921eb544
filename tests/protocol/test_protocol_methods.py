"""Which methods there are, and who may call them."""

from __future__ import annotations

import itertools

import pytest

from a2m_gateway.errors import CapabilityNotSupported, MethodNotFound, ReadOnly
from a2m_gateway.protocol import METHODS, PROTOCOL, admit, compatible

# The table of section 2.
ADDS = {
    "core": {
        "memory/describe",
        "memory/remember",
        "memory/recall",
        "memory/timeline",
        "memory/forget",
    },
    "tiers": {"memory/promote", "memory/consolidate"},
    "salience": {"memory/reinforce"},
    "scopes": set(),
    "sessions": {"memory/session/list", "memory/session/close"},
    "keys": {"memory/fetch"},
    "embeddings": set(),
    "external": set(),
    "events": {"memory/events", "memory/events/subscribe", "memory/events/unsubscribe"},
    "summarize": {"memory/summarize"},
    "prompt": set(),
}
CAPABILITY_OF = {method: name for name, methods in ADDS.items() for method in methods}
ALL = frozenset(ADDS)

# What changes a store: sections 2.1, 4.2, 4.5 to 4.8, 4.11 and 4.15.
WRITES = {
    "memory/remember",
    "memory/forget",
    "memory/promote",
    "memory/consolidate",
    "memory/reinforce",
    "memory/session/close",
    "memory/summarize",
}

FOREIGN = [
    "",
    "memory",
    "memory/",
    "memory/Recall",
    "MEMORY/RECALL",
    "memory/recall ",
    " memory/recall",
    "memory/recall\x00",
    "memory/recall/",
    "memory/event",
    "memory//recall",
    "tools/list",
    "rpc.discover",
    "recall",
    "mémory/recall",
    "x" * 100_000,
]


def test_the_methods_are_those_of_the_table() -> None:
    assert {name: method.capability for name, method in METHODS.items()} == CAPABILITY_OF
    assert {name for name, method in METHODS.items() if method.writes} == WRITES


@pytest.mark.requirement("2-undeclared-32003")
@pytest.mark.requirement("2-undeclared-never-32601")
@pytest.mark.parametrize(
    ("method", "read_only"), list(itertools.product(CAPABILITY_OF, [True, False]))
)
def test_a_method_of_an_undeclared_capability(method: str, read_only: bool) -> None:
    capability = CAPABILITY_OF[method]
    with pytest.raises(CapabilityNotSupported) as caught:
        admit(method, declared=ALL - {capability}, read_only=read_only)
    assert caught.value.code == -32003
    assert caught.value.data["capability"] == capability
    assert f"'{capability}'" in caught.value.message


@pytest.mark.requirement("2.1-read-only-writes")
@pytest.mark.parametrize("method", CAPABILITY_OF)
def test_a_method_of_a_declared_capability(method: str) -> None:
    assert admit(method, declared=ALL, read_only=False).name == method
    if method in WRITES:
        with pytest.raises(ReadOnly):
            admit(method, declared=ALL, read_only=True)
    else:
        assert admit(method, declared=ALL, read_only=True).name == method


@pytest.mark.requirement("7-32601")
@pytest.mark.parametrize("method", FOREIGN, ids=lambda method: repr(method)[:20])
@pytest.mark.parametrize("declared", [ALL, frozenset({"core"}), frozenset[str]()])
def test_what_is_no_method_of_a2m(method: str, declared: frozenset[str]) -> None:
    with pytest.raises(MethodNotFound) as caught:
        admit(method, declared=declared, read_only=True)
    assert len(caught.value.message) < 400


@pytest.mark.requirement("4.1-exact-minor")
@pytest.mark.parametrize(
    "version",
    [
        "a2m/0.2",
        "a2m/0.0",
        "a2m/0.10",
        "a2m/0.1.0",
        "a2m/0.01",
        "a2m/00.1",
        "a2m/1.0",
        "a2m/1.1",
        "",
        "0.1",
        "A2M/0.1",
        "a2m/0.1 ",
        " a2m/0.1",
        "a2m 0.1",
        "mcp/0.1",
        "a2m/0.1\n",
        "a2m/٠.١",
    ],
)
def test_only_the_same_minor_version_is_compatible(version: str) -> None:
    assert not compatible(version)


def test_the_version_is_that_of_the_specification() -> None:
    assert PROTOCOL == "a2m/0.1"
    assert compatible("a2m/0.1")
