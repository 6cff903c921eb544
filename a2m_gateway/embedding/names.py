"""When two names mean the same embedding model."""

from __future__ import annotations

import re

__all__ = ["canonical_name", "is_vague", "same_model"]

_PACKAGING = frozenset(
    {"onnx", "ort", "int8", "uint8", "fp16", "fp32", "f16", "q", "q8", "quantized", "latest"}
)
"""Endings that tell how the weights are packed, not which they are."""

_ALIASES = {
    # Chroma's default embedding function, as its versions and its config write it
    "default": "all-minilm-l6-v2",
    "defaultembeddingfunction": "all-minilm-l6-v2",
    "onnxminilm-l6-v2": "all-minilm-l6-v2",
    "onnx-mini-lm-l6-v2": "all-minilm-l6-v2",
    # Ollama's library
    "all-minilm": "all-minilm-l6-v2",
    "all-minilm-22m": "all-minilm-l6-v2",
    "all-minilm-33m": "all-minilm-l12-v2",
    "nomic-embed-text": "nomic-embed-text-v1-5",
    "mxbai-embed-large": "mxbai-embed-large-v1",
}

_VAGUE = frozenset({"", "default", "defaultembeddingfunction"})


def canonical_name(name: str) -> str:
    """One spelling for the many that a model's name has; ``""`` for a name that says nothing.

    Case, the owner or folder before the last slash, qdrant-client's ``fast-``, the separator and
    the packaging of the weights do not count.

    >>> canonical_name("sentence-transformers/all-MiniLM-L6-v2")
    'all-minilm-l6-v2'
    >>> canonical_name("fast-bge-small-en-v1.5") == canonical_name("BAAI/bge-small-en-v1.5")
    True
    """
    spelt = _spelling(name)
    return _ALIASES.get(spelt, spelt)


def is_vague(name: str) -> bool:
    """Whether a corpus may carry the name without its model having made the vectors.

    Chroma writes ``default`` into every collection whose writer named no embedding function, also
    where the writer brought vectors of its own, as LlamaIndex and Haystack do.
    """
    return _spelling(name) in _VAGUE


def same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model; a name that says nothing means none."""
    return canonical_name(one) != "" and canonical_name(one) == canonical_name(other)


def _spelling(name: str) -> str:
    base = name.casefold().replace("\\", "/").rstrip("/ ").rpartition("/")[2]
    words = [word for word in re.split(r"[\W_]+", base) if word]
    while len(words) > 1 and words[0] == "fast":
        del words[0]
    while len(words) > 1 and words[-1] in _PACKAGING:
        del words[-1]
    return "-".join(words)
