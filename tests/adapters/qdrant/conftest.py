"""Folders of Qdrant's local mode, written by the real client, and stores opened on them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from a2m_qdrant import EmbeddedQdrantAdapter, QdrantAdapter
from a2m_qdrant.connection import QdrantConnection
from a2m_qdrant.local import LocalEngine
from a2m_qdrant.local_engine import LocalModeEngine
from a2m_qdrant.store import QdrantStore
from qdrant_client import QdrantClient, models

from a2m_gateway.store import Row, Selection, StoreURL
from a2m_gateway.store.worker_main import HEADER, frame

CORPORA = Path(__file__).resolve().parents[2] / "corpora"

Load = Callable[[str], Path]
Write = Callable[..., Path]
OpenFolder = Callable[[Path], Awaitable[QdrantConnection]]
OpenStore = Callable[..., Awaitable[QdrantStore]]


def load_dump(name: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Write ``tests/corpora/<name>.json`` into a local-mode folder, as its collections were.

    Returns:
        The points of each collection, as they lie in the dump.
    """
    dump = json.loads((CORPORA / f"{name}.json").read_text("utf-8"))
    configured = {
        collection: config
        for collection, config in dump["collection_info"].items()
        if isinstance(config, dict) and "vectors" in config
    }
    held: dict[str, list[dict[str, Any]]] = {collection: [] for collection in configured}
    for point in dump["points"]:
        held[point["_collection"]].append(point)
    with _client(folder) as client:
        for collection, config in configured.items():
            client.create_collection(
                collection,
                vectors_config=_vectors_config(config["vectors"]),
                sparse_vectors_config={
                    sparse: models.SparseVectorParams(**(params or {}))
                    for sparse, params in (config.get("sparse_vectors") or {}).items()
                },
            )
            points = [
                models.PointStruct(
                    id=point["id"], vector=_vector(point["vector"]), payload=point["payload"]
                )
                for point in held[collection]
            ]
            if points:
                client.upsert(collection, points)
    return held


def write_rows(
    folder: Path,
    collection: str,
    rows: Sequence[Row],
    *,
    distance: models.Distance = models.Distance.COSINE,
    width: int = 8,
) -> Path:
    """Write rows into a collection of a local-mode folder; ids of digits become integers."""
    with _client(folder) as client:
        client.create_collection(
            collection, vectors_config=models.VectorParams(size=width, distance=distance)
        )
        points = [
            models.PointStruct(
                id=int(row.id) if row.id.isdigit() else row.id,
                vector=list(row.vector) if row.vector is not None else {},
                payload=dict(row.fields),
            )
            for row in rows
        ]
        if points:
            client.upsert(collection, points)
    return folder


@contextmanager
def _client(folder: Path) -> Iterator[QdrantClient]:
    client = QdrantClient(path=str(folder))
    try:
        yield client
    finally:
        client.close()


def _vectors_config(config: Mapping[str, Any]) -> Any:
    if "size" in config:
        return models.VectorParams(**config)
    return {name: models.VectorParams(**one) for name, one in config.items()}


