"""A raw store over plain rows, strict where real ones are loose, and the dumps as such stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import pytest

from a2m_gateway.capability import (
    Claim,
    Feature,
    Metric,
    Ordering,
    Profile,
    Pushdown,
    Support,
    ValueType,
)
from a2m_gateway.errors import CollectionNotFound
from a2m_gateway.store import (
    CollectionInfo,
    CollectionSummary,
    Filter,
    Hit,
    Page,
    Path,
    Row,
    Selection,
    VectorField,
    matches,
)
from a2m_gateway.store.distance import distances
from a2m_gateway.store.rows import Absent, lookup

CORPORA = File(__file__).parent.parent / "corpora"
_NATIVE = Claim(Support.NATIVE)


class RawStore:
    """Selects exactly what a filter says, so that a filter that says too little shows."""

    def __init__(
        self, rows: Sequence[Row], selection: Selection, *, engine: str, orders: frozenset[Ordering]
    ) -> None:
        self.rows = list(rows)
        self.selection = selection
        self.asked: list[Filter] = []
        self.closed = False
        self.profile = Profile(
            engine,
            features={Feature.READ: _NATIVE, Feature.COUNT: _NATIVE},
            metric=Metric.COSINE,
            filters=dict.fromkeys(ValueType, Pushdown.EXACT),
            orderings=orders,
        )

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        return [row for row in self.rows if row.id in set(ids)]

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        rows = self._selected(conditions)
        far = distances(Metric.COSINE, vector, [row.vector or () for row in rows])
        hits = [Hit(row, one) for row, one in zip(rows, far, strict=True)]
        return sorted(hits, key=lambda hit: hit.distance)[:k]

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        path = self.selection.text_path or ()
        texts = ((row, str(lookup(row, path)).casefold()) for row in self._selected(conditions))
        return [row for row, text in texts if any(term in text for term in terms)][:limit]

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        assert order in self.profile.orderings
        rows = self._selected(conditions)
        if order.path is not None:
            path = order.path
            rows = [row for row in rows if not isinstance(lookup(row, path), Absent)]
            rows.sort(key=lambda row: float(str(lookup(row, path))), reverse=order.descending)
        elif order.descending:
            rows.reverse()
        start = int(cursor or 0)
        end = start + limit
        return Page(rows[start:end], str(end) if end < len(rows) else None)

    async def count(self, conditions: Filter = ()) -> int:
        return len(self._selected(conditions))

    async def aclose(self) -> None:
        self.closed = True

    def _selected(self, conditions: Filter) -> list[Row]:
        self.asked.append(conditions)
        return [row for row in self.rows if matches(row, conditions)]


class RawConnection:
    """Collections of raw rows under one engine's name."""

    def __init__(
        self,
        collections: Mapping[str, tuple[CollectionInfo, Sequence[Row]]],
        *,
        engine: str = "raw",
        orders: frozenset[Ordering] = frozenset({Ordering()}),
    ) -> None:
        self.held = collections
        self.engine = engine
        self.orders = orders
        self.opened: list[RawStore] = []

    async def collections(self) -> Sequence[CollectionSummary]:
        return [CollectionSummary(name, len(rows)) for name, (_, rows) in self.held.items()]

    async def describe(self, collection: str) -> CollectionInfo:
        if collection not in self.held:
            raise CollectionNotFound(collection)
        return self.held[collection][0]

    async def open(self, collection: str, selection: Selection) -> RawStore:
        orders = set(self.orders)
        if selection.order_path is not None:
            orders |= {Ordering(selection.order_path, way) for way in (True, False)}
        store = RawStore(
            self.held[collection][1], selection, engine=self.engine, orders=frozenset(orders)
        )
        self.opened.append(store)
        return store

    async def aclose(self) -> None:
        pass


def make_info(
    name: str = "docs",
    vectors: Sequence[str] = ("",),
    *,
    sparse: Sequence[str] = (),
    indexed: Mapping[Path, str] | None = None,
) -> CollectionInfo:
    dense = [VectorField(one, 8, Metric.COSINE, "Cosine") for one in vectors]
    thin = [VectorField(one, None, None, "", searchable=False, kind="sparse") for one in sparse]
    return CollectionInfo(name, 0, (*dense, *thin), indexed or {}, {})


def _qdrant(dump: Mapping[str, Any], name: str) -> tuple[CollectionInfo, list[Row]]:
    config = dump["collection_info"].get(name, {})
    vectors = config.get("vectors") or {"size": 8}
    info = make_info(
        name,
        [""] if "size" in vectors else list(vectors),
        sparse=list(config.get("sparse_vectors") or {}),
    )
    rows = []
    for point in dump["points"]:
        if point["_collection"] == name:
            found = point["vector"]
            dense = found if isinstance(found, list) else next(iter(found.values()))
            rows.append(Row(str(point["id"]), point["payload"], dense))
    return info, rows


def _chroma(dump: Mapping[str, Any], name: str) -> tuple[CollectionInfo, list[Row]]:
    rows = []
    for point in dump["points"]:
        if point["_collection"] == name:
            fields = {"#document": point["document"], **(point["metadata"] or {})}
            dense = [one for one in point["embedding"] if isinstance(one, float)]
            rows.append(Row(point["id"], fields, dense))
    return make_info(name), rows


@pytest.fixture(scope="session")
def load_dump() -> Callable[[str], RawConnection]:
    """A dump by its file's name, as a connection."""

    def load(name: str) -> RawConnection:
        dump = json.loads((CORPORA / f"{name}.json").read_text())
        read = _qdrant if dump["backend"] == "qdrant" else _chroma
        collections = dict.fromkeys(point["_collection"] for point in dump["points"])
        orders = {Ordering()}
        if dump["backend"] == "chroma":
            orders.add(Ordering(descending=True))
        return RawConnection(
            {one: read(dump, one) for one in collections},
            engine=dump["backend"],
            orders=frozenset(orders),
        )

    return load


@pytest.fixture(scope="session")
def info() -> Callable[..., CollectionInfo]:
    return make_info


@pytest.fixture(scope="session")
def rows() -> Callable[[Sequence[Mapping[str, Any]]], list[Row]]:
    """Payloads as rows, with ids 0, 1, 2, …"""
    return lambda payloads: [Row(str(n), payload) for n, payload in enumerate(payloads)]


@pytest.fixture(scope="session")
def connect() -> Callable[..., RawConnection]:
    """One collection, ``docs``, of the given rows."""

    def connect(
        rows: Sequence[Row],
        *,
        engine: str = "raw",
        backward: bool = False,
        about: CollectionInfo | None = None,
    ) -> RawConnection:
        about = replace(about or make_info(), count=len(rows))
        orders = {Ordering(), *([Ordering(descending=True)] if backward else [])}
        return RawConnection({"docs": (about, rows)}, engine=engine, orders=frozenset(orders))

    return connect
