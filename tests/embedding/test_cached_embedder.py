"""Vectors kept between runs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import cached_embedder
import pytest
from cached_embedder import CachedEmbedder

ODD = ["", "a", "nul \0", "🎉", "x" * 100_000]


class Counted:
    """Its vectors are doubles that no float32 is equal to."""

    remote = None
    width: int | None = 3

    def __init__(self, model: str = "counted") -> None:
        self.model = model
        self.seen: list[str] = []
        self.closed = False

    def vector(self, text: str, role: float) -> list[float]:
        return [len(text) / 3, 0.1, role]

    async def embed_query(self, text: str) -> list[float]:
        self.seen.append(text)
        return self.vector(text, 1.0)

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen += texts
        return [self.vector(text, 2.0) for text in texts]

    async def aclose(self) -> None:
        self.closed = True


async def test_nothing_is_embedded_twice_or_changed(tmp_path: Path) -> None:
    inner = Counted()
    for _ in range(2):
        cached = CachedEmbedder(inner, tmp_path / "new")
        vectors = await cached.embed_passages([*ODD, *ODD])
        assert vectors == [inner.vector(text, 2.0) for text in ODD] * 2
        assert await cached.embed_query("a") == inner.vector("a", 1.0)
        await cached.aclose()
    assert inner.seen == [*ODD, "a"]
    assert inner.closed


async def test_what_float32_holds_is_kept_as_float32(tmp_path: Path) -> None:
    class Single(Counted):
        def vector(self, text: str, role: float) -> list[float]:
            return [0.5] * 1000

    cached = CachedEmbedder(Single(), tmp_path)
    await cached.embed_passages([str(n) for n in range(100)])
    assert await cached.embed_passages(["7"]) == [[0.5] * 1000]
    await cached.aclose()
    assert (tmp_path / "vectors.sqlite3").stat().st_size < 100 * 1000 * 6


async def test_another_model_is_another_vector(tmp_path: Path) -> None:
    one, other = Counted("one"), Counted("other")
    for inner in (one, other):
        cached = CachedEmbedder(inner, tmp_path)
        await cached.embed_query("a")
        await cached.aclose()
    assert (one.seen, other.seen) == (["a"], ["a"])


@pytest.mark.parametrize("damage", ["cut", "scribbled", "another file", "empty"])
async def test_a_damaged_file_is_begun_again(tmp_path: Path, damage: str) -> None:
    texts = [f"text {n}" for n in range(200)]
    cached = CachedEmbedder(Counted(), tmp_path)
    await cached.embed_passages(texts)
    await cached.aclose()
    path = tmp_path / "vectors.sqlite3"
    whole = path.read_bytes()
    path.write_bytes(
        {
            "cut": whole[: len(whole) // 2 + 100],
            "scribbled": whole[:4096] + bytes([255]) * (len(whole) - 4096),
            "another file": b"these are no vectors" * 500,
            "empty": b"",
        }[damage]
    )
    inner = Counted()
    cached = CachedEmbedder(inner, tmp_path)
    assert await cached.embed_passages(texts) == [inner.vector(text, 2.0) for text in texts]
    assert await cached.embed_passages(texts) == [inner.vector(text, 2.0) for text in texts]
    assert len(inner.seen) <= len(texts)
    await cached.aclose()


WRITER = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_cached_embedder import Counted
from cached_embedder import CachedEmbedder

async def main():
    cached = CachedEmbedder(Counted(), Path(sys.argv[1]))
    for start in range(0, 300, 30):
        await cached.embed_passages([f"text {n}" for n in range(start, start + 30)])
    await cached.aclose()

asyncio.run(main())
"""


def test_processes_share_it(tmp_path: Path) -> None:
    places = [str(Path(__file__).parent), str(Path(cached_embedder.__file__).parent)]
    command = [sys.executable, "-c", WRITER, str(tmp_path), *places]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err.decode()
    inner = Counted()

    async def read() -> list[list[float]]:
        cached = CachedEmbedder(inner, tmp_path)
        vectors = await cached.embed_passages([f"text {n}" for n in range(300)])
        await cached.aclose()
        return vectors

    assert asyncio.run(read()) == [inner.vector(f"text {n}", 2.0) for n in range(300)]
    assert inner.seen == []
