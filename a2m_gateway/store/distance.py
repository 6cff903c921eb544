"""Canonical distances, computed here: the answer that an index only approximates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from a2m_gateway.capability import Metric

__all__ = ["distances"]


Array: TypeAlias = npt.NDArray[np.float64]

_SMALL, _LARGE = 1e-100, 1e100
"""Lengths outside of these, or their squares, leave the range of a double."""


def distances(
    metric: Metric, query: Sequence[float], vectors: Sequence[Sequence[float]]
) -> list[float]:
    """The canonical distance (``capability.metrics``) of ``query`` to each of ``vectors``.

    Computed in float64. The cosine to a vector of zeros is undefined and taken as 0; a distance
    that is no number, since a component is none or the sum leaves the range, counts as the
    farthest.
    """
    if not vectors:
        return []
    rows = np.asarray(vectors, dtype=np.float64)
    one = np.asarray(query, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        far = _far(metric, one, rows)
    far[np.isnan(far)] = np.inf
    return [float(value) for value in far]


def _far(metric: Metric, one: Array, rows: Array) -> Array:
    if metric is Metric.L2:
        return np.asarray(np.linalg.norm(rows - one, axis=1))
    if metric is Metric.DOT:
        return -(rows @ one)
    one = _scaled(one)
    lengths = np.linalg.norm(rows, axis=1)
    if not ((lengths > _SMALL) & (lengths < _LARGE)).all():
        rows = _scaled(rows)
        lengths = np.linalg.norm(rows, axis=1)
    products = rows @ one
    lengths *= np.linalg.norm(one)
    cosines: Array = np.divide(products, lengths, out=np.zeros_like(products), where=lengths != 0)
    return 1.0 - cosines


def _scaled(vectors: Array) -> Array:
    """The same directions, with a largest component of 1."""
    largest = np.max(np.abs(vectors), axis=-1, keepdims=True, initial=0.0)
    scaled: Array = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest != 0)
    return scaled
