"""JSON-RPC 2.0 envelopes (spec 7, 8), without I/O: bytes in, bytes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from a2m_gateway.errors import A2MError, InvalidRequest, ParseError, QuotaExceeded
from a2m_gateway.protocol.json import decode, encode

__all__ = [
    "Id",
    "Notification",
    "Rejected",
    "Request",
    "error_object",
    "error_response",
    "parse",
    "response",
    "too_large_response",
]

Id: TypeAlias = str | int | float | None
"""Echoed as it came: ``1``, ``1.0`` and ``"1"`` are three ids."""


@dataclass(frozen=True, slots=True)
class Request:
    id: Id
    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Rejected:
    """A message that is no request; ``id`` is null where it can't be told (JSON-RPC 5)."""

    id: Id
    error: A2MError


def parse(message: bytes) -> Request | Notification | Rejected:
    """Take one message apart. Never raises."""
    try:
        value = decode(message)
    except ParseError as error:
        return Rejected(None, error)
    if isinstance(value, list):
        return Rejected(
            None, InvalidRequest("batches are not part of A2M: send each message by itself")
        )
    if not isinstance(value, dict):
        return Rejected(None, InvalidRequest("a message is a JSON object"))
    return _envelope(value)


def _envelope(value: dict[str, object]) -> Request | Notification | Rejected:
    given = value.get("id")
    if isinstance(given, bool) or not isinstance(given, str | int | float | None):
        return Rejected(None, InvalidRequest("`id` must be a string, a number or null"))
    if "method" not in value and ("result" in value or "error" in value):
        # A server sends no requests (spec 8), so nothing was asked that this could answer; echoing
        # its id could be taken for the answer to a request of the other side.
        return Rejected(None, InvalidRequest("a response, and this server asked for nothing"))
    if value.get("jsonrpc") != "2.0":
        return Rejected(given, InvalidRequest('`jsonrpc` must be "2.0"'))
    method = value.get("method")
    if not isinstance(method, str):
        return Rejected(given, InvalidRequest("`method` must be a string"))
    params = value.get("params")
    if not isinstance(params, dict | list | None):
        return Rejected(given, InvalidRequest("`params` must be an object"))
    if "id" not in value:
        return Notification(method, params)
    return Request(given, method, params)


def response(request_id: Id, result: object) -> bytes:
    """The answer to a request."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_object(error: A2MError) -> dict[str, object]:
    """The error object of spec 7. ``data`` says whose fault it is and whether a retry can help."""
    data = {"fault": error.fault, "retry": error.retry, **error.data}
    return {"code": error.code, "message": error.message, "data": data}


def error_response(error: A2MError, request_id: Id = None) -> bytes:
    """A failed answer; the id is null where no request could be told."""
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error_object(error)})


def too_large_response(limit: int) -> bytes:
    """The answer to a message over ``limits.max_request_bytes``, whose id was never read."""
    return error_response(
        QuotaExceeded(
            f"the message is larger than max_request_bytes, {limit}", max_request_bytes=limit
        )
    )
