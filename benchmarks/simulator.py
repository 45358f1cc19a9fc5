"""The simulator against measured runs, and its speed.

    python benchmarks/simulator.py [--no-calibration]

Prints, for the two measured vLLM runs in tests/data/traces, simulated against measured latencies with the defaults and
calibrated on the first 20 % of the requests; then the time for Mooncake's conversation trace (12,031 requests).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from promptlint_core.kv import geometry_of, gpu_of
from promptlint_report.simulate.calibrate import calibrate
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.outcome import Outcome, latency_of
from promptlint_report.simulate.run import simulate
from promptlint_report.simulate.traces import read_measured, read_trace
from promptlint_report.simulate.workload import Workload

TRACES = Path(__file__).parents[1] / "tests" / "data" / "traces"
DENSE = Deployment(
    geometry_of("Llama-3.1-8B"),
    gpu_of("RTX-4090"),
    blocks=2588,
    max_num_seqs=256,
    max_num_batched_tokens=2048,
    version=(0, 19),
)
EXPERTS = Deployment(
    geometry_of("Qwen3-30B-A3B"),
    gpu_of("RTX-PRO-6000"),
    dp=2,
    expert_parallel=True,
    max_num_seqs=128,
    max_num_batched_tokens=2048,
    version=(0, 19),
)
RUNS = {"rtx4090-llama-3.1-8b": DENSE, "rtxpro6000-qwen3-30b-a3b": EXPERTS}


def told(title: str, outcome: Outcome, workload: Workload) -> None:
    print(f"  {title}")
    ttft = latency_of([m.ttft_s for m in workload.measured if m.ttft_s is not None])
    tpot = latency_of([m.tpot_s for m in workload.measured if m.tpot_s is not None])
    for name, ours, theirs in (("TTFT", outcome.engine_ttft, ttft), ("TPOT", outcome.tpot, tpot)):
        cells = []
        for figure in ("mean", "p50", "p95", "p99"):
            simulated, measured = getattr(ours, figure), getattr(theirs, figure)
            cells.append(f"{figure} {simulated:.4g} s of {measured:.4g} s ({simulated / measured - 1:+.1%})")
        print(f"    {name}: {', '.join(cells)}")
    print(f"    {outcome.duration_s:.1f} s, {outcome.output_tokens_per_s:,.0f} output tokens a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-calibration", action="store_true")
    options = parser.parse_args()
    for run, deployment in RUNS.items():
        print(run)
        workload = read_trace(TRACES / f"{run}-workload.jsonl.gz")
        workload = replace(workload, measured=read_measured(TRACES / f"{run}-measured.jsonl.gz"))
        told("defaults", simulate(workload, deployment), workload)
        if not options.no_calibration:
            started = time.perf_counter()
            fit = calibrate(workload, deployment)
            took_s = time.perf_counter() - started
            title = f"calibrated on {fit.requests} requests ({fit.runs} runs, {took_s:.0f} s)"
            told(title, simulate(workload, deployment.with_options(efficiency=fit.efficiency)), workload)
    workload = read_trace(TRACES / "mooncake-conversation.jsonl.gz")
    deployment = Deployment(geometry_of("Llama-3.1-8B"), gpu_of("H100"), block_size=512, replicas=8)
    started = time.perf_counter()
    outcome = simulate(workload, deployment)
    took_s = time.perf_counter() - started
    print(f"{outcome.finished:,} requests, {outcome.steps:,} steps on 8 instances: {took_s:.1f} s")


if __name__ == "__main__":
    main()
