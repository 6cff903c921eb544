"""From a connection and a collection's name to a store of canonical rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from a2m_gateway.capability import Ordering
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.protocol.timestamps import EPOCH
from a2m_gateway.shapes.fields import format_field, value_at
from a2m_gateway.shapes.options import LayoutOptions
from a2m_gateway.shapes.recognise import recognise
from a2m_gateway.shapes.shape import Recognition, Shape, Tenant
from a2m_gateway.shapes.store import Clock, ShapedStore, utc_now
from a2m_gateway.shapes.tenancy import told_tenant
from a2m_gateway.shapes.times import TimeKind, read_time
from a2m_gateway.store import (
    CollectionInfo,
    Condition,
    Connection,
    Path,
    Row,
    Selection,
    Store,
)
from a2m_gateway.store.filter import equal
from a2m_gateway.store.rows import ID

__all__ = ["open_shaped", "take_sample"]

_SAMPLE = 50
_PAGE = 200


async def open_shaped(
    connection: Connection,
    collection: str,
    options: LayoutOptions = LayoutOptions(),  # noqa: B008 - frozen
    *,
    clock: Clock = utc_now,
) -> tuple[ShapedStore, Recognition, CollectionInfo]:
    """Sample a collection, recognise its layout, and open it so.

    With ``id_field`` the whole collection is read once, for a field that several records share
    would make all but one of them vanish.

    Raises:
        CollectionNotFound: Names what there is.
        UnrecognisedLayout: Names the candidates and the options that would settle it.
        ConfigurationError: An option names what is not there.
        StoreError: The database failed.
    """
    info = await connection.describe(collection)
    raw = await connection.open(collection, Selection())
    try:
        rows = await take_sample(raw, told_tenant(options) if options.tenant_field else None)
        recognition = recognise(info, rows, options, engine=raw.profile.engine)
    finally:
        await raw.aclose()
    shape = recognition.shape
    inner = await connection.open(collection, _selection(shape, info))
    try:
        if not await _is_ordered(inner, shape):
            recognition = replace(recognition, shape=replace(shape, created_kind=None))
        store = ShapedStore(
            inner, recognition, created_at_default=options.created_at_default, clock=clock
        )
        if options.id_field is not None and shape.id_namespace is None:
            await store.check_ids()
    except BaseException:
        await inner.aclose()
        raise
    return store, recognition, info


async def take_sample(
    store: Store, tenant: Tenant | None = None, size: int = _SAMPLE
) -> Sequence[Row]:
    """About ``size`` rows, from both ends of the store's order where it can be read backward.

    Args:
        tenant: Only of these records.

    Raises:
        ConfigurationError: No record is of that tenant.
    """
    backward = Ordering(descending=True)
    ends = [Ordering()]
    if backward in store.profile.orderings:
        ends.append(backward)
    found: dict[str, Row] = {}
    for order in ends:
        for row in await _first(store, order, size // len(ends), tenant):
            found.setdefault(row.id, row)
    if tenant is not None and not found:
        raise ConfigurationError(
            f"no record has {tenant.values[0]!r} in {format_field(tenant.path)!r}",
            setting="tenant",
        )
    return list(found.values())


async def _first(store: Store, order: Ordering, size: int, tenant: Tenant | None) -> list[Row]:
    conditions = () if tenant is None or tenant.path == ID else (_of(tenant),)
    rows: list[Row] = []
    cursor: str | None = None
    while True:
        limit = size if tenant is None else _PAGE
        page = await store.scan(conditions, order, cursor, limit)
        rows += [row for row in page.rows if tenant is None or _is_of(row, tenant)]
        cursor = page.cursor
        if cursor is None or len(rows) >= size:
            return rows[:size]


def _of(tenant: Tenant) -> Condition:
    return Condition((tenant.path,), tenant.values)


def _is_of(row: Row, tenant: Tenant) -> bool:
    found = value_at(row, tenant.path)
    return any(equal(found, value) for value in tenant.values)


def _selection(shape: Shape, info: CollectionInfo) -> Selection:
    return Selection(
        vector_name=shape.vector_name,
        text_path=shape.text if shape.text != ID else None,
        text_is_json=shape.text_in_node,
        order_path=_order_path(shape, info),
    )


def _order_path(shape: Shape, info: CollectionInfo) -> Path | None:
    """The time field, where the database would order it as the times are.

    Strings sort as times only by an index that reads them as times.
    """
    path, kind = shape.created_at, shape.created_kind
    if path is None or path == ID or kind is None:
        return None
    return path if kind.is_epoch or info.indexed.get(path) == "datetime" else None


async def _is_ordered(store: Store, shape: Shape) -> bool:
    """Whether the first by time, and the last, are written as the sample is, and none before 1970.

    Numbers that lie between two of one unit are of that unit, so the whole order is one of time. A
    record without a time counts as of 1970 and is passed over by the store, which is right only
    where it is the oldest.
    """
    path, kind = shape.created_at, shape.created_kind
    if path is None or kind is None or not kind.is_epoch:
        return True
    for descending in (True, False):
        order = Ordering(path, descending)
        if order in store.profile.orderings and not await _begins_with(store, order, kind):
            return False
    return True


async def _begins_with(store: Store, order: Ordering, kind: TimeKind) -> bool:
    page = await store.scan((), order, None, 1)
    moments = [read_time(value_at(row, order.path or ())) for row in page.rows]
    return all(
        moment is not None and moment.kind is kind and moment.timestamp >= EPOCH
        for moment in moments
    )
