"""Words that each query has to read a collection for: left out aloud, or as the owner says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.memory.inspection import inspection
from a2m_gateway.memory.opening import (
    WORDS_BY_READING,
    WORDS_WEIGHT,
    MemorySettings,
    Opened,
    open_memory,
)
from a2m_gateway.store import Row, Selection, StoreURL
from a2m_gateway.store import memory as in_memory

URL = StoreURL.parse("memory:///unindexed?text_field=text")
TRUSTED = Minilm(trust=True)


@pytest.fixture(params=[WORDS_BY_READING, WORDS_BY_READING + 1])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """So many records, in a store that can't look for words."""

    class Connection(in_memory.MemoryConnection):
        async def open(self, collection: str, selection: Selection) -> in_memory.MemoryStore:
            return await super().open(collection, replace(selection, text_path=None))

    monkeypatch.setattr(in_memory, "MemoryConnection", Connection)
    rows = [Row(f"r{n}", {"text": f"the record {n}"}, [1.0] * 384) for n in range(request.param)]
    in_memory.create("unindexed", rows)
    yield request.param
    in_memory.drop("unindexed")


async def _opened(weight: float | None) -> Opened:
    return await open_memory(MemorySettings(url=URL, embedder=TRUSTED, words_weight=weight))


async def test_what_is_left_out_is_said(count: int) -> None:
    async with await _opened(None) as opened:
        few = count <= WORDS_BY_READING
        assert opened.words_weight == (WORDS_WEIGHT if few else 0.0)
        report = inspection(URL, opened)["ranking"]
        assert isinstance(report, dict)
        assert report["words"] == "emulated"
        assert (report["words_left_out"] == "") == few
        assert few or str(count) in str(report["words_left_out"])


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
async def test_what_the_owner_says_is_done(count: int, weight: float) -> None:
    async with await _opened(weight) as opened:
        assert opened.words_weight == weight
        assert opened.words_reason == ""
