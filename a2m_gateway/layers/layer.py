"""What every layer is: a store around a store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from a2m_gateway.capability import Ordering, Profile
from a2m_gateway.store import Filter, Hit, Page, Row, Store

__all__ = ["AroundLayer"]

T = TypeVar("T")


class AroundLayer(ABC):
    """A layer that treats every call alike: it answers as its inner store does, or raises.

    The profile is the inner store's: what is done around a call changes nothing a store can do.
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    @property
    def profile(self) -> Profile:
        return self.inner.profile

    @abstractmethod
    async def around(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make ``call``, once or more often, and return what it returns."""

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        return await self.around(lambda: self.inner.get(ids, vectors=vectors))

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        return await self.around(lambda: self.inner.search(vector, k, conditions, vectors=vectors))

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        return await self.around(
            lambda: self.inner.search_text(terms, limit, conditions, whole=whole)
        )

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        return await self.around(
            lambda: self.inner.scan(conditions, order, cursor, limit, vectors=vectors)
        )

    async def count(self, conditions: Filter = ()) -> int:
        return await self.around(lambda: self.inner.count(conditions))

    async def aclose(self) -> None:
        await self.inner.aclose()
