"""What a client makes of what servers say, right and wrong (spec 2, 7, 8.2)."""

from __future__ import annotations

import asyncio
import datetime
import math
from typing import Any

import pytest
from scripted_server import DESCRIBED, Request, Scripted, error, result

from a2m_gateway import errors
from a2m_gateway.client import Client
from a2m_gateway.errors import (
    A2MError,
    CapabilityNotSupported,
    ForeignError,
    InvalidParams,
    MalformedAnswer,
    MethodNotFound,
    ProtocolNotSupported,
    QuotaExceeded,
    ReadOnly,
)

# ---- describe first, declared methods only


@pytest.mark.requirement("2-client-describes-first")
@pytest.mark.requirement("4.1-client-first")
async def test_describe_comes_first_and_once(in_process: Client, scripted: Scripted) -> None:
    await asyncio.gather(*(in_process.call("memory/fetch", {"key": "k"}) for _ in range(5)))
    assert scripted.methods == ["memory/describe", *["memory/fetch"] * 5]
    assert scripted.seen[0]["params"] == {"protocol": "a2m/0.1"}


@pytest.mark.requirement("2-client-declared-methods-only")
@pytest.mark.parametrize(
    ("method", "capability"),
    [
        ("memory/promote", "tiers"),
        ("memory/consolidate", "tiers"),
        ("memory/reinforce", "salience"),
        ("memory/session/list", "sessions"),
        ("memory/events/subscribe", "events"),
        ("memory/summarize", "summarize"),
    ],
)
async def test_an_undeclared_method_is_not_sent(
    in_process: Client, scripted: Scripted, method: str, capability: str
) -> None:
    with pytest.raises(CapabilityNotSupported, match=f"{method}.*'{capability}'"):
        await in_process.call(method)
    assert scripted.methods == ["memory/describe"]


async def test_methods_that_a2m_does_not_have(in_process: Client, scripted: Scripted) -> None:
    await in_process.call("vendor/extra")
    with pytest.raises(MethodNotFound):
        await in_process.call("vendor/other")
    assert scripted.methods == ["memory/describe", "vendor/extra"]


async def test_what_describe_says(in_process: Client) -> None:
    server = await in_process.describe()
    assert (server.name, server.protocol) == ("scripted", "a2m/0.1")
    assert server.capabilities == {"core", "keys", "future"}
    assert server.limits == {"max_request_bytes": 10_000}
    assert server.raw == DESCRIBED


async def test_a_server_of_another_version(in_process: Client, scripted: Scripted) -> None:
    scripted.describe = lambda request: result(request, DESCRIBED | {"protocol": "a2m/0.2"})
    with pytest.raises(ProtocolNotSupported, match=r"a2m/0\.2"):
        await in_process.recall("x")
    assert scripted.methods == ["memory/describe"]


@pytest.mark.parametrize(
    "described",
    [
        {},
        {**DESCRIBED, "protocol": 1},
        {**DESCRIBED, "capabilities": "core"},
        {**DESCRIBED, "capabilities": ["keys"]},
        {**DESCRIBED, "capabilities": ["core", 1]},
        {**DESCRIBED, "methods": None},
        {**DESCRIBED, "name": None},
        [],
        None,
    ],
)
async def test_a_describe_result_that_is_none(
    in_process: Client, scripted: Scripted, described: object
) -> None:
    scripted.describe = lambda request: result(request, described)
    with pytest.raises(MalformedAnswer):
        await in_process.recall("x")
    scripted.describe = lambda request: result(request, DESCRIBED)
    scripted.say = lambda request: [result(request, {"records": []})]
    assert await in_process.recall("x") == [], "the next call describes again"


# ---- records


RECORD = {"id": "1", "content": "", "created_at": "2026-01-01T00:00:00.000Z"}


@pytest.mark.requirement("2-client-unknown-fields")
async def test_unknown_fields_are_kept(in_process: Client, scripted: Scripted) -> None:
    record = RECORD | {"mood": "blue", "embedding": [1, 2.5], "future": {"a": None}}
    scripted.say = lambda request: [result(request, {"records": [record], "stores": []})]
    assert await in_process.recall("x") == [record]
    assert await in_process.timeline() == [record]


@pytest.mark.parametrize(
    "records",
    [
        None,
        {},
        [1],
        [{}],
        [RECORD | {"id": 1}],
        [RECORD | {"content": None}],
        [RECORD, {"id": "2"}],
    ],
)
async def test_records_that_are_none(
    in_process: Client, scripted: Scripted, records: object
) -> None:
    scripted.say = lambda request: [result(request, {"records": records})]
    with pytest.raises(MalformedAnswer, match="records"):
        await in_process.recall("x")


async def test_ids_are_one_for_each_record(in_process: Client, scripted: Scripted) -> None:
    scripted.say = lambda request: [result(request, {"ids": ["a", "b"]})]
    assert await in_process.remember([{"content": "x"}, {"content": "y"}]) == ["a", "b"]
    with pytest.raises(MalformedAnswer, match="1 records were sent, 2 ids"):
        await in_process.remember([{"content": "x"}])
    with pytest.raises(MalformedAnswer, match="forgotten"):
        await in_process.forget(ids=["a"])


