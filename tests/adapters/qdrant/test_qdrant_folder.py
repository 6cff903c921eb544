"""Folders of local mode: which are opened, and that none is changed."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from a2m_qdrant import embedded_adapter
from a2m_qdrant.local_folder import open_folder as open_directly
from qdrant_client import QdrantClient, models

from a2m_gateway.errors import ConfigurationError, StoreUnavailable
from a2m_gateway.store import Row, Selection, StoreURL
from a2m_gateway.testing import sample_rows

DUMPS = [
    "agno-qdrant", "haystack-qdrant", "langchain-qdrant", "langchainjs-qdrant", "llamaindex-qdrant",
    "mcp-server-qdrant-qdrant", "mem0-qdrant", "open-webui-qdrant",
]  # fmt: skip


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


async def test_serving_changes_no_byte(write: Any, open_folder: Any) -> None:
    folder = write(sample_rows())
    before = hashes(folder)
    stamps = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    connection = await open_folder(folder)
    store = await connection.open(
        "docs", Selection(vector_name="", text_path=("text",), order_path=("page",))
    )
    for order in store.profile.orderings:
        await store.scan(order=order, vectors=True)
    await store.search([1.0] * 8, 5)
    await store.search_text(["error"], 5)
    await store.count()
    await connection.aclose()
    assert hashes(folder) == before
    assert stamps == {file: file.stat().st_mtime_ns for file in stamps}


async def test_only_a_lock_file_is_added(write: Any, open_folder: Any) -> None:
    folder = write(sample_rows(3))
    (folder / ".lock").unlink()
    before = hashes(folder)
    await (await open_folder(folder)).collections()
    assert set(hashes(folder)) - set(before) == {".lock"}


@pytest.mark.parametrize("name", DUMPS)
def test_every_dump_is_read_as_the_client_reads_it(name: str, load: Any) -> None:
    folder = load(name)
    before = hashes(folder)
    client = QdrantClient(path=str(folder))
    names = [one.name for one in client.get_collections().collections]
    theirs = {one: client.scroll(one, limit=100, with_vectors=True)[0] for one in names}
    client.close()
    opened = open_directly(folder)
    ours = {one: opened.scroll(one, limit=100, with_vectors=True)[0] for one in names}
    opened.close()
    assert names
    assert ours == theirs
    assert hashes(folder) == before


def test_rows_that_the_client_would_delete_stay(write: Any) -> None:
    """Older clients kept a row for each spelling of a UUID; the newer deletes all but the last."""
    folder = write([Row("00000000-0000-0000-0000-00000000000a", {"n": 1}, [1.0] * 8)])
    file = next(folder.glob("collection/*/*.sqlite"))
    with sqlite3.connect(file) as database:
        point = models.PointStruct(
            id="0000000000000000000000000000000A", vector=[1.0] * 8, payload={"n": 2}
        )
        database.execute("INSERT INTO points VALUES (?, ?)", ("other", pickle.dumps(point)))
    database.close()
    before = hashes(folder)
    opened = open_directly(folder)
    records, _ = opened.scroll("docs")
    opened.close()
    assert [(one.id, one.payload) for one in records] == [
        ("00000000-0000-0000-0000-00000000000a", {"n": 2})
    ]
    assert hashes(folder) == before


class Bomb:
    """Unpickled, it would create the file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return (Path.touch, (self.file,))


def test_code_in_a_folder_is_not_run(write: Any, tmp_path: Path) -> None:
    folder = write(sample_rows(1))
    point = models.PointStruct(id=1, vector=[1.0] * 8, payload={"x": Bomb(tmp_path / "ran")})
    with sqlite3.connect(next(folder.glob("collection/*/*.sqlite"))) as database:
        database.execute("INSERT INTO points VALUES (?, ?)", ("bomb", pickle.dumps(point)))
    database.close()
    with pytest.raises(ConfigurationError, match=r"pathlib|getattr"):
        open_directly(folder)
    assert not (tmp_path / "ran").exists()
    assert pickle.loads(pickle.dumps(point))
    assert (tmp_path / "ran").exists(), "it would have run"


async def connect(folder: Path, collection: str = "docs") -> Any:
    return await embedded_adapter.connect(StoreURL.parse(f"qdrant+file://{folder}/{collection}"))


async def test_a_missing_folder_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        await connect(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


def test_folders_that_are_none_of_local_mode_say_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no meta\.json"):
        open_directly(tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ConfigurationError, match="there is no folder"):
        open_directly(file)
    server = tmp_path / "storage"
    (server / "collections").mkdir(parents=True)
    (server / "raft_state.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="storage of a Qdrant server"):
        open_directly(server)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "storage"]


@pytest.mark.parametrize("meta", ["", "{", "[]", "{}", '{"collections": {"docs": 5}}', "\xff"])
def test_a_broken_meta_file_is_told(write: Any, meta: str) -> None:
    folder = write(sample_rows(1))
    (folder / "meta.json").write_bytes(meta.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="can't be opened"):
        open_directly(folder)
    assert (folder / "meta.json").read_bytes() == meta.encode("latin-1")


def test_a_broken_or_missing_collection_is_told_and_not_made(write: Any) -> None:
    folder = write(sample_rows(1))
    file = next(folder.glob("collection/*/*.sqlite"))
    whole = file.read_bytes()
    for damaged in (b"no database", b""):
        file.write_bytes(damaged)
        with pytest.raises(ConfigurationError, match="can't be read"):
            open_directly(folder)
        assert file.read_bytes() == damaged
    file.write_bytes(whole)
    shutil.rmtree(file.parent)
    with pytest.raises(ConfigurationError):
        open_directly(folder)
    assert not file.parent.exists()
    assert json.loads((folder / "meta.json").read_text())["collections"]


async def test_a_folder_that_another_has_open_is_unavailable(write: Any) -> None:
    folder = write(sample_rows(1))
    holder = QdrantClient(path=str(folder))
    try:
        with pytest.raises(StoreUnavailable, match="open in another process"):
            await connect(folder)
    finally:
        holder.close()


async def test_a_url_without_a_folder_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="names no folder"):
        await embedded_adapter.connect(StoreURL.parse("qdrant+file:///docs"))
