"""Reads that failed because the store was away for a moment are made again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina
import structlog

from a2m_gateway.errors import StoreUnavailable
from a2m_gateway.layers.layer import AroundLayer
from a2m_gateway.store import Store

__all__ = ["RetryLayer"]

T = TypeVar("T")
log = structlog.get_logger(__name__)


class RetryLayer(AroundLayer):
    """Repeats a read on ``StoreUnavailable``, with growing, jittered pauses.

    Only that error: after a timeout the store is more likely overloaded than away, and a refusal
    will be repeated. Lies within the deadline layer, which ends it.
    """

    def __init__(self, inner: Store, attempts: int = 4) -> None:
        super().__init__(inner)
        self._again = stamina.AsyncRetryingCaller(
            attempts=attempts, timeout=None, wait_initial=0.05, wait_max=1.0, wait_jitter=0.1
        ).on(StoreUnavailable)

    async def around(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            return await call()
        except StoreUnavailable as error:
            log.info("store.retry", engine=self.inner.profile.engine, error=error.message)
            return await self._again(call)
