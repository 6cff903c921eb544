"""Whether a field tells records apart: two records of one id would hide each other."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Callable, Iterable
from hashlib import blake2b

import numpy as np

from a2m_gateway.errors import ConfigurationError, StoreCorrupt
from a2m_gateway.shapes.fields import format_field
from a2m_gateway.shapes.record import RecordReader
from a2m_gateway.store import Path, Row, Store

__all__ = ["check_unique", "refuse_namesakes"]


async def check_unique(
    store: Store, reader: RecordReader, path: Path, is_served: Callable[[Row], bool]
) -> None:
    """Read every record once and compare their ids, of which 8 bytes each are kept.

    Args:
        store: The raw rows.
        path: Where the ids lie.
        is_served: Another tenant's records may have the same ids.

    Raises:
        ConfigurationError: Two records have one id; names it.
    """
    hashes = array("Q")
    async for row in _rows(store, is_served):
        hashes.append(_hash(reader.record_id(row)))
    found, times = np.unique(np.array(hashes, np.uint64), return_counts=True)
    repeated = set(found[times > 1].tolist())
    if repeated:  # or two ids share a hash, or a row was met twice while others were written
        await _compare(store, reader, path, is_served, repeated)


async def _compare(
    store: Store,
    reader: RecordReader,
    path: Path,
    is_served: Callable[[Row], bool],
    repeated: set[int],
) -> None:
    first: dict[str, str] = {}
    async for row in _rows(store, is_served):
        own = reader.record_id(row)
        if _hash(own) in repeated and first.setdefault(own, row.id) != row.id:
            raise ConfigurationError(
                f"{format_field(path)!r} is not unique, so it is no id: {own!r} is that of the "
                f"records {first[own]!r} and {row.id!r}; name another field, or none for the "
                "store's own ids",
                setting="id_field",
            )


def refuse_namesakes(rows: Iterable[Row], reader: RecordReader) -> None:
    """Keep two of the raw ``rows`` from answering to one id.

    Raises:
        StoreCorrupt: Names both.
    """
    first: dict[str, str] = {}
    for row in rows:
        own = reader.record_id(row)
        if first.setdefault(own, row.id) != row.id:
            raise StoreCorrupt(
                f"the records {first[own]!r} and {row.id!r} of the store have one id, {own!r}, "
                "which the layout takes from their fields; without `id_field`, or with one that "
                "is unique, both would be served"
            )


async def _rows(store: Store, is_served: Callable[[Row], bool]) -> AsyncIterator[Row]:
    cursor: str | None = None
    while True:
        page = await store.scan(cursor=cursor)
        for row in filter(is_served, page.rows):
            yield row
        cursor = page.cursor
        if cursor is None:
            return


def _hash(own: str) -> int:
    # JSON may hold a lone surrogate, which is no UTF-8.
    return int.from_bytes(blake2b(own.encode("utf-8", "surrogatepass"), digest_size=8).digest())
