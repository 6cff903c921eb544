"""``demo``: the whole of it on this machine, from nothing, in a minute."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from a2m_gateway.cli.console import STDERR, STDOUT, working
from a2m_gateway.cli.demo_corpus import Passage, passages
from a2m_gateway.cli.logging import LogLevel, configure
from a2m_gateway.cli.query import print_records
from a2m_gateway.client import Client
from a2m_gateway.embedding import build
from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.errors import ConfigurationError, MissingDependency
from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL
from a2m_gateway.transports import HttpServer, HttpSettings, run

__all__ = ["demo_command"]

COLLECTION = "python-reference"
QUESTIONS = (
    "Are default argument values computed once or at each call?",
    "How do I format a number with a thousands separator?",
    "BlockingIOError",
)
_BATCH = 32
_MODEL = "all-MiniLM-L6-v2"


def demo_command(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Keep the corpus there; it must be new."),
    ] = None,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", help="What is logged on standard error.")
    ] = LogLevel.WARNING,
) -> None:
    """Build a small corpus as LangChain lays one out, serve it, and ask it three questions."""
    configure(log_level)
    _require_qdrant()  # before the minute that it would take to find out
    with _place(folder) as place:
        run(_demo(place / "qdrant"))
    _say_what_is_next(place / "qdrant" if folder is not None else None)


@contextmanager
def _place(folder: Path | None) -> Iterator[Path]:
    """The folder that was named, made anew; without one, a folder that is removed afterwards."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="a2m-demo-", ignore_cleanup_errors=True) as name:
            yield Path(name)
        return
    place = folder.absolute()
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise ConfigurationError(
            f"{place} can't be made: {error.strerror}; name a folder that is not there yet",
            setting="--folder",
        ) from None
    try:
        yield place
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)  # half a corpus would only be in the way
        raise


def _require_qdrant() -> None:
    try:
        import qdrant_client  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "the demo needs an embedded Qdrant: pip install 'a2m-gateway[qdrant]'"
        ) from error


async def _demo(folder: Path) -> None:
    corpus = passages()
    STDOUT.print("1. A corpus, laid out as LangChain does it, in an embedded Qdrant:", style="bold")
    STDOUT.print(f"   {len(corpus)} passages of Python's language reference")
    await _build(folder, corpus)
    url = _url(folder)
    STDOUT.print("\n2. Served read-only over HTTP:", style="bold")
    STDOUT.print("   a2m-gateway serve qdrant+file:///FOLDER/COLLECTION")
    with working("Opening the corpus"):
        opened = await open_memory(MemorySettings(url=url))
    server = HttpServer(Endpoint(opened.memory), HttpSettings(port=0))
    try:
        await server.start()
        STDOUT.print("\n3. Asked as any A2M client would:", style="bold")
        try:
            await _ask(server.url)
        finally:
            server.stop()
            await server.wait()
    finally:
        await opened.aclose()


def _url(folder: Path) -> StoreURL:
    return StoreURL("qdrant+file", None, None, tls=False, path=str(folder), collection=COLLECTION)


async def _build(folder: Path, corpus: Sequence[Passage]) -> None:
    vectors = await _embedded([passage.text for passage in corpus])
    with working("Writing the corpus"):
        await asyncio.to_thread(_write, folder, corpus, vectors)


async def _embedded(texts: Sequence[str]) -> list[list[float]]:
    embedder = build(Minilm())
    vectors: list[list[float]] = []
    terminal = STDERR.is_terminal
    try:
        with Progress(console=STDERR, transient=True, disable=not terminal) as progress:
            task = progress.add_task(f"Embedding with {_MODEL}", total=len(texts))
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]
                vectors += await embedder.embed_passages(batch)
                progress.advance(task, len(batch))
    finally:
        await embedder.aclose()
    return vectors


def _write(folder: Path, corpus: Sequence[Passage], vectors: Sequence[Sequence[float]]) -> None:
    """What ``langchain_qdrant.QdrantVectorStore`` writes: ``page_content`` and ``metadata``."""
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder))
    try:
        client.create_collection(
            COLLECTION, models.VectorParams(size=len(vectors[0]), distance=models.Distance.COSINE)
        )
        client.upload_points(
            COLLECTION,
            [
                models.PointStruct(
                    id=str(uuid.uuid4()),
                    vector=list(vector),
                    payload={"page_content": passage.text, "metadata": dict(passage.metadata)},
                )
                for passage, vector in zip(corpus, vectors, strict=True)
            ],
        )
    finally:
        client.close()


async def _ask(url: str) -> None:
    async with Client.http(url) as client:
        server = await client.describe()
        STDOUT.print(f"   {url} declares {', '.join(sorted(server.capabilities))}")
        for question in QUESTIONS:
            STDOUT.print(f"\n   {question}", style="bold cyan")
            print_records(await client.recall(question, limit=1))


def _say_what_is_next(folder: Path | None) -> None:
    command = "a2m-gateway" if shutil.which("a2m-gateway") else sys.argv[0]
    STDOUT.print("Your own collection:", style="bold")
    STDOUT.print(f"   {command} inspect qdrant://localhost:6333/       what there is to serve")
    STDOUT.print(f"   {command} inspect qdrant://localhost:6333/docs   what one of them is")
    STDOUT.print(f"   {command} serve   qdrant://localhost:6333/docs   put it behind A2M")
    STDOUT.print("   (chroma://localhost:8000/docs with pip install '.[chroma]', and so on)")
    if folder is not None:
        STDOUT.print(f"The demo's corpus:\n   {command} serve {_url(folder)}")
