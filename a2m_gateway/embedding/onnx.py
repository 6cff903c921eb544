"""Sentence embedding models as ONNX files, run with onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnxruntime

from a2m_gateway.embedding.settings import Pooling
from a2m_gateway.embedding.tokens import Tokens
from a2m_gateway.errors import ConfigurationError

__all__ = ["OnnxEncoder"]

Floats = npt.NDArray[np.float32]

_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_POOLED = "sentence_embedding"


@dataclass(frozen=True, slots=True)
class OnnxEncoder:
    """A model that turns token ids into one vector a text, of length 1. Safe for many threads.

    Attributes:
        output: The model's output that is used: its own ``sentence_embedding``, already pooled, or
            one vector a token.
        pooling: What makes one of these: the mean of all tokens but the padding, or the first.
    """

    session: onnxruntime.InferenceSession
    tokens: Tokens
    output: str
    pooling: Pooling

    @classmethod
    def load(
        cls,
        path: Path,
        tokens: Tokens,
        pooling: Pooling,
        *,
        prefer_pooled: bool = True,
        dense: bool = False,
    ) -> OnnxEncoder:
        """The model in an ONNX file. Reads this file alone (and its external weights).

        Args:
            prefer_pooled: Take the model's own ``sentence_embedding`` where it has one.
            dense: Layers follow the pooling, so that only ``sentence_embedding`` is whole.

        Raises:
            ConfigurationError: It is no ONNX model, or not one of this kind.
        """
        session = _session(path)
        outputs = {put.name: len(put.shape) for put in session.get_outputs()}
        pooled = outputs.get(_POOLED) == 2
        if dense and not pooled:
            raise ConfigurationError(
                f"{path} lacks the dense layers that modules.json names: export the model with an "
                f"output {_POOLED}",
                setting="embedder.path",
            )
        by_token = [name for name, rank in outputs.items() if rank == 3]
        if pooled and (prefer_pooled or dense):
            by_token = [_POOLED]
        if not by_token:
            raise ConfigurationError(
                f"{path} has no output of one vector a token, only {', '.join(outputs)}",
                setting="embedder.path",
            )
        return cls(session, tokens, by_token[0], pooling)

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 for each text."""
        ids, mask = self._padded(self.tokens.encode(texts))
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = [put.name for put in self.session.get_inputs()]
        answer: Any = self.session.run([self.output], {name: feed[name] for name in wanted})
        values = cast("Floats", answer[0])
        pooled = values if values.ndim == 2 else self._pooled(values, mask)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        return cast("list[list[float]]", (pooled / np.maximum(lengths, 1e-12)).tolist())

    def _padded(self, rows: list[list[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Ids and mask, padded on the right to the longest row."""
        shape = (len(rows), max(1, *map(len, rows)))
        ids = np.full(shape, self.tokens.pad_id, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        return ids, mask

    def _pooled(self, values: Floats, mask: npt.NDArray[np.int64]) -> Floats:
        if self.pooling == "cls":
            return values[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        total: Floats = (values * weights).sum(axis=1)
        return cast("Floats", total / np.maximum(weights.sum(axis=1), 1e-9))


def _session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(2, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    # Threads that spin while they wait would take the cores that the server answers with.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena keeps the largest batch's memory for ever: 640 MB more here, and no faster.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ConfigurationError(
            f"{path} can't be loaded: {str(error)[:200]}", setting="embedder.path"
        ) from error
    strange = {put.name for put in session.get_inputs()} - _INPUTS
    if strange:
        raise ConfigurationError(
            f"{path} wants {', '.join(sorted(strange))}: it is no plain encoder of sentences",
            setting="embedder.path",
        )
    return session
