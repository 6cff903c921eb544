"""What describe says, and that it is so."""

from __future__ import annotations

import json
from typing import Any

import oracle
import pytest
from awkward_store import AwkwardStore
from small_memory import CORPUS, WIDTH, service

from a2m_gateway.capability import Metric, Profile
from a2m_gateway.memory import Limits

EVERY_METHOD = [
    "memory/describe",
    "memory/remember",
    "memory/recall",
    "memory/timeline",
    "memory/forget",
]


@pytest.mark.requirement("4.1-describe-result")
@pytest.mark.requirement("2-core-implemented")
@pytest.mark.requirement("3.7-describe-embeddings")
@pytest.mark.requirement("3.7-metrics")
async def test_describe() -> None:
    described = await service(model="bag of words").result("memory/describe")
    assert described == {
        "protocol": "a2m/0.1",
        "name": "a2m-gateway",
        "read_only": True,
        "capabilities": ["core", "embeddings"],
        "methods": EVERY_METHOD,
        "limits": {
            "max_recall_limit": 1_000,
            "max_timeline_limit": 10_000,
            "max_request_bytes": 4 * 1024 * 1024,
        },
        "embeddings": {
            "dimensions": WIDTH,
            "metric": "cosine",
            "metrics": ["cosine", "dot", "l2"],
            "model": "bag of words",
        },
    }


async def test_the_well_known_profile_is_describes_result() -> None:
    there = service()
    assert json.loads(await there.endpoint.describe()) == await there.result("memory/describe")


@pytest.mark.parametrize("metric", Metric)
async def test_the_metric_is_that_of_the_store(metric: Metric) -> None:
    described = await service(metric=metric).result("memory/describe")
    assert described["embeddings"]["metric"] == metric.value
    assert "model" not in described["embeddings"], "nobody knows it for certain"


@pytest.mark.requirement("2-declared-is-implemented")
async def test_without_vectors_there_are_no_embeddings() -> None:
    described = await service(vectors=False).result("memory/describe")
    assert described["capabilities"] == ["core"]
    assert "embeddings" not in described


@pytest.mark.requirement("3.7-describe-embeddings")
async def test_dimensions_are_null_until_the_first_vector() -> None:
    there = service(store=AwkwardStore([], metric=Metric.DOT))
    described = await there.result("memory/describe")
    assert described["embeddings"] == {"dimensions": None, "metric": "dot", "metrics": ["dot"]}


@pytest.mark.requirement("2-declared-is-implemented")
async def test_a_store_that_can_do_nothing_declares_nothing() -> None:
    class Nothing(AwkwardStore):
        @property
        def profile(self) -> Profile:
            return Profile(engine="nothing")

    assert service(store=Nothing([])).endpoint.memory.declared == frozenset()


@pytest.mark.requirement("4.15-unable-undeclared")
@pytest.mark.requirement("6-no-scopes-unauthenticated")
async def test_nothing_is_declared_that_this_release_does_not_keep() -> None:
    described = await service().result("memory/describe")
    assert set(described["capabilities"]) <= {"core", "embeddings"}
    assert not {"tiers", "events", "summarize", "prompt"} & set(described)


@pytest.mark.requirement("4.1-incompatible-32007")
@pytest.mark.requirement("4.1-no-pretence")
@pytest.mark.requirement("4.1-exact-minor")
@pytest.mark.requirement("7-32007")
@pytest.mark.parametrize("version", ["a2m/0.2", "a2m/0.0", "a2m/1.0", "", "0.1", "x" * 9999])
async def test_another_version_is_refused(version: str) -> None:
    error = await service().error("memory/describe", {"protocol": version})
    assert error["code"] == -32007
    assert error["data"]["supported"] == ["a2m/0.1"]
    assert len(error["message"]) < 200


@pytest.mark.parametrize("params", [None, {}, {"protocol": None}, {"protocol": "a2m/0.1"}])
async def test_the_same_version_or_none_is_served(params: Any) -> None:
    assert (await service().result("memory/describe", params))["protocol"] == "a2m/0.1"


@pytest.mark.requirement("2-unknown-params-ignored")
@pytest.mark.requirement("2-unknown-params-accepted")
async def test_unknown_parameters_change_nothing() -> None:
    there = service()
    plain = await there.result("memory/describe")
    odd = {"owner": 7, "tier": 5, "key_prefix": [], "limit": "x", "where": 1, "": None}
    assert await there.result("memory/describe", odd) == plain


@pytest.mark.requirement("4.1-limits-enforced")
@pytest.mark.requirement("7-32006")
async def test_every_declared_limit_is_enforced() -> None:
    limits = Limits(max_recall_limit=3, max_timeline_limit=4, max_request_bytes=300)
    there = service(limits=limits)
    declared = (await there.result("memory/describe"))["limits"]
    assert declared == {"max_recall_limit": 3, "max_timeline_limit": 4, "max_request_bytes": 300}

    assert len(await there.recall(limit=3)) == 3
    assert (await there.error("memory/recall", {"limit": 4}))["code"] == -32006
    assert len(await there.timeline(limit=4)) == 4
    assert (await there.error("memory/timeline", {"limit": 5}))["code"] == -32006

    message = b'{"jsonrpc":"2.0","id":1,"method":"memory/recall","params":{"x":"%s"}}'
    fitting = message % (b"y" * (300 - len(message) + 2))
    assert len(fitting) == 300
    answer = await there.endpoint.answer(fitting)
    assert answer is not None
    assert "result" in json.loads(answer)
    refused = await there.endpoint.answer(fitting + b" ")
    assert refused is not None
    error = json.loads(refused)
    assert (error["id"], error["error"]["code"]) == (None, -32006)
    assert error["error"]["data"]["max_request_bytes"] == 300


async def test_a_recall_without_a_limit_is_held_by_the_declared_one() -> None:
    """10 records is the default, but never more than the server says that it returns."""
    there = service(limits=Limits(max_recall_limit=3))
    assert len(await there.recall()) == 3


@pytest.mark.requirement("4-by-name")
@pytest.mark.parametrize("method", ["memory/describe", "memory/recall", "memory/timeline"])
@pytest.mark.parametrize("params", [[], [{}], ["a2m/0.1"]])
async def test_parameters_by_position_are_refused(method: str, params: Any) -> None:
    assert (await service().error(method, params))["code"] == -32602


async def test_the_corpus_is_untouched_by_being_served() -> None:
    before = repr(CORPUS)
    there = service()
    await there.recall(embedding=[1.0] * WIDTH, embeddings=True)
    await there.timeline(embeddings=True)
    assert repr(CORPUS) == before
    assert oracle.newest(CORPUS)[0] == "r0"
