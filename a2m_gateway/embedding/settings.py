"""Which embedder, and how it is run: the file's ``[embedder]`` and the command line's short form.

==========================  ======================================================
short form                  means
==========================  ======================================================
``minilm``                  the bundled all-MiniLM-L6-v2
``none``                    no embedder: words, filters and vectors of callers only
``onnx:/path``              a folder, or an ONNX file with its tokeniser beside it
``openai:MODEL[@URL]``      OpenAI, or whatever speaks its ``/embeddings``
``cohere:MODEL[@URL]``      Cohere
``voyage:MODEL[@URL]``      Voyage
``fastembed:MODEL``         the fastembed library, an extra
``sentence-transformers:…`` the sentence-transformers library, an extra
``wordllama``               the wordllama library, an extra
==========================  ======================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from a2m_gateway.errors import ConfigurationError

__all__ = [
    "Cohere",
    "EmbedderSettings",
    "FastEmbed",
    "Minilm",
    "NoEmbedder",
    "Onnx",
    "OpenAI",
    "Pooling",
    "SentenceTransformers",
    "Voyage",
    "WordLlama",
    "embedder_settings",
]

Pooling: TypeAlias = Literal["mean", "cls"]
Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=3600)]


class _Kind(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"
):
    """What every kind has.

    Attributes:
        trust: Use it although the collection names another model, or although stored texts give
            other vectors than the stored ones. A width that differs is never overlooked.
    """

    trust: bool = False


class _Prefixed(_Kind, frozen=True, kw_only=True):
    """A kind that may run any model.

    Attributes:
        query_prefix: What precedes a question; None takes it from the table of models
            (``embedding.recipes``), ``""`` means none.
        passage_prefix: The same for a stored text.
    """

    query_prefix: str | None = None
    passage_prefix: str | None = None


class _Remote(_Prefixed, frozen=True, kw_only=True):
    """A kind that calls a service.

    Attributes:
        model: As the service calls it.
        url: What the service's documentation calls the base URL.
        api_key_env: The environment variable that holds the key; the key itself is no setting.
        dimensions: The width to ask for, where the model offers several.
        batch: Texts in one request.
        timeout: Seconds that a call may take, its retries included.
    """

    model: Name
    url: str
    api_key_env: Name | None = None
    dimensions: Count | None = None
    timeout: Seconds = 10.0

    def __post_init__(self) -> None:
        _check_url(self.url)


class NoEmbedder(_Kind, frozen=True, tag="none"):
    """Serve without one."""


class Minilm(_Kind, frozen=True, tag="minilm"):
    """The bundled all-MiniLM-L6-v2.

    Attributes:
        pooling: ``cls`` for corpora that early fastembed made, which pooled this model so.
        max_tokens: Longer texts are cut there. fastembed cuts this model's at 128; in questions,
            which are short, it makes no difference.
    """

    pooling: Pooling = "mean"
    max_tokens: Annotated[int, msgspec.Meta(ge=3, le=512)] = 256


class Onnx(_Prefixed, frozen=True, tag="onnx"):
    """A model in a folder: an ONNX file with ``tokenizer.json`` or ``vocab.txt``.

    Attributes:
        path: The folder, or the ONNX file in it where there are several.
        model: The model's name, to compare with what a collection says; None is the folder's.
        pooling: None takes it from ``1_Pooling/config.json``, else from the table of models, else
            ``mean``.
        max_tokens: Longer texts are cut there, as the model's own tools do; None takes it from
            ``sentence_bert_config.json``, else from the table of models, else 512.
    """

    path: Name
    model: Name | None = None
    pooling: Pooling | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=3)] | None = None


class OpenAI(_Remote, frozen=True, tag="openai"):
    """OpenAI, or Ollama, vLLM, TEI, LM Studio, LiteLLM: whatever answers ``POST url/embeddings``.

    ``api_key_env`` is ``OPENAI_API_KEY`` for OpenAI itself and nothing for anyone else. 32 texts a
    request is TEI's default limit; OpenAI takes 2,048.
    """

    url: str = "https://api.openai.com/v1"
    batch: Annotated[int, msgspec.Meta(ge=1, le=2048)] = 32


class Cohere(_Remote, frozen=True, tag="cohere"):
    url: str = "https://api.cohere.com/v2"
    api_key_env: Name | None = "CO_API_KEY"
    batch: Annotated[int, msgspec.Meta(ge=1, le=96)] = 96


class Voyage(_Remote, frozen=True, tag="voyage"):
    url: str = "https://api.voyageai.com/v1"
    api_key_env: Name | None = "VOYAGE_API_KEY"
    batch: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 128


class FastEmbed(_Prefixed, frozen=True, tag="fastembed"):
    """A model of the fastembed library.

    Attributes:
        path: A folder with the model's files, instead of the library's own cache.
        download: Whether the library may fetch a model that is not on this machine.
    """

    model: Name
    path: Name | None = None
    download: bool = True


class SentenceTransformers(_Prefixed, frozen=True, tag="sentence-transformers"):
    """A model of the sentence-transformers library, by name or by folder.

    Attributes:
        device: ``cpu``, ``cuda``, …; None leaves it to the library.
        download: Whether the library may fetch a model that is not on this machine.
    """

    model: Name
    device: Name | None = None
    download: bool = True


class WordLlama(_Kind, frozen=True, tag="wordllama"):
    """The model inside the wordllama package, 256 numbers: fast, and about as good as words."""


EmbedderSettings: TypeAlias = (
    Minilm
    | NoEmbedder
    | Onnx
    | OpenAI
    | Cohere
    | Voyage
    | FastEmbed
    | SentenceTransformers
    | WordLlama
)

_ARGUMENT: Mapping[str, str | None] = {
    "minilm": None,
    "none": None,
    "onnx": "path",
    "openai": "model",
    "cohere": "model",
    "voyage": "model",
    "fastembed": "model",
    "sentence-transformers": "model",
    "wordllama": None,
}
"""Kind → the setting that the short form's text after the colon is."""

