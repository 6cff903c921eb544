"""``POST /``: one JSON-RPC message in a body (spec 8.3)."""

from __future__ import annotations

import asyncio
from email.message import Message as MimeHeader
from typing import cast

from a2m_gateway.errors import ProtocolNotSupported
from a2m_gateway.protocol import PROTOCOL, compatible, error_response
from a2m_gateway.transports.http.asgi import (
    CLOSE,
    JSON,
    NO_STORE,
    Receive,
    Refusal,
    Scope,
    Send,
    reply,
)
from a2m_gateway.transports.responder import Responder

__all__ = ["Rpc"]


class Rpc:
    """An ASGI endpoint, which raises ``Refusal`` for what is not admitted to the protocol.

    Args:
        receive_timeout: Seconds in which a body must have arrived.
    """

    def __init__(self, responder: Responder, *, receive_timeout: float) -> None:
        self._responder = responder
        self._receive_timeout = receive_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        limit = self._responder.max_request_bytes
        _check_head(scope, limit)
        try:
            async with asyncio.timeout(self._receive_timeout):
                body = await _read_body(receive, limit)
        except TimeoutError:
            raise Refusal(408, "The body did not arrive in time.", CLOSE) from None
        if body is not None:
            await self._answer(body, receive, send)

    async def _answer(self, body: bytes, receive: Receive, send: Send) -> None:
        """Answer, unless the client leaves before: then nobody waits for the call."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        leaving = asyncio.ensure_future(receive())  # after the body: the end of the connection
        gone = False

        def left(_: object) -> None:
            nonlocal gone
            if not leaving.cancelled():
                gone = True
                task.cancel()

        leaving.add_done_callback(left)
        try:
            answer = await self._responder.answer(body)
        except asyncio.CancelledError:
            if not gone:
                raise
            return
        finally:
            leaving.remove_done_callback(left)
            leaving.cancel()
        if answer is None:
            await reply(send, 202, headers=())
        else:
            await reply(send, 200, answer, (JSON, NO_STORE))


def _check_head(scope: Scope, limit: int) -> None:
    """Refuse what the headers alone rule out."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value)
    if not _is_json(headers.get(b"content-type", [])):
        raise Refusal(415, "Content-Type must be application/json, in UTF-8.")
    if headers.get(b"content-encoding", _PLAIN) != _PLAIN:
        raise Refusal(415, "The body must not be compressed.")
    # The parser has seen to it that there is at most one length, and that it is a number.
    if int(headers.get(b"content-length", _EMPTY)[0]) > limit:
        raise _too_large(limit)
    for value in headers.get(b"a2m-protocol-version", []):
        version = value.decode("latin-1")
        if not compatible(version):
            raise Refusal(400, error_response(_not_spoken(version)), (JSON, NO_STORE))


_PLAIN = [b"identity"]
_EMPTY = [b"0"]


async def _read_body(receive: Receive, limit: int) -> bytes | None:
    """The body, of which no more than the limit is held; None when the client left instead."""
    pieces: list[bytes] = []
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > limit:
            raise _too_large(limit)
        more = message.get("more_body", False)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _is_json(values: list[bytes]) -> bool:
    if values == [b"application/json"]:
        return True
    if len(values) != 1:
        return False
    header = MimeHeader()
    header["content-type"] = values[0].decode("latin-1")
    if header.get_content_type() != "application/json":
        return False
    charset = header.get_param("charset")
    return charset is None or (isinstance(charset, str) and charset.lower() in {"utf-8", "utf8"})


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"The body is larger than max_request_bytes, {limit}.")


def _not_spoken(version: str) -> ProtocolNotSupported:
    return ProtocolNotSupported(
        f"this server speaks {PROTOCOL}, not {version[:40]!r}", supported=[PROTOCOL]
    )
