"""A responder whose calls a test controls."""

from __future__ import annotations

import asyncio

from a2m_gateway.errors import A2MError, MethodNotFound
from a2m_gateway.protocol import Notification, Rejected, error_response, parse, response

__all__ = ["Stub"]


class Stub:
    """A responder whose calls the test controls.

    ``echo`` gives its parameters back; ``wait`` waits for ``released`` (or a time-out of 30 s, so
    that no test hangs); ``big`` answers with as many bytes.
    """

    def __init__(self) -> None:
        self.max_request_bytes = 8 * 1024 * 1024
        self.calls: list[str] = []
        self.running = 0
        self.most_running = 0
        self.cancelled = 0
        self.released = asyncio.Event()
        self.unready: A2MError | None = None

    async def answer(self, message: bytes) -> bytes | None:
        call = parse(message)
        if isinstance(call, Rejected):
            return error_response(call.error, call.id)
        self.calls.append(call.method)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            result = await self._run(call.method, call.params)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        if isinstance(call, Notification):
            return None
        if isinstance(result, A2MError):
            return error_response(result, call.id)
        return response(call.id, result)

    async def _run(self, method: str, params: object) -> object:
        if method == "echo":
            return params
        if method == "wait":
            async with asyncio.timeout(30):
                await self.released.wait()
            return "released"
        if method == "big":
            assert isinstance(params, dict)
            return "x" * params["bytes"]
        return MethodNotFound(method)

    async def describe(self) -> bytes:
        return b'{"protocol":"a2m/0.1"}'

    async def ready(self) -> None:
        if self.unready is not None:
            raise self.unready
