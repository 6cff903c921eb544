"""The codes of section 7, whose fault an error is, and whether a retry can help."""

from __future__ import annotations

import inspect
import json
from typing import TypeVar

import answers
import pytest

from a2m_gateway import errors
from a2m_gateway.errors import A2MError, ClientError, SetupError
from a2m_gateway.protocol import error_response

CODE_OF: dict[type[A2MError], int] = {
    errors.ParseError: -32700,
    errors.InvalidRequest: -32600,
    errors.MethodNotFound: -32601,
    errors.InvalidParams: -32602,
    errors.InternalError: -32603,
    errors.UnknownRecord: -32001,
    errors.UnknownTier: -32002,
    errors.CapabilityNotSupported: -32003,
    errors.ReadOnly: -32004,
    errors.ScopeDenied: -32005,
    errors.QuotaExceeded: -32006,
    errors.ProtocolNotSupported: -32007,
    errors.EmbeddingMismatch: -32008,
}

# Retrying the same call can help where something was away or slow, and nowhere else.
RETRIED = {
    errors.StoreUnavailable,
    errors.StoreTimeout,
    errors.DeadlineExceeded,
    errors.EmbedderError,
}


K = TypeVar("K", bound=Exception)


def _tree(root: type[K]) -> list[type[K]]:
    return [root, *(below for one in root.__subclasses__() for below in _tree(one))]


WIRE: list[type[A2MError]] = [
    one
    for one in _tree(A2MError)
    if one is not errors.ForeignError and one.__module__ == errors.__name__
]


def test_every_code_of_section_7_has_one_error_and_they_have_no_other() -> None:
    assert sorted(CODE_OF.values()) == sorted(answers.CODES)
    assert {kind.__name__ for kind, code in CODE_OF.items() if kind.code != code} == set()
    assert {one.code for one in WIRE} == set(answers.CODES)


@pytest.mark.parametrize("kind", WIRE, ids=lambda kind: kind.__name__)
def test_fault_and_retry(kind: type[A2MError]) -> None:
    assert kind.retry == (kind in RETRIED)
    caller = kind in CODE_OF and kind is not errors.InternalError
    if issubclass(kind, errors.StoreError):
        assert kind.fault == "store"
    elif issubclass(kind, errors.EmbedderError):
        assert kind.fault == "embedder"
    else:
        assert kind.fault == ("caller" if caller else "server")
    assert (kind.code == -32603) == (not caller)


@pytest.mark.parametrize("kind", WIRE, ids=lambda kind: kind.__name__)
def test_every_error_can_be_sent(kind: type[A2MError]) -> None:
    sent = json.loads(error_response(kind("words")))["error"]
    assert sent["code"] == kind.code
    assert "words" in sent["message"]
    assert sent["data"]["fault"] == kind.fault
    assert sent["data"]["retry"] is kind.retry


def test_what_never_crosses_the_wire_has_no_code() -> None:
    for kind in [*_tree(SetupError), *_tree(ClientError)]:
        assert not issubclass(kind, A2MError)


def test_every_error_is_exported() -> None:
    defined = {
        name
        for name, one in inspect.getmembers(errors, inspect.isclass)
        if issubclass(one, Exception) and one.__module__ == errors.__name__
    }
    assert defined <= set(errors.__all__)


def test_errors_name_what_they_are_about() -> None:
    assert errors.InvalidParams("no", field="where.a").data == {"field": "where.a"}
    missing = errors.CapabilityNotSupported("keys", what="`key_prefix`")
    assert missing.data == {"capability": "keys"}
    assert "`key_prefix`" in missing.message
    assert "'keys'" in missing.message
    assert "http.port" in str(errors.ConfigurationError("no", setting="http.port"))
