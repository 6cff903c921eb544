"""The little of ASGI that the transport writes by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

__all__ = [
    "CLOSE",
    "JSON",
    "NO_STORE",
    "TEXT",
    "App",
    "Headers",
    "Message",
    "Receive",
    "Refusal",
    "Scope",
    "Send",
    "reply",
]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = Iterable[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
NO_STORE = (b"cache-control", b"no-store")
TEXT = (b"content-type", b"text/plain; charset=utf-8")
CLOSE = (TEXT, (b"connection", b"close"))


class Refusal(Exception):
    """Ends a request with a status of HTTP's, before the protocol.

    Args:
        body: See ``reply``.
        headers: See ``reply``.
    """

    def __init__(self, status: int, body: bytes | str, headers: Headers | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


async def reply(
    send: Send, status: int, body: bytes | str = b"", headers: Headers | None = None
) -> None:
    """Send a whole response.

    Args:
        body: A text is what a person reads who wonders about the status.
        headers: None for those of a text.
    """
    content = body.encode() + b"\n" if isinstance(body, str) else body
    given = [*((TEXT, NO_STORE) if headers is None else headers)]
    if status != 204:  # RFC 9110 8.6: which must not carry one
        given.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": content})
