"""The store of canonical rows: orders, ids, tenants, odd records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import pytest

from a2m_gateway.capability import Feature, Ordering, Pushdown
from a2m_gateway.errors import ConfigurationError, StoreCorrupt, StoreRefused, UnrecognisedLayout
from a2m_gateway.shapes import LayoutOptions, ShapedStore, open_shaped, utc_now
from a2m_gateway.store import Condition, Page, Row, Store, StoreURL
from a2m_gateway.store.registry import adapter_for

TEXT = "The staging database was migrated to version sixteen"
NEWEST = Ordering(("created_at",), descending=True)
OLDEST = Ordering(("created_at",))
NAMESPACE = UUID("3896d314-1e95-4a3a-b45a-945f9f0b541d")
Build = Callable[[Sequence[Mapping[str, Any]]], list[Row]]


async def opened(connection: Any, **options: str) -> ShapedStore:
    store, _, _ = await open_shaped(connection, "docs", LayoutOptions.parse(options))
    assert isinstance(store, Store)
    return store


async def ids(store: ShapedStore, order: Ordering = NEWEST) -> list[str]:
    return [row.id for row in (await store.scan((), order)).rows]


def times(*values: Any) -> list[Mapping[str, Any]]:
    return [
        {"page_content": f"{TEXT} {n}", "metadata": {} if v is None else {"ts": v}}
        for n, v in enumerate(values)
    ]


async def test_without_times_newest_first_is_the_last_inserted(
    connect: Callable[..., Any], rows: Build
) -> None:
    store = await opened(connect(rows(times(None, None, None)), backward=True))
    assert await ids(store) == ["2", "1", "0"]
    assert await ids(store, OLDEST) == ["0", "1", "2"]
    made = {row.fields["created_at"] for row in (await store.scan()).rows}
    assert made == {"1970-01-01T00:00:00.000Z"}


async def test_without_times_or_a_way_back_it_is_the_stores_own_order(
    connect: Callable[..., Any], rows: Build
) -> None:
    store = await opened(connect(rows(times(None, None, None))))
    assert await ids(store) == ["0", "1", "2"]
    assert OLDEST not in store.profile.orderings
    with pytest.raises(StoreRefused):
        await ids(store, OLDEST)


async def test_the_default_time(connect: Callable[..., Any], rows: Build) -> None:
    store = await opened(
        connect(rows(times(None, 1785233730, "soon"))),
        created_at_field="metadata.ts",
        created_at_default="2020-01-01T00:00:00Z",
    )
    made = {row.id: row.fields["created_at"] for row in (await store.scan()).rows}
    assert made == {
        "0": "2020-01-01T00:00:00.000Z",
        "1": "2026-07-28T10:15:30.000Z",
        "2": "2020-01-01T00:00:00.000Z",
    }


async def test_uniform_times_are_sought_in_the_store(
    connect: Callable[..., Any], rows: Build
) -> None:
    connection = connect(rows(times(1785233730, 1785233732, 1785233731)))
    store = await opened(connection, created_at_field="metadata.ts")
    assert store.inner.selection.order_path == ("metadata", "ts")  # type: ignore[attr-defined]
    assert await ids(store) == ["1", "2", "0"]
    assert await ids(store, OLDEST) == ["0", "2", "1"]


@pytest.mark.parametrize(
    "values",
    [
        (1785233730, 1785233732000, 1785233731),  # seconds and milliseconds
        (1785233730, None, 1785233731),  # one without
        ("1785233730", "1785233732", "999999999"),  # as strings, 9 comes last
        ("2026-07-28T10:15:30Z", "2026-07-28T10:15:32Z", "2026-07-28T13:15:31+03:00"),
    ],
)
async def test_what_the_store_would_order_otherwise_is_not_sought(
    values: Sequence[Any], connect: Callable[..., Any], rows: Build
) -> None:
    store = await opened(connect(rows(times(*values))), created_at_field="metadata.ts")
    assert NEWEST not in store.profile.orderings


async def test_iso_times_are_sought_where_an_index_reads_them(
    connect: Callable[..., Any], rows: Build, info: Callable[..., Any]
) -> None:
    about = info(indexed={("metadata", "ts"): "datetime"})
    values = ("2026-07-28T10:15:30Z", "2026-07-28T13:15:31+03:00")
    store = await opened(connect(rows(times(*values)), about=about), created_at_field="metadata.ts")
    assert NEWEST in store.profile.orderings


async def test_a_default_that_is_not_the_oldest_forbids_seeking(
    connect: Callable[..., Any], rows: Build
) -> None:
    """Rows without a time, which a store leaves out of its order, would have to lie within it."""
    store = await opened(
        connect(rows(times(1785233730, 1785233732))),
        created_at_field="metadata.ts",
        created_at_default="2026-07-28T10:15:31Z",
    )
    assert NEWEST not in store.profile.orderings


async def test_another_unit_beyond_the_sample_is_found_at_the_ends(
    connect: Callable[..., Any], rows: Build
) -> None:
    seconds = [1785233730 + n for n in range(200)]
    connection = connect(rows(times(*seconds, 1785233730000)))
    store = await opened(connection, created_at_field="metadata.ts")
    assert NEWEST not in store.profile.orderings


async def test_an_order_that_is_none_is_an_error_and_no_answer(
    connect: Callable[..., Any], rows: Build
) -> None:
    connection = connect(rows(times(1785233730, 1785233732)))
    store = await opened(connection, created_at_field="metadata.ts")
    store.inner.rows.append(Row("9", {"page_content": "x", "metadata": {"ts": 1785233731000}}))  # type: ignore[attr-defined]
    store.inner.rows.append(Row("8", {"page_content": "x", "metadata": {"ts": 1785233733000}}))  # type: ignore[attr-defined]
    store.inner.rows.append(Row("7", {"page_content": "x", "metadata": {"ts": "1785233733"}}))  # type: ignore[attr-defined]
    store.inner.rows.append(Row("6", {"page_content": "x", "metadata": {"ts": 1785233734}}))  # type: ignore[attr-defined]
    with pytest.raises(StoreCorrupt, match=r"metadata\.ts"):
        await ids(store)


async def test_ids_from_a_field(connect: Callable[..., Any], rows: Build) -> None:
    built: list[Any] = [{"body": f"{TEXT} {n}", "key": n if n % 2 else f"k{n}"} for n in range(30)]
    connection = connect([*rows(built), Row("loose", {"body": TEXT, "key": None})])
    connection.held["docs"] = (connection.held["docs"][0], connection.held["docs"][1][:30])
    store = await opened(connection, id_field="key")
    store.inner.rows.append(Row("loose", {"body": TEXT, "key": None}))  # type: ignore[attr-defined]
    found = await store.get(["k2", "3", "loose", "nothing", "0"])
    assert sorted(row.id for row in found) == ["3", "k2", "loose"]
    assert {row.id for row in (await store.scan()).rows} >= {"k0", "1", "loose"}
    assert (await store.get(["k2"]))[0].fields["metadata"] == {"key": "k2"}


async def test_an_id_field_called_id(connect: Callable[..., Any]) -> None:
    built = [Row(f"p{n}", {"body": f"{TEXT} {n}", "id": f"own{n}"}) for n in range(5)]
    store = await opened(connect(built), id_field="id")
    assert [row.id for row in await store.get(["own3", "p2"])] == ["own3"]


async def test_haystack_ids_are_derived_and_undashed_ones_too(
    connect: Callable[..., Any],
) -> None:
    def document(own: str, point: str | None = None) -> Row:
        fields: dict[str, Any] = {"id": own, "content": f"{TEXT} {own}", "meta": {}, "blob": None}
        return Row(point or uuid5(NAMESPACE, own).hex, fields)

    built = [document(f"my-{n}", str(uuid5(NAMESPACE, f"my-{n}"))) for n in range(19)]
    store = await opened(connect([*built, document("stray", str(UUID(int=7)))]))
    assert [row.id for row in await store.get(["my-3", "no", "stray"])] == ["my-3"]
    # A record whose id does not follow is known by the store's.
    assert len(await store.get([str(UUID(int=7))])) == 1
    undashed = await opened(connect([document(f"my-{n}") for n in range(3)]))
    assert {row.id for row in (await undashed.scan()).rows} == {"my-0", "my-1", "my-2"}


def shared(count: int) -> list[Mapping[str, Any]]:
    return [
        {
            "text": f"{TEXT} {n}",
            "metadata": {"created_at": 1785233730 + n, "updated_at": 1785233730},
            "tenant_id": f"t{n % 2}",
        }
        for n in range(count)
    ]


async def test_another_tenants_records_are_in_no_answer(
    connect: Callable[..., Any], rows: Build
) -> None:
    built = [Row(row.id, row.fields, [1.0, float(row.id)]) for row in rows(shared(10))]
    with pytest.raises(UnrecognisedLayout, match="--tenant 'tenant_id=t0'"):
        await opened(connect(built))
    store = await opened(connect(built), tenant="t1")
    mine = {"1", "3", "5", "7", "9"}
    assert {row.id for row in (await store.scan()).rows} == mine
    assert {row.id for row in await store.get([str(n) for n in range(10)])} == mine
    assert {hit.row.id for hit in await store.search([1.0, 1.0], 10)} == mine
    assert {row.id for row in await store.search_text(["database"], 10)} == mine
    assert await store.count() == 5
    # A store that filters loosely may return them all the same.
    store.inner._selected = lambda conditions: store.inner.rows  # type: ignore[attr-defined]
    assert {row.id for row in (await store.scan()).rows} == mine
    assert {hit.row.id for hit in await store.search([1.0, 1.0], 10)} == mine


async def test_a_tenant_that_is_not_there_is_an_error(
    connect: Callable[..., Any], rows: Build
) -> None:
    with pytest.raises(ConfigurationError, match="'t7' in 'tenant_id'"):
        await opened(connect(rows(shared(10))), tenant="tenant_id=t7")


async def test_a_tenant_is_found_beyond_the_sample(
    connect: Callable[..., Any], rows: Build
) -> None:
    built = [{"body": f"{TEXT} {n}", "org": 7 if n > 290 else 6} for n in range(300)]
    store = await opened(connect(rows(built)), tenant="org=7")
    assert len((await store.scan()).rows) == 9


async def test_odd_records_lose_nothing(connect: Callable[..., Any], rows: Build) -> None:
    built: list[Mapping[str, Any]] = [
        {"page_content": f"{TEXT} {n}", "metadata": {"n": n}} for n in range(36)
    ]
    odd: list[Mapping[str, Any]] = [
        {"page_content": None, "metadata": {"n": 1}},
        {"page_content": TEXT, "metadata": "a string"},
        {"page_content": TEXT, "metadata": [1, 2]},
        {},
    ]
    store = await opened(connect(rows([*built, *odd])))
    last = [row.fields for row in (await store.scan()).rows[-4:]]
    assert [fields["content"] for fields in last] == ["", TEXT, TEXT, ""]
    assert [fields["metadata"] for fields in last] == [
        {"page_content": None, "n": 1},
        {"metadata": "a string"},
        {"metadata": [1, 2]},
        {},
    ]


async def test_records_laid_out_otherwise_are_shown_whole(
    connect: Callable[..., Any], rows: Build
) -> None:
    built: list[Mapping[str, Any]] = [
        {"page_content": f"{TEXT} {n}", "metadata": {"n": n}} for n in range(47)
    ]
    odd: list[Mapping[str, Any]] = [
        {"text": TEXT, "x": 1},
        {"page_content": [1, 2], "metadata": {"n": 1}},
        {"page_content": {"lost": 0}, "n": 2, "metadata": {"n": 1, "*": 3}},
    ]
    store, recognition, _ = await open_shaped(connect(rows([*built, *odd])), "docs")
    assert (
        "3 of 50 sampled records have no text at `page_content`: they are shown with empty content "
        "and all their fields as metadata"
    ) in recognition.evidence
    assert not any("not shown" in sentence for sentence in recognition.evidence)
    last = (await store.scan()).rows[-3:]
    assert [row.fields["content"] for row in last] == ["", "", ""]
    assert [row.fields["metadata"] for row in last] == [
        {"text": TEXT, "x": 1},
        {"page_content": [1, 2], "n": 1},
        {"page_content": {"lost": 0}, "n": 1, "*": 3, "**": {"n": 2}},
    ]
    assert await store.count((Condition((("metadata", "x"),), (1,)),)) == 1


@pytest.mark.parametrize("text", [[1, 2], {"lost": 0}, 5, None, True])
async def test_a_flat_record_keeps_a_text_that_is_none(
    text: Any, connect: Callable[..., Any], rows: Build
) -> None:
    built = [*({"body": f"{TEXT} {n}", "n": n} for n in range(20)), {"body": text, "n": 20}]
    store = await opened(connect(rows(built)))
    assert (await store.scan()).rows[-1].fields["metadata"] == {"body": text, "n": 20}
    assert (await store.scan()).rows[-1].fields["content"] == ""


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        '{"text": "no id_"}',
        '{"id_": "n", "text": ["lost"], "metadata": {}}',
        '{"id_": "n", "text": "t", "metadata": ["lost"]}',
    ],
)
async def test_what_is_no_node_is_shown_as_it_lies(
    content: str, connect: Callable[..., Any], rows: Build
) -> None:
    good = json.dumps({"id_": "n", "text": TEXT, "metadata": {}})
    built = [{"_node_content": good, "_node_type": "TextNode"}] * 20
    odd = {"_node_content": content, "_node_type": "TextNode", "x": 1}
    store, recognition, _ = await open_shaped(connect(rows([*built, odd])), "docs")
    fields = (await store.scan()).rows[-1].fields
    assert (fields["content"], fields["metadata"]) == ("", odd)
    assert any("1 of 21 sampled records have no text" in one for one in recognition.evidence)


async def test_an_id_field_that_is_not_unique_is_refused(connect: Callable[..., Any]) -> None:
    """The two that share one lie far behind the sample, and on different pages."""
    built = [Row(f"p{n}", {"body": f"{TEXT} {n}", "key": f"k{n}"}) for n in range(2500)]
    built[2400] = Row("p2400", {"body": TEXT, "key": "k900"})
    connection = connect(built)
    with pytest.raises(ConfigurationError, match=r"'key' is not unique.*'k900'.*'p900'.*'p2400'"):
        await opened(connection, id_field="key")
    assert all(store.closed for store in connection.opened)
    built[2400] = Row("p2400", {"body": TEXT, "key": 900})
    built[2401] = Row("p2401", {"body": TEXT, "key": "900"})
    with pytest.raises(ConfigurationError, match="'900'"):
        await opened(connect(built), id_field="key")
    built[2400] = Row("p2400", {"body": TEXT, "key": "\ud800"})
    assert await (await opened(connect(built), id_field="key")).count() == 2500


async def test_another_tenants_ids_are_not_compared(connect: Callable[..., Any]) -> None:
    built = [
        Row(f"{org}{n}", {"body": f"{TEXT} {n}", "key": n, "org": org})
        for org in "ab"
        for n in range(60)
    ]
    store = await opened(connect(built), id_field="key", tenant="org=b")
    assert len((await store.scan()).rows) == 60


async def test_two_records_that_come_to_share_an_id_are_named(
    connect: Callable[..., Any],
) -> None:
    built = [Row(f"p{n}", {"body": f"{TEXT} {n}", "key": f"k{n}"}, [1.0, n]) for n in range(9)]
    store = await opened(connect(built), id_field="key")
    store.inner.rows.append(Row("late", {"body": TEXT, "key": "k3"}, [1.0, 3.0]))  # type: ignore[attr-defined]
    both = r"'p3' and 'late'"
    with pytest.raises(StoreCorrupt, match=both):
        await store.get(["k3"])
    with pytest.raises(StoreCorrupt, match=both):
        await store.scan()
    with pytest.raises(StoreCorrupt, match=both):
        await store.search([1.0, 3.0], 9)
    with pytest.raises(StoreCorrupt, match=both):
        await store.search_text(["database"], 10)
    assert [row.id for row in await store.get(["k4"])] == ["k4"]


async def test_a_document_known_by_the_stores_id_is_shown_whole(
    connect: Callable[..., Any],
) -> None:
    """A Haystack id that the point's does not follow from would be found by no ``get``."""
    built = [
        Row(str(uuid5(NAMESPACE, f"d{n}")), {"id": f"d{n}", "content": TEXT, "meta": {"n": n}})
        for n in range(19)
    ]
    stray = Row(str(UUID(int=7)), {"id": "d3", "content": TEXT, "meta": {"n": 20}})
    store = await opened(connect([*built, stray]))
    last = (await store.scan()).rows[-1]
    assert (last.id, last.fields["content"]) == (stray.id, TEXT)
    assert last.fields["metadata"] == {"id": "d3", "n": 20}
    named = Row(str(uuid5(NAMESPACE, stray.id)), {"id": stray.id, "content": TEXT, "meta": {}})
    store.inner.rows.append(named)  # type: ignore[attr-defined]
    with pytest.raises(StoreCorrupt, match=stray.id):
        await store.get([stray.id])


