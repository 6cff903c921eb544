"""Engines that start once for all tests, and gateways that end with their test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from chroma_server import ChromaServer, Filled, LoadedDump
    from gateway import Gateway

NO_CHROMA = "needs chromadb: pip install 'a2m-gateway[chroma-embedded]'"
NO_QDRANT = "needs qdrant-client: pip install 'a2m-gateway[qdrant]'"


@pytest.fixture(scope="session")
def needs_chroma() -> None:
    pytest.importorskip("chromadb_rust_bindings", reason=NO_CHROMA)


@pytest.fixture(scope="session")
def needs_qdrant() -> None:
    pytest.importorskip("qdrant_client", reason=NO_QDRANT)


@pytest.fixture(scope="session")
def chroma_server(
    needs_chroma: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ChromaServer]:
    """One server for all tests; each makes collections of its own."""
    from chroma_server import ChromaServer, free_port

    server = ChromaServer(tmp_path_factory.mktemp("chroma"), free_port())
    server.start()
    yield server
    server.stop()


@pytest.fixture
def own_chroma_server(needs_chroma: None, tmp_path: Path) -> Iterator[ChromaServer]:
    """A server to stop, kill and start again."""
    from chroma_server import ChromaServer, free_port

    server = ChromaServer(tmp_path / "chroma", free_port())
    server.start()
    yield server
    server.stop()


@pytest.fixture
def chroma_collection(chroma_server: ChromaServer) -> Callable[..., Filled]:
    """``chroma_collection(rows, space=…, …)`` makes a collection on the session's server."""
    from chroma_server import create

    def make(rows: Any = (), **options: Any) -> Filled:
        return create(chroma_server, rows, **options)

    return make


@pytest.fixture(scope="session")
def load_chroma_dump(chroma_server: ChromaServer) -> Callable[[str], LoadedDump]:
    """``load_chroma_dump("langchain")`` writes a dump to the session's server, once."""
    from chroma_server import write_dump

    loaded: dict[str, LoadedDump] = {}

    def load(framework: str) -> LoadedDump:
        if framework not in loaded:
            loaded[framework] = write_dump(chroma_server, framework)
        return loaded[framework]

    return load


@pytest.fixture
def start_gateway() -> Iterator[Callable[..., Gateway]]:
    """``start_gateway(url, config=…)`` serves a collection until the test ends."""
    from gateway import Gateway

    started: list[Gateway] = []

    def start(url: str, **options: Any) -> Gateway:
        started.append(Gateway(url, **options))
        return started[-1]

    yield start
    for gateway in started:
        gateway.kill()
