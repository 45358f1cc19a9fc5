"""KV703."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_core.kv import Pool, Settings, default_settings, find_geometry, find_gpu, pool
from promptlint_core.kv.geometry import Geometry
from promptlint_core.kv.parameters import quantised_weights_bytes
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.serving.settings import Setting, settings_of
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

_GIB = 1 << 30


class OvercommittedKv(Rule):
    """The engine admits more requests of full length than its KV cache can hold.

    ## What it does
    Where the model, the GPU, max_model_len and max_num_seqs are written out, computes the KV pool that the GPU leaves
    after weights and activations, and compares it with max_num_seqs requests of max_model_len tokens.

    ## Why it costs
    Requests that grow beyond the pool are preempted: their blocks are thrown away and their prompt is computed again
    from the start, at the moment of the highest load. Latency then rises in steps and nothing in the log says why.

    ## Example
    ```yaml
    containers:
      - name: vllm
        image: vllm/vllm-openai:v0.21.0
        args: ["--model", "meta-llama/Llama-3.1-8B-Instruct", "--max-model-len", "131072", "--max-num-seqs", "256"]
    nodeSelector:
      nvidia.com/gpu.product: NVIDIA-L4
    ```

    ## Use instead
    ```yaml
    containers:
      - name: vllm
        image: vllm/vllm-openai:v0.21.0
        args: ["--model", "meta-llama/Llama-3.1-8B-Instruct", "--max-model-len", "4096", "--max-num-seqs", "4"]
    nodeSelector:
      nvidia.com/gpu.product: NVIDIA-L4
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 32000, "messages": [{"role": "user", "content": "Where is it?"}]},
      "kv": {"request_bytes": 4294967296, "in_flight_bytes": 12884901888, "pool_bytes": 8589934592, "in_flight": 3}}
    ```

    ## Limits
    The bound is the worst case: requests seldom all reach the full length. Activation memory is estimated. Models,
    GPUs and values that are not written out are never guessed.
    """

    id = "KV703"
    severity = Severity.WARNING

    def check_call(self, call: Call) -> Iterator[Finding]:
        found = _overcommitment(call)
        if found is None:
            return
        held, asked, length, requests = found
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=(
                f"{requests:,} requests of {length:,} tokens need {asked / _GIB:,.1f} GiB of KV cache; "
                f"{held.gpu} leaves {held.kv_pool_bytes / _GIB:,.1f} GiB, {held.max_concurrency:.1f} of them"
            ),
            place=settings_of(call)["max_num_seqs"].place,
            expression=f"max_model_len={length}, max_num_seqs={requests}",
            advice="lower max_model_len to what requests really need, or max_num_seqs, or quantise the cache",
            call=call,
        )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        memory = traffic.memory
        if memory.in_flight_bytes is None or memory.pool_bytes is None or memory.in_flight_bytes <= memory.pool_bytes:
            return
        yield wire_finding(
            type(self),
            f"{memory.in_flight:,} requests in flight may need {memory.in_flight_bytes / _GIB:,.1f} GiB of KV cache, the pool "
            f"holds {memory.pool_bytes / _GIB:,.1f} GiB: preemption is likely",
            (traffic.current.index,),
            in_flight_bytes=memory.in_flight_bytes,
            pool_bytes=memory.pool_bytes,
        )


def _overcommitment(call: Call) -> tuple[Pool, int, int, int] | None:
    """(pool, bytes asked for, length, requests) where all is written out and too much is admitted; else None."""
    settings = settings_of(call)
    geometry = find_geometry(call.model) if call.model else None
    gpu = find_gpu(settings["gpu"].value) if "gpu" in settings else None
    length, requests = _count(settings.get("max_model_len")), _count(settings.get("max_num_seqs"))
    if geometry is None or gpu is None or length is None or requests is None:
        return None
    limits = Settings(requests, default_settings(gpu).max_num_batched_tokens)
    try:
        held = pool(
            gpu,
            geometry,
            _share(settings),
            kv_dtype=_dtype(settings),
            tp=_count(settings.get("tensor_parallel_size")) or 1,
            pp=_count(settings.get("pipeline_parallel_size")) or 1,
            block_size=_count(settings.get("block_size")) or 16,
            max_model_len=length,
            settings=limits,
            weights_bytes=_weights_bytes(geometry, settings),
        )
    except PromptlintError:
        return None
    if requests <= held.max_concurrency or held.held.layout is None:
        return None
    asked = requests * held.held.blocks_per_request * held.held.layout.bytes_per_block
    return held, asked, length, requests


def _count(setting: Setting | None) -> int | None:
    number = setting.number if setting else None
    return int(number) if number is not None and number >= 1 else None


def _share(settings: Mapping[str, Setting]) -> float | None:
    setting = settings.get("gpu_memory_utilization")
    share = setting.number if setting else None
    return share if share is not None and 0 < share <= 1 else None


def _dtype(settings: Mapping[str, Setting]) -> str:
    setting = settings.get("kv_cache_dtype")
    return setting.value.strip("\"'") if setting else "auto"


def _weights_bytes(geometry: Geometry, settings: Mapping[str, Setting]) -> int | None:
    setting = settings.get("quantization")
    return quantised_weights_bytes(geometry, setting.value.strip("\"'")) if setting else geometry.weights_bytes
