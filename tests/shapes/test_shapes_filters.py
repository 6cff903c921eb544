"""A translated filter never loses a row: whatever a canonical row satisfies, its raw row does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.shapes import Decoding, NodeCopies, Shape, Tenant, open_shaped
from a2m_gateway.shapes.conditions import translate
from a2m_gateway.shapes.record import RecordReader
from a2m_gateway.store import Condition, Filter, Row, matches

NAMESPACE = UUID("3896d314-1e95-4a3a-b45a-945f9f0b541d")
EPOCH = "1970-01-01T00:00:00.000Z"

KEYS = st.sampled_from(
    [
        "text", "metadata", "meta", "id", "role", "created_at", "content", "data", "ts", "group",
        "tenant_id", "doc_id", "_node_content", "_node_type", "#document", "a.b", "a", "b", "",
        'say "hi"', "\\", "metadata.a", "名前", "\x00", "$and", "page", "*", "**",
    ]
)  # fmt: skip
SCALARS = st.sampled_from(
    [
        None, True, False, 0, 1, 1.0, -1, 0.5, 2**63, "", "1", "user", "x", "a.b", '"', "\\",
        "名前", "[1]", "{'a': 1}", "['x']", "2026-01-01", "1785233730", 1785233730,
    ]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=7)


@st.composite
def nodes(draw: Any) -> dict[str, Any]:
    """Payloads with a node, whose copies beside it may differ as no LlamaIndex would write them."""
    payload: dict[str, Any] = draw(PAYLOADS)
    metadata = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    content = {"id_": "n", "text": draw(st.sampled_from(["", "x", "user"])), "metadata": metadata}
    payload["_node_content"] = json.dumps(content)
    for name in draw(
        st.lists(st.sampled_from(sorted(metadata)), max_size=4) if metadata else st.just([])
    ):
        payload[name] = "" if metadata[name] is None else metadata[name]
    return payload


@st.composite
def records(draw: Any, shape: Shape) -> dict[str, Any]:
    """Payloads of a layout, and such as don't fit it: no text, or fields that the metadata has."""
    payload: dict[str, Any] = draw(PAYLOADS)
    metadata = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    if not shape.is_flat:
        payload[shape.metadata[0]] = draw(st.just(metadata) | VALUES)
    for name in draw(
        st.lists(st.sampled_from(sorted(metadata)), max_size=2) if metadata else st.just([])
    ):
        payload.setdefault(name, draw(VALUES))
    if draw(st.booleans()):
        payload[shape.text[0]] = draw(st.sampled_from(["x", "user", ""]) | VALUES)
    return payload


SHAPES = {
    "flat": Shape("flat", ("text",), created_at=("ts",)),
    "chroma": Shape("chroma", ("#document",)),
    "nested": Shape("nested", ("text",), ("metadata",), created_at=("metadata", "ts")),
    "time beside": Shape("nested", ("text",), ("metadata",), created_at=("ts",)),
    "time deep beside": Shape("n", ("text",), ("metadata",), created_at=("a", "ts")),
    "time deep in the metadata": Shape(
        "n", ("text",), ("metadata",), created_at=("metadata", "a", "ts")
    ),
    "time of the metadata's name": Shape("n", ("text",), ("meta",), created_at=("a", "meta")),
    "text within the metadata": Shape("nested", ("metadata", "data"), ("metadata",)),
    "text deep in a flat record": Shape("flat", ("metadata", "text")),
    "mem0": Shape("mem0", ("data",), created_at=("created_at",), role=("role",)),
    "nested role": Shape("n", ("text",), ("metadata",), role=("metadata", "role")),
    "python repr": Shape("w", ("text",), ("metadata",), decoding=Decoding.PYTHON_REPR),
    "python repr, flat": Shape("w", ("#document",), decoding=Decoding.PYTHON_REPR),
    "haystack": Shape("h", ("content",), ("meta",), id=("id",), id_namespace=NAMESPACE),
    "own id": Shape("o", ("text",), id=("data",)),
    "tenants": Shape("t", ("text",), ("metadata",), tenant=Tenant(("tenant_id",), ("x", 1))),
    "tenants by id": Shape("t", ("text",), tenant=Tenant(("id",), ("x",))),
    "text in id": Shape("i", ("id",)),
    "node": Shape("l", ("_node_content",), node=("_node_content",), text_in_node=True),
    "copied node": Shape(
        "l",
        ("_node_content",),
        node=("_node_content",),
        text_in_node=True,
        node_copies=NodeCopies.COPIED,
    ),
    "copied node under chroma": Shape(
        "l", ("#document",), node=("_node_content",), node_copies=NodeCopies.COPIED
    ),
    "node with a time": Shape(
        "l",
        ("_node_content",),
        node=("_node_content",),
        text_in_node=True,
        node_copies=NodeCopies.COPIED,
        created_at=("a", "ts"),
    ),
}