def _vector(vector: Any) -> Any:
    if vector is None:
        return {}
    if not isinstance(vector, dict):
        return vector
    if "indices" in vector:
        return models.SparseVector(**vector)
    return {name: _vector(one) for name, one in vector.items()}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """``load("mem0-qdrant")`` gives a folder that holds that dump."""

    def load_named(name: str) -> Path:
        folder = tmp_path / name
        load_dump(name, folder)
        return folder

    return load_named


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(rows)`` gives a folder whose collection ``docs`` holds them."""

    def write_docs(rows: Sequence[Row], **config: Any) -> Path:
        return write_rows(tmp_path / "folder", "docs", rows, **config)

    return write_docs


@pytest.fixture
async def open_folder() -> AsyncIterator[OpenFolder]:
    """Connections to folders, closed afterwards."""
    opened: list[QdrantConnection] = []

    async def connect(folder: Path, deadline: float = 20.0) -> QdrantConnection:
        url = StoreURL.parse(f"qdrant+file://{folder}/")
        opened.append(await EmbeddedQdrantAdapter().connect(url, deadline=deadline))
        return opened[-1]

    yield connect
    for connection in opened:
        await connection.aclose()


class WorkerHere:
    """A ``WorkerProcess`` without the process: the same calls through the same encoding."""

    def __init__(self, folder: Path) -> None:
        self._engine = LocalModeEngine(str(folder))

    async def call(self, method: str, **arguments: Any) -> Any:
        request = self._crossed({"arguments": arguments})
        result = getattr(self._engine, method)(**request["arguments"])
        return self._crossed({"result": result})["result"]

    async def aclose(self) -> None:
        self._engine.close()

    @staticmethod
    def _crossed(message: dict[str, Any]) -> Any:
        return msgspec.json.decode(frame(message)[HEADER.size :])


@pytest.fixture
async def open_here() -> AsyncIterator[OpenFolder]:
    """Connections to folders whose engine runs in this process, which starts faster."""
    opened: list[QdrantConnection] = []

    async def connect(folder: Path) -> QdrantConnection:
        opened.append(QdrantConnection(LocalEngine(WorkerHere(folder))))  # type: ignore[arg-type]
        return opened[-1]

    yield connect
    for connection in opened:
        await connection.aclose()


@pytest.fixture
def open_store(write: Write, open_here: OpenFolder) -> OpenStore:
    """``await open_store(rows, text_path=…)`` writes rows and opens a store on them."""

    async def open_rows(
        rows: Sequence[Row], *, config: Any = None, **selection: Any
    ) -> QdrantStore:
        connection = await open_here(write(rows, **(config or {})))
        return await connection.open("docs", Selection(**selection))

    return open_rows


class Server:
    """Stands in for a Qdrant server, since none runs here: a transport beneath the real client.

    It answers by method and path, with what Qdrant's OpenAPI schema has, which the client
    validates, and remembers what was asked. ``test_qdrant_server.py`` has the same adapter on a
    real server, where there is one.
    """

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.answers: dict[str, Any] = {
            "GET /": {"title": "qdrant - vector search engine", "version": "1.17.1"},
            "GET /collections": self.ok({"collections": [{"name": "b"}, {"name": "docs"}]}),
            "POST /collections/docs/points/count": self.ok({"count": 3}),
        }
        self.describe()

    def describe(
        self,
        *,
        vectors: Any = None,
        indexes: dict[str, Any] | None = None,
        strict: dict[str, Any] | None = None,
        **config: Any,
    ) -> None:
        params = {"vectors": vectors or {"size": 2, "distance": "Cosine"}}
        params |= {"sparse_vectors": config.pop("sparse", None)}
        self.answers["GET /collections/docs"] = self.ok(
            {
                "status": "green",
                "optimizer_status": "ok",
                "points_count": 2,
                "segments_count": 1,
                "payload_schema": indexes or {},
                "config": {
                    "params": params,
                    "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                    "optimizer_config": {
                        "deleted_threshold": 0.2,
                        "vacuum_min_vector_number": 1000,
                        "default_segment_number": 0,
                        "flush_interval_sec": 5,
                    },
                    "strict_mode_config": {"enabled": True, **strict} if strict else None,
                    **config,
                },
            }
        )

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer: Any = self.answers[f"{request.method} {request.url.path}"]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = await answer(request)
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def bodies(self) -> list[tuple[str, Any]]:
        """(path, JSON) of what was asked since the last look."""
        seen = [(r.url.raw_path.decode(), json.loads(r.content)) for r in self.requests]
        self.requests.clear()
        return seen

    @staticmethod
    def ok(result: Any) -> dict[str, Any]:
        return {"result": result, "status": "ok", "time": 0.001}

    @staticmethod
    def index(kind: str, points: int = 3, **params: Any) -> dict[str, Any]:
        return {"data_type": kind, "points": points} | (
            {"params": {"type": kind, **params}} if params else {}
        )

    @staticmethod
    def record(name: Any, **more: Any) -> dict[str, Any]:
        return {"id": name, "payload": {"n": 1}, **more}


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def connect(server: Server) -> AsyncIterator[Any]:
    opened: list[QdrantConnection] = []

    async def connect_to(url: str = "qdrant://host/", deadline: float = 5.0, **more: Any) -> Any:
        adapter = QdrantAdapter(transport=httpx.MockTransport(server.handle))
        opened.append(await adapter.connect(StoreURL.parse(url), deadline=deadline, **more))
        return opened[-1]

    yield connect_to
    for connection in opened:
        await connection.aclose()


@pytest.fixture
def opened(server: Server, connect: Any) -> Any:
    """Opens ``docs`` with a selection, and forgets the requests that took."""

    async def open_docs(deadline: float = 5.0, **selection: Any) -> Any:
        connection = await connect(deadline=deadline)
        store = await connection.open("docs", Selection(**selection))
        server.requests.clear()
        return store

    return open_docs
