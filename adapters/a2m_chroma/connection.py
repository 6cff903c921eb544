"""One Chroma database: what there is, and opening it."""

from __future__ import annotations

from collections.abc import Sequence

from a2m_chroma.answers import CollectionAnswer, DatabaseAnswer
from a2m_chroma.client import ChromaClient, NotFound
from a2m_chroma.collection import Collection, find
from a2m_chroma.configuration import indexed_fields, vector_field
from a2m_chroma.profile import profile
from a2m_chroma.store import ChromaStore
from a2m_gateway.errors import ConfigurationError, StoreCorrupt, StoreRefused
from a2m_gateway.store import CollectionInfo, CollectionSummary, Selection
from a2m_gateway.store.fan_out import at_once
from a2m_gateway.store.missing import no_such_collection

__all__ = ["ChromaConnection"]

_PAGE = 200
_COUNTED = 50
_AT_ONCE = 16


class ChromaConnection:
    """Collections of one tenant's database.

    Args:
        version: Of the engine, where it is known: a server says 1.0.0 whatever its release is.
        notes: What an owner should know of how this database is reached.
    """

    def __init__(
        self, client: ChromaClient, *, version: str = "", notes: tuple[str, ...] = ()
    ) -> None:
        self._client = client
        self._version = version
        self._notes = notes

    async def check(self) -> None:
        """See that a database answers.

        Raises:
            ConfigurationError: Chroma answers, and has no such tenant or database; or it is
                something else, or a Chroma before the v2 API.
            StoreError: It can't be reached, or refuses.
        """
        async with self._client.deadline():
            try:
                await self._client.get("", DatabaseAnswer)
            except NotFound:
                await self._expect_chroma()
                raise ConfigurationError(
                    "chroma has no such tenant and database; set ?chroma_tenant= and ?database=",
                    setting="database",
                ) from None
            except StoreCorrupt as error:
                raise ConfigurationError(
                    f"there is no Chroma server there: {error}", setting="STORE"
                ) from None

    async def collections(self) -> Sequence[CollectionSummary]:
        async with self._client.deadline():
            found = await self._all()
            counts: list[int | None] = [None] * len(found)
            if len(found) <= _COUNTED:  # a round trip each
                counts = await at_once([self._count(one) for one in found], _AT_ONCE)
        summaries = [
            CollectionSummary(one.name, count) for one, count in zip(found, counts, strict=True)
        ]
        return sorted(summaries, key=lambda summary: summary.name)

    async def describe(self, collection: str) -> CollectionInfo:
        async with self._client.deadline():
            found = await self._found(collection)
            count = await Collection(self._client, found).count()
        return CollectionInfo(
            found.name,
            count,
            (vector_field(found),),
            indexed=indexed_fields(found),
            metadata=found.metadata or {},
            notes=self._notes,
        )

    async def open(self, collection: str, selection: Selection) -> ChromaStore:
        async with self._client.deadline():
            found = await self._found(collection)
        claims = profile(vector_field(found), selection, version=self._version, notes=self._notes)
        return ChromaStore(self._client, Collection(self._client, found), claims)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _found(self, name: str) -> CollectionAnswer:
        try:
            return await find(self._client, name)
        except NotFound:
            there = [one.name for one in await self._all()]
            raise no_such_collection("chroma", name, there) from None

    async def _all(self) -> list[CollectionAnswer]:
        found: dict[str, CollectionAnswer] = {}
        offset = 0
        while True:
            page = await self._client.get(
                "/collections", list[CollectionAnswer], {"limit": _PAGE, "offset": offset}
            )
            found |= {one.id: one for one in page}
            offset += len(page)
            if len(page) < _PAGE:
                return list(found.values())

    async def _count(self, found: CollectionAnswer) -> int | None:
        try:
            return await self._client.get(f"/collections/{found.id}/count", int)
        except (NotFound, StoreRefused):
            return None  # deleted since it was listed, or not for us to read

    async def _expect_chroma(self) -> None:
        try:
            await self._client.request("GET", "/api/v2/heartbeat")
        except NotFound:
            raise ConfigurationError(
                "what answers there has no /api/v2: it is not Chroma, or one before 0.6",
                setting="STORE",
            ) from None
