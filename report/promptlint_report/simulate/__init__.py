"""A serving engine in simulation: workload → schedule step by step → time by roofline → latencies, hits, KV use."""

from __future__ import annotations