async def test_flat_metadata_is_all_else_as_it_is(connect: Callable[..., Any], rows: Build) -> None:
    odd: dict[str, Any] = {
        "": 0,
        "a.b": [1, {"x": None}],
        'q"': -0.0,
        "名前": 2**70,
        "n": None,
        "id": "own",
    }
    store = await opened(connect(rows([{"body": TEXT, **odd}])))
    row = (await store.scan()).rows[0]
    assert row.fields["metadata"] == odd
    assert row.id == "0"


async def test_text_within_an_object_is_taken_out_of_it(
    connect: Callable[..., Any], rows: Build
) -> None:
    built: list[Any] = [{"doc": {"body": TEXT, "n": 1}, "only": {"x": 1}}, {"doc": {"body": TEXT}}]
    store = await opened(connect(rows(built)), text_field="doc.body")
    found = [row.fields["metadata"] for row in (await store.scan()).rows]
    assert found == [{"doc": {"n": 1}, "only": {"x": 1}}, {}]


async def test_a_document_that_is_not_the_text_is_kept(
    connect: Callable[..., Any], rows: Build
) -> None:
    built: list[Any] = [
        {"#document": "row-1", "abstract": TEXT},
        {"#document": None, "abstract": TEXT},
    ]
    store = await opened(connect(rows(built)), text_field="abstract")
    found = [row.fields["metadata"] for row in (await store.scan()).rows]
    assert found == [{"#document": "row-1"}, {}]