_REMOTE = {"openai", "cohere", "voyage"}


def embedder_settings(value: object, *, setting: str = "embedder") -> EmbedderSettings:
    """Settings from the short form (a string) or from a table of the file (a mapping).

    Args:
        setting: What errors call it: ``--embedder``, ``embedder``.

    Raises:
        ConfigurationError: Names the setting and what would be right.

    >>> embedder_settings("openai:nomic-embed-text@http://localhost:11434/v1").url
    'http://localhost:11434/v1'
    """
    table = _expand(value, setting) if isinstance(value, str) else value
    kind = table.get("kind") if isinstance(table, Mapping) else None
    if isinstance(table, Mapping) and kind not in tuple(_ARGUMENT):
        raise ConfigurationError(
            f"`kind` is one of {', '.join(_ARGUMENT)}" + (f", not {kind!r}" if kind else ""),
            setting=setting,
        )
    try:
        settings: EmbedderSettings = msgspec.convert(table, EmbedderSettings)
        return settings
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        where = f"{setting}.{path.rstrip('`')}" if path else setting
        raise ConfigurationError(message, setting=where) from None


def _expand(text: str, setting: str) -> dict[str, str]:
    """The short form as the table that it stands for."""
    kind, colon, argument = text.strip().partition(":")
    kind = kind.lower()
    if kind not in _ARGUMENT:
        raise ConfigurationError(
            f"the kind before the colon is one of {', '.join(_ARGUMENT)}, not {kind!r}",
            setting=setting,
        )
    name = _ARGUMENT[kind]
    if name is None:
        if colon:
            raise ConfigurationError(f"{kind} takes nothing after a colon", setting=setting)
        return {"kind": kind}
    if not argument:
        raise ConfigurationError(f"{kind} needs its {name}: {kind}:{name.upper()}", setting=setting)
    if kind not in _REMOTE:
        return {"kind": kind, name: argument}
    # A model's name may have an "@" in it (Vertex: text-embedding@001), a URL begins with http.
    model, *url = re.split(r"@(?=https?://)", argument, maxsplit=1)
    return {"kind": kind, name: model, **({"url": url[0]} if url else {})}


def _check_url(text: str) -> None:
    """Raise ValueError, which msgspec reports with its place, where ``text`` is no base URL."""
    try:
        url = urlsplit(text)
        _ = url.port  # an impossible one raises here
    except ValueError:
        raise ValueError("`url` is not a URL") from None
    if url.scheme not in ("http", "https") or not url.hostname or not text.isprintable():
        raise ValueError("`url` is the service's base URL, such as http://localhost:11434/v1")
    if url.username or url.password or url.query or url.fragment:
        raise ValueError(
            "`url` carries no credentials, query or fragment: name the variable that holds the "
            "key in `api_key_env`"
        )
