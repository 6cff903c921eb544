"""From settings to an embedder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlsplit

from a2m_gateway.embedding.folder import ModelFolder
from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.embedding.libraries import (
    WORDLLAMA_MODEL,
    WORDLLAMA_WIDTH,
    load_fastembed,
    load_sentence_transformers,
    load_wordllama,
)
from a2m_gateway.embedding.local import Encoder, LocalEmbedder
from a2m_gateway.embedding.minilm import MODEL, WIDTH, load_minilm
from a2m_gateway.embedding.recipes import Prefixes, prefixes_for
from a2m_gateway.embedding.remote import RemoteEmbedder
from a2m_gateway.embedding.services import CohereService, OpenAIService, Service, VoyageService
from a2m_gateway.embedding.settings import (
    Cohere,
    EmbedderSettings,
    FastEmbed,
    Minilm,
    NoEmbedder,
    Onnx,
    OpenAI,
    SentenceTransformers,
    Voyage,
    WordLlama,
)
from a2m_gateway.errors import ConfigurationError

__all__ = ["build"]

_OPENAI_HOST = "api.openai.com"
_THREADS = 2
"""Runs of an ONNX model at once: a query need not wait for a batch of passages to end."""


def build(settings: EmbedderSettings, environment: Mapping[str, str] = os.environ) -> Embedder:
    """The embedder that ``settings`` describe. Loads no model and calls no service yet.

    Args:
        environment: Where keys are looked up.

    Raises:
        ConfigurationError: Names the setting.
    """
    match settings:
        case Minilm():
            return _minilm(settings)
        case Onnx():
            return _onnx(settings)
        case OpenAI() | Cohere() | Voyage():
            return _remote(settings, environment)
        case FastEmbed() | SentenceTransformers():
            return _library(settings)
        case WordLlama():
            return _wordllama()
        case NoEmbedder():
            raise ConfigurationError("`none` is no embedder to build", setting="embedder.kind")


def _minilm(settings: Minilm) -> Embedder:
    load = partial(load_minilm, settings)
    return LocalEmbedder(MODEL, load, prefixes=Prefixes(), width=WIDTH, threads=_THREADS)


def _onnx(settings: Onnx) -> Embedder:
    folder = ModelFolder.of(settings)
    prefixes = prefixes_for(folder.model, settings.query_prefix, settings.passage_prefix)
    return LocalEmbedder(folder.model, folder.load, prefixes=prefixes, threads=_THREADS)


def _library(settings: FastEmbed | SentenceTransformers) -> Embedder:
    load: Callable[[], Encoder]
    if isinstance(settings, FastEmbed):
        load = partial(load_fastembed, settings)
    else:
        load = partial(load_sentence_transformers, settings)
    prefixes = prefixes_for(settings.model, settings.query_prefix, settings.passage_prefix)
    return LocalEmbedder(settings.model, load, prefixes=prefixes)


def _wordllama() -> Embedder:
    return LocalEmbedder(
        WORDLLAMA_MODEL, load_wordllama, prefixes=Prefixes(), width=WORDLLAMA_WIDTH
    )


def _remote(settings: OpenAI | Cohere | Voyage, environment: Mapping[str, str]) -> Embedder:
    service: Service
    match settings:
        case OpenAI():
            service = OpenAIService(settings)
            prefixes = prefixes_for(settings.model, settings.query_prefix, settings.passage_prefix)
        case Cohere():
            service = CohereService(settings)
            prefixes = Prefixes(settings.query_prefix or "", settings.passage_prefix or "")
        case Voyage():
            service = VoyageService(settings)
            prefixes = Prefixes(settings.query_prefix or "", settings.passage_prefix or "")
    return RemoteEmbedder(settings, service, prefixes=prefixes, key=_key(settings, environment))


def _key(settings: OpenAI | Cohere | Voyage, environment: Mapping[str, str]) -> str | None:
    """The key from the environment.

    Raises:
        ConfigurationError: It is not there, or can't go into a header; the message has the
            variable's name, never its value.
    """
    name = settings.api_key_env
    if name is None and urlsplit(settings.url).hostname == _OPENAI_HOST:
        name = "OPENAI_API_KEY"
    if name is None:
        return None
    key = environment.get(name, "").strip()
    if not key:
        raise ConfigurationError(
            f"the environment variable {name} is not set, and should hold the service's key",
            setting="embedder.api_key_env",
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(
            f"the environment variable {name} holds characters that no key has",
            setting="embedder.api_key_env",
        )
    return key
