"""Run a workload through a deployment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.engine import Engine
from promptlint_report.simulate.outcome import Outcome, outcome_of
from promptlint_report.simulate.scheduler import Sequence
from promptlint_report.simulate.workload import Job, Workload


def simulate(workload: Workload, deployment: Deployment, *, until_finished: int | None = None) -> Outcome:
    """Serve every job and tell what happened. Deterministic.

    Args:
        workload: jobs in order of arrival.
        deployment: its block size must be that of the workload's hashes.
        until_finished: stop once the first so many jobs are done (for fitting).

    Raises:
        PromptlintError: the model does not fit, or block sizes differ.
    """
    if workload.has_hashes and workload.block_size != deployment.block_size:
        raise PromptlintError(
            f"the trace's hashes stand for blocks of {workload.block_size} tokens: simulate with --block-size "
            f"{workload.block_size}"
        )
    engines = deployment.instances()
    if deployment.split == "prefill-decode":
        sequences = _prefill_then_decode(workload.jobs, engines, deployment)
    else:
        sequences = _serve(workload.jobs, engines, _router(deployment), until_finished)
    return outcome_of(workload, deployment, engines, sequences)


def _router(deployment: Deployment) -> Callable[[Job, list[Engine]], Engine]:
    def least_loaded(engines: list[Engine]) -> Engine:
        return min(engines, key=lambda engine: engine.load)

    if deployment.split == "long-outputs" and deployment.replicas > 1:
        return lambda job, engines: (
            engines[-1] if job.output_tokens > deployment.long_output_tokens else least_loaded(engines[:-1])
        )
    return lambda _job, engines: least_loaded(engines)


def _serve(
    jobs: Iterable[Job],
    engines: list[Engine],
    route: Callable[[Job, list[Engine]], Engine],
    until_finished: int | None = None,
) -> list[Sequence]:
    sequences: list[Sequence] = []
    for job in jobs:
        for engine in engines:
            engine.advance(job.arrival_s)
        if until_finished is not None and _done(sequences, until_finished):
            return sequences
        sequences.append(route(job, engines).add(job))
    step_s = math.inf if until_finished is None else 5.0
    while any(engine.has_work for engine in engines):
        for engine in engines:
            engine.advance(engine.now + step_s)
        if until_finished is not None and _done(sequences, until_finished):
            break
    return sequences


def _done(sequences: list[Sequence], count: int) -> bool:
    return len(sequences) >= count and all(
        sequence.generated >= sequence.job.output_tokens for sequence in sequences[:count]
    )


def _prefill_then_decode(jobs: Iterable[Job], engines: list[Engine], deployment: Deployment) -> list[Sequence]:
    """Prompts on one half of the instances, generation on the other; the KV of a prompt moves over the link."""
    half = max(1, len(engines) // 2)
    if len(engines) < 2:
        raise PromptlintError("prefill and decode apart need at least two instances (--replicas 2)")
    prefill, decode = engines[:half], engines[half:]
    route = _router(deployment.with_options(split="none"))
    asked = {job.number: job for job in jobs}
    first = _serve((job._replace(output_tokens=1) for job in asked.values()), prefill, route)
    per_token_s = prefill[0].timer.cost.kv_bytes_per_token / deployment.gpu.link_bytes_s
    ready = sorted(
        (sequence for sequence in first if sequence.last_token_s is not None),
        key=lambda sequence: (sequence.last_token_s or 0.0, sequence.job.number),
    )
    done: dict[int, Sequence] = {sequence.job.number: sequence for sequence in first}
    for sequence in ready:
        job = asked[sequence.job.number]
        if job.output_tokens <= 1:
            continue
        arrives_s = (sequence.last_token_s or 0.0) + job.prompt_tokens * per_token_s
        for engine in decode:
            engine.advance(arrives_s)
        moved = route(job, decode).add(job, at_s=arrives_s, transferred=True)
        moved.first_token_s, moved.last_token_s = sequence.first_token_s, sequence.last_token_s
        moved.scheduled_s, moved.hit_tokens, moved.looked_up = sequence.scheduled_s, sequence.hit_tokens, True
        moved.queued_s = sequence.queued_s
        done[job.number] = moved
    for engine in decode:
        engine.advance(math.inf)
    return [done[index] for index in sorted(done)]
