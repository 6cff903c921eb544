"""Local mode by the adapter's whole code, but for the process.

The engine is called in this process, with every message through the worker's encoding;
``test_qdrant_process.py`` and ``test_qdrant_behaviour.py`` start a process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from qdrant_client import QdrantClient, models

from a2m_gateway.capability import Feature, Metric, Ordering
from a2m_gateway.errors import (
    CollectionNotFound,
    ConfigurationError,
    StoreCorrupt,
    StoreRefused,
)
from a2m_gateway.store import Condition, Row, Selection

NEWEST = Ordering(("at",), descending=True)
OLDEST = Ordering(("at",))


def uuid_of(number: int) -> str:
    return str(uuid5(NAMESPACE_URL, f"qdrant:{number}"))


def row(number: int, fields: dict[str, Any], vector: tuple[float, ...] | None = (1.0, 0.0)) -> Row:
    return Row(uuid_of(number), fields, vector)


async def everything(store: Any, order: Ordering = OLDEST, limit: int = 3) -> list[Row]:
    rows: list[Row] = []
    cursor = None
    while True:
        page = await store.scan(order=order, cursor=cursor, limit=limit)
        rows += page.rows
        cursor = page.cursor
        if cursor is None:
            return rows


@pytest.fixture
async def many(open_here: Any, tmp_path: Path) -> Any:
    """A connection to one folder with a collection for each of several tests' subjects."""
    folder = tmp_path / "folder"
    params = models.VectorParams
    client = QdrantClient(path=str(folder))
    dense = params(size=2, distance=models.Distance.COSINE)
    client.create_collection(
        "named",
        {
            "": params(size=2, distance=models.Distance.DOT),
            "fast-bge-small-en": params(size=3, distance=models.Distance.EUCLID),
            "blocks": params(size=2, distance=models.Distance.MANHATTAN),
            "multi": params(
                size=2,
                distance=models.Distance.COSINE,
                multivector_config=models.MultiVectorConfig(
                    comparator=models.MultiVectorComparator.MAX_SIM
                ),
            ),
        },
        sparse_vectors_config={"words": models.SparseVectorParams()},
        metadata={"embedding": "m1"},
    )
    client.upsert(
        "named",
        [
            models.PointStruct(
                id=1,
                vector={
                    "": [1.0, 2.0],
                    "fast-bge-small-en": [1.0, 2.0, 3.0],
                    "words": models.SparseVector(indices=[3], values=[0.5]),
                    "multi": [[1.0, 0.0], [0.0, 1.0]],
                },
                payload={"n": 1},
            ),
            models.PointStruct(id=2, vector={}, payload={"n": 2}),
        ],
    )
    client.create_collection("ids", dense)
    ids: list[Any] = [7, 0, 2**63, uuid_of(1)]
    client.upsert("ids", [models.PointStruct(id=i, vector=[1.0, 0.0], payload={}) for i in ids])
    client.create_collection("empty", dense)
    client.create_collection("bare", {})
    client.upsert("bare", [models.PointStruct(id=1, vector={}, payload={"t": "words"})])
    client.close()
    return await open_here(folder)


async def test_what_a_folder_holds_is_told(many: Any) -> None:
    summaries = await many.collections()
    assert [(one.name, one.count) for one in summaries] == [
        ("bare", 1), ("empty", 0), ("ids", 4), ("named", 2),
    ]  # fmt: skip
    described = await many.describe("named")
    vectors = {one.name: one for one in described.vectors}
    assert {
        name: (one.kind, one.width, one.metric, one.engine_metric, one.searchable, one.model)
        for name, one in vectors.items()
    } == {
        "": ("dense", 2, Metric.DOT, "Dot", True, None),
        "fast-bge-small-en": ("dense", 3, Metric.L2, "Euclid", True, "bge-small-en"),
        "blocks": ("dense", 2, None, "Manhattan", True, None),
        "multi": ("multivector", 2, Metric.COSINE, "Cosine", False, None),
        "words": ("sparse", None, None, "sparse dot", False, None),
    }
    assert described.count == 2
    assert described.metadata == {"embedding": "m1"}
    assert any("pickles" in note and "warning" in note for note in described.notes)
    assert any("NaN" in note and "null" in note for note in described.notes)
    with pytest.raises(CollectionNotFound, match="there are bare, empty, ids, named"):
        await many.describe("nope")
    with pytest.raises(CollectionNotFound):
        await many.open("", Selection())


async def test_only_the_selected_vector_comes_back(many: Any) -> None:
    store = await many.open("named", Selection(vector_name="fast-bge-small-en"))
    assert store.profile.model == "bge-small-en"
    assert store.profile.metric is Metric.L2
    rows = {one.id: one.vector for one in await store.get(["1", "2"], vectors=True)}
    assert rows == {"1": [1.0, 2.0, 3.0], "2": None}
    unnamed = await many.open("named", Selection(vector_name=""))
    assert [one.vector for one in await unnamed.get(["1"], vectors=True)] == [[1.0, 2.0]]
    assert [hit.row.id for hit in await unnamed.search([1.0, 0.0], 5)] == ["1"]
    assert [hit.distance for hit in await unnamed.search([1.0, 0.0], 5)] == [-1.0]


