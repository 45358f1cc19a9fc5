"""KV701."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity
from promptlint_rules.serving.settings import Setting, settings_of

_ON_SWITCHES = ("enable_prefix_caching", "enable_block_reuse")
_OFF_SWITCHES = ("no_enable_prefix_caching", "disable_radix_cache", "no_cache_prompt")
_ENGINES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt": "TensorRT-LLM",
    "llamacpp": "llama.cpp",
    "tgi": "text-generation-inference",
}


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


def _turns_off(setting: Setting) -> bool:
    if setting.name in _ON_SWITCHES:
        return setting.is_off
    return setting.name in _OFF_SWITCHES and setting.is_on
