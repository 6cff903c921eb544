"""Collections of others in their real engines, served by real processes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from chroma_server import ChromaServer
    from served_dumps import Case, Loaded
    from served_passages import Corpus

Answers = Sequence[tuple[bytes, bytes]]
Conversation = tuple["Loaded", "Future[Answers]"]


@pytest.fixture(scope="session")
def chroma_cases(
    request: pytest.FixtureRequest,
) -> Iterator[Callable[[Case], Conversation]]:
    """A case's collection on the session's server, and what a gateway answers about it."""
    import chroma_server as source
    from kept_vectors import embedded
    from served_dumps import chroma_case

    server = request.getfixturevalue("chroma_server")
    texts = {
        point["document"]
        for point in source.read_dump("chroma-mcp")["points"]
        if isinstance(point["embedding"][-1], str)
    }
    vectors = dict(zip(sorted(texts), asyncio.run(embedded(sorted(texts))), strict=True))
    cases = _selected(request, "chroma")
    yield from _conversations(
        {str(case): chroma_case(server, case, vectors) for case in cases}, cases
    )


@pytest.fixture(scope="session")
def qdrant_cases(
    needs_qdrant: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Case], Conversation]]:
    """A case's collection in a folder, and what a gateway answers about it."""
    from served_dumps import qdrant_case

    folder = tmp_path_factory.mktemp("qdrant")
    cases = _selected(request, "qdrant")
    yield from _conversations({str(case): qdrant_case(folder, case) for case in cases}, cases)


@pytest.fixture
def conversation(case: Case, request: pytest.FixtureRequest) -> Conversation:
    """That of the test's ``case``."""
    found: Conversation = request.getfixturevalue(f"{case.engine}_cases")(case)
    return found


def _selected(request: pytest.FixtureRequest, engine: str) -> list[Case]:
    """The cases of the tests that will run."""
    parameters = [
        item.callspec.params for item in request.session.items if hasattr(item, "callspec")
    ]
    cases = {str(one["case"]): one["case"] for one in parameters if "case" in one}
    return [case for case in cases.values() if case.engine == engine]


def _conversations(
    loaded: dict[str, Loaded], cases: Sequence[Case]
) -> Iterator[Callable[[Case], Conversation]]:
    """All begun at once and two at a time, so that processes start while tests compare."""
    from served_dumps import conversation, messages_of

    with ThreadPoolExecutor(2) as pool:
        begun: dict[str, Any] = {}
        for case in cases:
            one = loaded[str(case)]
            begun[str(case)] = pool.submit(conversation, one.other_url, messages_of(case, one.rows))
        yield lambda case: (loaded[str(case)], begun[str(case)])
        for future in begun.values():
            future.cancel()


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The passages; their vectors take a minute the first time."""
    import numpy as np
    from kept_vectors import embedded
    from passages import passages
    from served_passages import Corpus

    corpus = passages()
    vectors = asyncio.run(embedded([passage.text for passage in corpus]))
    return Corpus(corpus, np.asarray(vectors, np.float32))


@pytest.fixture(scope="session")
def passages_in_chroma(chroma_server: ChromaServer, corpus: Corpus) -> str:
    """The URL of the passages on the session's server."""
    from served_passages import in_chroma

    return in_chroma(chroma_server, corpus)


@pytest.fixture(scope="session")
def passages_in_qdrant(
    needs_qdrant: None, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder that holds the passages; copy it, since one process at a time can have it open."""
    from served_passages import in_qdrant

    folder = tmp_path_factory.mktemp("passages") / "qdrant"
    in_qdrant(folder, corpus)
    return folder


@pytest.fixture(scope="session")
def passages_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """``passages_url("qdrant by time")``: a URL that no other test has open."""

    def url(opening: str) -> str:
        engine, _, timed = opening.partition(" ")
        if engine == "chroma":
            found: str = request.getfixturevalue("passages_in_chroma")
            return found + ("&created_at_field=created_at" if timed else "")
        copy = tmp_path_factory.mktemp("copy") / "qdrant"
        shutil.copytree(request.getfixturevalue("passages_in_qdrant"), copy)
        return f"qdrant+file://{copy}/passages" + (
            "?created_at_field=metadata.epoch" if timed else ""
        )

    return url
