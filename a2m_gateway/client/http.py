"""A server over HTTP (spec 8.3)."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

import httpx

from a2m_gateway.address import is_loopback
from a2m_gateway.client.answers import error_of, message_of
from a2m_gateway.errors import (
    ConfigurationError,
    HttpRefused,
    MalformedAnswer,
    ServerUnreachable,
)
from a2m_gateway.protocol import PROTOCOL

__all__ = ["HttpChannel"]

_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_SHOWN = 300

_REMEDIES = {
    HTTPStatus.UNAUTHORIZED: "pass the token that this server knows",
    HTTPStatus.NOT_FOUND: "check the URL: the endpoint of a gateway is its root, /",
    HTTPStatus.METHOD_NOT_ALLOWED: "check the URL: no A2M endpoint takes POST there",
}


class HttpChannel:
    """POSTs each request to one URL.

    Args:
        url: The endpoint, such as ``http://127.0.0.1:8778/``.
        token: Sent as a bearer token.

    Raises:
        ConfigurationError: The URL or the token can't be one.
    """

    def __init__(self, url: str, *, token: str | None = None) -> None:
        try:
            self._url = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ConfigurationError(f"not a URL: {error}", setting="url") from None
        if self._url.scheme not in ("http", "https") or not self._url.host:
            raise ConfigurationError(
                "must begin with http:// or https:// and a host", setting="url"
            )
        if self._url.userinfo:
            raise ConfigurationError("holds a password: pass a token instead", setting="url")
        if token is not None and not _TOKEN.fullmatch(token):
            # Not shown: it is nearly right, probably with a line end behind it.
            raise ConfigurationError("holds characters that no bearer token has", setting="token")
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "a2m-protocol-version": PROTOCOL,
            **({"authorization": f"Bearer {token}"} if token else {}),
        }
        self._http: httpx.AsyncClient | None = None
        self._closed = False

    async def open(self) -> None:
        """See ``Channel``. Connections are made as they are needed."""
        if self._http is None and not self._closed:
            # The caller's deadline is for the whole call, not for each of its packets.
            self._http = httpx.AsyncClient(
                headers=self._headers,
                timeout=None,  # noqa: S113
                # A proxy would look for this machine in its own, and read what is meant for it.
                trust_env=not is_loopback(self._url.host),
                verify=httpx.create_ssl_context(),
            )

    async def exchange(self, request_id: int, message: bytes) -> dict[str, Any]:
        """See ``Channel``."""
        await self.open()
        if self._http is None:
            raise ServerUnreachable("the channel is closed")
        try:
            response = await self._http.post(self._url, content=message)
        except httpx.DecodingError as error:
            raise MalformedAnswer(f"the body could not be decompressed: {error}") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ServerUnreachable(f"no answer from {self._url}: {reason}") from None
        if response.status_code == HTTPStatus.OK:
            return message_of(response.content)
        raise _refusal(response)

    async def aclose(self) -> None:
        """See ``Channel``."""
        self._closed = True
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()


def _refusal(response: httpx.Response) -> Exception:
    """What a status other than 200 means; an error object in the body says it best (8.3.2)."""
    status = response.status_code
    try:
        return error_of(message_of(response.content).get("error"))
    except MalformedAnswer:
        pass
    if response.is_success:
        return MalformedAnswer(f"HTTP {status} answers no request; 200 does")
    phrase = response.reason_phrase or "refused"
    parts = [f"HTTP {status} {phrase}"]
    if response.headers.get("content-type", "").startswith("text/plain"):
        parts.append(response.text[:_SHOWN].strip())
    if status in _REMEDIES:
        parts.append(_REMEDIES[HTTPStatus(status)])
    return HttpRefused(status, "; ".join(filter(None, parts)))
