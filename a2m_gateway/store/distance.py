"""Canonical distances, computed here: the answer that an index only approximates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from a2m_gateway.capability import Metric

__all__ = ["distances"]


def distances(
    metric: Metric, query: Sequence[float], vectors: Sequence[Sequence[float]]
) -> list[float]:
    """The canonical distance (``capability.metrics``) of ``query`` to each of ``vectors``.

    Computed in float64. The cosine to a vector of zeros is undefined and taken as 0.
    """
    if not vectors:
        return []
    rows = np.asarray(vectors, dtype=np.float64)
    one = np.asarray(query, dtype=np.float64)
    if metric is Metric.L2:
        return _floats(np.linalg.norm(rows - one, axis=1))
    products = rows @ one
    if metric is Metric.DOT:
        return _floats(-products)
    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(one)
    cosines = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return _floats(1.0 - cosines)


def _floats(values: npt.NDArray[np.float64]) -> list[float]:
    return [float(value) for value in values]
