"""A quantile of merged histograms is the quantile of all latencies together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.histogram import (
    GROWTH,
    LOWEST_S,
    bucket_of,
    histogram_of,
    merge,
    middle_s,
    packed,
    quantile_s,
    unpacked,
)

LATENCIES_S = st.lists(st.floats(min_value=LOWEST_S, max_value=600), min_size=1, max_size=60)


@given(LATENCIES_S, st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_quantile_is_right_within_a_bucket(latencies_s: list[float], q: float) -> None:
    exact = sorted(latencies_s)[max(0, -int(-q * len(latencies_s) // 1) - 1)]
    told = quantile_s(histogram_of(latencies_s), q)

    assert told is not None
    assert exact / GROWTH <= told <= exact * GROWTH


@given(LATENCIES_S, LATENCIES_S)
def test_merging_is_counting_together(first_s: list[float], second_s: list[float]) -> None:
    assert histogram_of(first_s + second_s) == merge([histogram_of(first_s), histogram_of(second_s)])


def test_nothing_counted_has_no_quantile() -> None:
    assert quantile_s([], 0.5) is None
    assert quantile_s([0, 0], 0.5) is None


@pytest.mark.parametrize("latency_s", [0.0, -1.0, 1e-9])
def test_what_is_below_the_lowest_bucket_is_counted_there(latency_s: float) -> None:
    assert bucket_of(latency_s) == 0


def test_the_middle_of_a_bucket_lies_in_it() -> None:
    assert all(bucket_of(middle_s(bucket)) == bucket for bucket in range(300))


@pytest.mark.parametrize("counts", [[], [3], [0, 0, 4], [0] * 135 + [1, 0, 2], [1, 0, 0, 5]])
def test_packing_keeps_every_count_in_its_bucket(counts: list[int]) -> None:
    assert counts == unpacked(packed(counts))
    assert len(packed(counts)) <= max(1, len(counts))
