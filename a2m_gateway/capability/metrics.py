"""The three comparisons of spec 3.7, and how a comparison becomes a score.

A *distance* is the store's comparison in one canonical form, smaller is nearer:

========  =====================================
cosine    1 - cos(a, b), in [0, 2]
dot       -(a . b), unbounded
l2        the Euclidean distance, not squared
========  =====================================
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Metric", "score"]


class Metric(StrEnum):
    COSINE = "cosine"
    DOT = "dot"
    L2 = "l2"


def score(metric: Metric, distance: float) -> float:
    """A canonical distance as a score in [0, 1] that never rises as the distance does (spec 5.3).

    The dot product goes through (1 + x / (1 + |x|)) / 2 rather than a logistic, which would be
    exactly 1.0 from 37 on and make a tie of what the store told apart. Each is written in steps
    that rounding can't make fall where they should rise.

    >>> score(Metric.COSINE, 0.0), score(Metric.L2, 1.0), score(Metric.DOT, 0.0)
    (1.0, 0.5, 0.5)
    """
    if metric is Metric.COSINE:
        return min(1.0, max(0.0, 1.0 - distance / 2.0))  # rounding takes 1 - cos below 0
    if metric is Metric.L2:
        return 1.0 / (1.0 + max(0.0, distance))
    small = 0.5 / (1.0 + abs(distance))
    return small if distance > 0.0 else 1.0 - small
