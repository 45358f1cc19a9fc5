"""Prometheus histograms made from mergeable ones: exact sums of counts, cheap to add to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from promptlint_core.histogram import bucket_of, merge, middle_s

EDGES_S = (
    0.0005, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75,
    1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0,
)  # fmt: skip


class LatencyFamily(Collector):
    """One metric with labels, in seconds."""

    def __init__(self, name: str, documentation: str, labels: Sequence[str]) -> None:
        self.name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, labels: tuple[str, ...], latency_s: float) -> None:
        counts = self._counts.setdefault(labels, [])
        bucket = bucket_of(latency_s)
        if bucket >= len(counts):
            counts.extend([0] * (bucket + 1 - len(counts)))
        counts[bucket] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + latency_s

    def merge(self, labels: tuple[str, ...], histogram: Sequence[int], total_s: float) -> None:
        """Add a whole histogram whose latencies sum up to `total_s`."""
        if histogram:
            self._counts[labels] = merge([self._counts.get(labels, []), histogram])
            self._sums[labels] = self._sums.get(labels, 0.0) + total_s

    def describe(self) -> Iterable[HistogramMetricFamily]:
        yield HistogramMetricFamily(self.name, self._documentation, labels=self._labels)

    def collect(self) -> Iterable[HistogramMetricFamily]:
        family = HistogramMetricFamily(self.name, self._documentation, labels=self._labels)
        for labels, counts in self._counts.items():
            coarse = [0] * (len(EDGES_S) + 1)
            for bucket, count in enumerate(counts):
                if count:
                    coarse[bisect_left(EDGES_S, middle_s(bucket))] += count
            seen, buckets = 0, []
            for edge, count in zip((*(str(edge) for edge in EDGES_S), "+Inf"), coarse, strict=True):
                seen += count
                buckets.append((edge, float(seen)))
            family.add_metric(list(labels), buckets, self._sums[labels])
        yield family
