"""The short form, the table of the file, and what is wrong with either."""

from __future__ import annotations

import tomllib

import pytest

from a2m_gateway.embedding import build, embedder_settings
from a2m_gateway.embedding.settings import (
    Cohere,
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("minilm", Minilm()),
        (" MiniLM ", Minilm()),
        ("none", NoEmbedder()),
        ("wordllama", WordLlama()),
        ("onnx:/srv/models/e5", Onnx(path="/srv/models/e5")),
        ("onnx:C:\\models", Onnx(path="C:\\models")),
        ("openai:text-embedding-3-small", OpenAI(model="text-embedding-3-small")),
        (
            "openai:nomic-embed-text:v1.5@http://localhost:11434/v1",
            OpenAI(model="nomic-embed-text:v1.5", url="http://localhost:11434/v1"),
        ),
        ("openai:text-embedding@001", OpenAI(model="text-embedding@001")),
        (
            "openai:text-embedding@001@https://litellm.example",
            OpenAI(model="text-embedding@001", url="https://litellm.example"),
        ),
        ("cohere:embed-v4.0", Cohere(model="embed-v4.0")),
        ("voyage:voyage-3.5", Voyage(model="voyage-3.5")),
        ("fastembed:BAAI/bge-small-en-v1.5", FastEmbed(model="BAAI/bge-small-en-v1.5")),
        (
            "sentence-transformers:all-mpnet-base-v2",
            SentenceTransformers(model="all-mpnet-base-v2"),
        ),
    ],
)
def test_short_form(text: str, expected: object) -> None:
    assert embedder_settings(text) == expected


def test_table_of_the_file() -> None:
    table = tomllib.loads(
        """
        kind = "openai"
        model = "bge-m3"
        url = "http://127.0.0.1:8080/v1"
        dimensions = 256
        timeout = 5
        query_prefix = ""
        trust = true
        """
    )
    assert embedder_settings(table) == OpenAI(
        model="bge-m3",
        url="http://127.0.0.1:8080/v1",
        dimensions=256,
        timeout=5.0,
        query_prefix="",
        trust=True,
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "kind before the colon"),
        ("minilmm", "minilm, none, onnx"),
        ("minilm:", "nothing after a colon"),
        ("none:x", "nothing after a colon"),
        ("onnx", "onnx:PATH"),
        ("openai:", "openai:MODEL"),
        ("openai:@http://x", "embedder.model"),
        ("openai:m@http://", "base URL"),
        ({}, "`kind` is one of minilm"),
        ({"kind": "gpt"}, "'gpt'"),
        ({"kind": ["minilm"]}, "`kind` is one of"),
        ({"kind": "openai"}, "`model`"),
        ({"kind": "openai", "model": ""}, "embedder.model"),
        ({"kind": "openai", "model": "m", "modle": "m"}, "`modle`"),
        ({"kind": "openai", "model": "m", "api_key": "sk-1"}, "`api_key`"),
        ({"kind": "openai", "model": "m", "batch": 0}, "embedder.batch"),
        ({"kind": "openai", "model": "m", "batch": True}, "embedder.batch"),
        ({"kind": "openai", "model": "m", "timeout": float("nan")}, "embedder.timeout"),
        ({"kind": "openai", "model": "m", "timeout": 0}, "embedder.timeout"),
        ({"kind": "openai", "model": "m", "dimensions": -1}, "embedder.dimensions"),
        ({"kind": "openai", "model": "m", "url": "ftp://x"}, "base URL"),
        ({"kind": "openai", "model": "m", "url": "http://x:99999"}, "not a URL"),
        ({"kind": "openai", "model": "m", "url": "http://x\n/"}, "base URL"),
        ({"kind": "cohere", "model": "m", "batch": 97}, "embedder.batch"),
        ({"kind": "onnx", "path": "/x", "pooling": "max"}, "embedder.pooling"),
        ({"kind": "minilm", "trust": "yes"}, "embedder.trust"),
        (7, "embedder"),
        (None, "embedder"),
    ],
)
def test_mistakes_name_the_setting(value: object, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        embedder_settings(value)
    assert str(caught.value).startswith("embedder")
    assert words in str(caught.value)


def test_a_mistake_is_reported_under_the_option_it_was_made_in() -> None:
    with pytest.raises(ConfigurationError, match=r"^--embedder: "):
        embedder_settings("what", setting="--embedder")


@pytest.mark.parametrize("url", ["https://u:hunter2@h/v1", "https://h/v1?key=hunter2"])
def test_secrets_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError, match="api_key_env") as caught:
        embedder_settings({"kind": "openai", "model": "m", "url": url})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        (OpenAI(model="m"), "OPENAI_API_KEY"),
        (Cohere(model="m"), "CO_API_KEY"),
        (Voyage(model="m"), "VOYAGE_API_KEY"),
        (OpenAI(model="m", url="http://h/v1", api_key_env="MINE"), "MINE"),
    ],
)
def test_a_key_that_is_not_there_or_no_key(
    settings: OpenAI | Cohere | Voyage, variable: str
) -> None:
    for environment in ({}, {variable: " "}, {variable: "se\ncret"}, {variable: "clé-secret"}):
        with pytest.raises(ConfigurationError, match=variable) as caught:
            build(settings, environment)
        assert "secret" not in str(caught.value)


async def test_a_local_service_wants_no_key() -> None:
    embedder = build(OpenAI(model="m", url="http://localhost:11434/v1"), {})
    assert embedder.remote is None
    await embedder.aclose()


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://127.0.0.1:8080/v1", None),
        ("http://[::1]:8080", None),
        ("https://api.example.org/v1", "https://api.example.org"),
        ("http://10.0.0.7:8080/v1", "http://10.0.0.7:8080"),
        ("http://localhost.example.org/", "http://localhost.example.org"),
    ],
)
async def test_where_text_goes(url: str, remote: str | None) -> None:
    embedder = build(OpenAI(model="m", url=url), {})
    assert embedder.remote == remote
    await embedder.aclose()
