"""A comparison becomes a score: in [0, 1], and never higher for what is farther."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from a2m_gateway.capability import Metric, score

METRICS = st.sampled_from(Metric)
DISTANCES = st.floats(allow_nan=False)


@pytest.mark.requirement("5.3-unit-range")
@given(METRICS, DISTANCES)
@settings(max_examples=500, deadline=None, derandomize=True)
@example(Metric.DOT, math.inf)
@example(Metric.DOT, -math.inf)
@example(Metric.DOT, -1.7976931348623157e308)
@example(Metric.L2, math.inf)
@example(Metric.L2, -1e-9)
@example(Metric.COSINE, -2.3e-16)
@example(Metric.COSINE, math.inf)
def test_a_score_lies_in_the_unit_range(metric: Metric, distance: float) -> None:
    assert 0.0 <= score(metric, distance) <= 1.0


@given(METRICS, DISTANCES, DISTANCES)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_what_is_farther_never_scores_higher(metric: Metric, one: float, other: float) -> None:
    near, far = sorted((one, other))
    assert score(metric, near) >= score(metric, far)


@given(METRICS, st.floats(-20, 20), st.integers(1, 40))
@settings(max_examples=2000, deadline=None, derandomize=True)
def test_not_even_by_the_last_bit(metric: Metric, near: float, steps: int) -> None:
    far = near
    for _ in range(steps):
        far = math.nextafter(far, math.inf)
    assert score(metric, near) >= score(metric, far)


# By the definitions in docs/: cosine (1 + cos) / 2, l2 1 / (1 + d), dot (1 + x / (1 + |x|)) / 2.
@pytest.mark.parametrize(
    ("metric", "distance", "wanted"),
    [
        (Metric.COSINE, 0.0, 1.0),
        (Metric.COSINE, 1.0, 0.5),
        (Metric.COSINE, 2.0, 0.0),
        (Metric.COSINE, 0.5, 0.75),
        (Metric.L2, 0.0, 1.0),
        (Metric.L2, 1.0, 0.5),
        (Metric.L2, 3.0, 0.25),
        (Metric.DOT, 0.0, 0.5),
        (Metric.DOT, -1.0, 0.75),
        (Metric.DOT, 1.0, 0.25),
        (Metric.DOT, -3.0, 0.875),
        (Metric.DOT, 3.0, 0.125),
    ],
)
def test_known_scores(metric: Metric, distance: float, wanted: float) -> None:
    assert score(metric, distance) == pytest.approx(wanted, abs=1e-15)


def test_large_dot_products_are_told_apart() -> None:
    scores = [score(Metric.DOT, -product) for product in (37.0, 100.0, 1e4, 1e6, 1e12)]
    assert scores == sorted(set(scores))
