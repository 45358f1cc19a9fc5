"""vLLM-named metrics of the simulated upstream, in Prometheus' text format."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from promptlint_core.exchange import Usage
from promptlint_core.prefix_caches.vllm_blocks import VllmBlocks

TTFT_EDGES_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
ITL_EDGES_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)


@dataclass(slots=True)
class Histogram:
    edges: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.edges) + 1)

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.edges, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str) -> list[str]:
        seen, lines = 0, []
        for edge, count in zip((*(str(edge) for edge in self.edges), "+Inf"), self.counts, strict=True):
            seen += count
            lines.append(f'{name}_bucket{{{labels},le="{edge}"}} {seen}')
        return [
            f"# TYPE {name} histogram",
            *lines,
            f"{name}_sum{{{labels}}} {self.total}",
            f"{name}_count{{{labels}}} {seen}",
        ]


@dataclass(slots=True)
class Counters:
    requests: int = 0
    failed: int = 0
    running: int = 0
    waiting: int = 0
    """Times that a request had to wait for room in the pool."""
    query_tokens: int = 0
    hit_tokens: int = 0
    output_tokens: int = 0
    ttft: Histogram = field(default_factory=lambda: Histogram(TTFT_EDGES_S))
    itl: Histogram = field(default_factory=lambda: Histogram(ITL_EDGES_S))

    def take(self, usage: Usage, output_tokens: int, times_s: Sequence[float]) -> None:
        self.requests += 1
        self.running += 1
        self.query_tokens += usage.prompt_tokens or 0
        self.hit_tokens += usage.hit_tokens or 0
        self.output_tokens += output_tokens
        if times_s:
            self.ttft.add(times_s[0])
        for earlier, later in pairwise(times_s):
            self.itl.add(max(0.0, later - earlier))

    def exposition(self, model: str, blocks: VllmBlocks) -> str:
        labels = f'engine="0",model_name="{model}"'
        plain = {
            "vllm:prefix_cache_queries_total": ("counter", self.query_tokens),
            "vllm:prefix_cache_hits_total": ("counter", self.hit_tokens),
            "vllm:prompt_tokens_total": ("counter", self.query_tokens),
            "vllm:generation_tokens_total": ("counter", self.output_tokens),
            "vllm:request_success_total": ("counter", self.requests),
            "vllm:num_preemptions_total": ("counter", 0),
            "vllm:num_requests_running": ("gauge", self.running),
            "vllm:num_requests_waiting": ("gauge", 0),
            "vllm:kv_cache_usage_perc": ("gauge", round(blocks.pool.used_share, 6)),
        }
        lines = []
        for name, (kind, value) in plain.items():
            lines += [f"# TYPE {name.removesuffix('_total')} {kind}", f"{name}{{{labels}}} {value}"]
        info = f'block_size="{blocks.block_size}",num_gpu_blocks="{blocks.blocks}",enable_prefix_caching="True"'
        lines += ["# TYPE vllm:cache_config_info gauge", f"vllm:cache_config_info{{{info}}} 1"]
        lines += self.ttft.lines("vllm:time_to_first_token_seconds", labels)
        lines += self.itl.lines("vllm:inter_token_latency_seconds", labels)
        return "\n".join(lines) + "\n"
