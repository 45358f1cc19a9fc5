"""The settings of inference engines that matter to the KV cache, under one name however they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from promptlint_core.kv import find_gpu
from promptlint_core.prompt import Call, Place

_MENTIONS = re.compile(
    r"gpu[-_]?memory[-_]?utilization|(?:en|dis)able[-_]?prefix[-_]?caching|disable[-_]?radix[-_]?cache"
    r"|enable[-_]?block[-_]?reuse|max[-_]?num[-_]?seqs|mem[-_]?fraction[-_]?static|no-cache-prompt|prefix_caching"
)
_MENTIONED = ("caching", "utilization", "radix", "reuse", "seqs", "fraction", "no-cache-prompt")
"""One of these is in every match: a search for words takes a tenth of the time."""


def mentions_engine(text: str) -> bool:
    """Whether a file may configure an engine; any other has nothing to say here."""
    lowered = text.lower()
    return any(word in lowered for word in _MENTIONED) and _MENTIONS.search(lowered) is not None


_DISABLE = "disable_prefix_caching"
"""A word of any program: it speaks of an engine only beside other settings of one."""

_NAMES = {
    "gpu_memory_utilization": "gpu_memory_utilization",
    "enable_prefix_caching": "enable_prefix_caching",
    "no_enable_prefix_caching": "no_enable_prefix_caching",
    "disable_prefix_caching": _DISABLE,
    "prefix_caching": "enable_prefix_caching",  # text-generation-inference, an environment variable
    "disable_radix_cache": "disable_radix_cache",
    "enable_block_reuse": "enable_block_reuse",
    "no_cache_prompt": "no_cache_prompt",
    "mem_fraction_static": "mem_fraction_static",
    "max_model_len": "max_model_len",
    "max_num_seqs": "max_num_seqs",
    "tensor_parallel_size": "tensor_parallel_size",
    "pipeline_parallel_size": "pipeline_parallel_size",
    "kv_cache_dtype": "kv_cache_dtype",
    "kv_cache_memory_bytes": "kv_cache_memory_bytes",
    "quantization": "quantization",
    "block_size": "block_size",
    "tp": "tensor_parallel_size",
    "tp_size": "tensor_parallel_size",
    "model": "model",
    "model_path": "model",
    "model_name": "model",
    "model_tag": "model",
    "model_url": "model",
    "modelurl": "model",
}
_SHORT_FLAGS = {"-tp": "tensor_parallel_size", "-pp": "pipeline_parallel_size", "-m": "model"}
TELLING = frozenset(
    ("gpu_memory_utilization", "enable_prefix_caching", "no_enable_prefix_caching", "disable_radix_cache",
     "enable_block_reuse", "no_cache_prompt", "mem_fraction_static", "max_num_seqs")
)  # fmt: skip
"""An engine without one of these is not told of."""
_SWITCH_ONLY = frozenset(
    ("no_enable_prefix_caching", "disable_radix_cache", "no_cache_prompt", "enable_prefix_caching", _DISABLE)
)
_ENGINE_OF_SETTING = {
    "disable_radix_cache": "sglang",
    "mem_fraction_static": "sglang",
    "enable_block_reuse": "tensorrt",
    "no_cache_prompt": "llamacpp",
}
_VARIABLE = re.compile(r"\$|\{\{|<[a-z]|%\(")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command or a scalar of a file, without its quotes."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str
    start: int
    """Offsets in the file of what sets it."""
    end: int


def setting_name(written: str) -> str | None:
    """`--gpu-memory-utilization`, `gpuMemoryUtilization`, `VLLM_GPU_MEMORY_UTILIZATION` → one name."""
    if written in _SHORT_FLAGS:
        return _SHORT_FLAGS[written]
    plain = written.lstrip("-")
    if not plain.isupper():
        plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain)
    plain = plain.replace("-", "_").lower()
    return _NAMES.get(plain) or _NAMES.get(re.sub(r"^(vllm|sglang|tgi|engine)_", "", plain))


def is_literal(value: str) -> bool:
    """Whether a value is written out; a variable or a template's hole is not."""
    return bool(value) and not _VARIABLE.search(value)


def facts_of_words(words: list[Word]) -> list[Fact]:
    """Settings in a command line: `--name value`, `--name=value`, switches, `serve MODEL`, `NAME=value`."""
    facts: list[Fact] = []
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        if word.text == "serve" and following and not following.text.startswith("-"):
            facts += _fact("model", following.text, following, following)
            continue
        written, equals, value = word.text.partition("=")
        is_flag = word.text.startswith("-")
        if not is_flag and not (equals and re.fullmatch(r"[A-Z_][A-Z0-9_]*", written)):
            continue
        name = setting_name(written)
        if name is None:
            continue
        if equals:
            facts += _fact(name, value.strip("\"'"), word, word)
        elif name in _SWITCH_ONLY and (following is None or following.text.lower() not in ("true", "false")):
            facts += _fact(name, "true", word, word)
        elif following is not None and not following.text.startswith("--"):
            facts += _fact(name, following.text, word, following)
    return facts


def _fact(name: str, value: str, first: Word, last: Word) -> list[Fact]:
    return [Fact(name, value, first.start, last.end)] if is_literal(value) else []


def _as_engine_says(facts: list[Fact]) -> list[Fact]:
    """`disable_prefix_caching` under the name of vLLM's own switch, or left out where nothing else is an engine's."""
    if all(fact.name in (_DISABLE, "model") for fact in facts):
        return [fact for fact in facts if fact.name != _DISABLE]
    return [replace(fact, name="no_enable_prefix_caching") if fact.name == _DISABLE else fact for fact in facts]


def engine_call(
    facts: Iterable[Fact], place_of: Callable[[int, int], Place], *, gpu: str | None, shared: str | None
) -> Call | None:
    """One engine as the rules see it; None when nothing that matters is set.

    Args:
        place_of: gives the `Place` of two offsets.
        gpu: name of the GPU it runs on, where the file tells.
        shared: why the GPU is not the engine's alone, where the file tells.
    """
    found = _as_engine_says(list(facts))
    telling = [fact for fact in found if fact.name in TELLING]
    if not telling:
        return None
    provider = next((_ENGINE_OF_SETTING[fact.name] for fact in found if fact.name in _ENGINE_OF_SETTING), "vllm")
    place = place_of(telling[0].start, telling[0].end)
    switches = [(fact.name, fact.value, place_of(fact.start, fact.end)) for fact in found if fact.name != "model"]
    if gpu is not None:
        switches.append(("gpu", gpu, place))
    if shared is not None:
        switches.append(("shared_gpu", shared, place))
    model = next((fact.value for fact in found if fact.name == "model"), None)
    return Call(
        callee=f"{provider} server",
        provider=provider,
        place=place,
        model=model,
        switches=tuple(switches),
        kind="serving",
    )


def gpu_in(text: str) -> str | None:
    """The GPU that a value names: `NVIDIA-H100-80GB-HBM3`, `nvidia-l4`, `gpu:a100:2`."""
    plain = re.sub(r"^gpu:|:\d+$", "", text.strip().lower())
    plain = re.sub(r"^(nvidia|tesla)[-_ ]+(?:tesla[-_ ]+)?", "", plain)
    for candidate in (plain, re.sub(r"[-_ ]+(sxm\d?|hbm\w+|pcie|shared|mig.*)$", "", plain)):
        gpu = find_gpu(candidate)
        if gpu is not None:
            return gpu.name
    return None
