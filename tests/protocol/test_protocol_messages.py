"""Envelopes against the JSON-RPC 2.0 specification and section 8."""

from __future__ import annotations

import json
from typing import Any

import answers
import pytest

from a2m_gateway.errors import InvalidRequest, ParseError, QuotaExceeded
from a2m_gateway.protocol import (
    Notification,
    Rejected,
    Request,
    error_response,
    parse,
    response,
)


def envelope(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "m", **members}).encode()


IDS = ["1", "1.0", "0", "-0.0", "-5", "1e2", '"1"', '""', '"é\\u0000"', "null", "1.5", "9" * 400]


@pytest.mark.parametrize("text", IDS)
def test_the_id_is_echoed_with_its_type(text: str) -> None:
    message = parse(b'{"jsonrpc":"2.0","id":%s,"method":"m"}' % text.encode())
    assert isinstance(message, Request)
    wanted = json.loads(text)
    for answer in (response(message.id, {}), error_response(QuotaExceeded("x"), message.id)):
        given = json.loads(answer)["id"]
        assert type(given) is type(wanted)
        assert given == wanted


@pytest.mark.parametrize("given", [True, False, [], [1], {}, {"a": 1}])
def test_an_id_of_another_type_is_refused_without_one(given: object) -> None:
    message = parse(envelope(id=given))
    assert isinstance(message, Rejected)
    assert isinstance(message.error, InvalidRequest)
    assert message.id is None


def test_an_id_that_no_number_can_carry_is_no_json() -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1e400,"method":"m"}')
    assert isinstance(message, Rejected)
    assert isinstance(message.error, ParseError)
    assert message.id is None


@pytest.mark.requirement("4-by-name")
def test_a_request_is_taken_apart() -> None:
    assert parse(envelope(id=7, params={"a": 1})) == Request(7, "m", {"a": 1})
    assert parse(envelope(id=7)) == Request(7, "m", None)
    assert parse(envelope(id=7, params=None)) == Request(7, "m", None)
    assert parse(envelope(id=7, params=[1])) == Request(7, "m", [1])


def test_without_an_id_it_is_a_notification_and_with_null_it_is_not() -> None:
    assert parse(envelope(params={})) == Notification("m", {})
    assert parse(envelope(id=None)) == Request(None, "m", None)


def test_unknown_members_are_passed_over() -> None:
    assert parse(envelope(id=1, meta={"a": 1}, trace=None)) == Request(1, "m", None)


BATCHES = [b"[]", b"[1]", b"[[]]", b"[%s]" % envelope(id=1), b"[%s,%s]" % (envelope(), envelope())]


@pytest.mark.requirement("8-array-32600")
@pytest.mark.parametrize("message", BATCHES)
def test_a_batch_is_refused(message: bytes) -> None:
    rejected = parse(message)
    assert isinstance(rejected, Rejected)
    assert rejected.id is None
    assert rejected.error.code == -32600


@pytest.mark.requirement("7-32600")
@pytest.mark.parametrize("message", [b"1", b'"x"', b"null", b"true", b"1.5", b"{}", b'{"id":1}'])
def test_what_is_no_request_object_is_refused(message: bytes) -> None:
    rejected = parse(message)
    assert isinstance(rejected, Rejected)
    assert rejected.error.code == -32600


@pytest.mark.parametrize("jsonrpc", ["1.0", "2", "2.0 ", 2, 2.0, None, True, [], {}])
def test_another_jsonrpc_is_refused_with_the_id(jsonrpc: object) -> None:
    rejected = parse(envelope(id="a", jsonrpc=jsonrpc))
    assert isinstance(rejected, Rejected)
    assert (rejected.id, rejected.error.code) == ("a", -32600)


def test_a_missing_jsonrpc_is_refused_with_the_id() -> None:
    rejected = parse(b'{"id":"a","method":"m"}')
    assert isinstance(rejected, Rejected)
    assert (rejected.id, rejected.error.code) == ("a", -32600)


@pytest.mark.parametrize("method", [None, 1, 1.5, True, [], {}])
@pytest.mark.parametrize("given", [{"id": 3}, {}])
def test_a_method_that_is_no_string_is_refused(method: object, given: dict[str, Any]) -> None:
    rejected = parse(envelope(method=method, **given))
    assert isinstance(rejected, Rejected)
    assert (rejected.id, rejected.error.code) == (given.get("id"), -32600)


@pytest.mark.parametrize("params", ["x", "", 1, 0, 1.5, True, False])
def test_params_that_are_no_structure_are_refused(params: object) -> None:
    rejected = parse(envelope(id=3, params=params))
    assert isinstance(rejected, Rejected)
    assert (rejected.id, rejected.error.code) == (3, -32600)


@pytest.mark.requirement("8-no-server-requests")
@pytest.mark.parametrize("members", [{"result": {}}, {"error": {"code": 1}}, {"result": None}])
def test_a_response_is_refused_since_nothing_was_asked(members: dict[str, Any]) -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, **members}).encode()
    rejected = parse(message)
    assert isinstance(rejected, Rejected)
    assert rejected.error.code == -32600
    assert rejected.id is None, "it could be taken for the answer to a request of the other side"


@pytest.mark.parametrize(
    "message",
    [
        # The examples of JSON-RPC 2.0, section 7.
        b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
        b'{"jsonrpc": "2.0", "method": 1, "params": "bar"}',
        b'[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},'
        b' {"jsonrpc": "2.0", "method"]',
    ],
)
def test_the_examples_of_json_rpc(message: bytes) -> None:
    rejected = parse(message)
    assert isinstance(rejected, Rejected)
    answers.check(message, error_response(rejected.error, rejected.id), largest=10_000)


def test_responses_have_the_members_of_json_rpc_and_no_others() -> None:
    assert json.loads(response(1, {"a": 1})) == {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}
    failed = json.loads(error_response(QuotaExceeded("no", largest=3), "x"))
    assert set(failed) == {"jsonrpc", "id", "error"}
    assert failed["error"] == {
        "code": -32006,
        "message": "no",
        "data": {"fault": "caller", "retry": False, "largest": 3},
    }
