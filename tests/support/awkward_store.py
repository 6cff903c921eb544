"""A store that keeps the letter of the interface and is as awkward about it as it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import oracle

from a2m_gateway.capability import (
    Claim,
    Feature,
    Metric,
    Ordering,
    Profile,
    Pushdown,
    StoreLimits,
    Support,
    ValueType,
)
from a2m_gateway.errors import StoreRefused
from a2m_gateway.store import Condition, Filter, Hit, Page, Row
from a2m_gateway.store.rows import Absent, Scalar, lookup

__all__ = ["FORWARD", "NEWEST_FIRST", "AwkwardStore"]

FORWARD = Ordering()
NEWEST_FIRST = Ordering(("created_at",), descending=True)
_NATIVE = Claim(Support.NATIVE)
_FEATURES = (
    Feature.READ,
    Feature.COUNT,
    Feature.VECTOR_SEARCH,
    Feature.RETURN_VECTORS,
    Feature.TEXT_SEARCH,
)


@dataclass
class AwkwardStore:
    """Rows in a list.

    Attributes:
        pushdown: For every type of value: NONE drops the condition, LOOSE lets rows through that
            do not match, EXACT selects what strict equality does.
        max_k: Hits of one search, whatever is asked.
        filters_late: A search takes the nearest first and filters them afterwards, as an index
            without a filter of its own does.
        missing: Ids that the index has lost: no search finds them.
        hidden: Ids that a layout does not show: counted, searched past, never returned.
        page: Rows of a page at the most.
        empty_pages: Every other page has no rows, and a cursor.
        seeks: ``scan`` can seek by the order of creation.
        lacks_order: Ids of rows that a scan by the order of creation leaves out.
        calls: The names of the calls made, in order.
        fetched: The ``k`` or ``limit`` of each of them.
    """

    rows: Sequence[Row]
    metric: Metric | None = Metric.L2
    pushdown: Pushdown = Pushdown.EXACT
    max_k: int | None = None
    filters_late: bool = False
    missing: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    page: int = 1000
    empty_pages: bool = False
    seeks: bool = False
    lacks_order: frozenset[str] = frozenset()
    calls: list[str] = field(default_factory=list)
    fetched: list[int] = field(default_factory=list)

    @property
    def profile(self) -> Profile:
        widths = {len(row.vector) for row in self.rows if row.vector is not None}
        return Profile(
            engine="awkward",
            features=dict.fromkeys(_FEATURES, _NATIVE),
            metric=self.metric,
            metrics=frozenset({self.metric} if self.metric else ()),
            width=next(iter(widths), None),
            filters=dict.fromkeys(ValueType, self.pushdown),
            orderings=frozenset({FORWARD, NEWEST_FIRST} if self.seeks else {FORWARD}),
            limits=StoreLimits(max_k=self.max_k),
        )

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        self._called("get", len(ids))
        if not ids:
            # Some clients read "no ids" as "no condition on the ids".
            return [self._shown(row, vectors) for row in self._visible(())]
        by_id = {row.id: row for row in self._visible(())}
        return [self._shown(by_id[name], vectors) for name in reversed(ids) if name in by_id]

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        self._called("search", k)
        if self.metric is None:
            raise StoreRefused("no vectors here")
        if self.max_k is not None and k > self.max_k:
            raise StoreRefused(f"k is at most {self.max_k}")
        rows = {row.id: row for row in self.rows if row.id not in self.missing}
        order = oracle.nearest(rows.values(), self.metric, vector)
        if self.filters_late:
            order = order[:k]
        passed = [(far, name) for far, name in order if self._passes(rows[name], conditions)]
        hits = [
            Hit(self._shown(rows[name], vectors), far)
            for far, name in passed[:k]
            if name not in self.hidden
        ]
        return hits[::-1]

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        self._called("search_text", limit)
        found: dict[str, Row] = {}
        for term in terms:
            with_term = [
                row
                for row in self._visible(conditions)
                if term.casefold() in str(row.fields["content"]).casefold()
            ]
            found |= {row.id: self._shown(row, False) for row in with_term[:limit]}
        return list(found.values())

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = FORWARD,
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        self._called("scan", limit)
        if order not in self.profile.orderings:
            raise StoreRefused(f"no such order: {order}")
        rows = [row for row in self.rows if self._passes(row, conditions)]
        if order == NEWEST_FIRST:
            by_id = {row.id: row for row in rows if row.id not in self.lacks_order}
            rows = [by_id[name] for name in oracle.newest(list(by_id.values()))]
        start = int(cursor.lstrip("e")) if cursor else 0
        if self.empty_pages and not (cursor or "").startswith("e") and start < len(rows):
            return Page([], f"e{start}")
        end = start + min(limit, self.page)
        shown = [self._shown(row, vectors) for row in rows[start:end] if row.id not in self.hidden]
        return Page(shown, str(end) if end < len(rows) else None)

    async def count(self, conditions: Filter = ()) -> int:
        self._called("count", 0)
        return sum(self._passes(row, conditions) for row in self.rows)

    async def aclose(self) -> None:
        self._called("aclose", 0)

    def _called(self, name: str, size: int) -> None:
        self.calls.append(name)
        self.fetched.append(size)

    def _visible(self, conditions: Filter) -> list[Row]:
        rows = [row for row in self.rows if row.id not in self.hidden]
        return [row for row in rows if self._passes(row, conditions)]

    def _shown(self, row: Row, vectors: bool) -> Row:
        return row if vectors else replace(row, vector=None)

    def _passes(self, row: Row, conditions: Filter) -> bool:
        if self.pushdown is Pushdown.NONE:
            return True
        return all(self._holds(row, condition) for condition in conditions)

    def _holds(self, row: Row, condition: Condition) -> bool:
        found = [value for path in condition.paths if not _absent(value := lookup(row, path))]
        if self.pushdown is Pushdown.LOOSE:
            return any(_alike(value, wanted) for value in found for wanted in condition.values)
        return any(oracle.same(value, wanted) for value in found[:1] for wanted in condition.values)


def _absent(value: object) -> bool:
    return isinstance(value, Absent)


def _alike(found: object, value: Scalar) -> bool:
    """As a schemaless store might: by text, without case, a list by its members."""
    if isinstance(found, list | tuple):
        return any(_alike(one, value) for one in found)
    if isinstance(found, Mapping):
        return any(_alike(one, value) for one in found.values())
    if isinstance(found, int | float) and isinstance(value, int | float):
        return found == value  # true is 1 here
    return str(found).casefold() == str(value).casefold()
