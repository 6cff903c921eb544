"""``demo``: the whole of it on this machine, from nothing, in a minute."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from a2m_gateway.cli.console import STDERR, STDOUT
from a2m_gateway.cli.demo_corpus import Passage, passages
from a2m_gateway.cli.logging import LogLevel, configure
from a2m_gateway.cli.query import print_records
from a2m_gateway.client import Client
from a2m_gateway.embedding import build
from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.errors import MissingDependency
from a2m_gateway.memory import Endpoint
from a2m_gateway.memory.opening import MemorySettings, open_memory
from a2m_gateway.store import StoreURL
from a2m_gateway.transports import HttpServer, HttpSettings, run

__all__ = ["demo_command"]

COLLECTION = "python-reference"
QUESTIONS = (
    "How can I make sure that a file gets closed even when an error occurs?",
    "How does a nested function change a variable of the function around it?",
    "BlockingIOError",
)
_BATCH = 32
_MODEL = "all-MiniLM-L6-v2"


def demo_command(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Keep the corpus there; it must be new."),
    ] = None,
) -> None:
    """Build a small corpus as LangChain lays one out, serve it, and ask it three questions."""
    configure(LogLevel.WARNING)
    kept = folder is not None
    place = folder.resolve() if folder else Path(tempfile.mkdtemp(prefix="a2m-demo-"))
    try:
        run(_demo(place / "qdrant"))
    finally:
        if not kept:
            shutil.rmtree(place, ignore_errors=True)
    _say_what_is_next(place / "qdrant" if kept else None)


async def _demo(folder: Path) -> None:
    corpus = passages()
    STDOUT.print("1. A corpus, laid out as LangChain does it, in an embedded Qdrant:", style="bold")
    STDOUT.print(f"   {len(corpus)} passages of Python's language reference")
    await _build(folder, corpus)
    url = StoreURL.parse(f"qdrant+file://{folder}/{COLLECTION}")
    STDOUT.print("\n2. Served read-only over HTTP:", style="bold")
    STDOUT.print(f"   a2m-gateway serve {url}")
    opened = await open_memory(MemorySettings(url=url))
    server = HttpServer(Endpoint(opened.memory), HttpSettings(port=0))
    try:
        await server.start()
        STDOUT.print("\n3. Asked as any A2M client would:", style="bold")
        await _ask(server.url)
    finally:
        server.stop()
        await server.wait()
        await opened.aclose()


async def _build(folder: Path, corpus: Sequence[Passage]) -> None:
    embedder = build(Minilm())
    vectors: list[list[float]] = []
    with Progress(console=STDERR, transient=True) as progress:
        task = progress.add_task(f"Embedding with {_MODEL}", total=len(corpus))
        for start in range(0, len(corpus), _BATCH):
            texts = [passage.text for passage in corpus[start : start + _BATCH]]
            vectors += await embedder.embed_passages(texts)
            progress.advance(task, len(texts))
    await embedder.aclose()
    await asyncio.to_thread(_write, folder, corpus, vectors)


def _write(folder: Path, corpus: Sequence[Passage], vectors: Sequence[Sequence[float]]) -> None:
    """What ``langchain_qdrant.QdrantVectorStore`` writes: ``page_content`` and ``metadata``."""
    try:
        from qdrant_client import QdrantClient, models
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "the demo needs an embedded Qdrant: pip install 'a2m-gateway[qdrant]'"
        ) from error
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
    STDOUT.print("Your own collection:", style="bold")
    STDOUT.print("   a2m-gateway inspect qdrant://localhost:6333/          what there is to serve")
    STDOUT.print("   a2m-gateway inspect qdrant://localhost:6333/docs      what one of them is")
    STDOUT.print("   a2m-gateway serve   qdrant://localhost:6333/docs      put it behind A2M")
    STDOUT.print("   (or chroma://localhost:8000/docs, chroma+file:///var/chroma/docs, …)")
    if folder is not None:
        STDOUT.print(f"The demo's corpus: qdrant+file://{folder}/{COLLECTION}")
