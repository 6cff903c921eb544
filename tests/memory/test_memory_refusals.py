"""What is refused, by which code, and what is not refused."""

from __future__ import annotations

from typing import Any

import pytest
from small_memory import WIDTH, service

RECORD = {"content": "x"}
UNDECLARED = {
    "memory/promote": "tiers",
    "memory/consolidate": "tiers",
    "memory/reinforce": "salience",
    "memory/session/list": "sessions",
    "memory/session/close": "sessions",
    "memory/fetch": "keys",
    "memory/events": "events",
    "memory/events/subscribe": "events",
    "memory/events/unsubscribe": "events",
    "memory/summarize": "summarize",
}
ODD_PARAMS: list[Any] = [
    None, {}, [], [1], {"key": "a"}, {"ids": ["r1"], "tier": "x"}, {"session": ""}, {"x": 1},
]  # fmt: skip


@pytest.mark.requirement("2.1-read-only-writes")
@pytest.mark.requirement("2.1-read-only-consistent")
@pytest.mark.requirement("2.1-read-only-before-selectors")
@pytest.mark.requirement("7-32004")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("memory/remember", {"records": [RECORD]}),
        ("memory/remember", {"records": [{**RECORD, "id": "r1"}]}),
        ("memory/remember", {"records": [{**RECORD, "tier": "working"}]}),
        ("memory/remember", {"records": [{**RECORD, "embedding": [1.0]}]}),
        ("memory/remember", {"records": []}),
        ("memory/remember", {"records": "x"}),
        ("memory/remember", {}),
        ("memory/remember", None),
        ("memory/remember", [1]),
        ("memory/forget", {"ids": ["r1"]}),
        ("memory/forget", {"ids": []}),
        ("memory/forget", {"ids": 7}),
        ("memory/forget", {"query": "key"}),
        ("memory/forget", {"tier": "working"}),
        ("memory/forget", {"key_prefix": "a/"}),
        ("memory/forget", {"where": {}}),
        ("memory/forget", {}),
        ("memory/forget", None),
        ("memory/forget", []),
    ],
)
async def test_a_write_is_refused_as_read_only_whatever_it_carries(
    method: str, params: Any
) -> None:
    there = service()
    before = await there.timeline()
    error = await there.error(method, params)
    assert error["code"] == -32004
    assert error["data"] == {"fault": "caller", "retry": False}
    assert await there.timeline() == before


@pytest.mark.requirement("2-undeclared-32003")
@pytest.mark.requirement("2-undeclared-never-32601")
@pytest.mark.requirement("7-32003")
@pytest.mark.parametrize(("method", "capability"), UNDECLARED.items())
@pytest.mark.parametrize("params", ODD_PARAMS, ids=str)
async def test_a_method_of_an_undeclared_capability(
    method: str, capability: str, params: Any
) -> None:
    error = await service().error(method, params)
    assert error["code"] == -32003
    assert error["data"]["capability"] == capability


@pytest.mark.requirement("7-32601")
@pytest.mark.parametrize(
    "method", ["", "memory/event", "memory/Recall", "tools/list", "memory/recall\x00", "é" * 5000]
)
async def test_what_is_no_method(method: str) -> None:
    error = await service().error(method, {})
    assert error["code"] == -32601
    assert len(error["message"]) < 1000


@pytest.mark.requirement("4.3-restriction-32003")
@pytest.mark.requirement("7-32003")
@pytest.mark.parametrize("method", ["memory/recall", "memory/timeline"])
@pytest.mark.parametrize(
    ("name", "capability"),
    [("tier", "tiers"), ("key_prefix", "keys"), ("embedding", "embeddings")],
)
@pytest.mark.parametrize("value", ["a", "", 5, [1.0] * WIDTH, {}, False])
async def test_a_restriction_by_an_undeclared_capability(
    method: str, name: str, capability: str, value: Any
) -> None:
    there = service(vectors=False)
    error = await there.error(method, {name: value})
    assert error["code"] == -32003
    assert error["data"]["capability"] == capability
    assert await there.result(method, {name: None}) == await there.result(method)


