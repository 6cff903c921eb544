"""One endpoint: messages in, answers out, whatever carries them."""

from __future__ import annotations

import asyncio

import structlog

from a2m_gateway.errors import A2MError, DeadlineExceeded, InternalError
from a2m_gateway.memory.memory import Memory
from a2m_gateway.protocol import (
    DescribeParams,
    Notification,
    RecallParams,
    Rejected,
    TimelineParams,
    admit,
    encode,
    error_response,
    parse,
    read_params,
    response,
    too_large_response,
)

__all__ = ["Endpoint"]

log = structlog.get_logger(__name__)


class Endpoint:
    """Answers A2M messages over one memory.

    Args:
        deadline: Seconds that a call may take as a whole, with all its calls to the store.
    """

    def __init__(self, memory: Memory, *, deadline: float = 30.0) -> None:
        self.memory = memory
        self._deadline = deadline

    @property
    def max_request_bytes(self) -> int:
        """The largest message; the same number is declared under ``limits``."""
        return self.memory.limits.max_request_bytes

    async def answer(self, message: bytes) -> bytes | None:
        """The response to one message, or None to a notification. Raises nothing of its own."""
        if len(message) > self.max_request_bytes:
            return too_large_response(self.max_request_bytes)
        call = parse(message)
        if isinstance(call, Rejected):
            return error_response(call.error, call.id)
        request_id = None if isinstance(call, Notification) else call.id
        try:
            answer = response(request_id, await self._run(call.method, call.params))
        except A2MError as error:
            answer = error_response(error, request_id)
        except Exception:
            log.exception("call.failed", method=call.method[:80])
            answer = error_response(
                InternalError("a fault of this server; its log has the details"), request_id
            )
        return None if isinstance(call, Notification) else answer

    async def describe(self) -> bytes:
        """The describe result by itself, for the well-known profile (spec 8.3.3)."""
        return encode(self.memory.describe(DescribeParams()))

    async def ready(self) -> None:
        """Raises an ``A2MError`` when the store does not answer."""
        await self.memory.ready()

    async def aclose(self) -> None:
        await self.memory.aclose()

    async def _run(self, name: str, params: object) -> object:
        memory = self.memory
        method = admit(name, declared=memory.declared, read_only=memory.read_only)
        try:
            async with asyncio.timeout(self._deadline):
                return await self._dispatch(method.name, params)
        except TimeoutError:
            raise DeadlineExceeded(f"the call took longer than {self._deadline:g} s") from None
        except BaseExceptionGroup as group:
            raise _first(group) from group

    async def _dispatch(self, name: str, params: object) -> object:
        declared = self.memory.declared
        if name == "memory/describe":
            return self.memory.describe(read_params(params, DescribeParams, declared))
        if name == "memory/recall":
            return await self.memory.recall(read_params(params, RecallParams, declared))
        if name == "memory/timeline":
            return await self.memory.timeline(read_params(params, TimelineParams, declared))
        raise InternalError(f"{name} is declared and not implemented")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of errors that legs of one call raised together, the one to report."""
    for error in group.exceptions:
        if isinstance(error, A2MError):
            return error
        if isinstance(error, BaseExceptionGroup):
            return _first(error)
    return group.exceptions[0]
