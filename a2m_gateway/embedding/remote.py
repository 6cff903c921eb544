"""Embedding services over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx
import msgspec
import stamina

from a2m_gateway.address import is_loopback
from a2m_gateway.embedding.answers import check_vectors
from a2m_gateway.embedding.failures import Transient, refusal, transient
from a2m_gateway.embedding.recipes import Prefixes
from a2m_gateway.embedding.services import Role, Service
from a2m_gateway.embedding.settings import Cohere, OpenAI, Voyage
from a2m_gateway.embedding.text import refuse_unencodable
from a2m_gateway.errors import EmbedderError, EmbedderRefused, InvalidParams

__all__ = ["RemoteEmbedder"]

_ATTEMPTS = 4
_MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""2,048 vectors of 3,072 numbers in JSON are 130 MB; more than this is no answer."""

_ABOUT_THE_TEXT = frozenset({400, 413, 422})


class RemoteEmbedder:
    """An ``Embedder`` that sends text to a service.

    Every call has a deadline that its retries share. 429, 5xx and failed connections are tried
    again, after what ``Retry-After`` says where the deadline allows for it. Redirects are not
    followed: the text would go where nobody said it may.

    Args:
        key: The service's key; it is in no message.
    """

    def __init__(
        self,
        settings: OpenAI | Cohere | Voyage,
        service: Service,
        *,
        prefixes: Prefixes,
        key: str | None,
    ) -> None:
        self._settings = settings
        self._service = service
        self._prefixes = prefixes
        self._key = key
        self._width = settings.dimensions
        self._answered = False
        url = httpx.URL(settings.url)
        self._url = url.copy_with(path=url.path.rstrip("/") + service.path)
        self._origin = f"{url.scheme}://{url.netloc.decode()}"
        self._remote = None if is_loopback(url.host) else self._origin
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=None,  # noqa: S113 - the deadline of the whole call
            follow_redirects=False,
            trust_env=self._remote is not None,  # no proxy leads to this machine
            verify=httpx.create_ssl_context(),
        )

    @property
    def model(self) -> str:
        return self._settings.model

    @property
    def width(self) -> int | None:
        return self._width

    @property
    def remote(self) -> str | None:
        return self._remote

    async def embed_query(self, text: str) -> list[float]:
        """The vector of a question.

        Raises:
            InvalidParams: The service refuses this text: too long, empty.
            EmbedderRefused: The service refuses whatever it is asked: its key, model, quota.
            EmbedderError: It can't be reached in time, or answers nonsense.
        """
        refuse_unencodable(text, "query")
        return (await self._embed([self._prefixes.query + text], "query"))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of stored texts, in order; the deadline is for each request of a batch."""
        for place, text in enumerate(texts):
            refuse_unencodable(text, f"records[{place}].content")
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._settings.batch):
            batch = texts[start : start + self._settings.batch]
            vectors += await self._embed([self._prefixes.passage + t for t in batch], "passage")
        return vectors

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _embed(self, texts: list[str], role: Role) -> list[list[float]]:
        body = msgspec.json.encode(self._service.request(texts, role))
        vectors = self._service.vectors(await self._post(body, role), len(texts))
        self._width = check_vectors(
            vectors, count=len(texts), width=self._width, source=self._origin
        )
        self._answered = True
        return vectors

    async def _post(self, body: bytes, role: Role) -> bytes:
        """The body of a 200, within the deadline."""
        seconds = self._settings.timeout
        end = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(end):
                # Without arguments: stamina logs those of what it calls again.
                async for attempt in stamina.retry_context(
                    on=lambda error: _wait(error, end),
                    attempts=_ATTEMPTS,
                    timeout=None,
                    wait_initial=0.2,
                    wait_jitter=0.2,
                ):
                    with attempt:
                        return await self._post_once(body, role)
        except TimeoutError:
            raise EmbedderError(f"{self._origin} did not answer within {seconds:g} s") from None
        except Transient as error:
            raise EmbedderError(str(error)) from None
        raise AssertionError("a retry context returns or raises")

    async def _post_once(self, body: bytes, role: Role) -> bytes:
        headers = {"Content-Type": "application/json"}
        try:
            async with self._client.stream(
                "POST", self._url, content=body, headers=headers
            ) as response:
                answer = await self._read(response)
        except httpx.HTTPError as error:
            raise transient(self._origin, error) from None
        if response.status_code == httpx.codes.OK:
            return answer
        failure = refusal(self._origin, response, answer, self._key)
        if isinstance(failure, EmbedderRefused) and self._is_the_text(response.status_code, role):
            raise InvalidParams(f"`query`: {failure.message}", field="query") from None
        raise failure

    async def _read(self, response: httpx.Response) -> bytes:
        parts, size = [], 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > _MAX_ANSWER_BYTES:
                raise EmbedderError(f"{self._origin} answered with more than {size} bytes")
            parts.append(part)
        return b"".join(parts)

    def _is_the_text(self, status: int, role: Role) -> bool:
        """Whether a refusal is about the caller's text.

        Services use 400 for a wrong model and for a text too long alike. One that has answered
        with this model, key and URL before can only mean the text.
        """
        return role == "query" and self._answered and status in _ABOUT_THE_TEXT


def _wait(error: Exception, end: float) -> bool | float:
    """Whether to try again, and after how long: never past the deadline."""
    if not isinstance(error, Transient):
        return False
    if error.wait is None:
        return True
    return error.wait if asyncio.get_running_loop().time() + error.wait < end else False
