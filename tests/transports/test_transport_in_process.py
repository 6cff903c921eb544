"""Client and server in one process (spec 8.1)."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import pytest
from stub_responder import Stub

from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import InProcessTransport


def request(method: str, params: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.mark.requirement("8.1-serialised")
async def test_nothing_of_the_caller_reaches_the_server(stub: Stub) -> None:
    params = {"where": {"a": [1, 1.0, "ü☕", None]}, "pair": (1, 2)}
    answer = await InProcessTransport(stub).exchange(request("echo", params))
    assert answer is not None
    assert answer["result"] == {"where": {"a": [1, 1.0, "ü☕", None]}, "pair": [1, 2]}
    assert answer["result"]["where"] is not params["where"]


@pytest.mark.requirement("8.1-serialised")
@pytest.mark.parametrize(
    "value",
    [datetime.datetime.now(datetime.UTC), b"bytes", {1, 2}, math.nan, math.inf, "\ud800", object()],
)
async def test_what_no_remote_server_could_be_sent_is_refused(stub: Stub, value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        await InProcessTransport(stub).exchange(request("echo", {"value": value}))
    assert stub.calls == []


async def test_a_notification_has_no_answer(stub: Stub) -> None:
    message = {"jsonrpc": "2.0", "method": "echo"}
    assert await InProcessTransport(stub).exchange(message) is None
    assert stub.calls == ["echo"]


async def test_the_largest_message_is_that_of_every_transport(stub: Stub) -> None:
    stub.max_request_bytes = 100
    answer = await InProcessTransport(stub).answer(b"x" * 101)
    assert answer is not None
    assert json.loads(answer)["error"]["code"] == -32006
    assert json.loads(answer)["id"] is None
    assert stub.calls == []


async def test_the_callback_gets_a_copy_of_each_notification(stub: Stub) -> None:
    heard: list[dict[str, Any]] = []
    transport = InProcessTransport(stub, on_notification=heard.append)
    transport.notify(b'{"jsonrpc":"2.0","method":"memory/event","params":{"kind":"written"}}')
    assert heard == [{"jsonrpc": "2.0", "method": "memory/event", "params": {"kind": "written"}}]
    InProcessTransport(stub).notify(b"{}")


async def test_a_real_endpoint(memory_endpoint: Endpoint) -> None:
    answer = await InProcessTransport(memory_endpoint).exchange(request("memory/timeline", {}))
    assert answer is not None
    assert [r["content"] for r in answer["result"]["records"]] == [
        "naïve café ☕",
        "line one\nline two",
        'tab\tquote"back\\slash',
    ]
