"""Client and server in one process: nothing but JSON passes between them (spec 8.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scripted_server import Scripted, result

from a2m_gateway.client import Client, InProcessChannel
from a2m_gateway.memory import Endpoint


class Heard:
    """An endpoint, with all that goes in and comes out."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.messages: list[bytes] = []
        self.answers: list[bytes | None] = []

    async def answer(self, message: bytes) -> bytes | None:
        self.messages.append(message)
        self.answers.append(await self._endpoint.answer(message))
        return self.answers[-1]


@pytest.mark.requirement("8.1-serialised")
async def test_json_goes_both_ways(endpoint: Endpoint) -> None:
    heard = Heard(endpoint)
    records = await Client.in_process(heard).recall(where={"n": (1, 2)}, limit=5)
    assert [type(message) for message in heard.messages] == [bytes, bytes]
    sent = json.loads(heard.messages[-1])
    assert sent["method"] == "memory/recall"
    assert sent["params"] == {"where": {"n": [1, 2]}, "limit": 5}, "a tuple is an array by then"
    assert records == json.loads(heard.answers[-1] or b"")["result"]["records"]


@pytest.mark.requirement("8.1-serialised")
async def test_neither_side_holds_what_is_the_other_s(endpoint: Endpoint) -> None:
    client = Client.in_process(endpoint)
    first = await client.timeline()
    first[0]["metadata"]["nested"]["a"].append("the caller's own")
    assert (await client.timeline())[0]["metadata"]["nested"] == {"a": [None, "☕"]}


@pytest.mark.requirement("8.1-serialised")
async def test_parameters_are_copied(in_process: Client, scripted: Scripted) -> None:
    kept: list[Any] = []

    def say(request: dict[str, Any]) -> list[bytes]:
        kept.append(request["params"]["where"])
        return [result(request, {"records": []})]

    scripted.say = say
    where: dict[str, Any] = {"a": [1, 1.0, "ü☕", None]}
    await in_process.recall(where=where)
    where["a"].append(2)
    assert kept == [{"a": [1, 1.0, "ü☕", None]}]


async def test_the_largest_message_is_that_of_every_transport(endpoint: Endpoint) -> None:
    """Also for a caller that goes by no ``limits``."""
    message = b" " * (endpoint.max_request_bytes + 1)
    answer = await InProcessChannel(endpoint).exchange(1, message)
    assert (answer["id"], answer["error"]["code"]) == (None, -32006)
