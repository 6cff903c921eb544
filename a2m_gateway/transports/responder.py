"""What a transport needs of the thing it carries messages to."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Responder"]


class Responder(Protocol):
    """Answers messages; ``a2m_gateway.memory.Endpoint`` is one.

    A call whose caller is gone is cancelled, so ``answer`` must leave nothing half done then.
    """

    @property
    def max_request_bytes(self) -> int:
        """The largest message in bytes, as declared under ``limits``."""
        ...

    async def answer(self, message: bytes) -> bytes | None:
        """The response as JSON without a newline; None to a notification.

        Raises nothing but ``CancelledError``.
        """
        ...

    async def describe(self) -> bytes:
        """The describe result by itself, as JSON, for the well-known profile (spec 8.3.3)."""
        ...

    async def ready(self) -> None:
        """Return when calls can be answered; raise an ``A2MError`` otherwise."""
        ...
