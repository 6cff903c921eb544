"""A private copy of a persist folder, because Chroma writes to whatever it opens.

Measured with 1.5.9: every start rewrites pages of ``chroma.sqlite3`` (a row in ``acquire_write``),
older folders are migrated, and the vector index is written out when enough is waiting. The copy
leaves the owner's folder byte for byte as it is, also when another process writes there: what is
copied is then one moment's state or nothing.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import structlog

from a2m_gateway.errors import ConfigurationError, StoreUnavailable

__all__ = ["DATABASE", "Snapshot", "take"]

DATABASE = "chroma.sqlite3"
_BESIDE = ("", "-journal", "-wal")  # a journal left by a crash belongs to the database
_ATTEMPTS = 3
_CHUNK = 4 << 20
_WORTH_SAYING = 256 << 20

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    folder: Path
    size: int


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    size: int
    changed_ns: int
    inode: int


async def take(source: Path) -> Snapshot:
    """Copy what Chroma needs of ``source`` to a new folder that only this user can read.

    Raises:
        ConfigurationError: It can't be read, or there is no room for the copy.
        StoreUnavailable: It changed during every attempt.
    """
    stop = threading.Event()
    copying = asyncio.get_running_loop().run_in_executor(None, _take, source, stop)
    try:
        return await asyncio.shield(copying)
    except asyncio.CancelledError:
        stop.set()
        with suppress(Exception):
            shutil.rmtree((await copying).folder, ignore_errors=True)
        raise


def _take(source: Path, stop: threading.Event) -> Snapshot:
    try:
        for _ in range(_ATTEMPTS):
            before = list(_files(source))
            size = sum(file.size for file in before)
            _expect_room(size)
            if size > _WORTH_SAYING:
                log.info("chroma.copying", folder=str(source), mebibytes=size >> 20)
            folder = Path(tempfile.mkdtemp(prefix="a2m-chroma-"))
            try:
                if _copied(before, source, folder, stop) and list(_files(source)) == before:
                    return Snapshot(folder, size)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            shutil.rmtree(folder, ignore_errors=True)
    except PermissionError as error:
        raise ConfigurationError(f"can't be read: {error}", setting="STORE") from None
    except OSError as error:
        raise StoreUnavailable(f"the persist folder could not be copied: {error}") from None
    raise StoreUnavailable(
        "the persist folder is being written to: stop the writer while the gateway starts, or run "
        "`chroma run --path` on it and serve chroma://"
    )


def _files(source: Path) -> Iterator[_File]:
    """The database and the vector indexes, whose folders are named by ids."""
    for path in sorted(source.iterdir()):
        if path.is_dir() and _is_uuid(path.name):
            yield from map(_file, sorted(inner for inner in path.rglob("*") if inner.is_file()))
        elif path.name in {DATABASE + suffix for suffix in _BESIDE} and path.is_file():
            yield _file(path)


def _file(path: Path) -> _File:
    status = path.stat()
    return _File(path, status.st_size, status.st_mtime_ns, status.st_ino)


def _is_uuid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _copied(files: list[_File], source: Path, folder: Path, stop: threading.Event) -> bool:
    """Copy ``files``; False where one is gone meanwhile, or nobody waits any longer."""
    for file in files:
        target = folder / file.path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with file.path.open("rb") as reader, target.open("wb") as writer:
                while chunk := reader.read(_CHUNK):
                    if stop.is_set():
                        return False
                    writer.write(chunk)
        except FileNotFoundError:
            return False
    return True


def _expect_room(size: int) -> None:
    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free
    if free < size + (64 << 20):
        raise ConfigurationError(
            f"a private copy takes {size >> 20} MiB and {place} has {free >> 20} free: set TMPDIR "
            "to a larger disk, or ?in_place=true to let Chroma open the folder itself, which "
            "writes to it",
            setting="STORE",
        )
