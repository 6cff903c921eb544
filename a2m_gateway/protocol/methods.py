"""Every method of A2M 0.1 and what it belongs to (spec 2, 4)."""

from __future__ import annotations

from dataclasses import dataclass

from a2m_gateway.errors import A2MError, CapabilityNotSupported, MethodNotFound, ReadOnly

__all__ = ["METHODS", "Method", "admit"]


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the table.

    Attributes:
        writes: A read-only server answers READ_ONLY, whatever the parameters (spec 2.1).
    """

    name: str
    capability: str
    writes: bool = False


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("memory/describe", "core"),
        Method("memory/remember", "core", writes=True),
        Method("memory/recall", "core"),
        Method("memory/timeline", "core"),
        Method("memory/forget", "core", writes=True),
        Method("memory/promote", "tiers", writes=True),
        Method("memory/consolidate", "tiers", writes=True),
        Method("memory/reinforce", "salience", writes=True),
        Method("memory/session/list", "sessions"),
        Method("memory/session/close", "sessions", writes=True),
        Method("memory/fetch", "keys"),
        Method("memory/events", "events"),
        Method("memory/events/subscribe", "events"),
        Method("memory/events/unsubscribe", "events"),
        Method("memory/summarize", "summarize", writes=True),
    )
}


def admit(name: str, *, declared: frozenset[str], read_only: bool) -> Method:
    """The method of that name, if this server may run it.

    Raises:
        MethodNotFound: No capability of A2M has it.
        CapabilityNotSupported: Its capability is not declared, never METHOD_NOT_FOUND (spec 2).
        ReadOnly: It writes, and this server takes no writes.
    """
    method = METHODS.get(name)
    error: A2MError
    if method is None:
        error = MethodNotFound(f"no such method in A2M: {name[:80]!r}")
    elif method.capability not in declared:
        error = CapabilityNotSupported(method.capability)
    elif method.writes and read_only:
        error = ReadOnly("this server is read-only: its contents are loaded by their own pipeline")
    else:
        return method
    raise error
