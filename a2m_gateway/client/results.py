"""What a server says, typed as far as a client may rely on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, cast

from a2m_gateway.errors import MalformedAnswer, ProtocolNotSupported
from a2m_gateway.protocol import PROTOCOL, compatible

__all__ = ["Record", "ServerInfo", "records_of", "server_info"]


class Record(TypedDict):
    """A record as it came, with any field that this version does not know (spec 2, 3.1)."""

    id: str
    content: str
    created_at: str
    score: NotRequired[float]
    role: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    group: NotRequired[str]
    tier: NotRequired[str]
    salience: NotRequired[float]
    access_count: NotRequired[int]
    accessed_at: NotRequired[str]
    owner: NotRequired[str | None]
    session: NotRequired[str | None]
    key: NotRequired[str | None]
    revision: NotRequired[int]
    embedding: NotRequired[list[float]]
    uri: NotRequired[str | None]
    media_type: NotRequired[str | None]


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server declares of itself.

    Attributes:
        methods: Every method it accepts.
        limits: Those that are integers.
        raw: The whole describe result.
    """

    protocol: str
    name: str
    capabilities: frozenset[str]
    methods: frozenset[str]
    limits: Mapping[str, int]
    raw: Mapping[str, Any]


def server_info(result: Mapping[str, Any]) -> ServerInfo:
    """A describe result, checked (spec 4.1).

    Raises:
        ProtocolNotSupported: The server speaks another version.
        MalformedAnswer: A member that every server has is not there.
    """
    protocol = result.get("protocol")
    if not isinstance(protocol, str):
        raise MalformedAnswer("describe: `protocol` must be a string")
    if not compatible(protocol):
        raise ProtocolNotSupported(
            f"the server speaks {protocol[:40]!r}, this client {PROTOCOL}", supported=[PROTOCOL]
        )
    capabilities = _strings(result, "capabilities")
    if "core" not in capabilities:
        raise MalformedAnswer("describe: `capabilities` must have core")
    name = result.get("name")
    if not isinstance(name, str):
        raise MalformedAnswer("describe: `name` must be a string")
    limits = result.get("limits")
    return ServerInfo(
        protocol=protocol,
        name=name,
        capabilities=capabilities,
        methods=_strings(result, "methods"),
        limits={key: value for key, value in limits.items() if type(value) is int}
        if isinstance(limits, dict)
        else {},
        raw=result,
    )


def records_of(result: Mapping[str, Any]) -> list[Record]:
    """The records of a result.

    Raises:
        MalformedAnswer: One lacks what every record has.
    """
    records = result.get("records")
    if not isinstance(records, list):
        raise MalformedAnswer("`records` must be an array")
    for index, record in enumerate(records):
        if not isinstance(record, dict):
            raise MalformedAnswer(f"`records[{index}]` must be an object")
        for field in ("id", "content", "created_at"):
            if not isinstance(record.get(field), str):
                raise MalformedAnswer(f"`records[{index}].{field}` must be a string")
    return cast("list[Record]", records)


def _strings(result: Mapping[str, Any], name: str) -> frozenset[str]:
    values = result.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise MalformedAnswer(f"describe: `{name}` must be an array of strings")
    return frozenset(values)
