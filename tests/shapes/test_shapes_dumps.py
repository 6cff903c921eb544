"""Every Qdrant and Chroma dump: what the facts about its writer say, against what is read."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from a2m_gateway.shapes import LayoutOptions, open_shaped
from a2m_gateway.store import Row

TEXTS = {
    "Ada prefers oolong tea — 烏龍茶 ☕ — on rainy mornings.",
    "The staging database migrated to Postgres 16 on 2026-02-03.",
    "Bob's flight AF1234 lands at 18:40; pick up at Terminal 2E.",
    "Никогда не деплоить в пятницу.",
    "User Ada prefers oolong tea over coffee",
    "Bob flight AF1234 is cancelled",
}
BEFORE = datetime(2026, 12, 2, tzinfo=UTC)
EPOCH = "1970-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Expected:
    """What a collection's records are, said by looking at the dump alone."""

    dump: str
    collection: str
    records: int
    content: Callable[[Mapping[str, Any]], str]
    metadata: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    writer: str = ""
    vector: str | None = ""
    id: Callable[[Row], str] = lambda row: row.id
    created_at: Callable[[Mapping[str, Any]], str] = lambda fields: EPOCH
    role: Callable[[Mapping[str, Any]], str | None] = lambda fields: None


def nested(name: str) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    return lambda fields: fields[name] or {}


def all_but(*names: str) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    return lambda fields: {k: v for k, v in fields.items() if k not in names}


