"""The client's local mode, behind a child process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from qdrant_client import models

from a2m_gateway.capability import Claim, Support
from a2m_gateway.errors import CollectionNotFound, StoreRefused
from a2m_gateway.store import CollectionSummary, Path, Selection
from a2m_gateway.store.worker_process import WorkerProcess
from a2m_qdrant.engine import Point, Points, TextSearch
from a2m_qdrant.errors import CollectionGone

__all__ = ["LocalEngine"]

_FACTORY = "a2m_qdrant.local_engine:LocalModeEngine"
_NOTES = (
    "warning: local mode keeps points as Python pickles, which can hold code; only plain data and "
    "Qdrant's own models are let through, but open no folder whose origin is unknown",
    "local mode loads every collection of the folder into memory and compares every vector; from "
    "20,000 points on a server is the better place",
    "NaN and infinities in a payload are shown, and found, as null, as Qdrant's REST shows them",
    "the folder stays locked while it is served; a .lock file is all that is written there",
)


class LocalEngine:
    """One folder.

    Args:
        worker: Runs ``LocalModeEngine``.
    """

    name = "qdrant (local mode)"
    local = True
    notes = _NOTES

    def __init__(self, worker: WorkerProcess) -> None:
        self.version = version("qdrant-client")
        self._worker = worker

    @classmethod
    async def open(cls, folder: str, *, deadline: float) -> LocalEngine:
        """Open a folder.

        Args:
            deadline: Seconds for any one call; loading the folder may take longer.

        Raises:
            ConfigurationError: It is no local-mode folder.
            StoreUnavailable: Another process has it open.
        """
        worker = WorkerProcess(
            _FACTORY, {"folder": folder}, name=f"{cls.name} at {folder}", call_timeout=deadline
        )
        try:
            await worker.start()
        except BaseException:
            await worker.aclose()
            raise
        return cls(worker)

    async def collections(self) -> Sequence[CollectionSummary]:
        listed = await self._ask("collections")
        return [CollectionSummary(one["name"], one["count"]) for one in listed]

    async def describe(self, collection: str) -> models.CollectionInfo:
        described = await self._ask("describe", collection=collection)
        return models.CollectionInfo.model_validate(described)

    async def query(self, collection: str, request: models.QueryRequest) -> Sequence[Point]:
        return _points(await self._ask("query", collection=collection, request=_body(request)))

    async def retrieve(self, collection: str, request: models.PointRequest) -> Sequence[Point]:
        return _points(await self._ask("retrieve", collection=collection, request=_body(request)))

    async def scroll(self, collection: str, request: models.ScrollRequest) -> Points:
        page = await self._ask("scroll", collection=collection, request=_body(request))
        return Points(_points(page["points"]), page["next_id"])

    async def count(self, collection: str, request: models.CountRequest) -> int:
        counted: int = await self._ask("count", collection=collection, request=_body(request))
        return counted

    async def orders_by(self, collection: str, info: models.CollectionInfo, path: Path) -> bool:
        """By any field whose values are all numbers or all times: no index is needed."""
        orders: bool = await self._ask("orders_by", collection=collection, path=path)
        return orders

    def text_search(
        self, collection: str, info: models.CollectionInfo, selection: Selection
    ) -> TextSearch:
        return _ReadText(self, collection, selection)

    async def find_text(self, collection: str, **arguments: object) -> Sequence[Point]:
        return _points(await self._ask("find_text", collection=collection, **arguments))

    async def aclose(self) -> None:
        await self._worker.aclose()

    async def _ask(self, method: str, **arguments: object) -> Any:
        try:
            return await self._worker.call(method, **arguments)
        except CollectionNotFound as error:
            raise CollectionGone(str(error)) from None


class _ReadText:
    """Words found by reading every text, in the child."""

    def __init__(self, engine: LocalEngine, collection: str, selection: Selection) -> None:
        self._engine = engine
        self._collection = collection
        self._path = selection.text_path
        self._json = selection.text_is_json
        self.whole_words = False
        self.claim = (
            Claim(reason="no text field was chosen")
            if self._path is None
            else Claim(Support.NATIVE, "every text is read: any part of it, in any case")
        )

    async def find(
        self,
        terms: Sequence[str],
        limit: int,
        narrowed: models.Filter | None,
        *,
        whole: bool,
    ) -> Sequence[Point]:
        if self._path is None:
            raise StoreRefused(f"qdrant: words can't be found here: {self.claim.reason}")
        return await self._engine.find_text(
            self._collection,
            path=self._path,
            is_json=self._json,
            terms=terms,
            whole=whole,
            limit=limit,
            narrowed=None if narrowed is None else _body(narrowed),
        )


def _body(request: BaseModel) -> dict[str, Any]:
    """What a server would be sent."""
    return request.model_dump(mode="json", exclude_none=True, by_alias=True)


def _points(found: Sequence[Mapping[str, Any]]) -> list[Point]:
    return [
        Point(
            one["id"],
            one["payload"],
            one["vector"],
            math.nan if one["score"] is None else one["score"],
            one["order_value"],
        )
        for one in found
    ]
