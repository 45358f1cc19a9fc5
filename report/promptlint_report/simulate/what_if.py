"""What a change would give, side by side with what is: the same jobs, one thing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.outcome import Outcome, percentile
from promptlint_report.simulate.run import simulate
from promptlint_report.simulate.workload import Job, Workload


@dataclass(frozen=True, slots=True)
class Options:
    """Figures of the changes; None: taken from the workload."""

    shared_prefix_tokens: int | None = None
    bound_tokens: int | None = None
    """95th percentile of the outputs when None."""
    long_output_tokens: int | None = None
    """90th percentile of the outputs when None."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One column of the comparison."""

    name: str
    change: str
    """What is changed, with figures."""
    gpus: int
    outcome: Outcome


Change = Callable[[Workload, Deployment, Options], tuple[Workload, Deployment, str]]


def _prefix_fixed(workload: Workload, deployment: Deployment, options: Options) -> tuple[Workload, Deployment, str]:
    shared = options.shared_prefix_tokens
    best: tuple[int | None, ...] = workload.best_hit_tokens
    if shared is None and not any(best):
        raise PromptlintError(
            "how much of the prompts could be shared is not known of this workload: say it with --shared-prefix"
        )
    size = deployment.block_size
    jobs = []
    for job in workload.jobs:
        tokens = min(shared if shared is not None else best[job.number] or 0, job.prompt_tokens - 1)
        kept = len(job.hashes) * size
        common = tuple(("fixed", job.group, index) for index in range(tokens // size))
        own = job.hashes[len(common) :] if kept > tokens else ()
        # what follows the new prefix keeps its own identity, chained to it
        jobs.append(job._replace(hashes=common + tuple((job.group, block_hash) for block_hash in own)))
    told = f"first {shared:,} tokens of every prompt alike" if shared is not None else "every prompt in its best order"
    return replace(workload, jobs=tuple(jobs), has_hashes=True, block_size=size), deployment, told


def _prompt_halved(workload: Workload, deployment: Deployment, _: Options) -> tuple[Workload, Deployment, str]:
    def half(job: Job) -> Job:
        prompt = max(1, job.prompt_tokens // 2)
        return job._replace(prompt_tokens=prompt, hashes=job.hashes[: prompt // workload.block_size])

    return replace(workload, jobs=tuple(map(half, workload.jobs))), deployment, "second half of every prompt left out"


def _bound_added(workload: Workload, deployment: Deployment, options: Options) -> tuple[Workload, Deployment, str]:
    bound = options.bound_tokens or _output_percentile(workload, 0.95)

    def bounded(job: Job) -> Job:
        if job.output_tokens <= bound:
            return job
        most = (job.prompt_tokens + bound) // workload.block_size
        return job._replace(output_tokens=bound, hashes=job.hashes[:most])

    return replace(workload, jobs=tuple(map(bounded, workload.jobs))), deployment, f"outputs end at {bound:,} tokens"


def _kv_fp8(workload: Workload, deployment: Deployment, _: Options) -> tuple[Workload, Deployment, str]:
    changed = deployment.with_options(kv_dtype="fp8")
    if deployment.blocks is not None:
        before, after = deployment.cost().kv_bytes_per_token, changed.cost().kv_bytes_per_token
        changed = changed.with_options(blocks=int(deployment.blocks * before / after))
    return workload, changed, f"{changed.blocks_per_rank():,} blocks instead of {deployment.blocks_per_rank():,}"


def _gpu_more(workload: Workload, deployment: Deployment, _: Options) -> tuple[Workload, Deployment, str]:
    replicas = deployment.replicas + 1
    return workload, deployment.with_options(replicas=replicas), f"{replicas} instances, least loaded first"


def _long_apart(workload: Workload, deployment: Deployment, options: Options) -> tuple[Workload, Deployment, str]:
    limit = options.long_output_tokens or _output_percentile(workload, 0.9)
    replicas = max(2, deployment.replicas)
    changed = deployment.with_options(replicas=replicas, split="long-outputs", long_output_tokens=limit)
    return workload, changed, f"outputs over {limit:,} tokens on one of {replicas} instances"


def _prefill_apart(workload: Workload, deployment: Deployment, _: Options) -> tuple[Workload, Deployment, str]:
    replicas = max(2, deployment.replicas)
    changed = deployment.with_options(replicas=replicas, split="prefill-decode")
    return workload, changed, f"prompts on {max(1, replicas // 2)} of {replicas} instances, generation on the others"


def _output_percentile(workload: Workload, q: float) -> int:
    return max(1, round(percentile(sorted(job.output_tokens for job in workload.jobs), q)))


CHANGES: dict[str, Change] = {
    "prefix-fixed": _prefix_fixed,
    "prompt-halved": _prompt_halved,
    "bound-added": _bound_added,
    "kv-fp8": _kv_fp8,
    "gpu-more": _gpu_more,
    "long-apart": _long_apart,
    "prefill-apart": _prefill_apart,
}


def compare(
    workload: Workload, deployment: Deployment, names: tuple[str, ...], options: Options | None = None
) -> tuple[tuple[Variant, ...], tuple[str, ...]]:
    """Simulate what is and each named change; returns the variants and sentences on changes that cannot be told.

    Raises:
        PromptlintError: the model does not fit as it is.
    """
    options = options or Options()
    variants = [Variant("as it is", "", _gpus(deployment), simulate(workload, deployment))]
    notes = []
    for name in names:
        try:
            changed, on, told = CHANGES[name](workload, deployment, options)
            variants.append(Variant(name, told, _gpus(on), simulate(changed, on)))
        except PromptlintError as error:
            notes.append(f"{name}: {error}")
    return tuple(variants), tuple(notes)


def _gpus(deployment: Deployment) -> int:
    return deployment.replicas * deployment.tp * deployment.dp
