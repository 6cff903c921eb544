"""What a call costs: requests to the store, and parses of the message."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import msgspec
import pytest
from served_passages import Corpus
from watching_proxy import watching

from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.memory.words import search_words
from a2m_gateway.protocol import json as wire
from a2m_gateway.store import StoreURL
from a2m_gateway.store.worker_process import WorkerProcess
from a2m_gateway.transports import HttpServer, HttpSettings

FULL = {"shelf": "common"}
SHORT = {"shelf": "rare"}
QUESTION = "how does a name get its value"


@dataclass
class Served:
    """A memory behind a real port, and what it asked its store since the last call.

    Attributes:
        asked: To Chroma the operation and the body, to a worker the method and the arguments.
    """

    url: str
    client: httpx.AsyncClient
    asked: list[tuple[str, Any]]

    async def call(self, method: str, **params: Any) -> list[str]:
        """The ids; ``asked`` is what it cost."""
        self.asked.clear()
        call = {"jsonrpc": "2.0", "id": 1, "method": f"memory/{method}", "params": params}
        response = await self.client.post(self.url, json=call)
        answer = response.json()
        assert "result" in answer, answer
        return [record["id"] for record in answer["result"]["records"]]

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.asked]


@asynccontextmanager
async def serving(url: StoreURL, asked: list[tuple[str, Any]]) -> AsyncIterator[Served]:
    opened = await open_memory(MemorySettings(url=url))
    server = HttpServer(Endpoint(opened.memory), HttpSettings(port=0))
    await server.start()
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        yield Served(server.url, client, asked)
    server.stop()
    await server.wait()
    await opened.aclose()


@pytest.fixture
async def chroma(
    passages_url: Callable[[str], str], request: pytest.FixtureRequest
) -> AsyncIterator[Served]:
    """Served from Chroma, every request to which is counted."""
    url = StoreURL.parse(passages_url(getattr(request, "param", "chroma")))
    assert url.port is not None
    async with (
        watching(url.port) as proxy,
        serving(replace(url, port=proxy.port), proxy.asked) as served,
    ):
        yield served


@pytest.fixture
async def qdrant(
    passages_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Served]:
    """Served from local mode with times, every call of which is counted."""
    asked: list[tuple[str, Any]] = []
    real = WorkerProcess.call

    async def counted(worker: WorkerProcess, method: str, **arguments: Any) -> Any:
        asked.append((method, arguments))
        return await real(worker, method, **arguments)

    monkeypatch.setattr(WorkerProcess, "call", counted)
    async with serving(StoreURL.parse(passages_url("qdrant by time")), asked) as served:
        yield served


async def test_chroma_by_vector(chroma: Served, corpus: Corpus) -> None:
    served = chroma
    vector = corpus.near(3)
    assert len(await served.call("recall", embedding=vector, limit=10)) == 10
    assert served.operations == ["query"]
    assert served.asked[0][1]["n_results"] == 10  # what the raw client would ask
    assert set(served.asked[0][1]["include"]) == {"documents", "metadatas", "distances"}
    assert len(await served.call("recall", embedding=vector, where=FULL)) == 10
    assert served.operations == ["query"]
    assert len(await served.call("recall", embedding=vector, where=SHORT)) == 5
    assert served.operations == ["query", "get"]  # whether that is all, the index does not say


async def test_chroma_timeline(chroma: Served) -> None:
    for method in ("timeline", "recall"):
        assert len(await chroma.call(method, limit=20)) == 20
        assert chroma.operations == ["count", "get"]
        assert chroma.asked[1][1]["limit"] == 20


@pytest.mark.parametrize("chroma", ["chroma by time"], indirect=True)
async def test_chroma_timeline_that_inspect_says_to_be_a_scan(
    chroma: Served, corpus: Corpus
) -> None:
    assert len(await chroma.call("timeline", limit=20)) == 20
    assert chroma.operations == ["get"] * -(-len(corpus.passages) // 1000)


async def test_chroma_by_words_and_meaning(chroma: Served) -> None:
    terms = search_words(QUESTION)
    assert len(await chroma.call("recall", query=QUESTION)) == 10
    assert chroma.operations.count("query") == 1
    assert len(chroma.operations) <= 1 + len(terms) + 1


async def test_qdrant(qdrant: Served, corpus: Corpus) -> None:
    served = qdrant
    vector = corpus.near(3)
    assert len(await served.call("recall", embedding=vector, limit=10)) == 10
    assert served.operations == ["query"]
    assert len(await served.call("recall", embedding=vector, where=FULL)) == 10
    assert served.operations == ["query"]
    assert len(await served.call("recall", embedding=vector, where=SHORT)) == 5
    assert served.operations == ["query", "scroll"]
    for method in ("timeline", "recall"):
        assert len(await served.call(method, limit=20)) == 20
        assert served.operations == ["scroll"]
        assert served.asked[0][1]["request"]["limit"] == 20


@pytest.mark.parametrize("params", [{"query": QUESTION}, {"limit": 3}, {"where": SHORT}])
async def test_a_message_is_parsed_once(
    params: dict[str, Any], qdrant: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []

    def watch(function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(text: Any, *rest: Any, **options: Any) -> Any:
            parsed.append(text.encode() if isinstance(text, str) else bytes(text))
            return function(text, *rest, **options)

        return watched

    class Decoder:
        decode = staticmethod(watch(wire._decoder.decode))

    monkeypatch.setattr(wire, "_decoder", Decoder)
    monkeypatch.setattr(json, "loads", watch(json.loads))
    monkeypatch.setattr(msgspec.json, "decode", watch(msgspec.json.decode))
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "memory/recall", "params": params})
    response = await qdrant.client.post(
        qdrant.url, content=body, headers={"content-type": "application/json"}
    )
    assert response.status_code == 200
    assert parsed.count(body.encode()) == 1