async def test_a_time_beside_the_metadata_stays_in_it_as_written(
    connect: Callable[..., Any], rows: Build
) -> None:
    built = [{"body": TEXT, "meta": {"n": 1}, "when": 1785233730.5}]
    store = await opened(
        connect(rows(built)), text_field="body", metadata_field="meta", created_at_field="when"
    )
    fields = (await store.scan()).rows[0].fields
    assert fields["created_at"] == "2026-07-28T10:15:30.500Z"
    assert fields["metadata"] == {"n": 1, "when": 1785233730.5}


async def test_python_repr_is_undone_only_where_nothing_is_lost(
    connect: Callable[..., Any], rows: Build
) -> None:
    metadata = {
        "embedding_config": "{'engine': '', 'model': 'm'}",
        "list": "['a', 1, None, True, 1.5]",
        "json": '{"a": 1}',
        "spaces": "[1,2]",
        "tuple": "[(1, 2)]",
        "set": "{1, 2}",
        "keys": "{1: 2}",
        "code": "[__import__('os').getcwd()]",
        "open": "[" * 5000,
        "number": "7",
        "infinite": "[1e999]",
        "text": "[see above]",
        "list already": [1],
    }
    store = await opened(connect(rows([{"text": TEXT, "metadata": metadata}])))
    found = (await store.scan()).rows[0].fields["metadata"]
    assert found == {
        **metadata,
        "embedding_config": {"engine": "", "model": "m"},
        "list": ["a", 1, None, True, 1.5],
    }


