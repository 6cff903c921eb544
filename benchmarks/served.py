"""20,000 real passages behind ``a2m-gateway serve``: what is found, how exactly, how fast.

Paraphrases: a later sentence of an article, or the short description of a package, finds it among
the first ten. Rare tokens: a word that exactly one passage holds finds it. Filters: for each type
of value five records carry it, and exactly those come back with ``limit: 10``.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import psutil
from corpora import Corpus, Document, twenty_thousand
from engines import chroma_collection, gateway
from kept_vectors import embedded

from a2m_gateway.client import Client

SEED, QUESTIONS, TOKENS, LIMIT = 3, 300, 100, 10
MARKS: Mapping[str, tuple[Any, Any]] = {
    "string": ("needle “5”\\", "hay"),
    "integer": (7, 8),
    "integral float": (3.0, 4.0),
    "float": (0.1, 0.2),
    "true": (True, False),
}
"""Type → the value that five records carry, and the one that all others do."""


async def main() -> int:
    corpus = _marked(twenty_thousand())
    vectors = await embedded([document.text for document in corpus.documents])
    print(f"{len(corpus.documents):,} passages in Chroma, served over HTTP")
    async with chroma_collection("docs", corpus.documents, vectors) as port:
        with gateway(f"chroma://127.0.0.1:{port}/docs") as (url, pid):
            async with Client.http(url) as client:
                return await _measure(client, corpus, psutil.Process(pid))


def _marked(corpus: Corpus) -> Corpus:
    chance = random.Random(SEED)
    needles = {kind: set(chance.sample(range(len(corpus.documents)), 5)) for kind in MARKS}
    documents = [
        replace(
            document,
            metadata={
                **document.metadata,
                **{kind: MARKS[kind][number not in needles[kind]] for kind in MARKS},
            },
        )
        for number, document in enumerate(corpus.documents)
    ]
    return Corpus(documents, corpus.queries)


async def _measure(client: Client, corpus: Corpus, process: psutil.Process) -> int:
    before = process.memory_info().rss
    chance = random.Random(SEED)
    questions = chance.sample(sorted(corpus.queries), QUESTIONS)
    found = [await _found(client, text, corpus.queries[text]) for text in questions]
    print(f"  paraphrase among the first {LIMIT}: {sum(found) / len(found):.3f} of {QUESTIONS}")
    tokens = chance.sample(sorted(_rare_tokens(corpus.documents).items()), TOKENS)
    rare = [await _found(client, token, frozenset([owner])) for token, owner in tokens]
    print(f"  rare token among the first {LIMIT}: {sum(rare) / len(rare):.3f} of {TOKENS}")
    exact = await _filters(client, questions[0])
    await _times(client, questions)
    after = process.memory_info().rss
    print(f"  gateway's memory: {before >> 20} MiB at the start, {after >> 20} MiB at the end")
    held = exact and sum(rare) == len(rare)
    print("  held" if held else "  NOT held")
    return 0 if held else 1


async def _found(client: Client, query: str, answers: frozenset[str]) -> bool:
    records = await client.recall(query, limit=LIMIT)
    assert len(records) == LIMIT
    return any(record["id"] in answers for record in records)


def _rare_tokens(documents: Sequence[Document]) -> dict[str, str]:
    """Words of six characters and more that one passage holds → that passage."""
    owners: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for document in documents:
        for word in set(re.findall(r"\w{6,}", document.text.lower())):
            counts[word] += 1
            owners[word] = document.id
    return {word: owner for word, owner in owners.items() if counts[word] == 1}


async def _filters(client: Client, query: str) -> bool:
    held = True
    for kind, (needle, _) in MARKS.items():
        for text in (query, None):
            some = len(await client.recall(text, where={kind: needle}, limit=LIMIT))
            none = len(await client.recall(text, where={kind: "not there"}, limit=LIMIT))
            held = held and (some, none) == (5, 0)
    print(
        f"  filters: {'exactly 5 and 0 for each of' if held else 'WRONG among'} {', '.join(MARKS)}"
    )
    return held


async def _times(client: Client, questions: Sequence[str]) -> None:
    async def timeline(_: str) -> object:
        return await client.timeline(limit=20)

    async def filtered(text: str) -> object:
        return await client.recall(text, where={"integer": 7}, limit=LIMIT)

    calls: Mapping[str, Callable[[str], Awaitable[object]]] = {
        "text query": lambda text: client.recall(text, limit=LIMIT),
        "text query, filter of 5": filtered,
        "newest 20": timeline,
    }
    for name, call in calls.items():
        seconds = []
        for text in questions[:50]:
            started = time.perf_counter()
            await call(text)
            seconds.append(time.perf_counter() - started)
        print(f"  {name}: p50 {median(seconds) * 1e3:.1f} ms")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
