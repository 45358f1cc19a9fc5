"""KV703."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.serving.settings import settings_of
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

_GIB = 1 << 30
_NEEDED = {"gpu", "max_model_len", "max_num_seqs"}


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
        settings = settings_of(call)
        if not settings.keys() >= _NEEDED:
            return
        from promptlint_rules.serving.engine_memory import overcommitment  # noqa: PLC0415 -- loads the table of models

        found = overcommitment(call.model, settings)
        if found is None:
            return
        held, asked_bytes, length, requests = found.pool, found.asked_bytes, found.length, found.requests
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=(
                f"{requests:,} requests of {length:,} tokens need {asked_bytes / _GIB:,.1f} GiB of KV cache; "
                f"{held.gpu} leaves {held.kv_pool_bytes / _GIB:,.1f} GiB, {held.max_concurrency:.1f} of them"
            ),
            place=settings["max_num_seqs"].place,
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
            f"{memory.in_flight:,} requests in flight may need {memory.in_flight_bytes / _GIB:,.1f} GiB of KV cache, "
            f"the pool holds {memory.pool_bytes / _GIB:,.1f} GiB: preemption is likely",
            (traffic.current.index,),
            in_flight_bytes=memory.in_flight_bytes,
            pool_bytes=memory.pool_bytes,
        )
