"""How a client reaches a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

__all__ = ["Channel", "NotificationCallback"]

NotificationCallback: TypeAlias = Callable[[dict[str, Any]], None]


class Channel(Protocol):
    """Carries one request and brings its response. Any number of exchanges may run at once."""

    async def open(self) -> None:
        """Connect, where that is a step of its own. Idempotent.

        Raises:
            ServerUnreachable: Nothing answers there.
        """
        ...

    async def exchange(self, request_id: int, message: bytes) -> dict[str, Any]:
        """The response object to a request. It may be cancelled at any time.

        Args:
            request_id: Of ``message``, and never used before on this channel.
            message: JSON without a newline.

        Raises:
            ClientError: There is no such response.
        """
        ...

    async def aclose(self) -> None:
        """Disconnect; exchanges that are waiting fail. Idempotent."""
        ...
