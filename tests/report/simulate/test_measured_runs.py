"""The simulator against two measured runs of vLLM 0.19: as it is, and calibrated on the first 20 % of the requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from promptlint_core.kv import geometry_of, gpu_of
from promptlint_report.simulate.calibrate import calibrate
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.outcome import Outcome, latency_of
from promptlint_report.simulate.run import simulate
from promptlint_report.simulate.traces import read_measured, read_trace
from promptlint_report.simulate.workload import Measured, Workload

TRACES = Path(__file__).parents[2] / "data" / "traces"

DENSE = "rtx4090-llama-3.1-8b"
EXPERTS = "rtxpro6000-qwen3-30b-a3b"
DURATION_S = {DENSE: 183.6, EXPERTS: 64.0}


@cache
def workload(run: str) -> Workload:
    read = read_trace(TRACES / f"{run}-workload.jsonl.gz")
    return replace(read, measured=read_measured(TRACES / f"{run}-measured.jsonl.gz"))


def deployment(run: str) -> Deployment:
    if run == DENSE:
        model, gpu = geometry_of("Llama-3.1-8B"), gpu_of("RTX-4090")
        return Deployment(model, gpu, blocks=2588, max_num_seqs=256, max_num_batched_tokens=2048, version=(0, 19))
    model, gpu = geometry_of("Qwen3-30B-A3B"), gpu_of("RTX-PRO-6000")
    return Deployment(
        model, gpu, dp=2, expert_parallel=True, max_num_seqs=128, max_num_batched_tokens=2048, version=(0, 19)
    )


def errors(run: str, outcome: Outcome) -> Iterator[tuple[str, float]]:
    """(figure, relative error), timings counted from where the engine saw the request, as they were measured."""
    measured = workload(run).measured

    def of(name: str) -> list[float]:
        return [value for item in measured if (value := getattr(item, name)) is not None]

    for name, ours, theirs in (
        ("ttft", outcome.engine_ttft, latency_of(of("ttft_s"))),
        ("tpot", outcome.tpot, latency_of(of("tpot_s"))),
    ):
        for figure in ("mean", "p50", "p95", "p99"):
            yield f"{name} {figure}", getattr(ours, figure) / getattr(theirs, figure) - 1
    yield "duration", outcome.duration_s / DURATION_S[run] - 1
    throughput = workload(run).output_tokens / DURATION_S[run]
    yield "throughput", outcome.output_tokens_per_s / throughput - 1


def too_far(run: str, outcome: Outcome, allowed: dict[str, float]) -> dict[str, float]:
    return {name: round(error, 4) for name, error in errors(run, outcome) if abs(error) > allowed[name.split()[-1]]}


@pytest.mark.parametrize("run", [DENSE, EXPERTS])
def test_uncalibrated_every_figure_is_within_a_quarter(run: str) -> None:
    outcome = simulate(workload(run), deployment(run))
    allowed = dict.fromkeys(("mean", "p50", "p95", "p99", "duration", "throughput"), 0.25)

    assert outcome.finished == 300
    assert {} == too_far(run, outcome, allowed)


@pytest.mark.slow
@pytest.mark.parametrize("run", [DENSE, EXPERTS])
def test_calibrated_on_the_first_fifth_means_and_tails_are_close(run: str) -> None:
    known = workload(run)
    unknown = Measured()
    first_fifth = (*known.measured[:60], *[unknown] * 240)
    fit = calibrate(replace(known, measured=first_fifth), deployment(run))
    outcome = simulate(known, deployment(run).with_options(efficiency=fit.efficiency))
    allowed = {"mean": 0.05, "p50": 0.05, "p95": 0.10, "p99": 0.10, "duration": 0.03, "throughput": 0.03}

    assert fit.requests == 60
    assert fit.error_after <= fit.error_before
    assert {} == too_far(run, outcome, allowed)
