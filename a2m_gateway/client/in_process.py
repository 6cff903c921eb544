"""A server in this process (spec 8.1)."""

from __future__ import annotations

from typing import Any, Protocol

from a2m_gateway.client.answers import message_of
from a2m_gateway.errors import MalformedAnswer

__all__ = ["Answering", "InProcessChannel"]


class Answering(Protocol):
    """An endpoint, as far as a client is concerned."""

    async def answer(self, message: bytes) -> bytes | None: ...


class InProcessChannel:
    """Hands messages to an endpoint as the JSON text that any other channel would send.

    Args:
        endpoint: Stays its owner's to close.
    """

    def __init__(self, endpoint: Answering) -> None:
        self._endpoint = endpoint

    async def open(self) -> None:
        """See ``Channel``."""

    async def exchange(self, request_id: int, message: bytes) -> dict[str, Any]:
        """See ``Channel``."""
        answer = await self._endpoint.answer(message)
        if answer is None:
            raise MalformedAnswer("the server did not answer a request")
        return message_of(answer)

    async def aclose(self) -> None:
        """See ``Channel``."""
