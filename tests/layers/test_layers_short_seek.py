"""A limit never changes the order of what it keeps, however the store seeks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from a2m_gateway.capability import Ordering
from a2m_gateway.layers import NEWEST_FIRST, ExactLayer
from a2m_gateway.store import Filter, Page, Row
from a2m_gateway.store.memory import MemoryStore

SAME = "1970-01-01T00:00:00.000Z"


class Seeking(MemoryStore):
    """Seeks by ``created_at``: the first rows are the newest. Those without a time are passed over,
    as Qdrant does, and stand in the store's own order with the default time."""

    def __init__(self, rows: list[Row], passed_over: set[str]) -> None:
        super().__init__(rows)
        self.profile = replace(self.profile, orderings=self.profile.orderings | {NEWEST_FIRST})
        self._passed_over = passed_over

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        if order != NEWEST_FIRST:
            return await super().scan(conditions, order, cursor, limit, vectors=vectors)
        page = await super().scan(conditions, Ordering(), cursor, limit, vectors=vectors)
        return Page([row for row in page.rows if row.id not in self._passed_over], page.cursor)


def _row(name: str, moment: str) -> Row:
    return Row(name, {"content": name, "created_at": moment, "metadata": {}}, [1.0])


@pytest.mark.parametrize("vectors", [False, True])
async def test_every_limit_keeps_the_tail_of_the_whole(vectors: bool) -> None:
    rows = [_row(name, SAME) for name in "abcde"]
    layer = ExactLayer(Seeking(rows, passed_over=set()))
    whole = [row.id for row in await layer.newest(limit=99, vectors=vectors)]
    assert whole == list("abcde")
    for limit in range(1, 8):
        kept = await layer.newest(limit=limit, vectors=vectors)
        assert [row.id for row in kept] == whole[:limit]
        assert all((row.vector is not None) == vectors for row in kept)


async def test_rows_that_the_seek_passes_over_come_by_their_time() -> None:
    rows = [_row("c", "2026-01-03T00:00:00.000Z"), _row("b", "2026-01-02T00:00:00.000Z")]
    rows += [_row("x", SAME), _row("y", SAME), _row("a", "1960-01-01T00:00:00.000Z")]
    layer = ExactLayer(Seeking(rows, passed_over={"x", "y"}))
    assert [row.id for row in await layer.newest(limit=9)] == ["c", "b", "y", "x", "a"]
    assert [row.id for row in await layer.newest(limit=2)] == ["c", "b"]
