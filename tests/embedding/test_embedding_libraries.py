"""The kinds that an optional library runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from a2m_gateway.embedding import build
from a2m_gateway.embedding.local import LocalEmbedder
from a2m_gateway.embedding.recipes import Prefixes
from a2m_gateway.embedding.settings import FastEmbed, SentenceTransformers, WordLlama
from a2m_gateway.errors import ConfigurationError, EmbedderError, EmbedderRefused, MissingDependency

TEXTS = ["The parser gave up.", "A syntax error ended the run.", "Bananas are yellow.", "🎉 nul \0"]


async def test_wordllama_gives_what_the_library_gives() -> None:
    library = pytest.importorskip("wordllama")
    folder = Path(library.__file__).parent
    expected = library.WordLlama.load(cache_dir=folder, disable_download=True).embed(TEXTS)
    embedder = build(WordLlama())
    vectors = np.array(await embedder.embed_passages(TEXTS))
    assert (embedder.width, vectors.shape, embedder.remote) == (256, (4, 256), None)
    cosines = (vectors * expected).sum(1) / np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    await embedder.aclose()


async def test_wordllama_has_no_vector_for_no_words() -> None:
    pytest.importorskip("wordllama")
    embedder = build(WordLlama())
    with pytest.raises(EmbedderRefused, match="without a word"):
        await embedder.embed_query(" ")
    await embedder.aclose()


class Broken:
    """A library that gives what it should not, or raises."""

    def __init__(self, given: list[list[float]] | Exception) -> None:
        self.given = given

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[float("nan"), 1.0]], "no finite number"),
        ([[1.0, float("-inf")]], "no finite number"),
        ([], "1 texts with 0 vectors"),
        ([[]], "empty vector"),
        ([[1.0]], "1 components where 2"),
        (RuntimeError("out of memory"), "m failed: RuntimeError: out of memory"),
    ],
)
async def test_what_a_library_may_not_give(
    given: list[list[float]] | Exception, words: str
) -> None:
    embedder = LocalEmbedder("m", lambda: Broken(given), prefixes=Prefixes(), width=2)
    with pytest.raises(EmbedderError, match=words):
        await embedder.embed_query("x")
    await embedder.aclose()


@pytest.mark.parametrize(
    ("settings", "module"),
    [
        (FastEmbed(model="m", download=False), "fastembed"),
        (SentenceTransformers(model="m", download=False), "sentence_transformers"),
        (WordLlama(), "wordllama"),
    ],
)
async def test_a_library_that_is_not_there(
    settings: FastEmbed | SentenceTransformers | WordLlama,
    module: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    extra = module.replace("_", "-")
    embedder = build(settings)
    with pytest.raises(MissingDependency, match=rf"pip install 'a2m-gateway\[{extra}\]'"):
        await embedder.embed_query("x")
    await embedder.aclose()


@pytest.mark.parametrize(
    ("settings", "module"),
    [
        (FastEmbed(model="no/such", download=False), "fastembed"),
        (SentenceTransformers(model="/no/such", download=False), "sentence_transformers"),
    ],
)
async def test_a_model_that_is_not_there(
    settings: FastEmbed | SentenceTransformers, module: str
) -> None:
    if find_spec(module) is None:
        pytest.skip(f"{module}, an extra, is not installed")
    embedder = build(settings)
    with pytest.raises(ConfigurationError, match=r"embedder\.model.*no/such"):
        await embedder.embed_query("x")
    await embedder.aclose()
