"""Thousands of real passages: what is near, what is rare, what a filter selects, what is new."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import oracle
import pytest
import pytest_asyncio
from gateway import command_line
from passages import ABSENT, FIVE, rare_words
from served_passages import EPOCH, Asked, Corpus, rows_of

from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTIONS: Mapping[str, set[str]] = {
    "How do I make sure a file is closed even if something goes wrong?": {
        "with", "context-managers", "try", "compound", "specialnames",
    },
    "run cleanup code no matter whether an error happened": {"try", "compound"},
    "a small unnamed function inside an expression": {"lambda"},
    "which values count as false when a condition is tested": {"truth", "booleans"},
    "fill values into a text between curly braces": {"formatstrings", "strings", "string-methods"},
    "stop at a line of my program and look at its variables": {"debugger"},
    "get out of a loop before it is finished": {"break", "while", "for", "else", "compound"},
    "skip the rest of this round of the loop": {"continue", "while", "for", "compound"},
    "let an inner function rebind a variable of the function around it": {
        "nonlocal", "naming", "execmodel",
    },
    "hand out one value at a time and go on later from there": {"yield", "types", "function"},
    "remove an entry from a mapping": {"del", "typesmapping", "dict"},
    "which operator binds more tightly than another": {"operator-summary", "comparisons"},
    "what characters may a name consist of": {"identifiers", "atom-identifiers", "id-classes"},
    "what happens when an attribute that does not exist is looked up": {
        "attribute-access", "attribute-references", "specialnames", "types", "objects",
    },
    "use code from another file": {"import"},
    "fail during development when an assumption does not hold": {"assert"},
    "pass any number of positional arguments": {"calls", "function", "compound"},
    "a statement that does nothing": {"pass"},
    "numbers with an imaginary part": {"imaginary", "numbers", "types"},
    "take whitespace off both ends of a text": {"string-methods", "typesseq"},
}  # fmt: skip
"""Paraphrases, and the chapters that answer them; some chapters contain others."""


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=["chroma", "qdrant"])
async def asked(
    request: pytest.FixtureRequest, corpus: Corpus, passages_url: Callable[[str], str]
) -> AsyncIterator[Asked]:
    async for one in opened(request.param, corpus, passages_url):
        yield one


@pytest_asyncio.fixture(
    loop_scope="module", scope="module", params=["chroma by time", "qdrant by time"]
)
async def timed(
    request: pytest.FixtureRequest, corpus: Corpus, passages_url: Callable[[str], str]
) -> AsyncIterator[Asked]:
    async for one in opened(request.param, corpus, passages_url):
        yield one


async def opened(
    opening: str, corpus: Corpus, passages_url: Callable[[str], str]
) -> AsyncIterator[Asked]:
    engine, _, by_time = opening.partition(" ")
    memory = await open_memory(MemorySettings(url=StoreURL.parse(passages_url(opening))))
    rows = rows_of(corpus, engine=engine, timed=bool(by_time))
    model = memory.embedder.model if memory.embedder else None
    yield Asked(Endpoint(memory.memory), engine, rows, model)
    await memory.aclose()


async def test_the_vectors_prove_the_model(asked: Asked) -> None:
    assert asked.embedder is not None
    assert "MiniLM" in asked.embedder


async def test_paraphrases_find_their_chapter(asked: Asked) -> None:
    missed = {}
    for question, chapters in QUESTIONS.items():
        sources = [
            one["metadata"]["source"] for one in await asked.records("recall", query=question)
        ]
        if not {f"reference/{chapter}.rst" for chapter in chapters} & set(sources):
            missed[question] = sources
    assert len(missed) <= 3, missed


async def test_rare_words_are_found(asked: Asked, corpus: Corpus) -> None:
    missed = {}
    for word, passage in rare_words(corpus.passages, 40).items():
        found = await asked.ids("recall", query=word, limit=3)
        if passage not in found:
            missed[word] = found
    assert missed == {}


async def test_a_vector_finds_its_nearest(asked: Asked, corpus: Corpus) -> None:
    shared = 0
    for place in range(0, len(corpus.passages), 80):
        vector = corpus.near(place)
        found = await asked.ids("recall", embedding=vector, limit=10)
        assert len(found) == 10
        # Passages occur twice, and equal ones may stand for one another.
        texts = [asked.rows[name].fields["content"] for name in corpus.nearest(vector, 10)]
        shared += sum(asked.rows[name].fields["content"] in texts for name in found)
    assert shared >= 0.98 * 10 * len(range(0, len(corpus.passages), 80))


@pytest.mark.requirement("4.4-timeline-where")
@pytest.mark.requirement("5.2-any-of")
@pytest.mark.requirement("5.2-equality")
@pytest.mark.parametrize("kind", [*FIVE, *(f"no {kind}" for kind in ABSENT)])
async def test_a_filter_selects_exactly(asked: Asked, corpus: Corpus, kind: str) -> None:
    where = FIVE[kind] if kind in FIVE else ABSENT[kind.removeprefix("no ")]
    matching = {row.id: row for row in oracle.rows_where(asked.rows.values(), where)}
    lost = asked.engine == "chroma" and kind == "null"  # it can't hold one
    assert len(matching) == (5 if kind in FIVE and not lost else 0)
    vector = corpus.near(7)
    near = oracle.nearest(matching.values(), "cosine", vector)
    found = await asked.ids("recall", embedding=vector, where=where, limit=10)
    assert found == [name for _, name in near]
    found = await asked.ids("recall", query="how are names resolved", where=where, limit=10)
    assert sorted(found) == sorted(matching)
    assert sorted(await asked.ids("recall", where=where, limit=10)) == sorted(matching)
    records = await asked.records("timeline", where=where, limit=10)
    assert [record["id"] for record in records] == await asked.ids("timeline", where=where)
    assert {record["id"]: strict(record) for record in records} == {
        name: strict({"id": name, **row.fields}) for name, row in matching.items()
    }


def strict(record: Mapping[str, Any]) -> str:
    """As text, because Python takes 1, 1.0 and True for the same."""
    return json.dumps(record, sort_keys=True)


@pytest.mark.requirement("4.3-no-query-recency")
@pytest.mark.requirement("4.4-ascending")
@pytest.mark.requirement("4.4-limit-newest")
@pytest.mark.parametrize("limit", [1, 20, 300])
async def test_the_newest_are_the_newest(timed: Asked, limit: int) -> None:
    newest = oracle.newest(list(timed.rows.values()))[:limit]
    records = await timed.records("timeline", limit=limit)
    assert [record["id"] for record in records] == newest[::-1]
    assert records == [json.loads(strict({"id": n, **timed.rows[n].fields})) for n in newest[::-1]]
    assert await timed.ids("recall", limit=limit) == newest
    where = {"mixed": 1}
    newest = oracle.newest(oracle.rows_where(timed.rows.values(), where))[:limit]
    assert await timed.ids("timeline", where=where, limit=limit) == newest[::-1]


async def test_a_timeline_without_a_limit_is_all(timed: Asked) -> None:
    assert await timed.ids("timeline") == oracle.newest(list(timed.rows.values()))[::-1]


async def test_without_times_the_order_is_stable(asked: Asked) -> None:
    records = await asked.records("timeline")
    assert {record["created_at"] for record in records} == {EPOCH}
    order = [record["id"] for record in records]
    assert sorted(order) == sorted(asked.rows)
    assert await asked.ids("timeline", limit=20) == order[-20:]
    assert await asked.ids("recall", limit=20) == order[-20:][::-1]


async def test_chroma_without_times_is_in_the_order_of_insertion(
    corpus: Corpus, passages_url: Callable[[str], str]
) -> None:
    async for asked in opened("chroma", corpus, passages_url):
        assert await asked.ids("timeline") == list(asked.rows)


@pytest.mark.parametrize(
    ("opening", "seeks"),
    [("chroma", True), ("chroma by time", False), ("qdrant by time", True)],
)
async def test_inspect_says_what_a_timeline_costs(
    opening: str, seeks: bool, passages_url: Callable[[str], str], corpus: Corpus
) -> None:
    command = [*command_line(), "inspect", passages_url(opening), "--json"]
    inspecting = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    async with asyncio.timeout(60):
        printed, _ = await inspecting.communicate()
    assert inspecting.returncode == 0
    told = json.loads(printed)
    assert told["timeline"]["native"] is seeks
    assert ("scan" in told["timeline"]["reason"]) is not seeks
    assert told["records"] == len(corpus.passages)
    assert told["layout"]["times_known"] is (" " in opening)
    assert "MiniLM" in told["ranking"]["embedder"]
