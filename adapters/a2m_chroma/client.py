"""A thin client of Chroma's v2 HTTP API: requests under a deadline, bounded answers, our errors.

Not the SDK: its httpx client is shared by all clients of an event loop, headers included, has no
timeout, verifies no certificate unless told to, and can't be closed (facts of chromadb 1.5.9).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from urllib.parse import quote

import httpx
import msgspec
from aiohttp import ClientConnectionError, ClientError

from a2m_chroma.answers import ErrorAnswer, decode
from a2m_gateway.errors import (
    StoreCorrupt,
    StoreError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store import JSON

__all__ = [
    "AnswerTooLarge",
    "ChromaClient",
    "CompactionRace",
    "Endpoint",
    "FixedEndpoint",
    "NotFound",
]

T = TypeVar("T")

MAX_ANSWER = 64 << 20
"""Bytes of an answer that are read; a page that is larger is asked for in halves."""

_UNAVAILABLE = {408, 425, 429, 502, 503, 504}
_RACE = "Error finding id"


class NotFound(StoreError):
    """What the path names is not there (any more)."""


class AnswerTooLarge(StoreError):
    pass


class CompactionRace(StoreUnavailable):
    """A record was written while the query ran: the next attempt finds it (Chroma: metadata is
    committed before the vector index)."""


class Endpoint(Protocol):
    """Where the server is; that of an embedded one changes when it is started again."""

    async def url(self) -> str:
        """The base URL, without a slash at its end."""
        ...

    def suspect(self) -> None:
        """A call got no answer in time."""
        ...

    async def aclose(self) -> None: ...


class FixedEndpoint:
    """A server that somebody else runs."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def url(self) -> str:
        return self._url

    def suspect(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


class ChromaClient:
    """Requests to one database of one server.

    Args:
        endpoint: Closed with the client.
        secret: Sent as a bearer token and as ``x-chroma-token``: which one is read is up to the
            proxy or the cloud in front of Chroma, which has no authentication of its own.
        deadline: Seconds for one call, of however many requests.
        transport: See ``network``.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        tenant: str,
        database: str,
        secret: str | None,
        deadline: float,
        transport: httpx.AsyncBaseTransport,
    ) -> None:
        headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "content-type": "application/json",
            "user-agent": "a2m-gateway",
        }
        if secret is not None:
            headers |= {"authorization": f"Bearer {secret}", "x-chroma-token": secret}
        self._endpoint = endpoint
        self._database = f"/api/v2/tenants/{quote(tenant, safe='')}/databases/"
        self._database += quote(database, safe="")
        self._deadline = deadline
        self._headers = headers
        self._timeouts = {"timeout": httpx.Timeout(deadline).as_dict()}
        self._transport = transport

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[None]:
        """Bounds everything within, so that many requests take no longer than one may.

        Raises:
            StoreTimeout: The time is over.
        """
        try:
            async with asyncio.timeout(self._deadline):
                yield
        except TimeoutError:
            self._endpoint.suspect()
            raise StoreTimeout(f"chroma did not answer within {self._deadline:g} s") from None
        except asyncio.CancelledError:
            # A deadline further out, for all attempts together, may come first. Where it was
            # anything else, the next call finds that the server answers, and keeps it.
            self._endpoint.suspect()
            raise

    async def get(self, path: str, kind: type[T], parameters: Mapping[str, int] | None = None) -> T:
        """What is at ``path`` in the database: ``/collections``, or ``""`` for itself.

        Raises:
            NotFound: Nothing is.
            StoreError: As ``request``.
        """
        body = await self.request("GET", self._database + path, parameters=parameters)
        return decode(body, kind, f"GET {path or 'the database'}")

    async def post(self, path: str, query: Mapping[str, JSON], kind: type[T]) -> T:
        """The answer to a query that reads."""
        try:
            content = msgspec.json.encode(query)
        except (UnicodeEncodeError, ValueError) as error:
            raise StoreRefused(f"chroma can't be sent this text: {error}") from None
        body = await self.request("POST", self._database + path, content=content)
        return decode(body, kind, f"POST {path}")

    async def request(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        parameters: Mapping[str, int] | None = None,
    ) -> bytes:
        """The body of a successful answer.

        Raises:
            NotFound: 404.
            AnswerTooLarge: It has more than ``MAX_ANSWER`` bytes.
            CompactionRace: A concurrent write; ask again.
            StoreTimeout, StoreUnavailable, StoreRefused, StoreError: As it failed.
        """
        async with self.deadline():
            place = await self._endpoint.url()
            try:
                response = await self._send(method, place + path, content, parameters)
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
            except httpx.TimeoutException as error:
                if _is_disconnection(error):
                    raise _unreachable(place, error) from None
                raise TimeoutError from None
            except httpx.DecodingError as error:
                raise StoreCorrupt(f"chroma's answer can't be read: {error}") from None
            except httpx.HTTPError as error:
                raise _unreachable(place, error) from None
            except (ClientError, UnicodeError) as error:
                # What is no HTTP comes as aiohttp's own error (httpx_aiohttp 0.2.0), which quotes
                # what it read: that may be anything.
                raise StoreCorrupt(
                    f"what answers at {place} speaks no HTTP ({type(error).__name__})"
                ) from None
            except httpx.InvalidURL as error:
                raise StoreRefused(f"chroma has no such address: {error}") from None
        if response.is_success:
            return body
        raise _failure(response.status_code, body)

    async def _send(
        self, method: str, url: str, content: bytes | None, parameters: Mapping[str, int] | None
    ) -> httpx.Response:
        """The answer, whose body is not read yet.

        Straight to the transport: of what ``httpx.AsyncClient`` does beside (redirects, cookies,
        authentication, hooks) nothing is wanted here, and it takes a fifth of a call's time.
        """
        request = httpx.Request(
            method,
            url,
            params=parameters,
            headers=self._headers,
            content=content,
            extensions=self._timeouts,
        )
        response = await self._transport.handle_async_request(request)
        response.request = request
        return response

    async def aclose(self) -> None:
        try:
            await self._transport.aclose()
        finally:
            await self._endpoint.aclose()


async def _read(response: httpx.Response) -> bytes:
    chunks, size = [], 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MAX_ANSWER:
            raise AnswerTooLarge(f"chroma's answer has more than {MAX_ANSWER >> 20} MiB")
        chunks.append(chunk)
    return b"".join(chunks)


def _is_disconnection(error: httpx.TimeoutException) -> bool:
    # httpx_aiohttp reports every cut connection as a timeout (0.2.0).
    cause = error.__cause__
    return isinstance(cause, ClientConnectionError) and not isinstance(cause, TimeoutError)


def _unreachable(place: str, error: httpx.HTTPError) -> StoreUnavailable:
    return StoreUnavailable(
        f"chroma is unreachable at {place}: {str(error) or type(error).__name__}"
    )


def _failure(status: int, body: bytes) -> StoreError:
    try:
        said = decode(body, ErrorAnswer, "an error").message[:300]
    except StoreCorrupt:
        said = ""
    text = f"chroma answered {status}" + (f": {said}" if said else "")
    if status == 404:
        return NotFound(text)
    if status in (401, 403):
        return StoreRefused(f"{text}; is the store's secret right (A2M_STORE_SECRET)?")
    if status in _UNAVAILABLE:
        return StoreUnavailable(text)
    if status >= 500:
        return CompactionRace(text) if _RACE in said else StoreError(text)
    return StoreRefused(text)
