"""Canonical distances against fsum, hypot and dist of the standard library."""

from __future__ import annotations

import math
import warnings

import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2m_gateway.capability import Metric
from a2m_gateway.store.distance import distances

NUMBERS = st.floats(-1e3, 1e3)
WIDTH = 5
VECTORS = st.lists(NUMBERS, min_size=WIDTH, max_size=WIDTH)


@given(st.sampled_from(Metric), VECTORS, st.lists(VECTORS, max_size=6))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_distances(metric: Metric, query: list[float], vectors: list[list[float]]) -> None:
    found = distances(metric, query, vectors)
    assert all(type(one) is float for one in found)
    for one, vector in zip(found, vectors, strict=True):
        if metric is Metric.COSINE and min(math.hypot(*query), math.hypot(*vector)) < 1e-100:
            continue  # the product of the lengths leaves the range of a double
        assert one == pytest.approx(oracle.distance(metric, query, vector), abs=1e-9, rel=1e-12)


def test_the_cosine_to_nothing_is_zero() -> None:
    assert distances(Metric.COSINE, [1.0, 0.0], [[0.0, 0.0], [2.0, 0.0]]) == [1.0, 0.0]
    assert distances(Metric.COSINE, [0.0, 0.0], [[1.0, 0.0]]) == [1.0]


def test_what_is_not_finite_in_a_vector_is_farthest_and_no_distance_is_nan() -> None:
    for metric in Metric:
        for broken in (math.nan, math.inf, -math.inf):
            near, far = distances(metric, [1.0, 1.0], [[1.0, 1.0], [broken, 1.0]])
            assert math.isfinite(near)
            assert not math.isnan(far)
            assert far > near or (metric is Metric.DOT and broken == math.inf)


@pytest.mark.parametrize("scale", [1e200, 1e308, 1e-200, 5e-324])
def test_cosine_does_not_depend_on_length(scale: float) -> None:
    query, vectors = [scale, 0.0], [[1.0, 1.0], [scale, scale], [-scale, 0.0], [0.0, 1e-3]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = distances(Metric.COSINE, query, vectors)
    aslant = 1 - math.sqrt(0.5)
    assert found == pytest.approx([aslant, aslant, 2.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("metric", Metric)
def test_a_sum_out_of_range_is_no_nan_and_no_warning(metric: Metric) -> None:
    huge = 1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = distances(metric, [huge, huge], [[huge, huge], [huge, -huge], [-huge, -huge]])
    assert not any(math.isnan(one) for one in found)
    assert found == sorted(found)


def test_no_vectors_no_distances() -> None:
    assert distances(Metric.L2, [1.0], []) == []