async def test_a_vector_that_can_not_be_searched_is_refused_by_name(many: Any) -> None:
    for name in ("words", "multi", "typo"):
        with pytest.raises(ConfigurationError, match="'fast-bge-small-en'") as caught:
            await many.open("named", Selection(vector_name=name))
        assert caught.value.setting == "vector_name"
    with pytest.raises(ConfigurationError, match="there is no dense one"):
        await many.open("bare", Selection(vector_name=""))


async def test_manhattan_has_no_search_but_vectors(many: Any) -> None:
    store = await many.open("named", Selection(vector_name="blocks"))
    assert store.profile.metric is None
    assert "Manhattan" in store.profile.claim(Feature.VECTOR_SEARCH).reason
    assert store.profile.has(Feature.RETURN_VECTORS)
    with pytest.raises(StoreRefused, match="Manhattan"):
        await store.search([1.0, 0.0], 1)


async def test_a_collection_without_vectors_is_read(many: Any) -> None:
    store = await many.open("bare", Selection(text_path=("t",)))
    assert [one.id for one in (await store.scan(vectors=True)).rows] == ["1"]
    assert [one.id for one in await store.search_text(["word"], 5)] == ["1"]
    with pytest.raises(StoreRefused):
        await store.search([1.0], 1)


async def test_an_empty_collection(many: Any) -> None:
    store = await many.open(
        "empty", Selection(vector_name="", text_path=("t",), order_path=("at",))
    )
    assert (await store.scan()).rows == []
    assert await store.search([1.0, 0.0], 5) == []
    assert await store.search_text(["x"], 5) == []
    assert await store.count() == 0
    assert [await store.scan(order=one) for one in store.profile.orderings]


async def test_ids_are_found_as_they_are_spelled(many: Any) -> None:
    store = await many.open("ids", Selection())
    spelled = ["7", "0", str(2**63), uuid_of(1)]
    assert {one.id for one in await store.get(spelled)} == set(spelled)
    other = uuid_of(1)
    others = [
        "007", "+7", " 7", "7.0", "٧", other.upper(), other.replace("-", ""), f"{{{other}}}",
        f"urn:uuid:{other}", "", "\ud800", "9" * 5000,
    ]  # fmt: skip
    assert await store.get(others) == []
    page = await store.scan(limit=2)
    rest = await store.scan(cursor=page.cursor, limit=10)
    assert {one.id for one in [*page.rows, *rest.rows]} == set(spelled)
    by_id = (Condition((("id",),), ("7", "007", 7)),)
    assert [one.id for one in (await store.scan(by_id)).rows] == ["7"]


async def test_a_cursor_of_something_else_is_refused(many: Any) -> None:
    store = await many.open("ids", Selection())
    for cursor in ("", "x", "{}", "true", "\ud800", '["a"]'):
        with pytest.raises(StoreRefused, match="cursor"):
            await store.scan(cursor=cursor)


async def test_distances_by_cosine_and_vectors_as_they_lie(
    open_store: Any,
) -> None:
    rows = [row(1, {}, (3.0, 4.0)), row(2, {}, (0.0, 0.0)), row(3, {}, (-3.0, -4.0))]
    store = await open_store(rows, config={"width": 2}, vector_name="")
    found = {one.id: one.vector for one in await store.get([uuid_of(1)], vectors=True)}
    assert found[uuid_of(1)] == [3.0, 4.0], "the file keeps what was given"
    hits = {hit.row.id: hit.distance for hit in await store.search([3.0, 4.0], 5)}
    assert hits[uuid_of(1)] == pytest.approx(0.0, abs=1e-6)
    assert hits[uuid_of(3)] == pytest.approx(2.0)
    with pytest.raises(StoreRefused, match="finite"):
        await store.search([float("nan"), 1.0], 1)
    with pytest.raises(StoreRefused):
        await store.search([1.0, 2.0, 3.0], 1)
    assert await store.search([1.0, 0.0], 0) == []


async def test_payloads_come_back_as_they_lie(open_store: Any) -> None:
    fields: dict[str, Any] = {
        "": "empty", 'a"b': 1, "a\\b": 2, "a.b": {"c": [1, {"d": None}]}, "null": None,
        "big": 10**30, "float": 0.1 + 0.2, "neg": -0.0, "uni": "Ωμέγα 🦜\x00", "bool": True,
        "empty": {}, "list": [],
    }  # fmt: skip
    store = await open_store([row(1, fields, None), row(2, {"nan": float("nan")}, None)])
    found = {one.id: one.fields for one in (await store.scan()).rows}
    assert repr(found[uuid_of(1)]) == repr(fields)
    assert found[uuid_of(2)] == {"nan": None}, "as a server's JSON has it"


