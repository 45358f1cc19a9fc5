"""Engine settings that waste the cache or the GPU, and those that do not."""

from __future__ import annotations

import pytest

from promptlint_core.prompt import Call, Place
from promptlint_rules.serving.extreme_gpu_memory_utilization import ExtremeGpuMemoryUtilization
from promptlint_rules.serving.overcommitted_kv import OvercommittedKv
from promptlint_rules.serving.prefix_caching_off import PrefixCachingOff
from promptlint_rules.serving.settings import Setting

PLACE = Place("vllm.yaml", 3)
FITS = {
    "gpu": "H100",
    "max_model_len": "8192",
    "max_num_seqs": "16",
}


def engine(settings: dict[str, str], model: str | None = "meta-llama/Llama-3.1-8B-Instruct") -> Call:
    switches = tuple((name, value, PLACE) for name, value in settings.items())
    return Call("vllm server", "vllm", PLACE, model=model, switches=switches, kind="serving")


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"enable_prefix_caching": "False"}, 1),
        ({"enable_prefix_caching": "false"}, 1),
        ({"no_enable_prefix_caching": "true"}, 1),
        ({"disable_radix_cache": "True"}, 1),
        ({"enable_block_reuse": "false"}, 1),
        ({"no_cache_prompt": "true"}, 1),
        ({"enable_prefix_caching": "True"}, 0),
        ({"disable_radix_cache": "False"}, 0),
        ({"enable_prefix_caching": "None"}, 0),
        ({}, 0),
    ],
)
def test_the_prefix_cache_is_off(settings: dict[str, str], found: int) -> None:
    assert found == len(list(PrefixCachingOff().check_call(engine(settings))))


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"gpu_memory_utilization": "0.97"}, 1),
        ({"gpu_memory_utilization": "1.0"}, 1),
        ({"gpu_memory_utilization": "0.70"}, 1),
        ({"gpu_memory_utilization": "0.3"}, 1),
        ({"gpu_memory_utilization": "0.96"}, 0),
        ({"gpu_memory_utilization": "0.71"}, 0),
        ({"gpu_memory_utilization": "0.92"}, 0),
        ({"gpu_memory_utilization": "95"}, 0),
        ({"gpu_memory_utilization": "0"}, 0),
        ({"gpu_memory_utilization": "high"}, 0),
        ({"gpu_memory_utilization": "0.3", "shared_gpu": "training beside it"}, 0),
        ({"gpu_memory_utilization": "0.99", "shared_gpu": "training beside it"}, 1),
        ({"gpu_memory_utilization": "0.99", "kv_cache_memory_bytes": "1000000"}, 0),
        ({}, 0),
    ],
)
def test_the_share_of_the_gpu_is_extreme(settings: dict[str, str], found: int) -> None:
    assert found == len(list(ExtremeGpuMemoryUtilization().check_call(engine(settings))))


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, 0),
        ({"max_num_seqs": "256"}, 1),
        ({"max_model_len": "131072"}, 1),
        ({"max_model_len": "128k"}, 1),
        ({"gpu": "L4"}, 1),
        ({"gpu": "L4", "quantization": "fp8", "kv_cache_dtype": "fp8"}, 0),
        ({"max_num_seqs": "60", "kv_cache_dtype": "fp8"}, 0),
        ({"max_num_seqs": "60"}, 1),
        ({"max_num_seqs": "60", "tensor_parallel_size": "2"}, 0),
        ({"gpu": "an abacus", "max_num_seqs": "256"}, 0),
        ({"max_num_seqs": "many", "max_model_len": "131072"}, 0),
        ({"max_num_seqs": "256", "tensor_parallel_size": "3"}, 0),
        ({"max_num_seqs": "256", "kv_cache_dtype": "fp7"}, 0),
    ],
)
def test_more_requests_than_the_cache_holds(changed: dict[str, str], found: int) -> None:
    assert found == len(list(OvercommittedKv().check_call(engine(FITS | changed))))


@pytest.mark.parametrize("missing", FITS)
def test_what_is_not_written_out_is_never_guessed(missing: str) -> None:
    settings = {name: value for name, value in (FITS | {"max_num_seqs": "4096"}).items() if name != missing}

    assert [] == list(OvercommittedKv().check_call(engine(settings)))


def test_a_model_that_is_not_known_is_never_guessed() -> None:
    assert [] == list(OvercommittedKv().check_call(engine(FITS | {"max_num_seqs": "4096"}, "my-own/model")))
    assert [] == list(OvercommittedKv().check_call(engine(FITS | {"max_num_seqs": "4096"}, None)))


def test_the_message_tells_the_sizes() -> None:
    finding = next(OvercommittedKv().check_call(engine(FITS | {"max_num_seqs": "256"})))

    assert "256 requests of 8,192 tokens need 256.0 GiB of KV cache; H100 leaves" in finding.message


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("4096", 4096),
        ("32k", 32_000),
        ("32K", 32_768),
        ("1_000", 1000),
        ("0.5", 0.5),
        ("-1", -1),
        ("auto", None),
        ("", None),
    ],
)
def test_numbers_as_engines_read_them(value: str, expected: float | None) -> None:
    assert expected == Setting("max_model_len", value, PLACE).number
