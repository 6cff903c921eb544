"""A connection with the same care around it as a store has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import structlog

from a2m_gateway.errors import A2MError, SetupError, StoreCorrupt, StoreTimeout
from a2m_gateway.layers.check import CheckLayer
from a2m_gateway.layers.deadline import DeadlineLayer
from a2m_gateway.layers.errors import ErrorsLayer
from a2m_gateway.layers.retry import RetryLayer
from a2m_gateway.store import CollectionInfo, CollectionSummary, Connection, Selection, Store

__all__ = ["GuardedConnection", "connected", "guarded"]

_OPENING = 60.0
"""Seconds for what happens once, at the start, and may load a collection."""

T = TypeVar("T")
log = structlog.get_logger(__name__)


def guarded(store: Store, *, deadline: float) -> CheckLayer:
    """An adapter's store with everything around it that does not depend on the layout.

    Args:
        deadline: Seconds for one call, its retries included.
    """
    return CheckLayer(DeadlineLayer(RetryLayer(ErrorsLayer(store)), deadline))


async def connected(connecting: Awaitable[Connection], *, deadline: float) -> GuardedConnection:
    """What an adapter connects to, guarded.

    How long it takes to connect is the adapter's affair: a folder may have to be copied first.

    Args:
        deadline: Seconds for one call of the stores.
    """
    return GuardedConnection(await _translated(connecting), deadline)


class GuardedConnection:
    """Lets no exception of a client library through, and waits for nothing for ever."""

    def __init__(self, inner: Connection, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline
        self._opening = max(deadline, _OPENING)

    async def collections(self) -> Sequence[CollectionSummary]:
        return await self._bounded(self._inner.collections())

    async def describe(self, collection: str) -> CollectionInfo:
        return await self._bounded(self._inner.describe(collection))

    async def open(self, collection: str, selection: Selection) -> CheckLayer:
        store = await self._bounded(self._inner.open(collection, selection))
        return guarded(store, deadline=self._deadline)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _bounded(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._opening):
                return await _translated(call)
        except TimeoutError:
            raise StoreTimeout(f"the store did not answer within {self._opening:g} s") from None


async def _translated(call: Awaitable[T]) -> T:
    try:
        return await call
    except (A2MError, SetupError, TimeoutError):
        raise
    except Exception as error:
        log.exception("store.unexpected_error")
        raise StoreCorrupt(
            f"an unexpected {type(error).__name__} of the store's adapter; the log has the details"
        ) from error
