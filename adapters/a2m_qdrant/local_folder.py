"""A local-mode folder, read without changing it. Runs in the worker process.

The client's own way of opening a folder writes: it creates what is missing, and deletes rows that a
later version would not have written. And it unpickles what it finds, which runs whatever code the
folder's author put there. Here SQLite opens read-only, and the pickles may name plain data and
Qdrant's own models, nothing else.
"""

from __future__ import annotations

import functools
import io
import pickle
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel
from qdrant_client import models
from qdrant_client.local import local_collection, payload_value_extractor, persistence
from qdrant_client.local.json_path_parser import parse_json_path
from qdrant_client.local.qdrant_local import META_INFO_FILENAME, QdrantLocal
from qdrant_client.local.utils import normalize_point_id

from a2m_gateway.errors import ConfigurationError, StoreUnavailable
from a2m_qdrant.local_cosine import keep_vectors

__all__ = ["open_folder"]

_PLAIN = {
    ("builtins", "set"), ("builtins", "frozenset"), ("builtins", "bytearray"),
    ("collections", "OrderedDict"), ("copyreg", "_reconstructor"), ("builtins", "object"),
    ("datetime", "date"), ("datetime", "datetime"), ("datetime", "time"),
    ("datetime", "timedelta"), ("datetime", "timezone"), ("decimal", "Decimal"),
    ("uuid", "UUID"), ("uuid", "SafeUUID"),
    ("numpy", "dtype"), ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"), ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"), ("numpy.core.numeric", "_frombuffer"),
}  # fmt: skip

_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, AttributeError, ImportError, EOFError, IndexError,
    pickle.UnpicklingError,
)  # fmt: skip


def open_folder(folder: Path) -> QdrantLocal:
    """The folder, locked and loaded.

    A ``.lock`` file is created where there is none; nothing else is touched.

    Raises:
        ConfigurationError: It is no local-mode folder, or one that can't be read.
        StoreUnavailable: Another process has it open.
    """
    _recognise(folder)
    before = _fingerprint(folder)
    keep_vectors()
    _parse_paths_once()
    try:
        with warnings.catch_warnings(), _read_only_storage():
            warnings.simplefilter("ignore")  # how large a folder should be is its owner's choice
            opened = QdrantLocal(str(folder))
    except RuntimeError as error:
        raise StoreUnavailable(
            f"{folder} is open in another process, and local mode is for one at a time: close "
            "that one, or put the data into a Qdrant server"
        ) from error
    except sqlite3.Error as error:
        raise ConfigurationError(
            f"a file in {folder} can't be read ({error})", setting="STORE"
        ) from error
    except _UNREADABLE as error:
        raise ConfigurationError(f"{folder} can't be opened: {error}", setting="STORE") from error
    if _fingerprint(folder) != before:
        opened.close()  # the client locks only after it has read
        raise StoreUnavailable(f"{folder} was written to while it was opened")
    return opened


def _recognise(folder: Path) -> None:
    if not folder.is_dir():
        raise ConfigurationError(f"there is no folder {folder}", setting="STORE")
    if (folder / META_INFO_FILENAME).is_file():
        return
    if (folder / "raft_state.json").exists() or (folder / "aliases").is_dir():
        raise ConfigurationError(
            f"{folder} is the storage of a Qdrant server: start the server on it and use "
            "qdrant://HOST/COLLECTION",
            setting="STORE",
        )
    raise ConfigurationError(
        f"{folder} is no folder of Qdrant's local mode: it has no {META_INFO_FILENAME}",
        setting="STORE",
    )


def _fingerprint(folder: Path) -> dict[str, tuple[int, int]]:
    files = [folder / META_INFO_FILENAME, *folder.glob("collection/*/*.sqlite")]
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def _parse_paths_once() -> None:
    """The client takes a filter's key apart anew for every point, which is most of the time."""
    names = vars(payload_value_extractor)
    names["parse_json_path"] = functools.lru_cache(maxsize=1024)(parse_json_path)


@contextmanager
def _read_only_storage() -> Iterator[None]:
    """Have the client open collections by ``_ReadOnly``; it does so only as it loads them."""
    names = vars(local_collection)
    theirs = names["CollectionPersistence"]
    names["CollectionPersistence"] = _ReadOnly
    try:
        yield
    finally:
        names["CollectionPersistence"] = theirs


class _ReadOnly(persistence.CollectionPersistence):
    """The client's storage of one collection, without a way to write."""

    def __init__(self, location: str, force_disable_check_same_thread: bool = False) -> None:
        persistence.check_legacy_storage(location)
        self.location = Path(location) / persistence.STORAGE_FILE_NAME
        self.storage = sqlite3.connect(f"file:{quote(str(self.location))}?mode=ro", uri=True)

    def load(self) -> Iterator[models.PointStruct]:
        """Every point once: of several rows (spellings of one UUID) the one written last."""
        loaded = set()
        rows = self.storage.execute("SELECT point FROM points ORDER BY rowid DESC")
        for (stored,) in rows:
            point: Any = _Unpickler(stored).load()
            name = normalize_point_id(point.id)
            if name not in loaded:
                loaded.add(name)
                yield models.PointStruct.model_construct(
                    id=name, vector=point.vector, payload=point.payload
                )


class _Unpickler(pickle.Unpickler):
    """Unpickles plain data and Qdrant's models."""

    def __init__(self, stored: bytes) -> None:
        super().__init__(io.BytesIO(stored))

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        if module.startswith("qdrant_client.") and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, BaseModel | Enum):
                return found
        raise pickle.UnpicklingError(f"a point names {module}.{name}, which is no data of Qdrant's")
