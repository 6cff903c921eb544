"""One collection by its name, although Chroma's paths name it by an id that changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import quote

import stamina

from a2m_chroma.answers import CollectionAnswer
from a2m_chroma.client import ChromaClient, CompactionRace, NotFound
from a2m_chroma.configuration import vector_field
from a2m_gateway.errors import StoreError, StoreUnavailable
from a2m_gateway.store import JSON, VectorField

__all__ = ["Collection", "find"]

T = TypeVar("T")


async def find(client: ChromaClient, name: str) -> CollectionAnswer:
    """The collection of that name.

    Raises:
        NotFound: There is none.
    """
    if name in ("", ".", ".."):
        raise NotFound(f"chroma has no collection named {name!r}")
    try:
        path = f"/collections/{quote(name, safe='')}"
    except UnicodeEncodeError:
        raise NotFound("chroma has no collection of that name") from None
    found = await client.get(path, CollectionAnswer)
    if found.name != name:
        raise NotFound(f"chroma has no collection named {name!r}")
    return found


class Collection:
    """Requests to a collection, found again under a new id when it was deleted and re-created."""

    def __init__(self, client: ChromaClient, found: CollectionAnswer) -> None:
        self._client = client
        self._name = found.name
        self._id = found.id
        self._field = vector_field(found)
        self._again = stamina.AsyncRetryingCaller(
            attempts=4, timeout=None, wait_initial=0.02, wait_max=0.2, wait_jitter=0.02
        ).on(CompactionRace)

    async def post(self, operation: str, query: Mapping[str, JSON], kind: type[T]) -> T:
        """``query`` answered; again where a concurrent write disturbed it.

        Raises:
            StoreUnavailable: The collection is gone, for now.
            StoreError: It was re-created as something else, or any other failure.
        """
        try:
            return await self._post(operation, query, kind)
        except CompactionRace:
            return await self._again(self._post, operation, query, kind)

    async def count(self) -> int:
        try:
            return await self._client.get(f"/collections/{self._id}/count", int)
        except NotFound:
            await self._find_again()
            return await self._client.get(f"/collections/{self._id}/count", int)

    async def _post(self, operation: str, query: Mapping[str, JSON], kind: type[T]) -> T:
        try:
            return await self._client.post(f"/collections/{self._id}/{operation}", query, kind)
        except NotFound:
            await self._find_again()
            return await self._client.post(f"/collections/{self._id}/{operation}", query, kind)

    async def _find_again(self) -> None:
        try:
            found = await find(self._client, self._name)
        except NotFound:
            raise StoreUnavailable(f"the collection {self._name!r} was deleted") from None
        now = vector_field(found)
        if not _agree(self._field, now):
            raise StoreError(
                f"the collection {self._name!r} was deleted and created again as another "
                f"({_told(self._field)} before, {_told(now)} now): open it again"
            )
        self._id = found.id


def _agree(before: VectorField, now: VectorField) -> bool:
    same_width = before.width == now.width or None in (before.width, now.width)
    return same_width and (before.engine_metric, before.model) == (now.engine_metric, now.model)


def _told(field: VectorField) -> str:
    return f"{field.engine_metric or 'no metric'}, width {field.width}, model {field.model}"
