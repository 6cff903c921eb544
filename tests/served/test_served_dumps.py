"""Every Qdrant and Chroma dump in its real engine, over all three transports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

import numpy as np
import pytest

pytest.importorskip(
    "qdrant_client", reason="needs qdrant-client: pip install 'a2m-gateway[qdrant]'"
)

import oracle
from dump_table import CHROMA, QDRANT
from qdrant_folder import CORPORA
from served_dumps import CASES, Case, Loaded, messages_of, questions

from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import Row, StoreURL

Answers: TypeAlias = list[tuple[bytes, bytes]]


def test_every_collection_of_every_dump_is_here() -> None:
    bookkeeping = {"mem0_entities"}
    for engine, table in (("qdrant", QDRANT), ("chroma", CHROMA)):
        held = set()
        for file in CORPORA.glob(f"*-{engine}.json"):
            for point in json.loads(file.read_text("utf-8"))["points"]:
                held.add((file.stem.removesuffix(f"-{engine}"), point["_collection"]))
        assert {(one.dump, one.name) for one in table} == held - bookkeeping


def canonical(answer: bytes) -> str:
    """The text with the members of objects in one order, and every number as it was written.

    Chroma itself answers metadata in another order each time.
    """
    value = json.loads(answer, parse_float=lambda text: ["float", text])
    return json.dumps(value, sort_keys=True)


@pytest.mark.requirement("3.1-metadata-read-unchanged")
@pytest.mark.requirement("3.7-vectors-on-request")
@pytest.mark.requirement("3.7-query-width-32008")
@pytest.mark.requirement("5.3-descending")
@pytest.mark.requirement("5.3-unit-range")
@pytest.mark.requirement("2.1-read-only-writes")
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_answers_are_right_and_the_same_everywhere(
    case: Case, conversation: tuple[Loaded, Future[Answers]]
) -> None:
    loaded, answers = conversation
    asked = list(questions(case, loaded.rows))
    opened = await open_memory(MemorySettings(url=StoreURL.parse(loaded.url)))
    try:
        endpoint = Endpoint(opened.memory)
        here = [await endpoint.answer(message) for message in messages_of(case, loaded.rows)]
        by_meaning = opened.embedder is not None
    finally:
        await opened.aclose()
    assert by_meaning == (case.collection.dump == "chroma-mcp")  # whose model is the bundled one
    for (method, params), mine, (stdio, http) in zip(asked, here, answers.result(), strict=True):
        assert mine is not None
        told = f"{method} {json.dumps(params)[:200]}"
        assert canonical(mine) == canonical(stdio) == canonical(http), told
        if case.engine == "qdrant":
            assert mine == stdio == http, told
        Check(case, loaded, json.loads(mine), told, by_meaning)(method, params)


class Check:
    """One answer against the oracle."""

    def __init__(
        self, case: Case, loaded: Loaded, answer: Any, told: str, by_meaning: bool
    ) -> None:
        self.case = case
        self.rows = {row.id: row for row in loaded.rows}
        self.order = list(self.rows)
        self.answer = answer
        self.told = told
        self.by_meaning = by_meaning

    def __call__(self, method: str, params: dict[str, Any]) -> None:
        if method == "describe":
            self.describe()
        elif method in ("fetch", "remember"):
            code = {"fetch": -32003, "remember": -32004}[method]
            assert self.answer["error"]["code"] == code
        elif params.get("embedding") == [0.5]:
            assert self.answer["error"]["code"] == -32008
        else:
            self.records(method, params)

    def describe(self) -> None:
        described = self.answer["result"]
        row = next(iter(self.rows.values()))
        assert described["protocol"] == "a2m/0.1"
        assert described["read_only"] is True
        assert {"core", "embeddings"} <= set(described["capabilities"])
        embeddings = described["embeddings"]
        assert embeddings["dimensions"] == len(row.vector or ())
        assert embeddings["metric"] == self.case.collection.metric

    def records(self, method: str, params: dict[str, Any]) -> None:
        assert "result" in self.answer, self.told
        records = self.answer["result"]["records"]
        for record in records:
            self.record(record, with_vector=bool(params.get("embeddings")))
        found = [record["id"] for record in records]
        matching = oracle.rows_where(self.rows.values(), params.get("where", {}))
        limit = params.get("limit", 10)
        if method == "timeline":
            assert "score" not in str([record.keys() for record in records])
            self.newest(found, matching, limit)
            return
        scores = [record["score"] for record in records]
        assert scores == sorted(scores, reverse=True), self.told
        assert all(0 <= score <= 1 for score in scores), self.told
        if "embedding" in params:
            far = oracle.nearest(matching, self.case.collection.metric, params["embedding"])
            assert found == [name for _, name in far][:limit], self.told
        elif "query" in params:
            self.words(found, params["query"])
        else:
            self.newest(found[::-1], matching, limit)

    def record(self, record: dict[str, Any], *, with_vector: bool) -> None:
        row = self.rows[record["id"]]
        expected = dict(row.fields)
        shown = {name: record.get(name) for name in expected}
        assert strict(shown) == strict(expected), self.told
        assert set(record) - set(expected) <= {"id", "score", "embedding"}, self.told
        assert ("embedding" in record) == with_vector, self.told
        if with_vector:
            self.vector(record["embedding"], row.vector or ())

    def vector(self, found: Sequence[float], written: Sequence[float]) -> None:
        """Of single precision, and the very one but under Chroma's cosine, which normalises."""
        same = np.asarray(found, np.float32), np.asarray(written, np.float32)
        if self.case.engine == "chroma" and self.case.collection.metric == "cosine":
            np.testing.assert_allclose(*same, rtol=1e-5)
        else:
            np.testing.assert_array_equal(*same)

    def newest(self, found: list[str], matching: Sequence[Row], limit: int) -> None:
        """``found``, oldest first, are the newest of what matches."""
        newest = oracle.newest(matching)[:limit][::-1]
        times = [self.rows[name].fields["created_at"] for name in newest]
        assert [self.rows[name].fields["created_at"] for name in found] == times, self.told
        if self.case.engine == "chroma" or len(set(times)) == len(times):
            assert found == newest, self.told  # Chroma keeps the order of insertion
        elif len(matching) <= limit:
            assert sorted(found) == sorted(newest), self.told

    def words(self, found: list[str], word: str) -> None:
        holding = {name for name, row in self.rows.items() if word in str(row.fields["content"])}
        if self.by_meaning:
            assert set(found[: len(holding)]) == holding, self.told
        else:
            assert set(found) == holding, self.told


def strict(fields: Mapping[str, Any]) -> str:
    """As text, because Python takes 1, 1.0 and True for the same."""
    return json.dumps(fields, sort_keys=True)
