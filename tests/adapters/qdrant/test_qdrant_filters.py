"""Pushed filters lose nothing: against the client's evaluator and against the Rust core."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from a2m_qdrant.filters import Pusher
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import models
from qdrant_client.local.payload_filters import calculate_payload_mask

from a2m_gateway.capability import Pushdown, ValueType
from a2m_gateway.store import Condition, Filter, Row, Scalar, matches
from a2m_gateway.testing.filters import hostile_filters, sample_filters
from a2m_gateway.testing.sample import sample_rows

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, -0.0, 1.0, 1.5, 0.1, 1 / 3, 1e-320, 1e300, 2**53 - 1, 2**53,
    2**53 + 1, float(2**53), float(2**60), 2**60, 2**60 + 1, 2**63 - 1, -(2**63), 2**63, 10**30,
    1764576000.123456, "", "1", "true", "null", "a", "A", "Ωμέγα", "\x00", '"', "\\", "a.b",
    "x' OR '1'='1", "00000000-0000-0000-0000-00000000000a",
    "00000000-0000-0000-0000-00000000000A",
]  # fmt: skip
NAMES = ["a", "b", "a.b", "", ".", "[0]", "é", "a b", 'a"b', "a\\b", "a'b", "$eq", "0", "\x00", "-"]
KINDS = [kind for kind in models.PayloadSchemaType if kind is not models.PayloadSchemaType.GEO]


def info(
    indexes: Mapping[str, models.PayloadSchemaType | models.IntegerIndexParams] | None = None,
    strict: Mapping[str, Any] | None = None,
) -> models.CollectionInfo:
    """What a server says of a collection with these indexes and this strict mode."""
    return models.CollectionInfo.model_validate(
        {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "payload_schema": {
                key: {"data_type": kind.value, "points": 1}
                if isinstance(kind, models.PayloadSchemaType)
                else {"data_type": "integer", "points": 1, "params": kind.model_dump()}
                for key, kind in (indexes or {}).items()
            },
            "config": {
                "params": {"vectors": {"size": 2, "distance": "Cosine"}},
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
                "strict_mode_config": {"enabled": True, **strict} if strict else None,
            },
        }
    )


def narrowed(conditions: Filter, **config: Any) -> models.Filter | None:
    """The filter as it goes over the wire and comes back."""
    found = Pusher(info(**config), any_string_id=False).narrow(conditions)
    assert not found.nothing
    if found.filter is None:
        return None
    return models.Filter.model_validate_json(found.filter.model_dump_json(exclude_none=True))


def equals(name: str, *values: Any) -> Filter:
    return (Condition(((name,),), values),)


def selected_locally(payloads: Sequence[dict[str, Any]], conditions: Filter) -> set[int]:
    pushed = Pusher(info(), any_string_id=True).narrow(conditions)
    if pushed.nothing:
        return set()
    ids: list[Any] = list(range(len(payloads)))
    vectors = {"": np.zeros(len(payloads), dtype=bool)}
    mask = calculate_payload_mask(list(payloads), pushed.filter, ids, vectors)
    return {place for place in ids if mask[place]}


scalars = st.sampled_from(VALUES) | st.floats(allow_nan=False, allow_infinity=False) | st.integers()
payload_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
payloads_of = st.lists(
    st.dictionaries(st.sampled_from(NAMES), payload_values, max_size=5), min_size=1, max_size=6
)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple)
conditions_of = st.lists(
    st.builds(
        Condition,
        st.lists(paths | st.just(("id",)), min_size=1, max_size=2).map(tuple),
        st.lists(scalars | st.sampled_from(["0", "1", "2"]), max_size=4).map(tuple),
    ),
    max_size=2,
).map(tuple)


@settings(max_examples=150, deadline=None)
@given(payloads_of, conditions_of)
def test_nothing_that_matches_is_lost(payloads: list[dict[str, Any]], conditions: Filter) -> None:
    rows = [Row(str(place), payload) for place, payload in enumerate(payloads)]
    matching = {place for place, row in enumerate(rows) if matches(row, conditions)}
    assert matching <= selected_locally(payloads, conditions)


def test_a_filter_narrows_at_all() -> None:
    """That nothing is lost would also hold if nothing were pushed."""
    payloads = [{"a": value} for value in VALUES]
    for value in VALUES:
        found = selected_locally(payloads, equals("a", value))
        big = isinstance(value, int | float) and abs(value) >= 2**63
        # None of the others finds more than its own neighbours.
        assert big or len(found) <= 4, value


@pytest.mark.parametrize("kind", [None, *KINDS], ids=str)
def test_the_rust_core_loses_nothing_either(
    kind: models.PayloadSchemaType | None, tmp_path: Path
) -> None:
    """By every kind of index, which decides what a condition finds.

    Without booleans, which the core's Python binding turns into integers.
    """
    edge = pytest.importorskip("qdrant_edge", reason="qdrant-edge-py is not installed")
    values = [*VALUES[1:], [1, "a"], [], {"b": 1}, *_floats(300)]
    values = [v for v in values if not (isinstance(v, int) and abs(v) >= 2**63)]
    payloads = [{"a": value} for value in values]
    select = _core(edge, tmp_path, payloads, kind)
    rows = [Row(str(place), payload) for place, payload in enumerate(payloads)]
    for value in VALUES + values[-300:]:
        conditions = equals("a", value)
        pushed = narrowed(conditions, indexes={} if kind is None else {"a": kind})
        if pushed is None or isinstance(value, bool):
            continue
        matching = {place for place, row in enumerate(rows) if matches(row, conditions)}
        assert matching <= select(pushed), (value, kind)


def _floats(count: int) -> list[float]:
    source = random.Random(7)
    return [source.uniform(-2e9, 2e9) for _ in range(count)]


def _core(
    edge: Any,
    folder: Path,
    payloads: Sequence[dict[str, Any]],
    kind: models.PayloadSchemaType | None,
) -> Callable[[models.Filter], set[int]]:
    vectors = edge.EdgeVectorParams(size=2, distance=edge.Distance.Dot)
    shard = edge.EdgeShard.create(str(folder), edge.EdgeConfig(vectors=vectors))
    if kind is not None:
        schema = getattr(edge.PayloadSchemaType, kind.value.capitalize())
        shard.update(edge.UpdateOperation.create_field_index("a", schema))
    points = [edge.Point(place, [1.0, 1.0], payload) for place, payload in enumerate(payloads)]
    shard.update(edge.UpdateOperation.upsert_points(points))

    def select(pushed: models.Filter) -> set[int]:
        must = [_translated(edge, one) for one in _leaves(pushed)]
        request = edge.ScrollRequest(
            limit=10_000, filter=edge.Filter(should=must), with_payload=False, with_vector=False
        )
        return {record.id for record in shard.scroll(request)[0]}

    return select


def _leaves(pushed: models.Filter) -> Iterator[Any]:
    """One condition on one field: a leaf, or several of which one holds."""
    assert isinstance(pushed.must, list)
    assert len(pushed.must) == 1
    only = pushed.must[0]
    if isinstance(only, models.Filter):
        assert isinstance(only.should, list)
        yield from only.should
    else:
        yield only


def _translated(edge: Any, condition: Any) -> Any:
    if isinstance(condition, models.IsNullCondition):
        return edge.IsNullCondition(condition.is_null.key)
    assert isinstance(condition, models.FieldCondition)
    key, span, match = condition.key, condition.range, condition.match
    if isinstance(span, models.Range):
        return edge.FieldCondition(key, range=edge.RangeFloat(gte=span.gte, lte=span.lte))
    assert isinstance(match, models.MatchValue)
    return edge.FieldCondition(key, match=edge.MatchValue(match.value))


def test_hostile_and_ordinary_filters_lose_nothing() -> None:
    rows = sample_rows()
    payloads = [dict(row.fields) for row in rows]
    for conditions in [*sample_filters(rows), *hostile_filters(("kind",))]:
        matching = {place for place, row in enumerate(rows) if matches(row, conditions)}
        assert matching <= selected_locally(payloads, conditions)


def test_no_values_select_nothing() -> None:
    pusher = Pusher(info(), any_string_id=False)
    assert pusher.narrow((*equals("a", 1), *equals("b"))).nothing


def test_ids_that_can_be_none_select_nothing() -> None:
    pusher = Pusher(info(), any_string_id=False)
    none: list[Scalar] = ["007", "x", "-1", str(2**64), 7, None, str(uuid.uuid4()).upper()]
    for value in none:
        assert pusher.narrow((Condition((("id",),), (value,)),)).nothing, value


@pytest.mark.parametrize("name", ['a"b', "a\\b", "\ud800"])
def test_an_inexpressible_key_is_not_pushed(name: str) -> None:
    assert narrowed(equals(name, "x")) is None
    assert narrowed((Condition((("a",), (name,)), ("x",)),)) is None


@pytest.mark.parametrize("value", [10**30, 2**63, 1e300, math.inf, math.nan])
def test_numbers_beyond_an_index_are_not_pushed(value: float) -> None:
    assert narrowed(equals("a", value)) is None
    assert narrowed(equals("a", "text", value)) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("datetime", 1),
        ("datetime", 1.5),
        ("integer", 1.5),
        ("uuid", "no uuid"),
        ("float", "00000000-0000-0000-0000-00000000000a"),
    ],
)
def test_what_an_index_does_not_find_is_not_pushed(kind: str, value: Scalar) -> None:
    assert narrowed(equals("a", value), indexes={"a": models.PayloadSchemaType(kind)}) is None
    assert narrowed(equals("a", value)) is not None


def test_an_integer_index_without_ranges_is_asked_by_value() -> None:
    lookup_only = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, range=False)
    pushed = narrowed(equals("a", 1), indexes={"a": lookup_only})
    assert pushed is not None
    assert pushed.model_dump(exclude_none=True) == {"must": [{"key": "a", "match": {"value": 1}}]}


def test_too_many_values_are_not_pushed() -> None:
    assert narrowed(equals("a", *map(str, range(33_000)))) is None
    assert narrowed(equals("a", *range(33_000))) is None


def test_strict_mode_takes_only_indexed_fields() -> None:
    strict = {"unindexed_filtering_retrieve": False}
    keyword = {"a": models.PayloadSchemaType.KEYWORD}
    assert narrowed(equals("b", "x"), indexes=keyword, strict=strict) is None
    assert narrowed(equals("a", 1), indexes=keyword, strict=strict) is None
    assert narrowed(equals("a", "x"), indexes=keyword, strict=strict) is not None
    pusher = Pusher(info(indexes=keyword, strict=strict), any_string_id=False)
    assert pusher.pushdowns[ValueType.STRING] is Pushdown.LOOSE
    assert pusher.pushdowns[ValueType.INTEGER] is Pushdown.NONE


def test_strict_mode_that_is_off_limits_nothing() -> None:
    config = info(strict={"unindexed_filtering_retrieve": False, "enabled": False})
    assert Pusher(config, any_string_id=False).narrow(equals("a", "x")).filter is not None


def test_the_limits_of_strict_mode_are_kept() -> None:
    strict = {"filter_max_conditions": 2, "condition_max_size": 3}
    assert narrowed(equals("a", "1", "2", "3", "4"), strict=strict) is None
    pushed = narrowed((*equals("a", "x"), *equals("b", 1, 2), *equals("c", "y")), strict=strict)
    assert pushed is not None
    assert isinstance(pushed.must, list)
    assert [one.key for one in pushed.must] == ["a", "c"]  # type: ignore[union-attr]


def test_a_nested_key_is_quoted_where_it_must_be() -> None:
    pushed = narrowed((Condition((("meta", "a.b", "x-1"),), ("v",)),))
    assert pushed is not None
    assert pushed.model_dump(exclude_none=True)["must"][0]["key"] == 'meta."a.b".x-1'


def test_a_uuid_in_any_spelling_is_pushed_to_a_uuid_index() -> None:
    name = str(uuid.uuid4()).upper()
    assert narrowed(equals("a", name), indexes={"a": models.PayloadSchemaType.UUID}) is not None
