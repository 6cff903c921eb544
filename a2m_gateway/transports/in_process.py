"""Client and server in one process (spec 8.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from a2m_gateway.protocol import decode
from a2m_gateway.transports.responder import Responder, too_large

__all__ = ["InProcessTransport", "NotificationCallback"]

NotificationCallback: TypeAlias = Callable[[dict[str, Any]], None]


class InProcessTransport:
    """Carries message objects to a responder as JSON text, as every other transport does.

    A server that took Python objects which no remote one could be sent would disagree with the
    network in production (spec 8.1): what has no JSON form is refused here, and neither side ever
    holds an object of the other.

    Args:
        on_notification: Called with each notification object that the server sends.
    """

    def __init__(
        self, responder: Responder, *, on_notification: NotificationCallback | None = None
    ) -> None:
        self._responder = responder
        self._on_notification = on_notification

    async def exchange(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The response object to a message object; None to a notification.

        Raises:
            TypeError, ValueError: ``message`` has no JSON form: a date, bytes, NaN, a lone
                surrogate.
        """
        # The standard encoder, which refuses what msgspec would turn into strings and null.
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        answer = await self.answer(text.encode())
        return None if answer is None else decode(answer)

    async def answer(self, message: bytes) -> bytes | None:
        """The response to a message that is JSON text already."""
        limit = self._responder.max_request_bytes
        if len(message) > limit:
            return too_large(limit)
        return await self._responder.answer(message)

    def notify(self, message: bytes) -> None:
        """Deliver a notification of the server's, as JSON text, to the callback if there is one."""
        if self._on_notification is not None:
            self._on_notification(decode(message))
