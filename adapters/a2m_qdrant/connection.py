"""One Qdrant, and the collections in it."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_client import models

from a2m_gateway.store import CollectionInfo, CollectionSummary, Selection
from a2m_gateway.store.missing import no_such_collection
from a2m_qdrant.engine import Engine
from a2m_qdrant.errors import CollectionGone
from a2m_qdrant.filters import Pusher
from a2m_qdrant.keys import payload_key
from a2m_qdrant.profile import selected_vector, store_profile
from a2m_qdrant.schema import collection_info
from a2m_qdrant.store import QdrantStore

__all__ = ["QdrantConnection"]


class QdrantConnection:
    """A server or a folder.

    Args:
        engine: Closed with the connection.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def collections(self) -> Sequence[CollectionSummary]:
        return await self._engine.collections()

    async def describe(self, collection: str) -> CollectionInfo:
        described, _ = await self._described(collection)
        return described

    async def open(self, collection: str, selection: Selection) -> QdrantStore:
        """The collection as a store.

        Raises:
            CollectionNotFound: Names what there is.
            ConfigurationError: The selected vector is none that can be searched.
        """
        described, info = await self._described(collection)
        selected_vector(described, selection.vector_name)
        pusher = Pusher(info, any_string_id=self._engine.local)
        text = self._engine.text_search(collection, info, selection)
        path = selection.order_path
        ordered = path is not None and payload_key(path) is not None
        if path is not None and ordered:
            ordered = await self._engine.orders_by(collection, info, path)
        profile = store_profile(
            self._engine,
            described,
            info,
            selection,
            text=text.claim,
            whole_words=text.whole_words,
            filters=pusher.pushdowns,
            order_path=path if ordered else None,
        )
        return QdrantStore(
            self._engine,
            collection,
            profile,
            vector_name=selection.vector_name,
            pusher=pusher,
            text=text,
        )

    async def aclose(self) -> None:
        await self._engine.aclose()

    async def _described(self, collection: str) -> tuple[CollectionInfo, models.CollectionInfo]:
        try:
            info = await self._engine.describe(collection)
            count = await self._engine.count(collection, models.CountRequest(exact=True))
        except CollectionGone:
            there = [one.name for one in await self._engine.collections()]
            raise no_such_collection("qdrant", collection, there) from None
        return collection_info(collection, count, info, self._engine.notes), info
