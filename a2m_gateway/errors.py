"""The one tree of errors.

Every error says whose fault it is and whether the same call may succeed when it is made again.
No exception of a database client or an HTTP library leaves the package that raised it: it arrives
here as one of these.

::

    A2MError                          has a JSON-RPC code; may cross the wire
    ├── ParseError                    -32700  malformed JSON
    ├── InvalidRequest                -32600  JSON, but not a JSON-RPC request
    ├── MethodNotFound                -32601  not an A2M method at all
    ├── InvalidParams                 -32602  names the field
    ├── UnknownRecord                 -32001
    ├── UnknownTier                   -32002
    ├── CapabilityNotSupported        -32003  names the capability
    ├── ReadOnly                      -32004
    ├── ScopeDenied                   -32005
    ├── QuotaExceeded                 -32006  a declared limit
    ├── ProtocolNotSupported          -32007
    ├── EmbeddingMismatch             -32008  a vector of another width
    ├── ForeignError                          a code that only the other side knows (client)
    └── InternalError                 -32603  ours, or of something we depend on
        ├── EmbedderError                     the embedding service failed
        │   └── EmbedderRefused               it answered no, and would again
        ├── DeadlineExceeded                  the whole call took too long
        └── StoreError                        the database failed
            ├── StoreUnavailable              unreachable, restarting, cut off
            ├── StoreTimeout                  no answer before the deadline
            ├── StoreRefused                  it answered no: permission, quota, strict mode
            └── StoreCorrupt                  it answered something that can't be true
    SetupError                        before serving: never crosses the wire
    ├── ConfigurationError            a setting is wrong; names it
    ├── CollectionNotFound            names what there is
    ├── UnrecognisedLayout            names the candidates and the options that settle it
    ├── EmbedderMismatch              names both models, or both widths
    └── MissingDependency             carries the `pip install` line
    ClientError                       a client got no answer: never crosses the wire
    ├── ServerUnreachable             nothing listens there, or it went away before it answered
    ├── CallTimeout                   no answer within the client's deadline
    ├── HttpRefused                   an HTTP status in place of an answer
    └── MalformedAnswer               what came answers nothing that was asked
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

__all__ = [
    "A2MError",
    "CallTimeout",
    "CapabilityNotSupported",
    "ClientError",
    "CollectionNotFound",
    "ConfigurationError",
    "DeadlineExceeded",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderRefused",
    "EmbeddingMismatch",
    "Fault",
    "ForeignError",
    "HttpRefused",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "MalformedAnswer",
    "MethodNotFound",
    "MissingDependency",
    "ParseError",
    "ProtocolNotSupported",
    "QuotaExceeded",
    "ReadOnly",
    "ScopeDenied",
    "ServerUnreachable",
    "SetupError",
    "StoreCorrupt",
    "StoreError",
    "StoreRefused",
    "StoreTimeout",
    "StoreUnavailable",
    "UnknownRecord",
    "UnknownTier",
    "UnrecognisedLayout",
]


class Fault(StrEnum):
    """Whose fault an error is."""

    CALLER = "caller"
    SERVER = "server"
    STORE = "store"
    EMBEDDER = "embedder"


class A2MError(Exception):
    """An error with a JSON-RPC code (spec 7).

    Args:
        message: For humans; a client must not parse it.
        **data: JSON values that become the error object's ``data`` beside ``reason`` and ``retry``.
    """

    code: ClassVar[int] = -32603
    fault: ClassVar[Fault] = Fault.SERVER
    retry: ClassVar[bool] = False

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.data: Mapping[str, object] = data


class ParseError(A2MError):
    code = -32700
    fault = Fault.CALLER


class InvalidRequest(A2MError):
    code = -32600
    fault = Fault.CALLER


class MethodNotFound(A2MError):
    code = -32601
    fault = Fault.CALLER


class InvalidParams(A2MError):
    """A parameter is missing or malformed.

    Args:
        message: What is wrong and what would be right.
        field: The parameter's path, such as ``records[0].content``.
    """

    code = -32602
    fault = Fault.CALLER

    def __init__(self, message: str, *, field: str | None = None, **data: object) -> None:
        if field is not None:
            data["field"] = field
        super().__init__(message, **data)


class UnknownRecord(A2MError):
    code = -32001
    fault = Fault.CALLER


class UnknownTier(A2MError):
    code = -32002
    fault = Fault.CALLER


class CapabilityNotSupported(A2MError):
    code = -32003
    fault = Fault.CALLER

    def __init__(self, capability: str, *, what: str | None = None) -> None:
        subject = f"{what} belongs to" if what else "Server does not implement"
        tail = f"the '{capability}' capability" + (", which is not declared" if what else "")
        super().__init__(f"{subject} {tail}", capability=capability)


class ReadOnly(A2MError):
    code = -32004
    fault = Fault.CALLER


class ScopeDenied(A2MError):
    code = -32005
    fault = Fault.CALLER


class QuotaExceeded(A2MError):
    code = -32006
    fault = Fault.CALLER


class ProtocolNotSupported(A2MError):
    code = -32007
    fault = Fault.CALLER


class EmbeddingMismatch(A2MError):
    code = -32008
    fault = Fault.CALLER


class ForeignError(A2MError):
    """An error of another server with a code that this version has no class for.

    Args:
        code: As it came.
    """

    def __init__(self, code: int, message: str, **data: object) -> None:
        super().__init__(message, **data)
        self.code = code  # type: ignore[misc]  # the one class whose code is not its own


class InternalError(A2MError):
    code = -32603


class EmbedderError(InternalError):
    fault = Fault.EMBEDDER
    retry = True


class EmbedderRefused(EmbedderError):
    """The service understood and said no: key, model, quota; it would say so again."""

    retry = False


class DeadlineExceeded(InternalError):
    retry = True


class StoreError(InternalError):
    fault = Fault.STORE


class StoreUnavailable(StoreError):
    retry = True


class StoreTimeout(StoreError):
    retry = True


class StoreRefused(StoreError):
    """The store understood and said no; the same call will be refused again."""


class StoreCorrupt(StoreError):
    """The store's answer breaks its own contract, so no part of it is passed on."""


class SetupError(Exception):
    """Something is wrong before anything is served; the message says what to do."""


class ConfigurationError(SetupError):
    """A setting is wrong.

    Args:
        message: What is wrong and what would be right.
        setting: The option or the path in the file, such as ``http.tokens[0].sha256``.
    """

    def __init__(self, message: str, *, setting: str | None = None) -> None:
        super().__init__(f"{setting}: {message}" if setting else message)
        self.setting = setting


class CollectionNotFound(SetupError):
    pass


class UnrecognisedLayout(SetupError):
    """What a collection holds can't be told for certain (design, "Shapes")."""


class EmbedderMismatch(SetupError):
    pass


class MissingDependency(SetupError):
    pass


class ClientError(Exception):
    """A client got no answer to its call. Whether the server acted on it is not known."""


class ServerUnreachable(ClientError):
    pass


class CallTimeout(ClientError):
    pass


class HttpRefused(ClientError):
    """The server, or something in front of it, refused the request before the protocol.

    Args:
        status: The HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class MalformedAnswer(ClientError):
    pass
