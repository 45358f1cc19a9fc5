"""How long one engine step takes: a roofline over its matrix products, attention, memory reads and fixed costs.

step = overhead + per-request cost × requests + launches per layer of a step with a prefill
     + max(linear FLOPs ÷ (peak × efficiency), weight bytes ÷ (bandwidth × efficiency))
     + prefill attention FLOPs ÷ (peak × efficiency) + KV bytes read ÷ (bandwidth × efficiency)
     + routed experts: weight bytes ÷ (bandwidth × efficiency) + FLOPs ÷ (peak × efficiency)
     + exchange between GPUs

Routed experts add reading and computing: with few rows an expert, their kernels hide neither behind the other.
Data-parallel ranks in lockstep pad to the longest of them, so each step counts that many tokens on every rank.

The defaults are typical shares of the data-sheet figures; `calibrate` fits them to a measured run.
"""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_core.kv import Gpu
from promptlint_report.simulate.model_cost import ModelCost


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Shares of the data sheet that real kernels reach, and costs that no data sheet shows."""

    compute: float
    """Of the dense peak, in large matrix products."""
    bandwidth: float
    """Of the memory bandwidth, reading weights."""
    kv_bandwidth: float
    """Of the memory bandwidth, reading the KV cache page by page."""
    attention: float
    """Of the dense peak, in prefill attention."""
    overhead_s: float
    """Per step: scheduling, launches, sampling."""
    per_request_s: float
    """Per request in the step."""
    exchange_s: float
    """Per layer and step where GPUs work together: latency of the collectives."""
    expert_compute: float = 0.35
    """Of the dense peak, in the small matrix products of routed experts."""
    link: float = 0.4
    """Of the link's rate, in collectives."""
    mixed_kv: float = 0.65
    """Of `kv_bandwidth`, for decodes that share a step with a prefill: one kernel serves both, without splitting."""
    mixed_layer_s: float = 6e-5
    """Per layer in a step that holds a prefill: attention is launched outside of the CUDA graph then."""


WORKSTATION = Efficiency(0.92, 0.90, 0.75, 0.35, 1.5e-3, 2.5e-5, 3.0e-5)
"""Cards whose data-sheet peak is below what their clocks give (GeForce, RTX)."""
DATACENTRE = Efficiency(0.65, 0.85, 0.70, 0.40, 2.0e-3, 2.0e-5, 2.0e-5)


def default_efficiency(gpu: Gpu) -> Efficiency:
    """What to assume of a GPU that nothing was measured on."""
    return WORKSTATION if gpu.name.upper().startswith("RTX") else DATACENTRE


_LARGEST_GRAPH = 512


def graph_size(tokens: int) -> int:
    """Tokens that a batch of decodes is padded to: the sizes vLLM captures CUDA graphs for (1, 2, 4, 8, 16, 24 …).

    >>> [graph_size(n) for n in (1, 3, 8, 9, 25, 513)]
    [1, 4, 8, 16, 32, 513]
    """
    if tokens > _LARGEST_GRAPH:
        return tokens
    if tokens <= 4:
        return 1 << (tokens - 1).bit_length()
    return (tokens + 7) // 8 * 8


@dataclass(frozen=True, slots=True)
class Batch:
    """What one rank computes in one step."""

    tokens: int
    """All tokens, prefill and decode."""
    requests: int
    sampled: int
    """Requests that produce a token in this step."""
    prefill_pairs: float = 0.0
    """Attention pairs of prefill chunks, full attention."""
    window_pairs: float = 0.0
    context_tokens: int = 0
    """Sum of cached positions that the requests of this step read."""
    window_context_tokens: int = 0
    """The same, cut at the window."""


class StepTimer:
    """Step times of one model on one kind of GPU. `ranks` of one group run in lockstep and share routed experts."""

    def __init__(self, cost: ModelCost, gpu: Gpu, efficiency: Efficiency | None = None, *, tp: int = 1) -> None:
        self.cost = cost
        self.gpu = gpu
        self.efficiency = efficiency or default_efficiency(gpu)
        self.tp = tp
        own = self.efficiency
        self._flop_s = 1.0 / (gpu.fp16_flops * own.compute)
        self._expert_flop_s = 1.0 / (gpu.fp16_flops * own.expert_compute)
        self._attention_flop_s = 1.0 / (gpu.fp16_flops * own.attention)
        self._byte_s = 1.0 / (gpu.bandwidth_bytes_s * own.bandwidth)
        self._kv_byte_s = 1.0 / (gpu.bandwidth_bytes_s * own.kv_bandwidth)
        window_kv = cost.kv_bytes_per_token - cost.full_kv_bytes_per_token
        self._context_s = cost.full_kv_bytes_per_token * self._kv_byte_s
        self._window_context_s = window_kv * self._kv_byte_s
        self._routed_flops = cost.routed_flops
        self._dense_flops = max(0.0, cost.linear_flops - cost.routed_flops)

    def step_s(self, batches: list[Batch]) -> float:
        """Seconds of one step of a group of ranks in lockstep (usually one)."""
        busy = [batch for batch in batches if batch.tokens]
        if not busy:
            return 0.0
        own = self.efficiency
        slowest = max(self._rank_s(batch) for batch in busy)
        longest = max(batch.tokens for batch in busy)
        mixed = any(batch.prefill_pairs for batch in busy)
        padded = longest if mixed else graph_size(longest)
        time = own.overhead_s + slowest + self._routed_s(longest, padded * len(batches))
        if mixed:
            time += own.mixed_layer_s * self.cost.layers
        if self.tp > 1 or len(batches) > 1:
            time += self._exchange_s(longest)
        return time

    def _rank_s(self, batch: Batch) -> float:
        cost, own = self.cost, self.efficiency
        compute = self._dense_flops * batch.tokens * self._flop_s
        linear = max(compute, cost.dense_bytes * self._byte_s) + cost.head_flops * batch.sampled * self._flop_s
        attention = (cost.attention_flops * batch.prefill_pairs + cost.window_flops * batch.window_pairs) * (
            self._attention_flop_s
        )
        reads = self._context_s * batch.context_tokens + self._window_context_s * batch.window_context_tokens
        if batch.prefill_pairs:
            reads /= own.mixed_kv
        return own.per_request_s * batch.requests + linear + attention + reads

    def _routed_s(self, tokens: int, tokens_of_all_ranks: int) -> float:
        """Routed experts: a rank holds its share of them and computes as many rows as it brings.

        Rows that only pad a batch hold stale tokens and are routed as well, so they touch experts too.
        """
        cost = self.cost
        if not cost.experts:
            return 0.0
        read = cost.routed_bytes * cost.distinct_experts_share(tokens_of_all_ranks) * self._byte_s
        return read + self._routed_flops * tokens * self._expert_flop_s

    def _exchange_s(self, tokens: int) -> float:
        """Two collectives a layer, each moving every token's hidden state once over the link."""
        cost = self.cost
        moved = 2 * cost.layers * tokens * cost.hidden_bytes / (self.gpu.link_bytes_s * self.efficiency.link)
        return moved + 2 * cost.layers * self.efficiency.exchange_s
