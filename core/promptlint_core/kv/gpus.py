"""The table of GPUs: memory an engine sees, bandwidth and dense peak rates, each with its source."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from rapidfuzz import fuzz, process

from promptlint_core.errors import PromptlintError

__all__ = ["Gpu", "find_gpu", "gpu_of", "known_gpus"]


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    memory_bytes: int
    """What the driver reports as total, not what is printed on the box."""
    memory_how: str
    """`measured` in a log, `usable` by a tool's table, `vendor`: the sold size less what comparable cards keep back."""
    bandwidth_bytes_s: float
    fp16_flops: float
    """Dense peak, no sparsity."""
    fp8_flops: float | None
    link_bytes_s: float
    """To the next GPU, one direction."""
    source: str


def known_gpus() -> tuple[str, ...]:
    return tuple(gpu.name for gpu in dict.fromkeys(_table().values()))


def find_gpu(name: str) -> Gpu | None:
    """The GPU of that name, seen through vendor, spaces and form factor; None: not in the table."""
    plain = re.sub(r"[-_ ]+", "-", name.strip().lower())
    plain = re.sub(r"^(nvidia|amd|geforce|tesla|instinct)-", "", re.sub(r"^nvidia-", "", plain))
    return _table().get(plain) or _table().get(plain.replace("-", ""))


def gpu_of(name: str) -> Gpu:
    """As `find_gpu`. Raises PromptlintError offering the nearest names."""
    gpu = find_gpu(name)
    if gpu is None:
        near = process.extract(name, known_gpus(), scorer=fuzz.WRatio, limit=3, score_cutoff=50)
        hint = f"; the nearest known: {', '.join(found for found, _, _ in near)}" if near else ""
        raise PromptlintError(f"unknown GPU {name!r}{hint} (known: {', '.join(known_gpus())})")
    return gpu


@cache
def _table() -> dict[str, Gpu]:
    text = resources.files("promptlint_core.kv").joinpath("gpus.tsv").read_text(encoding="utf-8")
    table: dict[str, Gpu] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        gpu = Gpu(
            name=row["gpu"],
            memory_bytes=int(row["memory_bytes"]),
            memory_how=row["memory_how"],
            bandwidth_bytes_s=float(row["bandwidth_gb_s"]) * 1e9,
            fp16_flops=float(row["fp16_tflops"]) * 1e12,
            fp8_flops=float(row["fp8_tflops"]) * 1e12 if row["fp8_tflops"] else None,
            link_bytes_s=float(row["link_gb_s"]) * 1e9,
            source=row["source"],
        )
        for name in (row["gpu"].lower(), *row["aliases"].split(",")):
            if name:
                table[name] = gpu
                table.setdefault(name.replace("-", ""), gpu)
    return table
