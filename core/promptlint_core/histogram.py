"""Mergeable latency histograms: a week's p99 is the p99 of the sum of its histograms, never a mean of p99s.

Buckets grow by a constant factor, so a quantile is right within that factor at every scale: bucket i holds latencies in
[LOWEST_S x GROWTH^(i-1), LOWEST_S x GROWTH^i), bucket 0 everything below LOWEST_S, the last everything above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

LOWEST_S = 1e-4
GROWTH = 1.04
BUCKETS = 400
"""Covers 0.1 ms to 640 s; a quantile is off by 2 % at most (half a bucket)."""

_LOG_GROWTH = math.log(GROWTH)


def bucket_of(latency_s: float) -> int:
    """The index of the bucket that holds a latency.

    >>> bucket_of(0.0), bucket_of(1e9) == BUCKETS - 1
    (0, True)
    """
    if latency_s < LOWEST_S:
        return 0
    return min(BUCKETS - 1, 1 + int(math.log(latency_s / LOWEST_S) / _LOG_GROWTH))


def middle_s(bucket: int) -> float:
    """The geometric middle of a bucket in seconds: what a quantile in it is told as."""
    if bucket <= 0:
        return LOWEST_S / 2
    return LOWEST_S * math.exp((bucket - 0.5) * _LOG_GROWTH)


def histogram_of(latencies_s: Iterable[float]) -> list[int]:
    """Counts by bucket, trailing zeros cut off so that a record stays small."""
    counts: list[int] = []
    for latency_s in latencies_s:
        bucket = bucket_of(latency_s)
        if bucket >= len(counts):
            counts.extend([0] * (bucket + 1 - len(counts)))
        counts[bucket] += 1
    return counts


def packed(counts: Sequence[int]) -> list[int]:
    """A histogram as records hold it: a negative first number stands for that many empty buckets.

    Token gaps of 20 ms begin at bucket 135, so most of a plain histogram would be zeros that every report reads.

    >>> packed([0, 0, 0, 5, 1]), packed([2, 1]), packed([])
    ([-3, 5, 1], [2, 1], [])
    """
    empty = next((index for index, count in enumerate(counts) if count), 0)
    return [-empty, *counts[empty:]] if empty else list(counts)


def unpacked(counts: Sequence[int]) -> list[int]:
    """The plain histogram of a packed one; a plain one stays as it is.

    >>> unpacked([-3, 5, 1]), unpacked([2, 1])
    ([0, 0, 0, 5, 1], [2, 1])
    """
    return [0] * -counts[0] + list(counts[1:]) if counts and counts[0] < 0 else list(counts)


def merge(histograms: Iterable[Sequence[int]]) -> list[int]:
    """The histogram of all latencies of several histograms.

    >>> merge([[1, 2], [0, 0, 5]])
    [1, 2, 5]
    """
    total: list[int] = []
    for counts in histograms:
        if len(counts) > len(total):
            total.extend([0] * (len(counts) - len(total)))
        for bucket, count in enumerate(counts):
            total[bucket] += count
    return total


def quantile_s(counts: Sequence[int], q: float) -> float | None:
    """The latency that a share q of the counted ones does not exceed; None when nothing was counted."""
    total = sum(counts)
    if not total:
        return None
    rank = max(1, math.ceil(q * total))
    seen = 0
    for bucket, count in enumerate(counts):
        seen += count
        if seen >= rank:
            return middle_s(bucket)
    return middle_s(len(counts) - 1)
