"""Reading what a server says, and raising what it says went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2m_gateway.errors import (
    A2MError,
    CapabilityNotSupported,
    EmbeddingMismatch,
    Fault,
    ForeignError,
    InternalError,
    InvalidParams,
    InvalidRequest,
    MalformedAnswer,
    MethodNotFound,
    ParseError,
    ProtocolNotSupported,
    QuotaExceeded,
    ReadOnly,
    ScopeDenied,
    UnknownRecord,
    UnknownTier,
)
from a2m_gateway.protocol import decode

__all__ = ["error_of", "is_answer_to", "message_of", "result_of"]

_CLASSES: dict[int, type[A2MError]] = {
    form.code: form
    for form in (
        ParseError,
        InvalidRequest,
        MethodNotFound,
        InvalidParams,
        InternalError,
        UnknownRecord,
        UnknownTier,
        CapabilityNotSupported,
        ReadOnly,
        ScopeDenied,
        QuotaExceeded,
        ProtocolNotSupported,
        EmbeddingMismatch,
    )
}


def message_of(payload: bytes) -> dict[str, Any]:
    """The JSON-RPC object in ``payload``.

    Raises:
        MalformedAnswer: There is none.
    """
    try:
        message = decode(payload)
    except ParseError as error:
        raise MalformedAnswer(f"the server sent something else: {error}") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise MalformedAnswer("the server sent JSON that is no JSON-RPC 2.0 object")
    return message


def is_answer_to(request_id: int, message: Mapping[str, Any]) -> bool:
    """Whether ``message`` carries exactly that id: not 1.0, ``true`` or "1" for 1."""
    given = message.get("id")
    return type(given) is int and given == request_id


def result_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """The result in a response.

    Raises:
        A2MError: The response is an error.
        MalformedAnswer: It is no response as JSON-RPC and A2M have it.
    """
    if ("result" in message) == ("error" in message):
        raise MalformedAnswer("a response has either a result or an error")
    if "error" in message:
        raise error_of(message["error"])
    result = message["result"]
    if not isinstance(result, dict):
        raise MalformedAnswer("the result of every A2M method is an object")
    return result


def error_of(given: object) -> A2MError:
    """The exception for an error object, told apart by its code alone (spec 7).

    Raises:
        MalformedAnswer: It is no error object.
    """
    code = given.get("code") if isinstance(given, dict) else None
    if not isinstance(given, dict) or type(code) is not int:
        raise MalformedAnswer("the server sent an error without a code")
    message = given.get("message")
    text = message if isinstance(message, str) else f"error {code}"
    form = _CLASSES.get(code)
    if form is None:
        error: A2MError = ForeignError(code, text)
    else:
        # Past the class's own signature, which is for those who make the error up.
        error = form.__new__(form, text)
        A2MError.__init__(error, text)
    _add_data(error, given.get("data"))
    return error


def _add_data(error: A2MError, data: object) -> None:
    """What the error carries, as it came; our servers say there whose fault it is."""
    if not isinstance(data, dict):
        error.data = {} if data is None else {"data": data}
        return
    error.data = data
    if isinstance(data.get("retry"), bool):
        error.retry = data["retry"]  # type: ignore[misc]  # of this one error
    if data.get("fault") in {fault.value for fault in Fault}:
        error.fault = Fault(data["fault"])  # type: ignore[misc]
