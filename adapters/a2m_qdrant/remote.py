"""A Qdrant server over REST.

REST and not gRPC, which loses the order of keys and the depth of payloads.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import httpx
from pydantic import BaseModel
from qdrant_client import AsyncQdrantClient, models

from a2m_gateway.errors import ConfigurationError, StoreCorrupt, StoreRefused, StoreTimeout
from a2m_gateway.store import CollectionSummary, Path, Selection, StoreURL
from a2m_qdrant.engine import Point, Points, TextSearch
from a2m_qdrant.errors import CLIENT_ERRORS, CollectionGone, store_error
from a2m_qdrant.keys import payload_key
from a2m_qdrant.schema import index_of
from a2m_qdrant.text import MatchedText

__all__ = ["RemoteEngine"]

T = TypeVar("T")

_PORT = 6333
_OLDEST = (1, 10)
"""The first version that answers ``/points/query``."""

_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=32, keepalive_expiry=30.0)
_ORDERED = {
    models.PayloadSchemaType.INTEGER,
    models.PayloadSchemaType.FLOAT,
    models.PayloadSchemaType.DATETIME,
}


class RemoteEngine:
    """One server.

    Args:
        url: Its address; a path before the collection is the prefix of a reverse proxy.
        secret: The API key.
        deadline: Seconds for any one call.
        transport: Replaces the network, in tests.
    """

    name = "qdrant"
    local = False

    def __init__(
        self,
        url: StoreURL,
        *,
        secret: str | None,
        deadline: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.place = url.origin(_PORT) + url.path.rstrip("/")
        self.version = ""
        self._numbers: tuple[int, int] = (0, 0)
        self._deadline = deadline
        plain = secret is not None and not url.tls and not url.is_loopback
        self.notes = ("the API key crosses the network unencrypted: use TLS",) if plain else ()
        self._client = AsyncQdrantClient(
            url=self.place,
            # As a header: the client's own argument implies TLS and warns without it.
            headers=None if secret is None else {"api-key": secret},
            timeout=math.ceil(deadline),
            check_compatibility=False,  # it would ask once more, from a thread, and only warn
            limits=_LIMITS,  # without them the client closes every connection to localhost
            trust_env=not url.is_loopback,  # a proxy would look for this machine in its own
            verify=httpx.create_ssl_context() if url.tls else True,
            **({} if transport is None else {"transport": transport}),  # type: ignore[arg-type]
        )
        self._http = self._client.http

    async def check(self) -> None:
        """Ask who answers.

        Raises:
            ConfigurationError: No Qdrant, or one that is too old.
            StoreError: Nothing, or nothing in time.
        """
        try:
            info = await self._ask(self._http.service_api.root())
        except (StoreCorrupt, CollectionGone) as error:
            raise ConfigurationError(
                f"what answers at {self.place} is no Qdrant server", setting="STORE"
            ) from error
        self.version, self._numbers = info.version, _numbers(info.version)
        if self._numbers < _OLDEST:
            raise ConfigurationError(
                f"Qdrant {info.version} at {self.place} is older than 1.10, the first version "
                "with the query API: upgrade it",
                setting="STORE",
            )

    async def collections(self) -> Sequence[CollectionSummary]:
        answer = await self._ask(self._http.collections_api.get_collections())
        listed = _result(answer, answer.result).collections
        return sorted(
            (CollectionSummary(one.name) for one in listed), key=lambda summary: summary.name
        )

    async def describe(self, collection: str) -> models.CollectionInfo:
        answer = await self._ask(self._http.collections_api.get_collection(_segment(collection)))
        return _result(answer, answer.result)

    async def query(self, collection: str, request: models.QueryRequest) -> Sequence[Point]:
        answer = await self._ask(
            self._http.search_api.query_points(collection, query_request=request)
        )
        return [_point(found, found.score) for found in _result(answer, answer.result).points]

    async def retrieve(self, collection: str, request: models.PointRequest) -> Sequence[Point]:
        answer = await self._ask(
            self._http.points_api.get_points(collection, point_request=request)
        )
        return [_point(record) for record in _result(answer, answer.result)]

    async def scroll(self, collection: str, request: models.ScrollRequest) -> Points:
        answer = await self._ask(
            self._http.points_api.scroll_points(collection, scroll_request=request)
        )
        page = _result(answer, answer.result)
        offset = page.next_page_offset
        next_id = offset if offset is None or isinstance(offset, int) else str(offset)
        return Points([_point(record) for record in page.points], next_id)

    async def count(self, collection: str, request: models.CountRequest) -> int:
        answer = await self._ask(
            self._http.points_api.count_points(collection, count_request=request)
        )
        return _result(answer, answer.result).count

    async def orders_by(self, collection: str, info: models.CollectionInfo, path: Path) -> bool:
        """By an integer, float or datetime index that holds every point that carries the field.

        An index leaves out what it can't hold, such as a text among integers, and so would a scroll
        ordered by it.
        """
        index, key = index_of(info, path), payload_key(path)
        if index is None or key is None or index.data_type not in _ORDERED:
            return False
        empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=key))
        carrying = models.CountRequest(filter=models.Filter(must_not=[empty]), exact=True)
        try:
            return await self.count(collection, carrying) <= index.points
        except CollectionGone:
            raise
        except StoreRefused:
            return False  # strict mode will not say

    def text_search(
        self, collection: str, info: models.CollectionInfo, selection: Selection
    ) -> TextSearch:
        return MatchedText(self.scroll, collection, info, selection, self._numbers)

    async def aclose(self) -> None:
        await self._client.close()

    async def _ask(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._deadline):
                return await call
        except TimeoutError:
            raise StoreTimeout(f"{self.place} did not answer within {self._deadline:g} s") from None
        except CLIENT_ERRORS as error:
            raise store_error(self.place, error) from error


def _segment(collection: str) -> str:
    """A name that the client would refuse, or that would address something else."""
    if collection in ("", ".", ".."):
        raise CollectionGone(f"{collection!r} names no collection")
    return collection


def _result(answer: BaseModel, result: T | None) -> T:
    if result is None:
        raise StoreCorrupt(f"Qdrant answered a {type(answer).__name__} without a result")
    return result


def _point(found: models.Record | models.ScoredPoint, score: float = 0.0) -> Point:
    name = found.id if isinstance(found.id, int) else str(found.id)
    vector = found.vector
    known = vector if vector is None or isinstance(vector, dict) else list(vector)
    return Point(name, found.payload or {}, known, score, found.order_value)  # type: ignore[arg-type]


def _numbers(version: str) -> tuple[int, int]:
    """``"1.20.1-dev"`` as (1, 20); a version that is none counts as the oldest that will do."""
    parts = version.split(".")
    if len(parts) < 2 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return _OLDEST
    return int(parts[0]), int(parts[1])
