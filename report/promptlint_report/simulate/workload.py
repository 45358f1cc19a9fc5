"""What is asked of an engine: jobs with an arrival, a prompt and a known output length."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

NO_HASHES: tuple[Hashable, ...] = ()


class Job(NamedTuple):
    """One request. A named tuple: traces hold tens of thousands."""

    number: int
    arrival_s: float
    prompt_tokens: int
    output_tokens: int
    hashes: tuple[Hashable, ...] = NO_HASHES
    """Chained hashes of the full blocks of prompt and output, as far as known: equal hash, equal prefix."""
    priority: int = 0
    """Lower is served first (priority scheduling only)."""
    group: str = ""
    """Prompt group or other label, for telling figures apart."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one job; unknown is None."""

    ttft_s: float | None = None
    tpot_s: float | None = None
    """(last − first token) ÷ (output tokens − 1)."""
    queue_s: float | None = None
    e2e_s: float | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs in order of arrival, with where they come from."""

    name: str
    jobs: tuple[Job, ...]
    block_size: int
    """Tokens per block of the jobs' hashes."""
    has_hashes: bool = False
    """False: nothing is known of shared prefixes, and no hit is simulated."""
    measured: tuple[Measured, ...] = ()
    """One per job where the workload was measured; empty otherwise."""
    notes: tuple[str, ...] = field(default=())
    best_hit_tokens: tuple[int | None, ...] = ()
    """Per job, what the best order of its prompt would read back; empty where it is not known."""

    @property
    def prompt_tokens(self) -> int:
        return sum(job.prompt_tokens for job in self.jobs)

    @property
    def output_tokens(self) -> int:
        return sum(job.output_tokens for job in self.jobs)

    def first(self, count: int) -> Workload:
        """The first jobs only."""
        return replace(self, jobs=self.jobs[:count], measured=self.measured[:count])

    def faster(self, factor: float) -> Workload:
        """The same jobs arriving `factor` times as fast."""
        jobs = tuple(job._replace(arrival_s=job.arrival_s / factor) for job in self.jobs)
        return replace(self, jobs=jobs, measured=())


def in_arrival_order(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """Jobs sorted by arrival, shifted so that the first arrives at 0, numbered anew."""
    ordered = sorted(jobs, key=lambda job: (job.arrival_s, job.number))
    start = ordered[0].arrival_s if ordered else 0.0
    return tuple(job._replace(number=i, arrival_s=job.arrival_s - start) for i, job in enumerate(ordered))
