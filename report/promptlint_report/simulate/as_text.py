"""A simulation as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptlint_report.simulate.calibrate import Fit
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.outcome import Latency, Outcome
from promptlint_report.simulate.scheduler import MODELLED_VERSION
from promptlint_report.simulate.what_if import Variant
from promptlint_report.simulate.workload import Workload

_LABEL = 26
_CELL = 15


def text(
    workload: Workload,
    deployment: Deployment,
    variants: Sequence[Variant],
    fit: Fit | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Head, one column a variant, notes."""
    lines = [*_head(workload, deployment, fit), ""]
    for start in range(0, len(variants), 4):
        part = variants[start : start + 4] if start == 0 else [variants[0], *variants[start : start + 4]]
        lines += [*_table(part), ""]
    lines += [f"  {variant.name}: {variant.change}" for variant in variants if variant.change]
    lines += [f"  note: {note}" for note in (*workload.notes, *deployment.notes, *notes)]
    return "\n".join(lines).rstrip() + "\n"


def _head(workload: Workload, deployment: Deployment, fit: Fit | None) -> list[str]:
    settings = deployment.settings
    gpus = f"{deployment.replicas * deployment.dp * deployment.tp} × {deployment.gpu.name}"
    tokens = f"{workload.prompt_tokens:,} prompt and {workload.output_tokens:,} output tokens"
    pool = f"{deployment.blocks_per_rank():,} blocks of {deployment.block_size}"
    budget = f"max_num_batched_tokens {settings.max_num_batched_tokens:,}"
    lines = [
        f"{deployment.geometry.name} on {gpus}, {MODELLED_VERSION} (simulated)",
        f"  {workload.name}: {len(workload.jobs):,} requests, {tokens}",
        f"  pool {pool}, max_num_seqs {settings.max_num_seqs:,}, {budget}, {deployment.policy}",
    ]
    if fit is not None:
        lines.append(
            f"  calibrated on the first {fit.requests:,} measured requests: root mean square error "
            f"{fit.error_before:.1%} before, {fit.error_after:.1%} after"
        )
    return lines


def _table(variants: Sequence[Variant]) -> list[str]:
    lines = [f"{'':<{_LABEL}}" + "".join(f"{variant.name:>{_CELL}}" for variant in variants)]

    def row(label: str, cell: Callable[[Variant], str]) -> None:
        lines.append(f"{label:<{_LABEL}}" + "".join(f"{cell(variant):>{_CELL}}" for variant in variants))

    row("GPUs", lambda v: str(v.gpus))
    for label, pick in _LATENCIES:
        for name in ("mean", "p50", "p95", "p99"):
            row(f"{label} {name}", lambda v, pick=pick, name=name: _seconds(pick(v.outcome), name))  # type: ignore[misc]
    row("duration", lambda v: f"{v.outcome.duration_s:,.1f} s")
    row("output tokens a second", lambda v: f"{v.outcome.output_tokens_per_s:,.0f}")
    row("hit rate (simulated)", lambda v: "unknown" if v.outcome.hit_rate is None else f"{v.outcome.hit_rate:.1%}")
    row("KV pool used, mean", lambda v: f"{v.outcome.kv_use_mean:.1%}")
    row("KV pool used, most", lambda v: f"{v.outcome.kv_use_max:.1%}")
    row("preemptions", lambda v: f"{v.outcome.preemptions:,}")
    if any(variant.outcome.refused for variant in variants):
        row("longer than the pool", lambda v: f"{v.outcome.refused:,}")
    return lines


_LATENCIES: tuple[tuple[str, Callable[[Outcome], Latency | None]], ...] = (
    ("TTFT", lambda outcome: outcome.ttft),
    ("ITL (all gaps)", lambda outcome: outcome.itl),
    ("TPOT (a request)", lambda outcome: outcome.tpot),
    ("queue", lambda outcome: outcome.queue),
    ("end to end", lambda outcome: outcome.e2e),
)


def _seconds(latency: Latency | None, name: str) -> str:
    if latency is None:
        return "-"
    value: float = getattr(latency, name)
    return f"{value * 1000:,.1f} ms" if value < 1 else f"{value:,.2f} s"
