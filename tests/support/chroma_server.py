"""A real Chroma server, and ways to fill it that do not go through our code."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from a2m_gateway.store import StoreURL

__all__ = [
    "ChromaServer",
    "Filled",
    "LoadedDump",
    "create",
    "free_port",
    "read_dump",
    "write_dump",
    "write_points",
]

CORPORA = Path(__file__).parents[1] / "corpora"
RUN = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"

_number = itertools.count()


@dataclass
class ChromaServer:
    """``chroma run`` on a folder and a port that outlive the process."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    http: httpx.Client = field(default_factory=lambda: httpx.Client(trust_env=False, timeout=60))

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v2"

    def start(self) -> None:
        serve = ["run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, *serve],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "RUST_LOG": "error"},
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None, "chroma ended while it started"
            assert time.monotonic() < deadline, "chroma did not start"
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.send(signal.SIGKILL)

    def url(self, collection: str = "", **options: str) -> StoreURL:
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return StoreURL.parse(f"chroma://127.0.0.1:{self.port}/{collection}?{query}")

    def post(self, path: str, body: Mapping[str, Any], database: str = "default_database") -> Any:
        answer = self.http.post(f"{self._database(database)}{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def delete(self, path: str, database: str = "default_database") -> None:
        answer = self.http.delete(f"{self._database(database)}{path}")
        assert answer.is_success, answer.text

    def create_database(self, name: str) -> None:
        answer = self.http.post(f"{self.api}/tenants/default_tenant/databases", json={"name": name})
        assert answer.is_success, answer.text

    def _database(self, name: str) -> str:
        return f"{self.api}/tenants/default_tenant/databases/{name}"

    def _answers(self) -> bool:
        try:
            return self.http.get(f"{self.api}/heartbeat", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False


@dataclass(frozen=True)
class Filled:
    """A collection as a test wrote it, by the raw API."""

    server: ChromaServer
    name: str
    id: str
    database: str = "default_database"

    @property
    def url(self) -> StoreURL:
        return self.server.url(self.name, database=self.database)

    def add(self, rows: Sequence[Mapping[str, Any]], *, operation: str = "add") -> None:
        """Rows with ``id``, ``vector`` and, where there is one, ``document`` and ``metadata``."""
        for start in range(0, len(rows), 1000):
            batch = rows[start : start + 1000]
            body = {
                "ids": [row["id"] for row in batch],
                "embeddings": [row["vector"] for row in batch],
                "documents": [row.get("document") for row in batch],
                "metadatas": [row.get("metadata") for row in batch],
            }
            self.server.post(f"/collections/{self.id}/{operation}", body, self.database)

    def delete(self, ids: Sequence[str]) -> None:
        self.server.post(f"/collections/{self.id}/delete", {"ids": list(ids)}, self.database)

    def drop(self) -> None:
        self.server.delete(f"/collections/{self.name}", self.database)


@dataclass(frozen=True)
class LoadedDump:
    """One of ``tests/corpora/*-chroma.json``, in a database of its own on the real server.

    Attributes:
        collections: By the name in the dump; ``.url`` opens one.
        points: The dump's, by collection.
    """

    collections: Mapping[str, Filled]
    points: Mapping[str, Sequence[Mapping[str, Any]]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def create(
    server: ChromaServer,
    rows: Sequence[Mapping[str, Any]] = (),
    *,
    name: str | None = None,
    space: str = "l2",
    database: str = "default_database",
    metadata: Mapping[str, Any] | None = None,
    embedding_function: Mapping[str, Any] | None = None,
) -> Filled:
    """A new collection with these rows in it."""
    name = name or f"test-{next(_number)}"
    configuration: dict[str, Any] = {"hnsw": {"space": space}}
    if embedding_function is not None:
        configuration["embedding_function"] = embedding_function
    body: dict[str, Any] = {"name": name, "configuration": configuration}
    if metadata:
        body["metadata"] = metadata
    made = server.post("/collections", body, database)
    filled = Filled(server, name, made["id"], database)
    filled.add(rows)
    return filled


def read_dump(framework: str) -> dict[str, Any]:
    """``tests/corpora/<framework>-chroma.json``."""
    dump: dict[str, Any] = json.loads((CORPORA / f"{framework}-chroma.json").read_text("utf-8"))
    return dump


def write_dump(server: ChromaServer, framework: str, *, database: str | None = None) -> LoadedDump:
    """Write ``tests/corpora/<framework>-chroma.json``, as it was, to a database of its own."""
    dump = read_dump(framework)
    return write_points(server, dump, dump["points"], database or f"dump-{framework}")


def write_points(
    server: ChromaServer,
    dump: Mapping[str, Any],
    listed: Sequence[Mapping[str, Any]],
    database: str,
) -> LoadedDump:
    """Write ``listed``, the dump's points or changed ones, into its collections."""
    server.create_database(database)
    points: dict[str, list[Mapping[str, Any]]] = {}
    for point in listed:
        points.setdefault(point["_collection"], []).append(point)
    collections = {}
    for name, info in dump["collection_info"].items():
        if "row" not in info:
            continue  # how the dump was made
        index = info["row"]["schema_str"]["keys"]["#embedding"]["float_list"]["vector_index"]
        collections[name] = create(
            server,
            [_row(point, info["row"]["dimension"]) for point in points.get(name, ())],
            name=name,
            database=database,
            space=index["config"]["space"],
            metadata=info["api_metadata"],
            embedding_function=index["config"].get("embedding_function"),
        )
    return LoadedDump(collections, points)


def _row(point: Mapping[str, Any], width: int) -> dict[str, Any]:
    vector = point["embedding"]
    if len(vector) != width:  # the dump cuts long vectors short
        numbers = random.Random(point["id"])
        vector = [numbers.gauss(0, 1) for _ in range(width)]
    return {
        "id": point["id"],
        "vector": vector,
        "document": point["document"],
        "metadata": point["metadata"],
    }
