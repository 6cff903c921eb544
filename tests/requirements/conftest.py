"""A small corpus of somebody else's, opened as the command line would open it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import JSON, Row, StoreURL
from a2m_gateway.store.memory import create, drop

WIDTH = 4
TOPICS = ("keys", "errors", "invoices")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Corpus:
    """What the collection holds.

    Attributes:
        rows: In the order in which they lie there, which is not that of their times.
        times: Id → the time of creation as spec 3.3 writes it.
    """

    rows: list[Row]
    times: dict[str, str]

    @property
    def metadata(self) -> dict[str, dict[str, Any]]:
        return {row.id: dict(row.fields["metadata"]) for row in self.rows}  # type: ignore[arg-type]

    @property
    def oldest_first(self) -> list[str]:
        return sorted(self.times, key=lambda name: self.times[name])


Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    numbers = [(number * 7) % 30 for number in range(30)]
    times = {number: START + timedelta(hours=number, milliseconds=number) for number in numbers}
    rows = [_row(number, times[number]) for number in numbers]
    return Corpus(
        rows,
        {
            f"r{number:02}": time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03}Z"
            for number, time in times.items()
        },
    )


def _row(number: int, time: datetime) -> Row:
    metadata: dict[str, JSON] = {
        "created_at": time.isoformat(),
        "topic": TOPICS[number % 3],
        "page": number % 5,
        "draft": number % 2 == 0,
        "tags": ["a", f"t{number}"],
        "deep": {"Ωμέγα": [None, {"x": 10**25}], "": 0.1},
        "nothing": None,
    }
    text = f"Passage {number} is about {TOPICS[number % 3]}, code E{4200 + number}."
    vector = [1.0, number / 10, (number % 7) / 10, (number % 3) / 10]
    return Row(f"r{number:02}", {"page_content": text, "metadata": metadata}, vector)


@pytest.fixture
def collections(corpus: Corpus) -> Iterator[None]:
    """``memory:///corpus``, and ``memory:///texts`` without vectors."""
    create("corpus", corpus.rows)
    create("texts", [Row(row.id, row.fields) for row in corpus.rows])
    yield
    drop("corpus")
    drop("texts")


@pytest.fixture
async def endpoint(collections: None) -> AsyncIterator[Endpoint]:
    async for opened in _opened("corpus"):
        yield opened


@pytest.fixture
async def endpoint_of_texts(collections: None) -> AsyncIterator[Endpoint]:
    async for opened in _opened("texts"):
        yield opened


async def _opened(collection: str) -> AsyncIterator[Endpoint]:
    url = StoreURL.parse(f"memory:///{collection}?created_at_field=metadata.created_at")
    opened = await open_memory(MemorySettings(url=url))
    yield Endpoint(opened.memory)
    await opened.aclose()


@pytest.fixture
def ask(endpoint: Endpoint) -> Ask:
    """Call a method by name; the whole response object."""
    return _asker(endpoint)


@pytest.fixture
def ask_texts(endpoint_of_texts: Endpoint) -> Ask:
    """As ``ask``, of the collection without vectors."""
    return _asker(endpoint_of_texts)


def _asker(endpoint: Endpoint) -> Ask:
    async def ask(method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await endpoint.answer(json.dumps(message).encode())
        assert answer is not None
        response: dict[str, Any] = json.loads(answer)
        assert response.keys() - {"result", "error"} == {"jsonrpc", "id"}
        return response

    return ask