async def test_a_node_python_wrote_nan_into(connect: Callable[..., Any], rows: Build) -> None:
    content = '{"id_": "n", "text": "%s", "metadata": {"x": NaN, "y": 1e999, "z": 1}}' % TEXT  # noqa: UP031
    store = await opened(connect(rows([{"_node_content": content, "_node_type": "TextNode"}])))
    assert (await store.scan()).rows[0].fields == {
        "content": TEXT,
        "created_at": "1970-01-01T00:00:00.000Z",
        "metadata": {"x": None, "y": None, "z": 1},
    }


async def test_the_profile_says_what_is_lost(connect: Callable[..., Any], rows: Build) -> None:
    store = await opened(connect(rows(times(None))))
    inner = store.inner.profile
    assert set(store.profile.filters.values()) == {Pushdown.LOOSE}
    assert set(inner.filters.values()) == {Pushdown.EXACT}, "the inner profile is left alone"
    assert store.profile.has(Feature.READ)
    assert any("times are unknown" in note for note in store.profile.notes)


async def test_the_sampling_store_is_closed_whatever_happens(
    connect: Callable[..., Any], rows: Build
) -> None:
    connection = connect(rows([{"n": 1}]))
    with pytest.raises(UnrecognisedLayout):
        await opened(connection)
    assert [store.closed for store in connection.opened] == [True]
    good = connect(rows(times(None)))
    store = await opened(good)
    assert [one.closed for one in good.opened] == [True, False]
    await store.aclose()
    assert good.opened[1].closed


async def test_both_ends_are_sampled(connect: Callable[..., Any], rows: Build) -> None:
    """The last half was written another way, which the first 50 do not show."""
    old = [{"page_content": f"{TEXT} {n}", "metadata": {}} for n in range(100)]
    new = [{"content": f"{TEXT} {n}", "metadata": {}} for n in range(100)]
    with pytest.raises(UnrecognisedLayout, match="only 25 of 50"):
        await opened(connect(rows([*old, *new]), backward=True))


async def test_the_store_of_the_documentation() -> None:
    url = StoreURL.parse("memory:///example")
    connection = await adapter_for("memory").connect(url)
    store, recognition, info = await open_shaped(connection, "example")
    assert (recognition.shape.writer, info.name) == ("LangChain (Python)", "example")
    conditions = (Condition((("metadata", "page"),), (7,)),)
    page: Page = await store.scan(conditions)
    assert [row.id for row in page.rows] == ["example-2"]
    found = await store.search_text(["e4211"], 5)
    assert [row.id for row in found] == ["example-2"]


def test_the_clock_is_utc() -> None:
    assert utc_now().tzinfo is UTC
    assert abs((utc_now() - datetime.now(UTC)).total_seconds()) < 5