def where(name: str) -> tuple[tuple[str, ...], ...]:
    """The paths of a name in ``where``."""
    if name in {"id", "content", "created_at"}:
        return ((name,),)
    if name in {"role", "metadata", "group"}:
        return ((name,), ("metadata", name))
    return (("metadata", name),)


PATHS = (
    KEYS.map(where)
    | st.lists(st.lists(KEYS, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple)
    | st.lists(KEYS.map(lambda key: ("metadata", key)), min_size=1, max_size=3).map(tuple)
    | st.sampled_from([(("role",), ("metadata", "x")), (("role",), ("metadata", "role"))])
)


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_row_is_lost(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    payload = data.draw(nodes() if shape.node else records(shape))
    own = payload.get("id")
    raw = Row(str(uuid5(NAMESPACE, own)) if isinstance(own, str) else "raw", payload)
    reader = RecordReader(shape, EPOCH)
    canonical = reader.read(raw)
    metadata: Any = canonical.fields["metadata"]
    shown: list[str] = sorted(metadata)
    named = st.sampled_from(shown).map(where) if shown else PATHS
    paths = data.draw(PATHS | named)
    # Half of the time what the row really has, so that conditions do match.
    seen = [_at(canonical, path) for path in paths]
    scalars = [one for one in seen if one is None or isinstance(one, str | int | float)]
    values = data.draw(st.lists(st.sampled_from(scalars) if scalars else SCALARS, max_size=2))
    values += data.draw(st.lists(SCALARS, max_size=1))
    conditions: Filter = (Condition(paths, tuple(values)),)
    hidden = shape.tenant is not None and not matches(raw, translate((), shape))
    if matches(canonical, conditions) and not hidden:
        assert matches(raw, translate(conditions, shape))


NESTED = [name for name, shape in SHAPES.items() if not shape.is_flat and shape.node is None]


@pytest.mark.parametrize("name", NESTED)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_of_a_record_without_text_is_lost(name: str, data: st.DataObject) -> None:
    shape = SHAPES[name]
    payload = data.draw(records(shape))
    if isinstance(_at(Row("raw", payload), shape.text), str):
        del payload[shape.text[0]]
    row = RecordReader(replace(shape, decoding=Decoding.NONE), EPOCH).read(Row("raw", payload))
    shown: Any = row.fields["metadata"]
    assert row.fields["content"] == ""
    inner = payload.get(shape.metadata[0])
    nested: Any = inner if isinstance(inner, dict) else {}
    kept = None if isinstance(inner, dict) else shape.metadata[0]
    beside = {k: v for k, v in payload.items() if k in {kept} or k != shape.metadata[0]}
    clashing = {k: v for k, v in beside.items() if k in nested}
    expected = {**beside, **nested}
    if clashing:
        expected[next(key for key in ("*", "**", "***") if key not in expected)] = clashing
    assert json.dumps(shown, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _at(row: Row, path: Sequence[str]) -> Any:
    value: Any = {**row.fields, "id": row.id}
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return ()
        value = value[name]
    return value


def _node(**metadata: Any) -> str:
    return json.dumps({"id_": "n", "text": "t", "metadata": metadata})


@pytest.mark.parametrize(
    ("name", "payload", "paths", "value"),
    [
        ("mem0", {"role": 5, "x": "user"}, (("role",), ("metadata", "x")), "user"),
        ("python repr", {"metadata": {"a": "{'b': 1}"}}, (("metadata", "a", "b"),), 1),
        ("nested", {"metadata": "user"}, (("metadata", "metadata"),), "user"),
        (
            "text within the metadata",
            {"metadata": {"data": "t", "b": "x"}},
            (("metadata", "data"), ("metadata", "b")),
            "x",
        ),
        ("text deep in a flat record", {"metadata": {"text": "t"}}, where("content"), "t"),
        ("own id", {"data": "k"}, where("id"), "k"),
        (
            "time deep in the metadata",
            {"metadata": {"a": {"ts": 5}, "b": "x"}},
            (("metadata", "ts"), ("metadata", "b")),
            "x",
        ),
        ("time beside", {"metadata": {}, "ts": 5}, where("ts"), 5),
        ("time beside", {"metadata": {"ts": 6}, "ts": 5}, where("ts"), 6),
        (
            "copied node",
            {"_node_content": _node(doc_id="mine"), "doc_id": "None"},
            where("doc_id"),
            "mine",
        ),
        ("node", {"_node_content": _node(a="x")}, where("a"), "x"),
        (
            "copied node under chroma",
            {"_node_content": _node(a=None), "a": "", "#document": "t"},
            where("a"),
            None,
        ),
        ("tenants by id", {"id": "x", "a": 1}, where("a"), 1),
        ("flat", {"id": "own"}, (("metadata", "id"),), "own"),
        ("nested", {"metadata": {}}, where("content"), ""),
        ("nested", {"text": 5, "metadata": {}}, where("content"), ""),
        ("nested", {"page_content": "t", "page": 7}, where("page"), 7),
        ("nested", {"page": 7, "metadata": {"page": 8}}, where("page"), 8),
        ("nested", {"text": 5}, (("metadata", "text"),), 5),
        ("time deep beside", {"ts": 6, "a": {"ts": 5}}, where("ts"), 6),
        (
            "nested",
            {"text": "t", "a": "hidden", "metadata": {"b": "x"}},
            (("metadata", "a"), ("metadata", "b")),
            "x",
        ),
        ("nested", {"a": 1, "metadata": {"a": 2}}, (("metadata", "*", "a"),), 1),
        ("nested", {"id": "own"}, (("metadata", "id"),), "own"),
    ],
)
def test_rows_that_a_plainer_translation_would_lose(
    name: str, payload: dict[str, Any], paths: Any, value: Any
) -> None:
    raw = Row("raw", payload)
    conditions: Filter = (Condition(paths, (value,)),)
    assert matches(RecordReader(SHAPES[name], EPOCH).read(raw), conditions)
    assert matches(raw, translate(conditions, SHAPES[name]))


@pytest.mark.parametrize(
    ("name", "paths", "values", "raw"),
    [
        ("nested", where("page"), (1,), (("metadata", "page"), ("page",))),
        ("flat", where("page"), (1,), (("page",),)),
        ("flat", where("role"), ("user",), (("role",),)),
        ("mem0", where("role"), ("user",), (("role",), ("role",))),
        ("nested", where("role"), ("user",), (("metadata", "role"), ("role",))),
        ("nested", where("content"), ("x",), (("text",),)),
        ("nested", where("id"), ("x",), (("id",),)),
        ("nested", where("a.b"), ("x",), (("metadata", "a.b"), ("a.b",))),
        ("nested", (("metadata", "a", "b"),), ("x",), (("metadata", "a", "b"), ("a", "b"))),
        ("copied node", where("page"), (1,), (("page",),)),
        ("python repr", where("page"), (1,), (("metadata", "page"), ("page",))),
    ],
)
def test_what_can_be_said_is_said(
    name: str, paths: Any, values: Any, raw: tuple[tuple[str, ...], ...]
) -> None:
    """A superset that is everything would pass above: these must reach the store."""
    conditions = translate((Condition(paths, values),), SHAPES[name])
    assert conditions == (Condition(raw, values),)


@pytest.mark.parametrize(
    ("name", "paths", "values"),
    [
        ("flat", where("id"), ("x",)),  # kept by "own id" alone
        ("node", where("page"), (1,)),
        ("copied node", where("page"), (None,)),
        ("nested", where("created_at"), (EPOCH,)),
        ("nested", where("content"), ("",)),
    ],
)
def test_what_can_not_be_said_is_left_to_the_gateway(name: str, paths: Any, values: Any) -> None:
    shape = SHAPES["own id" if paths == (("id",),) else name]
    assert translate((Condition(paths, values),), shape) == ()


def test_a_field_called_id_is_not_the_id() -> None:
    """Below the layout the path ("id",) is the store's own id."""
    conditions = (Condition((("metadata", "id"),), ("x",)),)
    assert translate(conditions, SHAPES["flat"]) == ()


def test_the_tenant_always_applies() -> None:
    assert translate((), SHAPES["tenants"]) == (Condition((("tenant_id",),), ("x", 1)),)


async def test_pushed_filters_reach_the_raw_store(
    connect: Callable[..., Any], rows: Callable[..., list[Row]]
) -> None:
    text = "The staging database was migrated to version sixteen"
    built = rows([{"page_content": f"{text} {n}", "metadata": {"page": n}} for n in range(20)])
    store, _, _ = await open_shaped(connect(built), "docs")
    page = await store.scan((Condition((("metadata", "page"),), (7,)),))
    assert [row.id for row in page.rows] == ["7"]
    assert store.inner.asked[-1] == (  # type: ignore[attr-defined]
        Condition((("metadata", "page"), ("page",)), (7,)),
    )
    assert await store.count((Condition((("metadata", "page"),), (7, 8)),)) == 2
