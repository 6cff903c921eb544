"""Vectors kept by the hash of what they were made of, for tests and benchmarks."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from array import array
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from a2m_gateway.embedding.interface import Embedder

__all__ = ["CachedEmbedder"]

_R = TypeVar("_R")
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class CachedEmbedder:
    """An ``Embedder`` that asks the inner one only for what it has not seen.

    The file is SQLite's, so several processes may share it and one that is killed leaves it whole.
    A file that is damaged all the same is begun again. It grows with the texts, 1.6 KB each at 384
    components, and nothing is ever thrown away: it is for a bounded set of texts.

    Args:
        folder: Made if it is not there. Another pooling or prefix of the same model wants another
            folder: the key is the model's name, the role and the text.
    """

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self._path = folder / "vectors.sqlite3"
        # One thread: a connection belongs to the thread that made it.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._connection: sqlite3.Connection | None = None

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def width(self) -> int | None:
        return self._inner.width

    @property
    def remote(self) -> str | None:
        return self._inner.remote

    async def embed_query(self, text: str) -> list[float]:
        async def one(texts: Sequence[str]) -> list[list[float]]:
            return [await self._inner.embed_query(texts[0])]

        return (await self._through([text], "query", one))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        return await self._through(texts, "passage", self._inner.embed_passages)

    async def aclose(self) -> None:
        await self._call(self._close)
        self._thread.shutdown(wait=False)
        await self._inner.aclose()

    async def _through(
        self,
        texts: Sequence[str],
        role: str,
        embed: Callable[[Sequence[str]], Awaitable[list[list[float]]]],
    ) -> list[list[float]]:
        keys = [self._key(role, text) for text in texts]
        known = await self._call(self._read, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = await embed(list(missing.values()))
            known |= dict(zip(missing, made, strict=True))
            await self._call(self._write, {key: known[key] for key in missing})
        return [known[key] for key in keys]

    def _key(self, role: str, text: str) -> bytes:
        parts = (self.model, role, text)
        whole = b"\0".join(
            hashlib.sha256(p.encode("utf-8", "surrogatepass")).digest() for p in parts
        )
        return hashlib.sha256(whole).digest()

    async def _call(self, function: Callable[..., _R], *arguments: object) -> _R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, function, *arguments)

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, list[float]]:
        try:
            return self._rows(keys)
        except sqlite3.OperationalError:
            raise  # locked or unreadable, and somebody else's to mend
        except sqlite3.DatabaseError:  # damaged
            self._close()
            for path in (self._path, Path(f"{self._path}-journal")):
                path.unlink(missing_ok=True)
            return self._rows(keys)

    def _rows(self, keys: Sequence[bytes]) -> dict[bytes, list[float]]:
        found = {}
        for key in keys:
            query = self._open().execute("SELECT vector FROM vectors WHERE key = ?", (key,))
            row = query.fetchone()
            if row is not None:
                found[key] = _unpacked(row[0])
        return found

    def _write(self, vectors: dict[bytes, list[float]]) -> None:
        with self._open() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                [(key, _packed(vector)) for key, vector in vectors.items()],
            )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, timeout=60)
            self._connection.execute(_SCHEMA)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _packed(vector: Sequence[float]) -> bytes:
    """As float32 where nothing is lost by it, as a local model's vectors; else as float64."""
    narrow = array("f", vector)
    exact = list(narrow) == list(vector)
    return b"f" + narrow.tobytes() if exact else b"d" + array("d", vector).tobytes()


def _unpacked(blob: bytes) -> list[float]:
    values = array(blob[:1].decode())
    values.frombytes(blob[1:])
    return list(values)
