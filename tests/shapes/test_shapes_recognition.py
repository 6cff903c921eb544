"""Writers that are not in the dumps, and payloads that only look like somebody's."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.errors import ConfigurationError, UnrecognisedLayout
from a2m_gateway.shapes import (
    Decoding,
    LayoutOptions,
    NodeCopies,
    Recognition,
    Tenant,
    bookkeeping,
    recognise,
)
from a2m_gateway.store import CollectionInfo, Row

# Sentences of one meaning in scripts with and without spaces, right to left and left to right.
PROSE = [
    "The staging database was migrated to version sixteen last Tuesday.",
    "Ada trinkt an verregneten Vormittagen am liebsten Oolong-Tee.",
    "Никогда не деплоить в пятницу после обеда.",
    "請不要在星期五下午部署新的版本。",
    "雨の朝にはウーロン茶を飲むのが好きです。",
    "금요일 오후에는 절대로 배포하지 마세요.",
    "لا تنشر أبدا بعد ظهر يوم الجمعة.",
    "אל תפרסמו גרסה חדשה ביום שישי אחר הצהריים.",
    "ห้ามปล่อยเวอร์ชันใหม่ในบ่ายวันศุกร์",
    "शुक्रवार की दोपहर को कभी तैनात न करें।",
    "Không bao giờ triển khai vào chiều thứ Sáu.",
    "Μην κάνετε ποτέ εγκατάσταση την Παρασκευή το απόγευμα.",
]
Build = Callable[[Sequence[Mapping[str, Any]]], list[Row]]


def see(
    payloads: Sequence[Mapping[str, Any]],
    build: Build,
    info: CollectionInfo,
    **options: str,
) -> Recognition:
    return recognise(info, build(payloads), LayoutOptions.parse(options))


def node(text: str, **metadata: Any) -> str:
    return json.dumps({"id_": "n", "text": text, "metadata": metadata, "class_name": "TextNode"})


Payload = Callable[[int, str], Mapping[str, Any]]
WRITERS: dict[str, tuple[Payload, str, tuple[str, ...], tuple[str, ...]]] = {
    # name: (payload, writer, text path, metadata path)
    "dify": (
        lambda n, t: {
            "page_content": t,
            "metadata": {"doc_id": str(n), "dataset_id": "d", "document_id": "x"},
            "group_id": "d",
        },
        "Dify",
        ("page_content",),
        ("metadata",),
    ),
    "spring-ai": (
        lambda n, t: {"doc_content": t, "source": "a.md", "page": n},
        "Spring AI",
        ("doc_content",),
        (),
    ),
    "anything-llm": (
        lambda n, t: {
            "text": t,
            "url": "file:///a.md",
            "title": f"The manual of the machine, part {n}",
            "docAuthor": "Unknown",
            "description": "No description found in this file.",
            "docSource": "a text file uploaded by the user.",
            "chunkSource": "",
            "published": "3/1/2026, 10:00:00 AM",
            "wordCount": 12,
            "token_count_estimate": 20,
        },
        "AnythingLLM",
        ("text",),
        (),
    ),
    "n8n": (
        lambda n, t: {"content": t, "metadata": {"source": "blob", "line": n}},
        "",
        ("content",),
        ("metadata",),
    ),
    "mcp without a fast vector": (
        lambda n, t: {"document": t, "metadata": None if n % 2 else {"n": n}},
        "",
        ("document",),
        ("metadata",),
    ),
    "own names": (
        lambda n, t: {"passage": t, "attributes": {"n": n}},
        "",
        ("passage",),
        ("attributes",),
    ),
    "own flat names": (
        lambda n, t: {"body": t, "lang": "en", "n": n, "url": f"https://example.org/{n}"},
        "",
        ("body",),
        (),
    ),
    "flat with an object": (
        lambda n, t: {"body": t, "n": n, "author": {"name": "Ada"}},
        "",
        ("body",),
        (),
    ),
    "open-webui without a model": (
        lambda n, t: {
            "text": t,
            "metadata": {"name": "a.md", "created_by": "u", "file_id": "f", "hash": "h", "n": n},
        },
        "Open WebUI",
        ("text",),
        ("metadata",),
    ),
    "mem0 before roles": (
        lambda n, t: {
            "data": t,
            "hash": hashlib.md5(t.encode()).hexdigest(),
            "user_id": "ada",
            "created_at": "2024-08-01T10:00:00.000001-07:00",
        },
        "mem0",
        ("data",),
        (),
    ),
    "chroma": (lambda n, t: {"#document": t, "page": n}, "", ("#document",), ()),
    "open-webui on chroma": (
        lambda n, t: {
            "#document": t,
            "source": "a.md",
            "embedding_config": "{'engine': '', 'model': 'm'}",
        },
        "Open WebUI",
        ("#document",),
        (),
    ),
    "llama-index multimodal": (
        lambda n, t: {
            "_node_content": json.dumps({"id_": "n", "text_resource": {"text": t}}),
            "_node_type": "Node",
        },
        "LlamaIndex",
        ("_node_content",),
        (),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("count", [1, 4, 50])
def test_writers_that_are_not_in_the_dumps(
    name: str, count: int, rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    payload, writer, text, metadata = WRITERS[name]
    texts = [f"{PROSE[n % len(PROSE)]} {n}" for n in range(count)]
    found = see([payload(n, t) for n, t in enumerate(texts)], rows, info())
    if name == "mem0 before roles":
        assert found.times_known
    shape = found.shape
    assert (shape.writer, shape.text, shape.metadata) == (writer, text, metadata)
    assert found.confidence == 1.0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(PROSE), min_size=1, max_size=12),
    st.text(min_size=1, max_size=12).filter(lambda name: name != "#document"),
    st.dictionaries(st.text(max_size=8), st.integers() | st.booleans() | st.none(), max_size=4),
)
def test_any_name_in_any_language_will_do(
    texts: list[str], name: str, others: dict[str, Any]
) -> None:
    """One field of prose beside numbers and flags is the text, whatever it is called."""
    others.pop(name, None)
    if others.keys() & {"metadata", "meta", "meta_data"}:
        return
    built = [Row(str(n), {name: f"{t} {n}", **others}) for n, t in enumerate(texts)]
    found = recognise(CollectionInfo("c", 0, (), {}, {}), built)
    assert found.shape.text == (name,)
    assert found.shape.metadata == ()


def b64(n: int) -> str:
    return base64.b64encode(hashlib.sha512(str(n).encode()).digest() * 3).decode()


MISLEADING: dict[str, tuple[Payload, list[str]]] = {
    # name: (payload, options that the message must offer)
    "a category in text": (
        lambda n, t: {"text": ["news", "sport", "opinion"][n % 3], "metadata": {"abstract": t}},
        ["--text-field metadata.abstract"],
    ),
    "a category in text beside the body": (
        lambda n, t: {"text": ["news", "sport", "opinion"][n % 3], "body": t},
        ["--text-field body"],
    ),
    "a wordy category in text": (
        lambda n, t: {"text": "News about the world of sport", "metadata": {"n": n}},
        ["--text-field text"],
    ),
    "an id in document": (
        lambda n, t: {"document": str(uuid.UUID(int=n)), "metadata": {"n": n}},
        ["--text-field document"],
    ),
    "a slug in document": (
        lambda n, t: {"document": f"doc-{n}", "passage": t},
        ["--text-field passage"],
    ),
    "base64 in data": (lambda n, t: {"data": b64(n), "n": n}, ["--text-field data"]),
    "base64 in page_content": (
        lambda n, t: {"page_content": b64(n), "metadata": {"summary": t}},
        ["--text-field metadata.summary"],
    ),
    "content beside a string metadata": (
        lambda n, t: {"content": t, "metadata": "a.md"},
        ["--text-field content", "--metadata-field '*'"],
    ),
    "content beside JSON in metadata": (
        lambda n, t: {"content": t, "metadata": '{"n": 1}'},
        ["--text-field content"],
    ),
    "a data, hash, user_id row that mem0 never wrote": (
        lambda n, t: {"data": t, "hash": "0" * 32, "user_id": "ada"},
        ["--text-field data"],
    ),
    "a file's hash": (
        lambda n, t: {"data": b64(n), "hash": f"{n:032x}", "user_id": "ada", "caption": t},
        ["--text-field caption"],
    ),
    "two prose fields": (
        lambda n, t: {"question": t, "answer": f"It is so, because {t}"},
        ["--text-field question", "--text-field answer"],
    ),
    "prose within an object only": (
        lambda n, t: {"kind": "note", "payload": {"body": t}},
        ["--text-field payload.body"],
    ),
    "only a few words": (lambda n, t: {"label": "tea", "n": n}, ["--text-field label"]),
    "a single word in document": (
        lambda n, t: {
            "document": ["alpha", "beta", "gamma", "delta", "eta"][n % 5],
            "metadata": {"n": n},
        },
        ["--text-field document"],
    ),
    "a path": (lambda n, t: {"content": f"docs/part/{n}.md", "metadata": {}}, ["content"]),
    "a name that needs quoting": (
        lambda n, t: {"a.b": t, "it's": f"{t} too"},
        ["--text-field '\"a.b\"'", "--text-field 'it'\\''s'"],
    ),
    "chroma with an id as the document": (
        lambda n, t: {"#document": f"row-{n}", "abstract": t},
        ["--text-field abstract"],
    ),
    "nothing but numbers": (lambda n, t: {"n": n, "x": 0.5}, ["No field"]),
    "a node that is none": (lambda n, t: {"_node_content": "{}", "n": n}, ["_node_content"]),
    "a node without an id": (
        lambda n, t: {"_node_content": '{"text": "a b c d"}', "n": n},
        ["_node_content"],
    ),
}


@pytest.mark.parametrize("name", MISLEADING)
@pytest.mark.parametrize("count", [12, 50])
def test_misleading_payloads_are_refused_with_the_options(
    name: str, count: int, rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    payload, offered = MISLEADING[name]
    built = [payload(n, f"{PROSE[n % len(PROSE)]} {n}") for n in range(count)]
    with pytest.raises(UnrecognisedLayout) as refused:
        see(built, rows, info("corpus"))
    message = str(refused.value)
    assert "'corpus'" in message
    for option in offered:
        assert option in message
    assert len(message) < 3000


def half(n: int, t: str) -> Mapping[str, Any]:
    if n % 2:
        return {"page_content": t, "metadata": {}}
    return {"_node_content": node(t), "_node_type": "TextNode"}


MIXED: dict[str, Payload] = {
    "two writers": half,
    "two writers with one text field": lambda n, t: (
        {"content": t, "metadata": {}} if n % 2 else {"content": t, "lang": "en"}
    ),
    "mem0 and another": lambda n, t: (
        {"data": t, "hash": hashlib.md5(t.encode()).hexdigest(), "user_id": "a"}
        if n % 3
        else {"data": t}
    ),
    "text in four of five": lambda n, t: {"body": t} if n % 5 else {"n": n},
    "text that is sometimes null": lambda n, t: {"body": t if n % 4 else None, "n": n},
    "text that is sometimes a number": lambda n, t: {"body": t if n % 4 else n},
    "page_content that is sometimes null": lambda n, t: {
        "page_content": t if n % 4 else None,
        "metadata": {},
    },
    "metadata that is sometimes a string": lambda n, t: {
        "content": t,
        "metadata": {} if n % 4 else "a.md",
    },
    "documents that are sometimes missing": lambda n, t: {
        "#document": t if n % 4 else None,
        "n": n,
    },
}


@pytest.mark.parametrize("name", MIXED)
def test_what_fewer_than_nine_in_ten_agree_on_is_refused(
    name: str, rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    built = [MIXED[name](n, f"{PROSE[n % len(PROSE)]} {n}") for n in range(50)]
    with pytest.raises(UnrecognisedLayout, match=r"(?s)--text-field .*--metadata-field"):
        see(built, rows, info())


def test_a_few_odd_records_do_not_spoil_it_and_are_counted(
    rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    built: list[Mapping[str, Any]] = [
        {"page_content": f"{PROSE[n % 12]} {n}", "metadata": {}} for n in range(48)
    ]
    found = see([*built, {"page_content": None}, {}], rows, info())
    assert found.confidence == 0.96
    assert "48 of 50 sampled records" in found.evidence[0]


def test_the_text_field_settles_it(rows: Build, info: Callable[..., CollectionInfo]) -> None:
    built = [{"question": t, "answer": f"{t} indeed", "meta": {"n": 1}} for t in PROSE]
    found = see(built, rows, info(), text_field="answer").shape
    assert (found.text, found.metadata) == (("answer",), ())
    both = see(built, rows, info(), text_field="answer", metadata_field="meta").shape
    assert both.metadata == ("meta",)
    nested = see([{"p": {"body": t}} for t in PROSE], rows, info(), text_field="p.body").shape
    assert nested.text == ("p", "body")


def test_telling_what_was_found_anyway_changes_nothing(
    rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    built = [{"#document": t, "_node_content": node(""), "n": 1} for t in PROSE]
    told = see(built, rows, info(), text_field="#document")
    assert told.shape == see(built, rows, info()).shape
    assert told.shape.writer == "LlamaIndex"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"text_field": "body"}, "content"),
        ({"text_field": "metadata"}, "content"),
        ({"metadata_field": "meta"}, "metadata"),
        ({"metadata_field": "content"}, "metadata"),
        ({"id_field": "nothing"}, "0 of 12"),
        ({"id_field": "metadata.same"}, "same"),
        ({"created_at_field": "metadata.n"}, "metadata.when"),
        ({"vector_name": "dens"}, "'dense'"),
        ({"vector_name": "thin"}, "sparse"),
        ({"tenant": "ada"}, "FIELD=VALUE"),
    ],
)
def test_an_option_that_names_what_is_not_there_is_an_error(
    options: dict[str, str], named: str, rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    built = [
        {"content": t, "metadata": {"same": "x", "n": True, "when": "2026-01-01"}} for t in PROSE
    ]
    about = info("c", ["dense"], sparse=["thin"])
    with pytest.raises(ConfigurationError, match=named) as refused:
        see(built, rows, about, **options)
    assert refused.value.setting == next(iter(options))


def test_the_vector(rows: Build, info: Callable[..., CollectionInfo]) -> None:
    built = [{"page_content": t, "metadata": {}} for t in PROSE]

    def chosen(about: CollectionInfo, **options: str) -> str | None:
        return see(built, rows, about, **options).shape.vector_name

    assert chosen(info("c", ["", "title"])) == ""
    assert chosen(info("c", ["", "title"]), vector_name="title") == "title"
    assert chosen(info("c", ["dense"], sparse=["bm25"])) == "dense"
    assert chosen(info("c", [], sparse=["bm25"])) is None
    assert chosen(info("c", [])) is None
    with pytest.raises(UnrecognisedLayout, match=r"--vector-name body\n  --vector-name title"):
        chosen(info("c", ["body", "title"]))


def test_an_empty_collection(info: Callable[..., CollectionInfo]) -> None:
    with pytest.raises(UnrecognisedLayout, match=r"is empty.*--text-field"):
        recognise(info(), [])
    told = recognise(info(), [], LayoutOptions.parse({"text_field": "body"}))
    assert (told.shape.text, told.confidence) == (("body",), 0.0)
    chroma = recognise(info(), [], engine="chroma")
    assert (chroma.shape.text, chroma.confidence) == (("#document",), 0.0)


def test_open_webui_tenants(rows: Build, info: Callable[..., CollectionInfo]) -> None:
    def built(*tenants: str) -> list[Mapping[str, Any]]:
        return [
            {
                "text": f"{t} {n}",
                "metadata": {"created_at": 1796048453 + n, "updated_at": 1796048453},
                "tenant_id": tenants[n % len(tenants)],
            }
            for n, t in enumerate(PROSE)
        ]

    with pytest.raises(UnrecognisedLayout) as refused:
        see(built("user-memory-a", "user-memory-b"), rows, info())
    assert "--tenant 'tenant_id=user-memory-a'" in str(refused.value)
    assert "--tenant 'tenant_id=user-memory-b'" in str(refused.value)
    for option in ("user-memory-b", "tenant_id=user-memory-b"):
        told = see(built("user-memory-a", "user-memory-b"), rows, info(), tenant=option).shape
        assert told.tenant == Tenant(("tenant_id",), ("user-memory-b",))
    alone = see(built("user-memory-a"), rows, info())
    assert alone.shape.tenant == Tenant(("tenant_id",), ("user-memory-a",))
    assert alone.shape.created_at == ("metadata", "created_at")
    assert alone.shape.decoding is Decoding.PYTHON_REPR


def test_tenants_of_writers_unknown_are_pointed_out(
    rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    built = [{"body": t, "tenant_id": f"t{n % 2}"} for n, t in enumerate(PROSE)]
    assert any("--tenant 'tenant_id=VALUE'" in line for line in see(built, rows, info()).evidence)


def test_node_metadata_that_is_not_copied(rows: Build, info: Callable[..., CollectionInfo]) -> None:
    alike = [{"_node_content": node(t, n=1, none=None), "n": 1, "none": ""} for t in PROSE]
    other = [{"_node_content": node(t, n=1), "n": "1"} for t in PROSE]
    gone = [{"_node_content": node(t, n=1)} for t in PROSE]
    copies = [see(one, rows, info()).shape.node_copies for one in (alike, other, gone)]
    assert copies == [NodeCopies.COPIED, NodeCopies.NODE_ONLY, NodeCopies.NODE_ONLY]


def test_fields_that_are_not_shown_are_named(
    rows: Build, info: Callable[..., CollectionInfo]
) -> None:
    built = [{"page_content": t, "metadata": {}, "group_id": "g"} for t in PROSE]
    found = see(built, rows, info())
    assert any("not shown: `group_id`" in line for line in found.evidence)
    assert see(built, rows, info(), metadata_field="*").shape.metadata == ()


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("mem0migrations", None),
        ("mem0_entities", None),
        ("people_entities", {"data": "Ada", "entity_type": "PERSON", "linked_memory_ids": ["1"]}),
        ("store_vectors:0", None),
        ("llm_semantic_cache", None),
        ("x", {"return_val": "[]", "llm_string": "m", "prompt": "p"}),
        ("x", {"user_id": "u", "type": "user_identity"}),
    ],
)
def test_bookkeeping(name: str, payload: Mapping[str, Any] | None, rows: Build) -> None:
    assert bookkeeping(name, rows([payload]) if payload else ()) is not None


def test_a_corpus_is_no_bookkeeping(rows: Build) -> None:
    assert bookkeeping("legal_entities", rows([{"content": PROSE[0]}])) is None
    assert bookkeeping("mem0") is None
