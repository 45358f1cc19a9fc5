"""KV701."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.serving.settings import Setting, settings_of
from promptlint_rules.traffic import LOCAL_ENGINES, Pair, Relation, Traffic
from promptlint_rules.wire import wire_finding

_ON_SWITCHES = ("enable_prefix_caching", "enable_block_reuse")
_OFF_SWITCHES = ("no_enable_prefix_caching", "disable_radix_cache", "no_cache_prompt")
_ENGINES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt": "TensorRT-LLM",
    "llamacpp": "llama.cpp",
    "tgi": "text-generation-inference",
}

_LEAST_PAIRS = 3
_LEAST_SHARE = 0.5
_LEAST_SHARED_TOKENS = 256
_MOST_GAP_S = 600.0
"""Later, other traffic may have pushed the entry out."""


class PrefixCachingOff(Rule):
    """The engine's prefix cache is turned off.

    ## What it does
    Finds vLLM with prefix caching disabled, SGLang without its radix cache, TensorRT-LLM without block reuse and
    llama.cpp without its prompt cache: in Python, in engine configurations, compose files, Kubernetes manifests, Helm
    values, shell scripts and Dockerfiles.

    ## Why it costs
    Without it every request computes its whole prompt anew, however much of it is the same as in the request before:
    time to first token and prefill load grow with the prompt, and prompts laid out for caching gain nothing. The cache
    costs no memory of its own: its blocks are given up as soon as a request needs them.

    ## Example
    ```python
    from vllm import LLM

    llm = LLM(model="meta-llama/Llama-3.1-8B-Instruct", enable_prefix_caching=False)
    ```

    ## Use instead
    ```python
    from vllm import LLM

    llm = LLM(model="meta-llama/Llama-3.1-8B-Instruct")
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [{"role": "system", "content": "Answer in two sentences. Be brief."},
      {"role": "user", "content": "Where is it?"}]},
      "usage": {"prompt_tokens": 1400, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [{"role": "system", "content": "Answer in two sentences. Be brief."},
      {"role": "user", "content": "Who has it?"}]},
      "usage": {"prompt_tokens": 1400, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 18, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [{"role": "system", "content": "Answer in two sentences. Be brief."},
      {"role": "user", "content": "Until when?"}]},
      "usage": {"prompt_tokens": 1400, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 27, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [{"role": "system", "content": "Answer in two sentences. Be brief."},
      {"role": "user", "content": "Thank you."}]},
      "usage": {"prompt_tokens": 1400, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ## Limits
    A value that comes from a variable or a template's hole is unknown and never told. Benchmarks that turn the cache
    off on purpose say so with a suppression.

    ## References
    - vLLM, automatic prefix caching; SGLang, `--disable-radix-cache`; TensorRT-LLM, `KvCacheConfig`
    """

    id = "KV701"
    severity = Severity.ERROR

    def check_call(self, call: Call) -> Iterator[Finding]:
        for setting in settings_of(call).values():
            if _turns_off(setting):
                yield self._finding(call, setting)

    def _finding(self, call: Call, setting: Setting) -> Finding:
        engine = _ENGINES.get(call.provider, "the engine")
        return Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=f"`{setting.written}` turns the prefix cache of {engine} off: every prompt is computed anew",
            place=setting.place,
            expression=setting.written,
            advice="leave prefix caching on, which is the default",
            call=call,
        )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        current = traffic.current
        if current.request.provider not in LOCAL_ENGINES or current.request.host == "":
            return
        pairs = [pair for pair in traffic.group_pairs if _should_have_hit(pair)]
        if len(pairs) < _LEAST_PAIRS or any(seen.hit_tokens for seen in traffic.group):
            return
        share = min(pair.comparison.shared_prefix_share for pair in pairs)
        yield wire_finding(
            type(self),
            f"{len(pairs)} requests share at least {share:.0%} of their prompt with an earlier "
            "one and the engine "
            "reports no hit: its prefix cache seems to be off",
            tuple(sorted({index for pair in pairs for index in (pair.earlier.index, pair.later.index)})),
            tokens_behind=max(pair.shared_tokens for pair in pairs),
        )


def _turns_off(setting: Setting) -> bool:
    if setting.name in _ON_SWITCHES:
        return setting.is_off
    return setting.name in _OFF_SWITCHES and setting.is_on


def _should_have_hit(pair: Pair) -> bool:
    """Much in common, one model and key, soon after: an automatic cache that is on reads it."""
    late_enough = pair.earlier.begun_at is None or pair.later.at >= pair.earlier.begun_at
    return (
        pair.relation is not Relation.HOP
        and pair.same_cache
        and late_enough
        and not pair.earlier.failed
        and pair.later.hit_tokens == 0
        and pair.comparison.shared_prefix_share >= _LEAST_SHARE
        and pair.shared_tokens >= _LEAST_SHARED_TOKENS
        and pair.gap_s <= _MOST_GAP_S
    )
