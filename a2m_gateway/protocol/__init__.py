"""A2M 0.1 without I/O: bytes in, typed calls out, and back."""

from a2m_gateway.protocol.json import MAX_DEPTH, decode, encode
from a2m_gateway.protocol.messages import (
    Notification,
    Rejected,
    Request,
    error_object,
    error_response,
    parse,
    response,
    too_large_response,
)
from a2m_gateway.protocol.methods import METHODS, Method, admit
from a2m_gateway.protocol.params import (
    DescribeParams,
    RecallParams,
    TimelineParams,
    read_params,
)
from a2m_gateway.protocol.records import Record, RecordsResult
from a2m_gateway.protocol.timestamps import EPOCH, from_milliseconds, to_milliseconds
from a2m_gateway.protocol.version import PROTOCOL, compatible

__all__ = [
    "EPOCH",
    "MAX_DEPTH",
    "METHODS",
    "PROTOCOL",
    "DescribeParams",
    "Method",
    "Notification",
    "RecallParams",
    "Record",
    "RecordsResult",
    "Rejected",
    "Request",
    "TimelineParams",
    "admit",
    "compatible",
    "decode",
    "encode",
    "error_object",
    "error_response",
    "from_milliseconds",
    "parse",
    "read_params",
    "response",
    "to_milliseconds",
    "too_large_response",
]
