"""KV702."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.gpu_share import HIGHEST_SAFE_UTILIZATION, LOWEST_USEFUL_UTILIZATION, utilization_warning
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity
from promptlint_rules.serving.settings import settings_of

_OVERRIDES = ("kv_cache_memory_bytes",)


class ExtremeGpuMemoryUtilization(Rule):
    """The share of GPU memory that the engine may take is at an extreme.

    ## What it does
    Finds gpu_memory_utilization at or above 0.97, and at or below 0.70 on a GPU that the engine has for itself.

    ## Why it costs
    The KV pool is what the share leaves after weights and peak activation, so on a GPU that the weights nearly fill a
    few points move the pool by a multiple. Too high, a burst beyond the profiled peak ends in out of memory and takes
    all running requests with it. Too low, memory stands idle: fewer requests at once, more preemption, and prefixes
    that are evicted before they are read again.

    ## Example
    ```python
    from vllm import LLM

    llm = LLM(model="meta-llama/Llama-3.1-8B-Instruct", gpu_memory_utilization=0.99)
    ```

    ## Use instead
    ```python
    from vllm import LLM

    llm = LLM(model="meta-llama/Llama-3.1-8B-Instruct", gpu_memory_utilization=0.92)
    ```

    ## Limits
    A low share is left alone where the file shows that the GPU is shared: several engines, training beside it, a
    fraction of a GPU, an embedding or reranking model. `promptlint kv MODEL --gpu GPU` shows how the pool moves.
    """

    id = "KV702"
    severity = Severity.WARNING

    def check_call(self, call: Call) -> Iterator[Finding]:
        settings = settings_of(call)
        setting = settings.get("gpu_memory_utilization")
        if setting is None or any(name in settings for name in _OVERRIDES):
            return
        share = setting.number
        if share is None or not 0 < share <= 1:
            return
        if share >= HIGHEST_SAFE_UTILIZATION:
            advice = "0.90 to 0.95 keeps room for peaks"
        elif share <= LOWEST_USEFUL_UTILIZATION and "shared_gpu" not in settings:
            advice = "0.90 to 0.95 on a GPU of its own"
        else:
            return
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=f"gpu_memory_utilization {utilization_warning(share)}",
            place=setting.place,
            expression=setting.written,
            advice=advice,
            call=call,
        )
