"""Pages by value on the Rust core, whose ties come in an order of its own."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from a2m_qdrant.engine import Point
from a2m_qdrant.ordering import OrderedScroll

from a2m_gateway.capability import Ordering

PATH = ("at",)
CHANCE = random.Random(1)
INTEGERS: list[Any] = CHANCE.choices([2**53, 2**53 + 1, 5, 6, -7, 17 * 10**17 + 1, 2**63 - 1], k=60)
FLOATS: list[Any] = CHANCE.choices([0.1, 1 / 3, 1.5e9 + 0.1, -1e-9, 0.1 + 0.2, 0.3], k=60)
DAYS: list[Any] = CHANCE.choices(["2026-01-01", "2026-01-02T00:00:00.000001Z", "2199-01-01"], k=60)
LISTS: list[Any] = [[9, -9], [], None, [5]]

Scroll = Callable[[OrderedScroll, int], Sequence[Point]]


@pytest.fixture
def scroll(request: pytest.FixtureRequest, tmp_path: Path) -> Scroll:
    """A page of the core's, by the request that a server would be sent."""
    edge = pytest.importorskip("qdrant_edge", reason="qdrant-edge-py is not installed")
    kind, values = request.param
    vectors = edge.EdgeVectorParams(size=1, distance=edge.Distance.Dot)
    shard = edge.EdgeShard.create(str(tmp_path), edge.EdgeConfig(vectors=vectors))
    schema = getattr(edge.PayloadSchemaType, kind)
    shard.update(edge.UpdateOperation.create_field_index("at", schema))
    points = [edge.Point(n, [1.0], {"at": value}) for n, value in enumerate(values)]
    shard.update(edge.UpdateOperation.upsert_points(points))

    def page(ordered: OrderedScroll, limit: int) -> Sequence[Point]:
        asked: Any = ordered.request(None, limit, False)
        without = [edge.HasIdCondition(set(one.has_id)) for one in asked.filter.must_not] if (
            asked.filter
        ) else []  # fmt: skip
        direction = edge.Direction.Desc if asked.order_by.direction == "desc" else (
            edge.Direction.Asc
        )  # fmt: skip
        found, _ = shard.scroll(
            edge.ScrollRequest(
                limit=limit,
                filter=edge.Filter(must_not=without),
                with_payload=True,
                with_vector=False,
                order_by=edge.OrderBy("at", direction, asked.order_by.start_from),
            )
        )
        return [Point(one.id, one.payload, order_value=one.order_value) for one in found]

    return page


@pytest.mark.parametrize(
    ("scroll", "values"),
    [
        (("Integer", INTEGERS + LISTS), INTEGERS),
        (("Float", FLOATS + LISTS), FLOATS),
        (("Datetime", DAYS + LISTS), DAYS),
    ],
    indirect=["scroll"],
    ids=["integer", "float", "datetime"],
)
@pytest.mark.parametrize("limit", [1, 7, 100])
@pytest.mark.parametrize("descending", [True, False])
def test_pages_hold_every_point_once_in_order(
    scroll: Scroll, values: list[Any], limit: int, descending: bool
) -> None:
    order, cursor = Ordering(PATH, descending=descending), None
    seen: list[Point] = []
    for _ in range(200):
        ordered = OrderedScroll(order, PATH, cursor)
        page = scroll(ordered, limit)
        seen += ordered.kept(page)
        cursor = ordered.cursor(page, limit)
        if cursor is None:
            break
    assert cursor is None
    assert sorted(point.id for point in seen) == list(range(len(values)))
    found = [point.payload["at"] for point in seen]
    assert found == sorted(values, reverse=descending)
