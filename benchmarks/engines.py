"""Real engines for a benchmark, each a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import chromadb
import httpx
from corpora import Document

__all__ = ["chroma_collection", "gateway", "process"]

_START = 60.0
_BATCH = 500


@contextmanager
def process(command: Sequence[str], ready: str) -> Iterator[int]:
    """A server, running once ``ready`` answers; gives its process id."""
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            _wait(running, ready)
            yield running.pid
        finally:
            running.terminate()
            running.wait()


def _wait(running: subprocess.Popen[bytes], ready: str) -> None:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline:
        if running.poll() is not None:
            raise RuntimeError(f"{running.args!r} ended with {running.returncode}")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(ready).is_success:
                return
        time.sleep(0.05)
    raise TimeoutError(ready)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def gateway(store: str, *options: str) -> Iterator[tuple[str, int]]:
    """``a2m-gateway serve``; gives its URL and process id."""
    port = free_port()
    command = [sys.executable, "-c", "from a2m_gateway.cli import main; main()", "serve", store]
    command += ["--http", f"127.0.0.1:{port}", *options]
    with process(command, f"http://127.0.0.1:{port}/readyz") as pid:
        yield f"http://127.0.0.1:{port}/", pid


@asynccontextmanager
async def chroma_collection(
    name: str, documents: Sequence[Document], vectors: Sequence[Sequence[float]]
) -> AsyncIterator[int]:
    """A Chroma server with one cosine collection, as LangChain writes it; gives the port."""
    folder = Path(tempfile.mkdtemp(prefix="a2m-bench-"))
    port = free_port()
    command = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run"]
    command += ["--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    try:
        with process(command, f"http://127.0.0.1:{port}/api/v2/heartbeat"):
            await asyncio.to_thread(_load, port, name, documents, vectors)
            yield port
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load(
    port: int, name: str, documents: Sequence[Document], vectors: Sequence[Sequence[float]]
) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=port)
    collection = client.create_collection(
        name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    for start in range(0, len(documents), _BATCH):
        part = documents[start : start + _BATCH]
        collection.add(
            ids=[document.id for document in part],
            documents=[document.text for document in part],
            metadatas=[dict(document.metadata) or None for document in part],
            embeddings=[list(vector) for vector in vectors[start : start + _BATCH]],
        )
