"""Cosine in local mode, without changing what it compares.

The client normalises the stored vectors in place at every search. They are normalised already, as
float32, so each search moves them by a rounding: a vector that is read would depend on how many
searches came before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client.local import distances

__all__ = ["keep_vectors"]


def keep_vectors() -> None:
    """Make local mode compare by cosine without writing. Runs in the worker process."""
    vars(distances)["cosine_similarity"] = _cosine


def _cosine(query: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    """Similarities of one query or several to each vector; 0 to a vector of zeros."""
    products = query @ vectors.T
    lengths = _lengths(query)[..., np.newaxis] if query.ndim > 1 else _lengths(query)
    similarities: NDArray[Any] = products / (lengths * _lengths(vectors))
    return similarities


def _lengths(vectors: NDArray[Any]) -> NDArray[Any]:
    lengths: NDArray[Any] = np.linalg.norm(vectors, axis=-1)
    return np.where(lengths != 0.0, lengths, 1.0)