async def test_parameters_left_out_are_not_sent(in_process: Client, scripted: Scripted) -> None:
    scripted.say = lambda request: [result(request, {"records": [], "forgotten": 0})]
    await in_process.recall(limit=0, where={}, query="")
    await in_process.forget(ids=[])
    assert [request["params"] for request in scripted.seen[1:]] == [
        {"limit": 0, "where": {}, "query": ""},
        {"ids": []},
    ]


# ---- errors


@pytest.mark.requirement("7-client-code-not-message")
@pytest.mark.parametrize(
    "form",
    [form for form in A2MError.__subclasses__() if form is not ForeignError],
    ids=lambda form: form.__name__,
)
async def test_errors_are_told_apart_by_code(
    in_process: Client, scripted: Scripted, form: type[A2MError]
) -> None:
    data = {"retry": True, "fault": "store", "field": "x", "message": "y"}
    misleading = "READ_ONLY -32004 QUOTA_EXCEEDED"
    scripted.say = lambda request: [error(request, form.code, message=misleading, data=data)]
    with pytest.raises(A2MError) as raised:
        await in_process.recall("x")
    assert type(raised.value) is form
    assert (raised.value.message, raised.value.data) == (misleading, data)
    assert (raised.value.retry, raised.value.fault) == (True, errors.Fault.STORE)
    assert form.retry is False, "of this error alone"


@pytest.mark.parametrize("data", [None, [1], "text", {"retry": "yes", "fault": "moon"}])
async def test_codes_and_data_that_are_unknown(
    in_process: Client, scripted: Scripted, data: object
) -> None:
    scripted.say = lambda request: [error(request, -32050, data=data)]
    with pytest.raises(ForeignError) as raised:
        await in_process.recall("x")
    assert raised.value.code == -32050
    assert raised.value.retry is False
    assert A2MError.code == -32603


@pytest.mark.requirement("2.1-client-read-only")
async def test_read_only_is_an_answer(streamed: Client, scripted: Scripted) -> None:
    scripted.say = lambda request: [error(request, -32004)]
    for call in (lambda: streamed.remember([{"content": "x"}]), lambda: streamed.forget(ids=["x"])):
        with pytest.raises(ReadOnly):
            await call()
    assert scripted.methods == ["memory/describe", "memory/remember", "memory/forget"]
    scripted.say = lambda request: [result(request, {"records": []})]
    assert await streamed.recall() == []


# ---- malformed answers

BROKEN = [
    b"not json",
    b"[]",
    b"1",
    b"\xff",
    b"{}",
    b'{"jsonrpc":"1.0","id":%d,"result":{}}',
    b'{"jsonrpc":"2.0","id":%d}',
    b'{"jsonrpc":"2.0","id":%d,"result":{},"error":{"code":1,"message":""}}',
    b'{"jsonrpc":"2.0","id":%d,"result":[]}',
    b'{"jsonrpc":"2.0","id":%d,"result":null}',
    b'{"jsonrpc":"2.0","id":%d,"result":{"a":1,"a":2}}',
    b'{"jsonrpc":"2.0","id":%d,"error":{}}',
    b'{"jsonrpc":"2.0","id":%d,"error":"x"}',
    b'{"jsonrpc":"2.0","id":%d,"error":{"code":"-32004","message":""}}',
    b'{"jsonrpc":"2.0","id":%d,"error":{"code":true,"message":""}}',
    b'{"jsonrpc":"2.0","id":"%d","result":{}}',
    b'{"jsonrpc":"2.0","id":%d.0,"result":{}}',
    b'{"jsonrpc":"2.0","id":true,"result":{}}',
    b'{"jsonrpc":"2.0","id":9%d,"result":{}}',
    b'{"jsonrpc":"2.0","id":null,"result":{}}',
]


@pytest.mark.parametrize("broken", BROKEN)
async def test_what_is_no_answer_is_named(
    in_process: Client, streamed: Client, scripted: Scripted, broken: bytes
) -> None:
    def say(request: Request) -> list[bytes]:
        return [broken % request["id"] if b"%d" in broken else broken]

    scripted.say = say
    for client in (in_process, streamed):
        with pytest.raises(MalformedAnswer):
            await client.recall("x")
    scripted.say = lambda request: [result(request, {"records": []})]
    for client in (in_process, streamed):
        assert await client.recall("x") == [], "the next call is unharmed"


async def test_no_answer_at_all(in_process: Client, scripted: Scripted) -> None:
    scripted.say = lambda request: []
    with pytest.raises(MalformedAnswer):
        await in_process.recall("x")


async def test_an_error_without_an_id_is_that_of_the_one_call(
    in_process: Client, streamed: Client, scripted: Scripted
) -> None:
    scripted.say = lambda request: [error({"id": None}, -32006)]
    for client in (in_process, streamed):
        with pytest.raises(QuotaExceeded):
            await client.recall("x")


# ---- what is sent


@pytest.mark.requirement("8.1-serialised")
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, b"x", datetime.datetime.now(datetime.UTC), {1}, "\ud800"]
)
async def test_what_has_no_json_form_is_not_sent(
    in_process: Client, scripted: Scripted, value: Any
) -> None:
    with pytest.raises(InvalidParams, match="no JSON form"):
        await in_process.recall("x", where={"a": value})
    assert scripted.methods == ["memory/describe"]


async def test_what_is_larger_than_the_server_takes_is_not_sent(
    in_process: Client, scripted: Scripted
) -> None:
    with pytest.raises(QuotaExceeded, match="10000"):
        await in_process.recall("x" * 10_000)
    assert scripted.methods == ["memory/describe"]
