"""What an engine's literal settings mean for its KV cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import Pool, Settings, default_settings, find_geometry, find_gpu, pool
from promptlint_core.kv.geometry import Geometry
from promptlint_core.kv.parameters import quantised_weights_bytes
from promptlint_rules.serving.settings import Setting


@dataclass(frozen=True, slots=True)
class Overcommitment:
    """More requests of full length than the pool holds."""

    pool: Pool
    asked_bytes: int
    length: int
    requests: int


def overcommitment(model: str | None, settings: Mapping[str, Setting]) -> Overcommitment | None:
    """What an engine admits beyond its pool, where model, GPU, length and requests are written out; else None."""
    geometry = find_geometry(model) if model else None
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
    return Overcommitment(held, asked, length, requests)


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
