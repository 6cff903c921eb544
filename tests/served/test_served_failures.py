"""The store hangs, dies and comes back; the gateway is stopped and killed."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from chroma_server import ChromaServer, create
from gateway import Gateway, poll, request

DEADLINE = 1.5
SLACK = 2.0
"""Seconds that a loaded machine may take to say what is known."""

VECTOR = [0.6, 0.8, 0.1]
RECALL = {"embedding": VECTOR, "limit": 5}
ROWS = [
    {
        "id": f"r{number}",
        "vector": [number / 20, 1 - number / 20, 0.1],
        "document": f"Passage {number} says what there is to say about matter {number}.",
        "metadata": {"page": number},
    }
    for number in range(20)
]

StartGateway = Callable[..., Gateway]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "gateway.toml"
    file.write_text(f"[store]\ndeadline = {DEADLINE}\n[server]\ndeadline = {2 * DEADLINE}\n")
    return file


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.fixture
def chroma_folder(own_chroma_server: ChromaServer) -> str:
    """The URL of a persist folder that no server has open."""
    create(own_chroma_server, ROWS, name="docs")
    own_chroma_server.stop()
    return f"chroma+file://{own_chroma_server.folder}/docs"


@pytest.fixture
def qdrant_folder_url(needs_qdrant: None, tmp_path: Path) -> str:
    from qdrant_folder import write_passages

    payloads = [
        (number, {"page_content": row["document"], "metadata": row["metadata"]})
        for number, row in enumerate(ROWS)
    ]
    write_passages(tmp_path / "qdrant", "docs", payloads, [row["vector"] for row in ROWS])
    return f"qdrant+file://{tmp_path}/qdrant/docs"


@pytest.fixture(params=["chroma_folder", "qdrant_folder_url"])
def embedded_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(request.param)
    return url


def refused(answer: dict[str, Any]) -> bool:
    """An error, and one that says it may be tried again."""
    if "error" not in answer:
        return False
    assert answer["error"]["code"] == -32603, answer
    assert "result" not in answer
    return True


def timed(gateway: Gateway) -> tuple[dict[str, Any], float]:
    begun = time.monotonic()
    return gateway.call("recall", **RECALL), time.monotonic() - begun


def in_flight(gateway: Gateway, threads: ThreadPoolExecutor) -> Future[dict[str, Any]]:
    """A call on stdio that the gateway has begun: it answered what came after."""
    gateway.tell(request("recall", RECALL, "waiting"))
    for number in range(3):
        assert json.loads(gateway.ask(request("describe", {}, number)))["id"] == number
    assert gateway.process.stdout is not None
    return threads.submit(lambda: json.loads(gateway.process.stdout.readline()))  # type: ignore[union-attr]


def children(gateway: Gateway) -> list[psutil.Process]:
    return psutil.Process(gateway.process.pid).children(recursive=True)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.requirement("7-32603")
def test_a_server_that_hangs_dies_and_returns(
    own_chroma_server: ChromaServer,
    config: Path,
    start_gateway: StartGateway,
    threads: ThreadPoolExecutor,
) -> None:
    server = own_chroma_server
    gateway = start_gateway(str(create(server, ROWS, name="docs").url), config=config)
    right, _ = timed(gateway)
    assert len(right["result"]["records"]) == 5

    server.send(signal.SIGSTOP)
    for method, params in (("recall", RECALL), ("timeline", {}), ("recall", {"query": "matter"})):
        begun = time.monotonic()
        assert refused(gateway.call(method, **params)), method
        assert time.monotonic() - begun < 2 * DEADLINE + SLACK
    assert gateway.call("describe")["result"]["read_only"] is True  # that needs no store
    server.send(signal.SIGCONT)
    poll(lambda: gateway.call("recall", **RECALL) == right, within=10, what="answers again")

    server.send(signal.SIGSTOP)
    waiting = in_flight(gateway, threads)
    begun = time.monotonic()
    server.send(signal.SIGKILL)
    assert refused(waiting.result(30))
    assert time.monotonic() - begun < 2 * DEADLINE + SLACK
    answer, seconds = timed(gateway)
    assert refused(answer)
    assert seconds < 2 * DEADLINE + SLACK

    server.start()
    poll(lambda: gateway.call("recall", **RECALL) == right, within=20, what="answers again")
    assert gateway.end() == 0


def test_an_embedded_engine_that_hangs_or_dies_is_started_again(
    embedded_url: str,
    config: Path,
    start_gateway: StartGateway,
    threads: ThreadPoolExecutor,
) -> None:
    gateway = start_gateway(embedded_url, config=config)
    right, _ = timed(gateway)
    assert len(right["result"]["records"]) == 5
    started = children(gateway)
    assert started

    for one in started:
        one.suspend()
    waiting = in_flight(gateway, threads)
    begun = time.monotonic()
    for one in started:
        one.kill()
    answer = waiting.result(30)
    # Whoever waited is told, or was answered by the next engine already.
    assert refused(answer) or answer["result"] == right["result"]
    assert time.monotonic() - begun < 2 * DEADLINE + SLACK
    poll(lambda: gateway.call("recall", **RECALL) == right, within=30, what="answers again")

    for one in children(gateway):
        one.suspend()
    answer, seconds = timed(gateway)
    assert refused(answer) or answer == right
    assert seconds < 2 * DEADLINE + SLACK
    poll(lambda: gateway.call("recall", **RECALL) == right, within=30, what="answers again")

    left = children(gateway)
    assert gateway.end() == 0
    assert alive([*started, *left]) == []


def test_a_gateway_that_is_killed_leaves_no_engine(
    embedded_url: str, start_gateway: StartGateway
) -> None:
    gateway = start_gateway(embedded_url)
    assert "result" in gateway.call("recall", **RECALL)
    started = children(gateway)
    assert started
    gateway.process.kill()
    poll(lambda: not alive(started), within=10, what="the engine ends")


def test_a_gateway_that_is_told_to_end_finishes_what_it_began(
    own_chroma_server: ChromaServer, start_gateway: StartGateway, threads: ThreadPoolExecutor
) -> None:
    server = own_chroma_server
    gateway = start_gateway(str(create(server, ROWS, name="docs").url))
    right = gateway.call("recall", **RECALL)
    server.send(signal.SIGSTOP)
    over_http = threads.submit(gateway.call, "recall", **RECALL)
    poll(
        lambda: len(psutil.Process(gateway.process.pid).net_connections("tcp")) >= 3,
        within=10,
        what="the call arrives",
    )
    on_stdio = in_flight(gateway, threads)
    gateway.process.terminate()
    poll(lambda: not listens(gateway), within=10, what="nothing more is accepted")
    assert not over_http.done()
    assert not on_stdio.done()
    server.send(signal.SIGCONT)
    assert over_http.result(20) == right
    assert on_stdio.result(20)["result"] == right["result"]
    assert gateway.wait() == 0


def listens(gateway: Gateway) -> bool:
    try:
        held = psutil.Process(gateway.process.pid).net_connections("tcp")
    except psutil.NoSuchProcess:
        return False
    return any(one.status == psutil.CONN_LISTEN for one in held)