async def test_what_is_shown_as_null_is_found_as_null(open_store: Any) -> None:
    values = {1: float("nan"), 2: float("inf"), 3: -float("inf"), 4: None, 5: 1.5, 6: 0.0}
    rows = [row(n, {"a": {"b": value, "l": [value]}}, None) for n, value in values.items()]
    store = await open_store(rows)
    wanted = [Condition(paths=(("a", "b"),), values=(None,))]
    found = {one.id: one.fields for one in (await store.scan(wanted)).rows}
    shown = {"a": {"b": None, "l": [None]}}
    assert found == {uuid_of(n): shown for n in (1, 2, 3, 4)}


async def test_what_is_no_json_names_the_point(open_store: Any) -> None:
    store = await open_store([row(1, {"t": "\ud800"}), row(2, {})], config={"width": 2})
    with pytest.raises(StoreCorrupt, match=uuid_of(1)):
        await store.scan()
    assert [one.id for one in await store.get([uuid_of(2)])] == [uuid_of(2)]


async def test_words_are_found_in_any_case_and_by_their_beginning(open_store: Any) -> None:
    texts = ["OOLONG tea", "oolongs", "Größe NAÏVETÉ", "snake_case", "", "İstanbul"]
    rows = [row(n, {"t": {"x": text}}, None) for n, text in enumerate(texts)]
    rows += [row(90, {"t": {"x": 5}}, None), row(91, {"t": "oolong"}, None), row(92, {}, None)]
    store = await open_store(rows, text_path=("t", "x"))

    async def found(*terms: str, limit: int = 10) -> set[str]:
        rows = await store.search_text(terms, limit)
        assert len({one.id for one in rows}) == len(rows)
        return {one.id for one in rows}

    assert await found("oolong") == {uuid_of(0), uuid_of(1)}
    assert await found("größ", "naïveté") == {uuid_of(2)}
    assert await found("case", "tea") == {uuid_of(0), uuid_of(3)}
    assert len(await found("oolong", limit=1)) == 1
    assert await found() == await found("absent") == await found("oolong", limit=0) == set()
    page = (Condition((("t", "x"),), ("oolongs",)),)
    assert [one.id for one in await store.search_text(["oolong"], 5, page)] == [uuid_of(1)]


async def test_words_in_json_are_found_raw_and_escaped(open_store: Any) -> None:
    texts = [r'{"text": "na\u00efvet\u00e9 first\nbreak"}', '{"text": "Naïveté"}', r'{"bro\u00e9']
    rows = [row(n, {"node": text}, None) for n, text in enumerate(texts)]
    store = await open_store(rows, text_path=("node",), text_is_json=True)
    assert {one.id for one in await store.search_text(["naïvet"], 5)} == {uuid_of(0), uuid_of(1)}
    assert [one.id for one in await store.search_text(["break"], 5)] == [uuid_of(0)]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
async def test_ties_are_neither_lost_nor_repeated(open_store: Any, limit: int) -> None:
    ats = [5, 5, 5, 5, 5, 1, 2**53, 2**53 + 1, 2, 5, 3.5, -1]
    rows = [row(n, {"at": at}, None) for n, at in enumerate(ats)]
    rows += [row(50, {}, None), row(51, {"at": None}, None)]
    store = await open_store(rows, order_path=("at",))
    for order, reverse in ((OLDEST, False), (NEWEST, True)):
        found = await everything(store, order, limit)
        assert [one.fields["at"] for one in found] == sorted(ats, reverse=reverse)
        assert len({one.id for one in found}) == len(ats), "those without a value are left out"


async def test_times_are_ordered_across_offsets(open_store: Any) -> None:
    ats = ["2026-03-01T10:00:00+02:00", "2026-03-01T08:00:01Z", "2026-03-01", "2025-12-31T23:59:59"]
    store = await open_store(
        [row(n, {"m": {"at": at}}, None) for n, at in enumerate(ats)], order_path=("m", "at")
    )
    newest = Ordering(("m", "at"), descending=True)
    found = [one.fields["m"]["at"] for one in await everything(store, newest, 1)]  # type: ignore[index,call-overload]
    assert found == [ats[1], ats[0], ats[2], ats[3]]


@pytest.mark.parametrize("odd", ["not a time", True, [1, 2], {"x": 1}, "2026-01-01"], ids=str)
async def test_an_order_by_mixed_values_is_not_claimed(open_store: Any, odd: Any) -> None:
    """Local mode would leave some out, and sort times among numbers."""
    store = await open_store([row(1, {"at": 1}, None), row(2, {"at": odd}, None)],
                             order_path=("at",))  # fmt: skip
    assert store.profile.orderings == {Ordering()}
    with pytest.raises(StoreRefused, match="no such order"):
        await store.scan(order=NEWEST)


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")], ids=str)
async def test_what_is_shown_as_null_has_no_place_in_an_order(
    open_store: Any, missing: float | None
) -> None:
    """``Store.scan``: a row that lacks the field comes after all others or not at all."""
    rows = [row(n, {"at": at}, None) for n, at in enumerate([2, missing, 1])]
    store = await open_store(rows, order_path=("at",))
    for order, expected in ((NEWEST, [0, 2]), (OLDEST, [2, 0])):
        ids = [one.id for one in await everything(store, order)]
        assert ids[:2] == [uuid_of(n) for n in expected]