@pytest.mark.requirement("4.3-undeclared-ignored")
@pytest.mark.requirement("4.16-undeclared-ignored")
@pytest.mark.requirement("4.16-same-records")
@pytest.mark.requirement("4.16-recall-unchanged")
@pytest.mark.requirement("6-owner-not-trusted")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("memory/recall", {}),
        ("memory/recall", {"query": "deploy key"}),
        ("memory/recall", {"where": {"even": True}, "limit": 2}),
        ("memory/timeline", {"limit": 3}),
    ],
)
async def test_additions_by_undeclared_capabilities_change_nothing(
    method: str, params: dict[str, Any]
) -> None:
    there = service(vectors=False)
    plain = await there.result(method, params)
    prompts: list[Any] = [True, {"method": "model", "budget": 1}, {"method": "none"}, "x", -1]
    for prompt in prompts:
        assert await there.result(method, {**params, "prompt": prompt}) == plain
    owners: list[Any] = ["someone", "", None, 7, []]
    for owner in owners:
        assert await there.result(method, {**params, "owner": owner}) == plain
    flags: list[Any] = [True, False, "yes", 1, [], None]
    for embeddings in flags:
        assert await there.result(method, {**params, "embeddings": embeddings}) == plain


@pytest.mark.requirement("2-unknown-params-accepted")
@pytest.mark.requirement("2-unknown-params-ignored")
@pytest.mark.parametrize("method", ["memory/recall", "memory/timeline"])
async def test_unknown_parameters_change_nothing(method: str) -> None:
    there = service()
    plain = await there.result(method, {"limit": 3})
    odd = {"limits": 1, "Query": 5, "ids": ["r1"], "filter": {"page": 1}, "\u0000": [], "": {}}
    assert await there.result(method, {"limit": 3, **odd}) == plain


@pytest.mark.requirement("7-32602")
@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("memory/recall", {"query": 5}, "query"),
        ("memory/recall", {"query": ["x"]}, "query"),
        ("memory/recall", {"limit": "3"}, "limit"),
        ("memory/recall", {"limit": True}, "limit"),
        ("memory/recall", {"limit": 1.5}, "limit"),
        ("memory/recall", {"limit": -1}, "limit"),
        ("memory/recall", {"limit": 0}, "limit"),
        ("memory/recall", {"min_score": "0"}, "min_score"),
        ("memory/recall", {"embedding": "x"}, "embedding"),
        ("memory/recall", {"embedding": [0] * WIDTH}, "embedding"),
        ("memory/recall", {"embedding": [10**400] * WIDTH}, "embedding[0]"),
        ("memory/recall", {"embedding": [True] * WIDTH}, "embedding[0]"),
        ("memory/recall", {"embeddings": 1}, "embeddings"),
        ("memory/recall", {"where": []}, "where"),
        ("memory/recall", {"where": {"a": {}}}, "where.a"),
        ("memory/recall", {"where": {"a": [1, {"b": 1}]}}, "where.a[1]"),
        ("memory/recall", {"where": {"a": [[1]]}}, "where.a[0]"),
        ("memory/timeline", {"limit": "3"}, "limit"),
        ("memory/timeline", {"limit": 0}, "limit"),
        ("memory/timeline", {"limit": -(2**70)}, "limit"),
        ("memory/timeline", {"where": "x"}, "where"),
        ("memory/timeline", {"where": {"a": {"$gt": 1}}}, "where.a"),
        ("memory/timeline", {"embeddings": "true"}, "embeddings"),
        ("memory/describe", {"protocol": 0.1}, "protocol"),
    ],
)
async def test_a_wrong_parameter_is_named(method: str, params: Any, field: str) -> None:
    error = await service().error(method, params)
    assert error["code"] == -32602
    assert error["data"]["field"] == field
    assert field in error["message"]


@pytest.mark.requirement("4.13-nothing-unsubscribed")
@pytest.mark.parametrize(
    "method", [*UNDECLARED, "memory/recall", "memory/remember", "memory/nothing"]
)
async def test_a_notification_is_never_answered(method: str) -> None:
    there = service()
    for params in (b"{}", b"null", b"[]", b'{"limit":"x","where":5}'):
        message = b'{"jsonrpc":"2.0","method":"%s","params":%s}' % (method.encode(), params)
        assert await there.endpoint.answer(message) is None
