"""Every call to a store has a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from a2m_gateway.errors import StoreTimeout
from a2m_gateway.layers.layer import AroundLayer
from a2m_gateway.store import Store

__all__ = ["DeadlineLayer"]

T = TypeVar("T")


class DeadlineLayer(AroundLayer):
    """Cancels a call that has not answered after ``seconds``, whatever the client does about it.

    Raises:
        StoreTimeout: Also where the adapter reports a timeout of its own.
    """

    def __init__(self, inner: Store, seconds: float) -> None:
        super().__init__(inner)
        self._seconds = seconds

    async def around(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await call()
        except TimeoutError:
            raise StoreTimeout(
                f"{self.inner.profile.engine} did not answer within {self._seconds:g} s"
            ) from None
