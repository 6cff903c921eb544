"""Models that an optional library runs: fastembed, sentence-transformers, wordllama."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from a2m_gateway.embedding.local import BATCH, required_module
from a2m_gateway.embedding.settings import FastEmbed, SentenceTransformers
from a2m_gateway.errors import ConfigurationError, EmbedderRefused

__all__ = [
    "WORDLLAMA_MODEL",
    "WORDLLAMA_WIDTH",
    "load_fastembed",
    "load_sentence_transformers",
    "load_wordllama",
]

WORDLLAMA_MODEL = "wordllama-l2-supercat-256"
WORDLLAMA_WIDTH = 256


@dataclass(frozen=True, slots=True)
class _FastEmbedEncoder:
    library: Any

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        # Not query_embed: prefixes come from our table, the same for every way to run a model.
        return [vector.tolist() for vector in self.library.embed(list(texts), batch_size=BATCH)]


@dataclass(frozen=True, slots=True)
class _SentenceTransformersEncoder:
    library: Any

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        # An empty prompt keeps out the model's own default one: prefixes come from our table.
        vectors = self.library.encode(
            list(texts), prompt="", batch_size=BATCH, show_progress_bar=False
        )
        return cast("list[list[float]]", vectors.tolist())


@dataclass(frozen=True, slots=True)
class _WordLlamaEncoder:
    library: Any

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        if not all(text.strip() for text in texts):  # it would divide by the number of words
            raise EmbedderRefused(f"{WORDLLAMA_MODEL} has no vector for a text without a word")
        return cast("list[list[float]]", self.library.embed(list(texts), norm=True).tolist())


def load_fastembed(settings: FastEmbed) -> _FastEmbedEncoder:
    """A model of fastembed's; blocking, and may fetch it (``download``).

    Raises:
        MissingDependency: The library is not installed.
        ConfigurationError: It doesn't know the model, or can't get at it.
    """
    library = required_module("fastembed", "fastembed")
    try:
        model = library.TextEmbedding(
            settings.model,
            local_files_only=not settings.download,
            **({"specific_model_path": settings.path} if settings.path else {}),
        )
    except Exception as error:
        raise _unloadable("fastembed", settings.model, settings.download, error) from error
    return _FastEmbedEncoder(model)


def load_sentence_transformers(settings: SentenceTransformers) -> _SentenceTransformersEncoder:
    """A model of sentence-transformers'; blocking, and may fetch it (``download``).

    Raises:
        MissingDependency: The library is not installed.
        ConfigurationError: It doesn't know the model, or can't get at it.
    """
    library = required_module("sentence_transformers", "sentence-transformers")
    try:
        # trust_remote_code stays False: a model's folder may hold Python.
        model = library.SentenceTransformer(
            settings.model, device=settings.device, local_files_only=not settings.download
        )
    except Exception as error:
        raise _unloadable(
            "sentence-transformers", settings.model, settings.download, error
        ) from error
    return _SentenceTransformersEncoder(model)


def load_wordllama() -> _WordLlamaEncoder:
    """The model inside the wordllama package; blocking.

    Raises:
        MissingDependency: The library is not installed.
    """
    library = required_module("wordllama", "wordllama")
    # A plain load() looks for the tokeniser where the wheel doesn't have it, then on the network.
    folder = Path(cast("str", library.__file__)).parent
    return _WordLlamaEncoder(library.WordLlama.load(cache_dir=folder, disable_download=True))


def _unloadable(library: str, model: str, download: bool, error: Exception) -> ConfigurationError:
    remedy = "" if download else "; `download = true` lets the library fetch it"
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ConfigurationError(
        f"{library} can't load {model!r}: {reason}{remedy}", setting="embedder.model"
    )
