"""A foreign collection as a store of canonical rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid5

from a2m_gateway.capability import Claim, Feature, Ordering, Profile, Pushdown
from a2m_gateway.errors import StoreCorrupt, StoreRefused
from a2m_gateway.protocol.timestamps import EPOCH
from a2m_gateway.shapes.conditions import translate
from a2m_gateway.shapes.fields import format_field
from a2m_gateway.shapes.record import RecordReader
from a2m_gateway.shapes.shape import NodeCopies, Recognition, Shape
from a2m_gateway.shapes.uniqueness import check_unique, refuse_namesakes
from a2m_gateway.store import Condition, Filter, Hit, Page, Row, Scalar, Store
from a2m_gateway.store.rows import ID

__all__ = ["Clock", "ShapedStore", "utc_now"]

Clock = Callable[[], datetime]
"""The time now, aware."""

_CREATED_AT = ("created_at",)
_OWN, _OWN_BACKWARD = Ordering(), Ordering(descending=True)
_OLDEST, _NEWEST = Ordering(_CREATED_AT), Ordering(_CREATED_AT, descending=True)


def utc_now() -> datetime:
    return datetime.now(UTC)


class ShapedStore:
    """Reads somebody else's layout; rows come out as ``content``, ``created_at``, ``metadata``.

    Filters are translated where that provably loses no row, else left out: they narrow, and the
    ``exact`` layer compares again. Records of other tenants, and those past their writer's day, are
    in no answer; ``count`` may still include the latter.

    Where records have no time of their own all have one ``created_at``, and newest first is the
    store's own order backward if it can (Chroma: the last inserted first), else its own order.

    Args:
        inner: The raw rows, opened on the vector and the text that the shape names.
        created_at_default: The time of records without one.
        clock: Tells which records are past their day.
    """

    def __init__(
        self,
        inner: Store,
        recognition: Recognition,
        *,
        created_at_default: str = EPOCH,
        clock: Clock = utc_now,
    ) -> None:
        self.inner = inner
        self._shape = recognition.shape
        self._reader = RecordReader(self._shape, created_at_default)
        self._clock = clock
        self._orders = _orders(self._shape, inner.profile, created_at_default)
        self.profile = _profile(inner.profile, recognition, self._orders)

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        if self._shape.id is None:
            return self._shown(await self.inner.get(ids, vectors=vectors))
        namespace = self._shape.id_namespace
        if namespace is not None:
            derived = [str(uuid5(namespace, one)) for one in ids]
            return self._named(await self.inner.get([*derived, *ids], vectors=vectors), ids)
        return await self._sought(ids, vectors)

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        raw = translate(conditions, self._shape)
        hits = await self.inner.search(vector, k, raw, vectors=vectors)
        served = [hit for hit in hits if self._is_served(hit.row)]
        self._refuse_namesakes(hit.row for hit in served)
        return [Hit(self._reader.read(hit.row), hit.distance) for hit in served]

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        raw = translate(conditions, self._shape)
        return self._shown(await self.inner.search_text(terms, limit, raw, whole=whole))

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = _OWN,
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        if order not in self._orders:
            raise StoreRefused(f"no such order here: {order}")
        raw = translate(conditions, self._shape)
        page = await self.inner.scan(raw, self._orders[order], cursor, limit, vectors=vectors)
        rows = self._shown(page.rows)
        if order.path is not None:
            self._check_order(rows, order)
        return Page(rows, page.cursor)

    async def count(self, conditions: Filter = ()) -> int:
        return await self.inner.count(translate(conditions, self._shape))

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def check_ids(self) -> None:
        """Read the whole collection to see that no two records have one id.

        Raises:
            ConfigurationError: The field that holds the ids is not unique.
        """
        if self._shape.id is not None:
            await check_unique(self.inner, self._reader, self._shape.id, self._is_served)

    def _is_served(self, row: Row) -> bool:
        return not self._reader.is_hidden(row, self._clock())

    def _refuse_namesakes(self, rows: Iterable[Row]) -> None:
        if self._shape.id is not None:
            refuse_namesakes(rows, self._reader)

    def _shown(self, rows: Iterable[Row]) -> list[Row]:
        served = [row for row in rows if self._is_served(row)]
        self._refuse_namesakes(served)
        return [self._reader.read(row) for row in served]

    def _named(self, rows: Iterable[Row], ids: Sequence[str]) -> list[Row]:
        wanted = set(ids)
        return self._shown(row for row in rows if self._reader.record_id(row) in wanted)

    async def _sought(self, ids: Sequence[str], vectors: bool) -> list[Row]:
        """Rows by a field that the store doesn't know them by."""
        wanted = set(ids)
        raw = {row.id: row for row in await self.inner.get(ids, vectors=vectors)}
        conditions = self._by_id_field(ids)
        cursor: str | None = None
        while True:
            page = await self.inner.scan(conditions, cursor=cursor, vectors=vectors)
            for row in page.rows:
                if self._reader.record_id(row) in wanted:
                    raw[row.id] = row
            cursor = page.cursor
            if cursor is None:
                return self._named(raw.values(), ids)

    def _by_id_field(self, ids: Sequence[str]) -> Filter:
        path = self._shape.id
        tenant = translate((), self._shape)
        if path is None or path == ID:  # below the layout that path is the store's own id
            return tenant
        numbers: list[Scalar] = [int(one) for one in ids if one.isascii() and _is_number(one)]
        return (*tenant, Condition((path,), (*ids, *numbers)))

    def _check_order(self, rows: Sequence[Row], order: Ordering) -> None:
        times = [str(row.fields["created_at"]) for row in rows]
        if times != sorted(times, reverse=order.descending):
            field = format_field(self._shape.created_at or ())
            raise StoreCorrupt(
                f"the times in {field!r} are not all written alike, so the store's order by it "
                "is not theirs"
            )


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdigit() and len(text) < 20


def _orders(shape: Shape, inner: Profile, default: str) -> Mapping[Ordering, Ordering]:
    """From canonical orders to the inner store's."""
    orders = {one: one for one in inner.orderings if one.path is None}
    if shape.created_at is None:
        backward = _OWN_BACKWARD in inner.orderings
        orders[_NEWEST] = _OWN_BACKWARD if backward else _OWN
        if backward:
            orders[_OLDEST] = _OWN
        return orders
    # A row without a time may be left out by the store: right only where it is the oldest of all.
    if shape.created_kind is None or default != EPOCH:
        return orders
    for canonical in (_OLDEST, _NEWEST):
        raw = Ordering(shape.created_at, canonical.descending)
        if raw in inner.orderings:
            orders[canonical] = raw
    return orders


def _profile(
    inner: Profile, recognition: Recognition, orders: Mapping[Ordering, Ordering]
) -> Profile:
    shape = recognition.shape
    node_only = shape.node is not None and shape.node_copies is NodeCopies.NODE_ONLY
    # Some conditions are left out and some rows hidden, so no filter is exact any more.
    best = Pushdown.NONE if node_only else Pushdown.LOOSE
    filters = {
        kind: best if pushed is not Pushdown.NONE else pushed
        for kind, pushed in inner.filters.items()
    }
    features = dict(inner.features)
    counted = inner.claim(Feature.COUNT)
    if shape.expires is not None and counted.held:
        loss = "records past their day are counted until their writer deletes them"
        features[Feature.COUNT] = Claim(counted.support, counted.reason, loss)
    return replace(
        inner,
        features=features,
        filters=filters,
        orderings=frozenset(orders),
        model=recognition.model or inner.model,
        notes=(*inner.notes, recognition.times),
    )
