"""A persist folder that somebody else wrote, served without touching a byte of it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import a2m_chroma.embedded
import a2m_chroma.snapshot
import pytest

from a2m_gateway.errors import (
    CollectionNotFound,
    ConfigurationError,
    MissingDependency,
    StoreTimeout,
    StoreUnavailable,
)
from a2m_gateway.store import Connection, Selection, Store, StoreURL

Open = Callable[..., Awaitable[Store]]
Connect = Callable[..., Awaitable[Connection]]


@pytest.fixture(scope="module")
def persist_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a ``PersistentClient`` leaves, its vector index included."""
    chromadb = pytest.importorskip("chromadb")
    folder = tmp_path_factory.mktemp("persisted") / "a folder"
    client = chromadb.PersistentClient(str(folder))
    docs = client.create_collection("docs", embedding_function=None)
    numbers = range(1200)
    docs.add(
        ids=[f"p{n}" for n in numbers],
        embeddings=[[float(n), 1.0] for n in numbers],
        documents=[f"text {n}" for n in numbers],
        metadatas=[{"n": n} for n in numbers],
    )
    (folder / "notes.txt").write_text("not Chroma's")
    return folder


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private copies go, so that a test sees whether they are removed."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def address(folder: Path, collection: str = "docs", query: str = "") -> StoreURL:
    path = quote(f"{folder.as_posix()}/{collection}")
    return StoreURL.parse(f"chroma+file://{path}{query}")


def copy_of(folder: Path, target: Path) -> Path:
    shutil.copytree(folder, target)
    return target


def content(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def state(folder: Path) -> dict[str, tuple[str, int, int]]:
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
            path.stat().st_mode,
        )
        for path in [folder, *folder.rglob("*")]
    }


async def test_no_byte_changes(persist_folder: Path, open_store: Open, connect: Connect) -> None:
    before = state(persist_folder)
    assert any(path.endswith("data_level0.bin") for path in before)
    connection = await connect(address(persist_folder))
    assert [(c.name, c.count) for c in await connection.collections()] == [("docs", 1200)]
    store = await open_store(address(persist_folder))
    assert [hit.row.id for hit in await store.search([7.0, 1.0], 1)] == ["p7"]
    assert len(await store.search_text(["text"], 50)) == 50
    assert await store.count() == 1200
    assert state(persist_folder) == before
    assert any("private copy" in note for note in store.profile.notes)


async def test_the_copy_is_private_and_removed(
    persist_folder: Path, connect: Connect, scratch: Path
) -> None:
    connection = await connect(address(persist_folder))
    (copy,) = content(scratch)
    assert copy.stat().st_mode & 0o777 == 0o700
    assert not (copy / "notes.txt").exists()
    await connection.aclose()
    await connection.aclose()
    assert content(scratch) == []
    with pytest.raises(StoreUnavailable, match="closed"):
        await connection.collections()


async def test_in_place_is_said(persist_folder: Path, open_store: Open, scratch: Path) -> None:
    """And why the copy is the default: Chroma writes to the database at every start."""
    folder = copy_of(persist_folder, scratch / "copy")
    before = state(folder)
    store = await open_store(address(folder, query="?in_place=true"))
    assert await store.count() == 1200
    assert state(folder) != before
    assert any("writes to it at every start" in note for note in store.profile.notes)
    assert content(scratch) == [folder]


async def test_a_folder_that_is_none_is_not_created(
    tmp_path: Path, scratch: Path, connect: Connect
) -> None:
    before = state(tmp_path)
    for path, words in ((tmp_path / "absent", "no folder"), (tmp_path, r"no chroma\.sqlite3")):
        with pytest.raises(ConfigurationError, match=words):
            await connect(address(path))
    assert state(tmp_path) == before


async def test_an_option_that_is_neither_true_nor_false(
    persist_folder: Path, connect: Connect
) -> None:
    with pytest.raises(ConfigurationError, match="in_place"):
        await connect(address(persist_folder, query="?in_place=perhaps"))


async def test_a_file_that_is_no_database(tmp_path: Path, scratch: Path, connect: Connect) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreUnavailable, match="ended while it started"):
        await connect(address(tmp_path))
    assert content(scratch) == []


async def test_a_missing_collection_names_what_there_is(
    persist_folder: Path, open_store: Open
) -> None:
    with pytest.raises(CollectionNotFound, match="there are docs"):
        await open_store(address(persist_folder, "nope"))


async def test_without_chroma_the_extra_is_named(
    persist_folder: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(a2m_chroma.embedded, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'a2m-gateway\[chroma-embedded\]'"):
        await connect(address(persist_folder))


async def test_too_little_room_says_what_to_do(
    persist_folder: Path, connect: Connect, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 0}))
    with pytest.raises(ConfigurationError, match="TMPDIR"):
        await connect(address(persist_folder))
    assert content(scratch) == []


async def test_a_folder_that_is_being_written_to_is_not_copied_in_halves(
    persist_folder: Path, connect: Connect, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_of(persist_folder, scratch / "busy")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch.parent))
    copied = a2m_chroma.snapshot._copied

    def copied_while_written(*arguments: Any) -> bool:
        with sqlite3.connect(folder / "chroma.sqlite3") as database:
            database.execute("INSERT INTO acquire_write (lock_status) VALUES (TRUE)")
        return copied(*arguments)

    monkeypatch.setattr(a2m_chroma.snapshot, "_copied", copied_while_written)
    with pytest.raises(StoreUnavailable, match="being written to"):
        await connect(address(folder))
    assert [path.name for path in content(scratch.parent)] == ["scratch"]


async def test_it_recovers_by_itself_when_the_child_is_killed_or_hangs(
    persist_folder: Path, connect: Connect
) -> None:
    connection = await connect(address(persist_folder), deadline=10)
    store = await connection.open("docs", Selection(vector_name=""))
    endpoint = connection._client._endpoint  # type: ignore[attr-defined]
    first = endpoint.pid
    os.killpg(first, signal.SIGKILL)
    await _until(lambda: endpoint.pid is None)
    assert [hit.row.id for hit in await store.search([7.0, 1.0], 1)] == ["p7"]
    second = endpoint.pid
    assert second not in (None, first)

    connection._client._deadline = 0.5  # type: ignore[attr-defined]
    os.killpg(second, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(StoreTimeout):
        await store.search([7.0, 1.0], 1)
    assert time.monotonic() - start < 1.5
    connection._client._deadline = 10  # type: ignore[attr-defined]
    assert [hit.row.id for hit in await store.search([7.0, 1.0], 1)] == ["p7"]
    assert endpoint.pid not in (None, second)


async def test_connecting_can_be_cancelled_at_any_moment(
    persist_folder: Path, connect: Connect, scratch: Path
) -> None:
    for delay in (0.0, 0.02, 0.1, 0.4):
        task = asyncio.ensure_future(connect(address(persist_folder)))
        await asyncio.wait([task], timeout=delay)
        if task.done():  # this machine is faster than the delay
            await task.result().aclose()
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert content(scratch) == []


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nothing tells of another process's end
            await asyncio.sleep(0.01)