def node(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    content: dict[str, Any] = json.loads(fields["_node_content"])
    return content


def unprinted(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Open WebUI: these three are what Python printed, all else is as it was."""
    printed = {"nested", "tags", "embedding_config"}
    return {k: ast.literal_eval(v) if k in printed else v for k, v in fields["metadata"].items()}


def from_iso(fields: Mapping[str, Any]) -> str:
    moment = datetime.fromisoformat(fields["created_at"]).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def page(collection: str, records: int, vector: str | None = "") -> Expected:
    return Expected(
        "langchain-qdrant",
        collection,
        records,
        lambda f: f["page_content"],
        nested("metadata"),
        "LangChain (Python)",
        vector,
    )


def plain(dump: str, collection: str, records: int) -> Expected:
    return Expected(dump, collection, records, lambda f: f["#document"], all_but("#document"))


def llama(collection: str, records: int, vector: str = "") -> Expected:
    return Expected(
        "llamaindex-qdrant",
        collection,
        records,
        lambda f: node(f)["text"],
        lambda f: node(f)["metadata"],
        "LlamaIndex",
        vector,
    )


def haystack(collection: str, vector: str) -> Expected:
    return Expected(
        "haystack-qdrant",
        collection,
        4,
        lambda f: f["content"],
        nested("meta"),
        "Haystack",
        vector,
        id=lambda row: row.fields["id"],  # type: ignore[return-value, arg-type]
    )


def webui(collection: str, records: int) -> Expected:
    return Expected(
        "open-webui-qdrant", collection, records, lambda f: f["text"], unprinted, "Open WebUI"
    )


def mem0(dump: str, *hidden: str) -> Expected:
    return Expected(
        dump,
        "mem0",
        5,
        lambda f: f["data"],
        all_but("data", *hidden),
        "mem0",
        created_at=from_iso,
        role=lambda f: f.get("role"),
    )


def as_json(rows: Sequence[Row]) -> str:
    """As text, because Python takes 1, 1.0 and True for the same."""
    return json.dumps({row.id: row.fields for row in rows}, sort_keys=True)


EXPECTED = [
    Expected("agno-qdrant", "agno_docs", 4, lambda f: f["content"], nested("meta_data"), "agno"),
    plain("chroma-mcp-chroma", "mcp_notes", 4),
    plain("chroma-mcp-chroma", "mcp_with_meta", 1),
    plain("haystack-chroma", "documents", 4),
    plain("haystack-chroma", "hs_cosine", 4),
    haystack("Document", ""),
    haystack("hs_sparse", "text-dense"),
    plain("langchain-chroma", "cosine_ids", 4),
    plain("langchain-chroma", "langchain", 4),
    plain("langchain-chroma", "no_meta", 2),
    page("default_dense", 4),
    page("hybrid", 4),
    page("legacy_Qdrant_class", 4),
    page("factory", 1),
    Expected(
        "langchain-qdrant", "custom_keys", 4, lambda f: f["text"], nested("meta"), "", "dense"
    ),
    Expected(
        "langchainjs-qdrant",
        "documents",
        4,
        lambda f: f["content"],
        nested("metadata"),
        "LangChain (JavaScript)",
    ),
    Expected(
        "llamaindex-chroma",
        "li_chroma",
        4,
        lambda f: f["#document"],
        lambda f: node(f)["metadata"],
        "LlamaIndex",
    ),
    llama("li_default", 4),
    llama("li_hybrid", 4, "text-dense"),
    llama("li_bare_node", 1),
    llama("li_preexisting_unnamed", 4),
    Expected(
        "mcp-server-qdrant-qdrant",
        "mcp-memories",
        4,
        lambda f: f["document"],
        nested("metadata"),
        "mcp-server-qdrant",
        "fast-all-minilm-l6-v2",
    ),
    mem0("mem0-chroma", "#document"),
    mem0("mem0-qdrant"),
    webui("open-webui_e3ccc27a-3795-49d8-a237-348c78d21403", 3),
    webui("open-webui_file-bd93d7fd-e113-49ad-b3dd-031fbc75011e", 1),
    Expected(
        "open-webui-qdrant",
        "open-webui_user-memory-5870cdec-3830-42ab-898e-fee49212e6a8",
        1,
        lambda f: f["text"],
        nested("metadata"),
        "Open WebUI",
        created_at=lambda f: "2026-11-30T14:20:53.000Z",  # 1796048453 s
    ),
]
each = pytest.mark.parametrize("one", EXPECTED, ids=lambda one: f"{one.dump}-{one.collection}")


def test_every_collection_of_every_dump_is_expected(load_dump: Any) -> None:
    names = {one.dump for one in EXPECTED}
    held = {(name, collection) for name in names for collection in load_dump(name).held}
    assert held == {(one.dump, one.collection) for one in EXPECTED}
    corpora = (Path(__file__).parent.parent / "corpora").glob("*.json")
    assert {file.stem for file in corpora if file.stem.endswith(("-qdrant", "-chroma"))} == names


@each
async def test_it_is_read_as_its_writer_meant_it(one: Expected, load_dump: Any) -> None:
    connection = load_dump(one.dump)
    store, recognition, _ = await open_shaped(
        connection, one.collection, LayoutOptions(), clock=lambda: BEFORE
    )
    assert recognition.shape.writer == one.writer
    assert recognition.shape.vector_name == one.vector
    assert recognition.confidence == 1.0
    raw = connection.held[one.collection][1]
    assert len(raw) == one.records
    expected = {}
    for row in raw:
        fields: dict[str, Any] = {
            "content": one.content(row.fields),
            "created_at": one.created_at(row.fields),
            "metadata": dict(one.metadata(row.fields)),
        }
        if one.role(row.fields) is not None:
            fields["role"] = one.role(row.fields)
        expected[one.id(row)] = fields
    page = await store.scan()
    assert as_json(page.rows) == json.dumps(expected, sort_keys=True)
    assert {fields["content"] for fields in expected.values()} <= TEXTS
    assert as_json(await store.get(list(expected))) == json.dumps(expected, sort_keys=True)


@each
async def test_it_is_recognised_under_another_name(one: Expected, load_dump: Any) -> None:
    """The name is a hint at most."""
    connection = load_dump(one.dump)
    connection.held["renamed"] = connection.held[one.collection]
    named, renamed = [
        (await open_shaped(connection, name, LayoutOptions(), clock=lambda: BEFORE))[1]
        for name in (one.collection, "renamed")
    ]
    assert renamed.shape == named.shape


@each
async def test_search_words_and_vectors_find_the_record(one: Expected, load_dump: Any) -> None:
    connection = load_dump(one.dump)
    store, _, _ = await open_shaped(connection, one.collection, clock=lambda: BEFORE)
    row = connection.held[one.collection][1][0]
    hits = await store.search(row.vector, 1)
    assert hits[0].row.id == one.id(row)
    word = one.content(row.fields).split()[0].casefold()
    found = await store.search_text([word], 100)
    assert one.id(row) in {row.id for row in found}


def _same(now: datetime) -> datetime:
    return now


@pytest.mark.parametrize("dump", ["mem0-qdrant", "mem0-chroma"])
async def test_mem0_hides_what_is_past_its_day(dump: str, load_dump: Any) -> None:
    """Its day is 2027-01-01, in UTC; on that day it is still there, as in mem0 itself."""
    for now, seen in [
        (datetime(2027, 1, 1, 23, 59, tzinfo=UTC), 5),
        (datetime(2027, 1, 2, tzinfo=UTC), 4),
    ]:
        store, _, _ = await open_shaped(load_dump(dump), "mem0", clock=partial(_same, now))
        rows = (await store.scan()).rows
        assert len(rows) == seen
        gone = [row for row in store.inner.rows if "expiration_date" in row.fields]  # type: ignore[attr-defined]
        assert len(await store.get([gone[0].id])) == seen - 4
        assert len(await store.search(gone[0].vector, 10)) == seen
        assert len(await store.search_text(["деплоить"], 10)) == seen - 4
        assert await store.count() >= seen


async def test_mem0_is_said_to_hide_records_and_to_mix_people(load_dump: Any) -> None:
    _, recognition, _ = await open_shaped(load_dump("mem0-qdrant"), "mem0")
    said = "\n".join(recognition.evidence)
    assert "past their `expiration_date` are hidden" in said
    assert "1 of 5 sampled have one" in said
    assert "--tenant 'user_id=VALUE'" in said
    bob, _, _ = await open_shaped(
        load_dump("mem0-qdrant"), "mem0", LayoutOptions.parse({"tenant": "user_id=bob"})
    )
    assert len((await bob.scan()).rows) == 2


async def test_the_records_name_their_model(load_dump: Any) -> None:
    connection = load_dump("open-webui-qdrant")
    store, recognition, _ = await open_shaped(
        connection, "open-webui_file-bd93d7fd-e113-49ad-b3dd-031fbc75011e"
    )
    assert recognition.model == "sentence-transformers/all-MiniLM-L6-v2"
    assert store.profile.model == recognition.model


async def test_unused_times_are_listed_with_their_option(load_dump: Any) -> None:
    _, recognition, _ = await open_shaped(load_dump("langchain-qdrant"), "default_dense")
    assert not recognition.times_known
    assert any("--created-at-field metadata.created_at" in line for line in recognition.evidence)
    told, used, _ = await open_shaped(
        load_dump("langchain-qdrant"),
        "default_dense",
        LayoutOptions.parse({"created_at_field": "metadata.created_at"}),
    )
    assert used.times_known
    rows = {str(row.fields["content"])[:3]: row.fields for row in (await told.scan()).rows}
    assert {start: fields["created_at"] for start, fields in rows.items()} == {
        "Ada": "2026-03-01T08:00:00.000Z",
        "The": "2026-02-03T00:00:00.000Z",
        "Bob": "2026-01-10T00:00:00.000Z",
        "Ник": "2025-12-31T23:59:59.123Z",
    }
    assert any("2 of 4 sampled times name no offset" in line for line in used.evidence)
    metadata = rows["Ник"]["metadata"]
    assert isinstance(metadata, Mapping)
    assert metadata["created_at"] == "2025-12-31T23:59:59.123456"
