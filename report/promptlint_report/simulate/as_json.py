"""A simulation as a JSON document (version 1). Unknown is null."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from promptlint_report.simulate.calibrate import Fit
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.outcome import Latency, Outcome
from promptlint_report.simulate.scheduler import MODELLED_VERSION
from promptlint_report.simulate.what_if import Variant
from promptlint_report.simulate.workload import Workload

TIMELINE_POINTS = 200


def document(
    workload: Workload,
    deployment: Deployment,
    variants: Sequence[Variant],
    fit: Fit | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """All that was simulated; times in seconds, counts in tokens."""
    settings = deployment.settings
    return {
        "version": 1,
        "modelled": MODELLED_VERSION,
        "workload": {
            "name": workload.name,
            "requests": len(workload.jobs),
            "prompt_tokens": workload.prompt_tokens,
            "output_tokens": workload.output_tokens,
            "prefixes_known": workload.has_hashes,
        },
        "deployment": {
            "model": deployment.geometry.name,
            "gpu": deployment.gpu.name,
            "tp": deployment.tp,
            "dp": deployment.dp,
            "replicas": deployment.replicas,
            "kv_dtype": deployment.kv_dtype,
            "block_size": deployment.block_size,
            "blocks": deployment.blocks_per_rank(),
            "max_num_seqs": settings.max_num_seqs,
            "max_num_batched_tokens": settings.max_num_batched_tokens,
            "policy": deployment.policy,
        },
        "calibration": None if fit is None else asdict(fit),
        "runs": [
            {"name": variant.name, "change": variant.change, "gpus": variant.gpus, **figures(variant.outcome)}
            for variant in variants
        ],
        "timeline": [
            {"at_s": round(s.at_s, 3), "running": s.running, "waiting": s.waiting, "kv_use": round(s.kv_use, 4)}
            for s in thinned(variants[0].outcome, TIMELINE_POINTS)
        ],
        "notes": [*workload.notes, *deployment.notes, *notes],
    }


def figures(outcome: Outcome) -> dict[str, Any]:
    """The figures of one run."""
    return {
        "requests": outcome.jobs,
        "finished": outcome.finished,
        "refused": outcome.refused,
        "ttft_s": _latency(outcome.ttft),
        "itl_s": _latency(outcome.itl),
        "tpot_s": _latency(outcome.tpot),
        "queue_s": _latency(outcome.queue),
        "e2e_s": _latency(outcome.e2e),
        "duration_s": outcome.duration_s,
        "output_tokens": outcome.output_tokens,
        "output_tokens_per_s": outcome.output_tokens_per_s,
        "simulated_hit_rate": outcome.hit_rate,
        "preemptions": outcome.preemptions,
        "kv_use_mean": outcome.kv_use_mean,
        "kv_use_max": outcome.kv_use_max,
        "steps": outcome.steps,
    }


def _latency(latency: Latency | None) -> dict[str, float | int] | None:
    return None if latency is None else asdict(latency)


def thinned(outcome: Outcome, points: int) -> list[Any]:
    """At most `points` samples of a time line, evenly spread."""
    samples = outcome.samples
    if len(samples) <= points:
        return list(samples)
    return [samples[round(i * (len(samples) - 1) / (points - 1))] for i in range(points)]
