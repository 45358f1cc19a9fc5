"""What is simulated: model, GPUs, options of the engine, and how jobs are spread over instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import Geometry, Gpu, Settings, default_settings, kv_bytes_per_token, pool
from promptlint_report.simulate.engine import Engine
from promptlint_report.simulate.model_cost import ModelCost, model_cost
from promptlint_report.simulate.scheduler import Scheduler, SchedulerSettings
from promptlint_report.simulate.step_time import Efficiency, StepTimer


@dataclass(frozen=True, slots=True)
class Deployment:
    """One kind of instance and how many there are."""

    geometry: Geometry
    gpu: Gpu
    tp: int = 1
    """GPUs of one replica."""
    replicas: int = 1
    """Independent instances behind a balancer."""
    dp: int = 1
    """Data-parallel ranks of one instance that run in lockstep and share experts."""
    expert_parallel: bool = False
    kv_dtype: str = "auto"
    block_size: int = 16
    blocks: int | None = None
    """Per rank; None: what the GPU's memory leaves."""
    gpu_memory_utilization: float | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    policy: Literal["fcfs", "priority"] = "fcfs"
    prefix_caching: bool = True
    version: tuple[int, ...] = (0, 21)
    efficiency: Efficiency | None = None
    """None: the defaults of the GPU's kind."""
    split: Literal["none", "long-outputs", "prefill-decode"] = "none"
    """`long-outputs`: the last replica serves outputs beyond `long_output_tokens` alone; `prefill-decode`: the first
    half of the replicas computes prompts, the others generate."""
    long_output_tokens: int = 1024

    @property
    def settings(self) -> Settings:
        usual = default_settings(self.gpu)
        return Settings(
            self.max_num_seqs or usual.max_num_seqs, self.max_num_batched_tokens or usual.max_num_batched_tokens
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the model of this deployment leaves out."""
        notes = []
        if self.geometry.longest_window_tokens is not None:
            notes.append("windowed layers are counted at full length: the real pool holds more")
        if self.geometry.is_hybrid:
            notes.append("constant states of recurrent layers take no blocks here, and every prefix can be read")
        return tuple(notes)

    def cost(self) -> ModelCost:
        """What one token costs on one GPU."""
        spread = self.dp if self.expert_parallel else 1
        return model_cost(self.geometry, kv_dtype=self.kv_dtype, tp=self.tp, expert_parallel=spread)

    def blocks_per_rank(self) -> int:
        """KV blocks of one rank. Raises PromptlintError when nothing is left for the cache."""
        if self.blocks is not None:
            return self.blocks
        weights = self.geometry.weights_bytes
        if weights is not None and self.expert_parallel and self.dp > 1 and self.geometry.parameters is not None:
            routed = weights * self.geometry.parameters.routed_experts / self.geometry.parameters.total
            weights = int(weights - routed + routed / self.dp)
        holds = pool(
            self.gpu,
            self.geometry,
            self.gpu_memory_utilization,
            kv_dtype=self.kv_dtype,
            tp=self.tp,
            block_size=16,
            settings=self.settings,
            weights_bytes=weights,
        )
        token_bytes = kv_bytes_per_token(self.geometry, kv_dtype=self.kv_dtype, tp=self.tp)
        if not token_bytes:
            raise PromptlintError(
                f"{self.geometry.name} keeps a constant state and no tokens: there are no blocks to fill"
            )
        blocks = holds.kv_pool_bytes // token_bytes // self.block_size
        if blocks < 2:
            raise PromptlintError(
                f"nothing is left for the KV cache of {self.geometry.name} on {self.tp} × {self.gpu.name}; "
                "use more GPUs (--tp) or a larger one"
            )
        return blocks

    def instances(self) -> list[Engine]:
        """Fresh engines, empty caches."""
        cost = self.cost()
        timer = StepTimer(cost, self.gpu, self.efficiency, tp=self.tp)
        options = SchedulerSettings(
            blocks=self.blocks_per_rank(),
            block_size=self.block_size,
            max_num_seqs=self.settings.max_num_seqs,
            max_num_batched_tokens=self.settings.max_num_batched_tokens,
            policy=self.policy,
            prefix_caching=self.prefix_caching,
            version=self.version,
        )
        return [
            Engine([Scheduler(options, cost.window_tokens) for _ in range(self.dp)], timer)
            for _ in range(self.replicas)
        ]

    def with_options(self, **changes: object) -> Deployment:
        """A changed copy."""
        return replace(self, **changes)  # type: ignore[arg-type]
