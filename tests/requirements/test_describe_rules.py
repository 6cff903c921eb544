"""Sections 2, 2.1 and 4.1: what a server declares, and what it does with the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

Ask = Callable[..., Awaitable[dict[str, Any]]]

CORE = [
    "memory/describe",
    "memory/remember",
    "memory/recall",
    "memory/timeline",
    "memory/forget",
]
UNDECLARED = [
    "memory/promote",
    "memory/consolidate",
    "memory/reinforce",
    "memory/session/list",
    "memory/session/close",
    "memory/fetch",
    "memory/events",
    "memory/events/subscribe",
    "memory/events/unsubscribe",
    "memory/summarize",
]
"""The methods of the capabilities that a read-only corpus does not have (spec 2)."""

UNKNOWN: dict[str, Any] = {"future": True, "_": None, "records": 7, "Limit": "x", "": [{}]}


def code(response: dict[str, Any]) -> int | None:
    return response["error"]["code"] if "error" in response else None


@pytest.mark.requirement("2-core-implemented")
@pytest.mark.requirement("4.1-describe-result")
async def test_describe(ask: Ask) -> None:
    described = (await ask("memory/describe"))["result"]
    assert described["protocol"] == "a2m/0.1"
    assert isinstance(described["name"], str)
    assert described["name"]
    assert "core" in described["capabilities"]
    assert sorted(described["methods"]) == sorted(CORE)
    assert described["read_only"] is True


@pytest.mark.requirement("2-core-implemented")
@pytest.mark.requirement("2-declared-is-implemented")
async def test_what_is_declared_works(ask: Ask, ask_texts: Ask) -> None:
    with_vectors = (await ask("memory/describe"))["result"]
    assert sorted(with_vectors["capabilities"]) == ["core", "embeddings"]
    assert "result" in await ask("memory/recall", embedding=[1, 0, 0, 0], embeddings=True)
    without = (await ask_texts("memory/describe"))["result"]
    assert without["capabilities"] == ["core"]
    assert "embeddings" not in without
    writes = {"memory/remember", "memory/forget"}
    for method in with_vectors["methods"]:
        assert code(await ask(method)) == (-32004 if method in writes else None)


@pytest.mark.requirement("2-undeclared-32003")
@pytest.mark.requirement("2-undeclared-never-32601")
@pytest.mark.requirement("7-32003")
@pytest.mark.parametrize("method", UNDECLARED)
@pytest.mark.parametrize("params", [{}, {"ids": ["r00"], "tier": "x"}, {"session": 7}])
async def test_undeclared_methods(ask: Ask, method: str, params: dict[str, Any]) -> None:
    assert code(await ask(method, **params)) == -32003


@pytest.mark.requirement("7-32601")
@pytest.mark.parametrize(
    "method", ["memory/unknown", "memory/", "tools/list", "", "MEMORY/RECALL", "memory/event"]
)
async def test_no_method_of_a2m(ask: Ask, method: str) -> None:
    assert code(await ask(method)) == -32601


@pytest.mark.requirement("4.15-unable-undeclared")
async def test_summarize_is_not_declared(ask: Ask) -> None:
    described = (await ask("memory/describe"))["result"]
    assert "summarize" not in described
    assert "summarize" not in described["capabilities"]
    assert "memory/summarize" not in described["methods"]


@pytest.mark.requirement("2-unknown-params-accepted")
@pytest.mark.requirement("2-unknown-params-ignored")
@pytest.mark.parametrize("method", ["memory/describe", "memory/recall", "memory/timeline"])
async def test_unknown_parameters_change_nothing(ask: Ask, method: str) -> None:
    plain = await ask(method)
    assert "result" in plain
    assert await ask(method, **UNKNOWN) == plain


@pytest.mark.requirement("2.1-read-only-writes")
@pytest.mark.requirement("2.1-read-only-consistent")
@pytest.mark.requirement("2.1-read-only-before-selectors")
@pytest.mark.requirement("7-32004")
@pytest.mark.parametrize("method", ["memory/remember", "memory/forget"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"records": []},
        {"records": [{"content": "new"}, {"content": "other", "id": "r00"}]},
        {"records": [{"content": "new", "tier": "working", "embedding": [1, 2]}]},
        {"records": "wrong", "ids": 7, "where": []},
        {"ids": ["r00"]},
        {"ids": [], "query": "", "where": {}},
        {"key_prefix": "a", "tier": "working", "owner": "me"},
    ],
)
async def test_writes_are_refused(ask: Ask, method: str, params: dict[str, Any]) -> None:
    before = await ask("memory/timeline")
    assert code(await ask(method, **params)) == -32004
    assert await ask("memory/timeline") == before


@pytest.mark.requirement("4.1-incompatible-32007")
@pytest.mark.requirement("4.1-no-pretence")
@pytest.mark.requirement("4.1-exact-minor")
@pytest.mark.requirement("7-32007")
@pytest.mark.parametrize(
    "protocol", ["a2m/0.2", "a2m/0.0", "a2m/0.10", "a2m/1.0", "a2m/0.1.1", "a2m", "mcp/0.1", ""]
)
async def test_other_versions_are_refused(ask: Ask, protocol: str) -> None:
    refused = await ask("memory/describe", protocol=protocol)
    assert code(refused) == -32007
    assert refused["error"]["data"]["supported"] == ["a2m/0.1"]


async def test_our_version_is_served(ask: Ask) -> None:
    for protocol in ("a2m/0.1", None):
        described = (await ask("memory/describe", protocol=protocol))["result"]
        assert described["protocol"] == "a2m/0.1"


@pytest.mark.requirement("3.7-describe-embeddings")
@pytest.mark.requirement("3.7-metrics")
async def test_embeddings_are_described(ask: Ask) -> None:
    described = (await ask("memory/describe"))["result"]["embeddings"]
    assert described["dimensions"] == 4
    assert described["metric"] == "cosine"
    assert sorted(described["metrics"]) == ["cosine", "dot", "l2"]


@pytest.mark.requirement("4.1-limits-enforced")
@pytest.mark.requirement("7-32006")
async def test_limits_are_enforced(ask: Ask) -> None:
    limits = (await ask("memory/describe"))["result"]["limits"]
    assert all(isinstance(value, int) for value in limits.values())
    largest = limits["max_recall_limit"]
    assert "result" in await ask("memory/recall", limit=largest)
    assert code(await ask("memory/recall", limit=largest + 1)) == -32006
    assert "result" in await ask("memory/timeline", limit=limits["max_timeline_limit"])
    assert code(await ask("memory/timeline", limit=limits["max_timeline_limit"] + 1)) == -32006
    padding = "x" * limits["max_request_bytes"]
    assert code(await ask("memory/recall", query=padding)) == -32006
