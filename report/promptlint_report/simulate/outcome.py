"""What a simulated run came to: latencies apart, throughput, hit rate, use of the KV pool, preemptions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from itertools import accumulate

from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.engine import Engine, Gaps, Sample
from promptlint_report.simulate.scheduler import Sequence
from promptlint_report.simulate.workload import Measured, Workload


@dataclass(frozen=True, slots=True)
class Latency:
    """Mean and percentiles of one kind of latency, seconds; percentiles by linear interpolation."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Figures of one run. TTFT, inter-token gaps, queue and end-to-end are never mixed."""

    name: str
    jobs: int
    finished: int
    refused: int
    """Longer than the whole pool."""
    ttft: Latency | None
    """From arrival, as a client sees it."""
    tpot: Latency | None
    """Per request: decode time ÷ (output tokens − 1)."""
    itl: Latency | None
    """Over all gaps of all requests."""
    queue: Latency | None
    e2e: Latency | None
    engine_ttft: Latency | None
    """From when the engine saw the request, as vLLM's own metrics count."""
    engine_queue: Latency | None
    duration_s: float
    """First arrival to last token."""
    output_tokens: int
    prompt_tokens: int
    output_tokens_per_s: float
    hit_rate: float | None
    """Simulated: hit tokens ÷ prompt tokens looked up; None where nothing is known of shared prefixes."""
    preemptions: int
    kv_use_mean: float
    """Over busy time."""
    kv_use_max: float
    steps: int
    busy_s: float
    blocks: int
    samples: tuple[Sample, ...]
    per_job: tuple[Measured, ...]
    """From arrival."""
    per_job_in_engine: tuple[Measured, ...]


def percentile(ordered: SequenceOf[float], q: float) -> float:
    """Linear interpolation between the two nearest ranks of sorted values.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.5
    """
    position = q * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def latency_of(values: SequenceOf[float]) -> Latency | None:
    """Mean and percentiles; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    mean = sum(ordered) / len(ordered)
    p50, p95, p99 = (percentile(ordered, q) for q in (0.5, 0.95, 0.99))
    return Latency(len(ordered), mean, p50, p95, p99)


def gap_latency(gaps: SequenceOf[Gaps]) -> Latency | None:
    """The same over counted gaps."""
    pairs = sorted((s, c) for g in gaps for s, c in zip(g.seconds, g.counts, strict=True))
    if not pairs:
        return None
    totals = list(accumulate(count for _, count in pairs))
    count = totals[-1]
    mean = sum(seconds * weight for seconds, weight in pairs) / count
    p50, p95, p99 = (pairs[bisect_left(totals, max(1, q * count))][0] for q in (0.5, 0.95, 0.99))
    return Latency(count, mean, p50, p95, p99)


def measured_of(sequence: Sequence, *, in_engine: bool = False) -> Measured:
    """Latencies of one simulated job, from arrival or from when the engine saw it; None for what did not happen."""
    job, first, last = sequence.job, sequence.first_token_s, sequence.last_token_s
    start = sequence.queued_s if in_engine else job.arrival_s
    finished = sequence.generated >= job.output_tokens and last is not None
    tpot = (last - first) / (job.output_tokens - 1) if finished and last and first and job.output_tokens > 1 else None
    return Measured(
        ttft_s=None if first is None else first - start,
        tpot_s=tpot,
        queue_s=None if sequence.scheduled_s is None else sequence.scheduled_s - start,
        e2e_s=last - start if finished and last is not None else None,
    )


def outcome_of(
    workload: Workload, deployment: Deployment, engines: SequenceOf[Engine], sequences: SequenceOf[Sequence]
) -> Outcome:
    """Gather the figures of a run."""
    per_job = tuple(measured_of(sequence) for sequence in sequences)
    in_engine = tuple(measured_of(sequence, in_engine=True) for sequence in sequences)
    ranks = [rank for engine in engines for rank in engine.ranks]
    ends = [sequence.last_token_s for sequence in sequences if sequence.last_token_s is not None]
    duration = max(ends, default=0.0)
    generated = sum(sequence.generated for sequence in sequences)
    busy = sum(engine.busy_s for engine in engines)
    queries = sum(rank.query_tokens for rank in ranks)
    samples = merge_samples([engine.samples for engine in engines])
    return Outcome(
        name=workload.name,
        jobs=len(workload.jobs),
        finished=sum(measured.e2e_s is not None for measured in per_job),
        refused=sum(len(rank.refused) for rank in ranks),
        ttft=latency_of([m.ttft_s for m in per_job if m.ttft_s is not None]),
        tpot=latency_of([m.tpot_s for m in per_job if m.tpot_s is not None]),
        itl=gap_latency([engine.gaps for engine in engines]),
        queue=latency_of([m.queue_s for m in per_job if m.queue_s is not None]),
        e2e=latency_of([m.e2e_s for m in per_job if m.e2e_s is not None]),
        engine_ttft=latency_of([m.ttft_s for m in in_engine if m.ttft_s is not None]),
        engine_queue=latency_of([m.queue_s for m in in_engine if m.queue_s is not None]),
        duration_s=duration,
        output_tokens=generated,
        prompt_tokens=sum(sequence.job.prompt_tokens for sequence in sequences),
        output_tokens_per_s=generated / duration if duration else 0.0,
        hit_rate=sum(rank.hit_tokens for rank in ranks) / queries if workload.has_hashes and queries else None,
        preemptions=sum(rank.preemptions for rank in ranks),
        kv_use_mean=sum(engine.kv_use_s for engine in engines) / busy if busy else 0.0,
        kv_use_max=max((sample.kv_use for sample in samples), default=0.0),
        steps=sum(engine.steps for engine in engines),
        busy_s=busy,
        blocks=deployment.blocks_per_rank(),
        samples=tuple(samples),
        per_job=per_job,
        per_job_in_engine=in_engine,
    )


def merge_samples(lines: SequenceOf[SequenceOf[Sample]]) -> list[Sample]:
    """One time line for several instances: batches and queues add up, KV use is the mean."""
    if len(lines) == 1:
        return list(lines[0])
    current: list[Sample | None] = [None] * len(lines)
    merged = []
    for at_s, which, sample in sorted((s.at_s, i, s) for i, line in enumerate(lines) for s in line):
        current[which] = sample
        known = [other for other in current if other is not None]
        use = sum(other.kv_use for other in known) / len(lines)
        merged.append(Sample(at_s, sum(o.running for o in known), sum(o.waiting for o in known), use))
    return merged
