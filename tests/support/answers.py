"""Whether an answer is one that JSON-RPC 2.0 and A2M 0.1 allow to a message.

Written from the two specifications over Python's json module; it shares no code with the gateway.
"""

from __future__ import annotations

import json
import re
from typing import Any

import strict_json

__all__ = ["CODES", "NOTHING", "check", "expected"]

CODES = {
    -32700: "PARSE_ERROR",
    -32600: "INVALID_REQUEST",
    -32601: "METHOD_NOT_FOUND",
    -32602: "INVALID_PARAMS",
    -32603: "INTERNAL_ERROR",
    -32001: "UNKNOWN_RECORD",
    -32002: "UNKNOWN_TIER",
    -32003: "CAPABILITY_NOT_SUPPORTED",
    -32004: "READ_ONLY",
    -32005: "SCOPE_DENIED",
    -32006: "QUOTA_EXCEEDED",
    -32007: "PROTOCOL_NOT_SUPPORTED",
    -32008: "EMBEDDING_MISMATCH",
}
"""Section 7."""

NOTHING = object()
"""What a notification gets."""

ENVELOPE_CODES = {-32700, -32600}
TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def expected(message: bytes, *, largest: int) -> tuple[object, int | None]:
    """The id that the answer must carry (``NOTHING`` for no answer) and the code that it must have.

    A code of None is a call: what it gets depends on the method, and is no envelope error.
    """
    if len(message) > largest:
        return None, -32006
    try:
        value = strict_json.loads(message)
    except ValueError:
        return None, -32700
    if not isinstance(value, dict):
        return None, -32600
    given = value.get("id")
    if isinstance(given, bool | dict | list):
        return None, -32600
    if "method" not in value and ("result" in value or "error" in value):
        return None, -32600  # a response, to a server that asks for nothing (section 8)
    legal = (
        value.get("jsonrpc") == "2.0"
        and isinstance(value.get("method"), str)
        and isinstance(value.get("params"), dict | list | None)
    )
    if not legal:
        return given, -32600
    return (given, None) if "id" in value else (NOTHING, None)


def check(message: bytes, answer: bytes | None, *, largest: int, fault: bool = False) -> Any:
    """Assert that ``answer`` is one that ``message`` may get, and return it parsed.

    Args:
        largest: The declared ``max_request_bytes``.
        fault: Whether -32603 is allowed: only where something is broken on purpose.
    """
    wanted, code = expected(message, largest=largest)
    if wanted is NOTHING:
        assert answer is None, "a notification was answered"
        return None
    assert answer is not None, "no answer"
    assert b"\n" not in answer
    parsed = strict_json.loads(answer)
    assert parsed["jsonrpc"] == "2.0"
    assert type(parsed["id"]) is type(wanted)
    assert parsed["id"] == wanted
    if "error" in parsed:
        assert set(parsed) == {"jsonrpc", "id", "error"}
        _check_error(parsed["error"], code, fault=fault)
    else:
        assert code is None, f"{json.dumps(parsed)[:200]} in place of {code}"
        assert set(parsed) == {"jsonrpc", "id", "result"}
        _check_result(parsed["result"])
    return parsed


def _check_error(error: Any, code: int | None, *, fault: bool) -> None:
    assert set(error) <= {"code", "message", "data"}
    assert type(error["code"]) is int
    assert error["code"] in CODES
    assert isinstance(error["message"], str)
    assert error["message"]
    assert fault or error["code"] != -32603, error
    if code is None:
        assert error["code"] not in ENVELOPE_CODES, error
    else:
        assert error["code"] == code, error


def _check_result(result: Any) -> None:
    assert isinstance(result, dict)
    scores = []
    for record in result.get("records", ()):
        assert isinstance(record["id"], str)
        assert isinstance(record["content"], str)
        assert TIMESTAMP.fullmatch(record["created_at"])
        if "score" in record:
            assert type(record["score"]) in (int, float)
            assert 0 <= record["score"] <= 1
            scores.append(record["score"])
    assert scores == sorted(scores, reverse=True)
