"""An engine in time: ranks that step together, one step after the other, from arrival to arrival."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace

from promptlint_report.simulate.scheduler import Scheduler, Sequence, Step
from promptlint_report.simulate.step_time import Batch, StepTimer
from promptlint_report.simulate.workload import Job

_MOST_SAMPLES = 4000
_FIRST_RESOLUTION_S = 0.05
_WAITING_WEIGHT = 4
"""vLLM's data-parallel balancer counts a waiting request as four running ones."""
_NOTHING = Batch(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Sample:
    """The engine at one time."""

    at_s: float
    running: int
    waiting: int
    kv_use: float
    """Blocks held ÷ usable blocks, over all ranks."""


@dataclass(slots=True)
class Gaps:
    """Inter-token gaps with their counts, in order of time."""

    seconds: array[float] = field(default_factory=lambda: array("d"))
    counts: array[int] = field(default_factory=lambda: array("q"))

    def add(self, seconds: float, count: int) -> None:
        if count:
            self.seconds.append(seconds)
            self.counts.append(count)


class Engine:
    """One serving instance; several ranks are data-parallel replicas that run in lockstep (expert parallel)."""

    def __init__(self, ranks: list[Scheduler], timer: StepTimer) -> None:
        self.ranks = ranks
        self.timer = timer
        self.now = 0.0
        self.busy_s = 0.0
        self.steps = 0
        self.kv_use_s = 0.0
        """Integral of KV use over time."""
        self.gaps = Gaps()
        self.finished: list[Sequence] = []
        self.samples: list[Sample] = []
        self._resolution_s = _FIRST_RESOLUTION_S
        self._last_rank = 0

    @property
    def load(self) -> int:
        """What a balancer sees."""
        return sum(_WAITING_WEIGHT * rank.waiting + len(rank.running) for rank in self.ranks)

    @property
    def has_work(self) -> bool:
        return any(rank.has_work for rank in self.ranks)

    def add(self, job: Job, *, at_s: float | None = None, transferred: bool = False) -> Sequence:
        """A job arrives at the least loaded rank; `transferred` ones bring the KV of their prompt."""
        arrived = job.arrival_s if at_s is None else at_s
        if not self.has_work:
            self.now = max(self.now, arrived)
        order = [(self._last_rank + 1 + offset) % len(self.ranks) for offset in range(len(self.ranks))]
        best = min(order, key=lambda rank: _WAITING_WEIGHT * self.ranks[rank].waiting + len(self.ranks[rank].running))
        self._last_rank = best
        sequence = Sequence(job, max(arrived, self.now))
        if transferred:
            sequence.transferred, sequence.computed, sequence.generated = True, job.prompt_tokens, 1
            sequence.first_token_s = sequence.last_token_s = arrived
        self.ranks[best].add(sequence)
        return sequence

    def advance(self, until_s: float) -> None:
        """Run every step that starts before a time."""
        while self.now < until_s and self.has_work:
            steps = [rank.schedule(self.now) for rank in self.ranks]
            if not any(step.batch.tokens for step in steps):
                if self._refused_all():
                    continue
                break  # nothing can be scheduled until something arrives: cannot happen while a request runs
            duration = self.timer.step_s([step.batch for step in steps])
            self._finish_step(steps, duration)
            self._skip(steps, until_s)
        if not self.has_work:
            self._sample(force=True)

    def _refused_all(self) -> bool:
        return not self.has_work

    def _finish_step(self, steps: list[Step], duration: float) -> None:
        before = self.now
        self.now += duration
        self._account(duration)
        same = 0
        for rank, step in zip(self.ranks, steps, strict=True):
            for sequence, new in step.scheduled:
                if sequence.last_token_s is None or sequence.computed + new < sequence.tokens:
                    continue
                if sequence.last_token_s == before:
                    same += 1
                else:
                    self.gaps.add(self.now - sequence.last_token_s, 1)
            self.finished += rank.complete(step, self.now)
        self.gaps.add(duration, same)
        self._sample()

    def _account(self, duration: float, steps: int = 1) -> None:
        self.steps += steps
        self.busy_s += duration
        self.kv_use_s += duration * sum(rank.pool.used_share for rank in self.ranks) / len(self.ranks)

    def _skip(self, steps: list[Step], until_s: float) -> None:
        """Run decode steps that are alike in one go: the batch stays, only its contexts grow."""
        active = [(rank, step) for rank, step in zip(self.ranks, steps, strict=True) if rank.has_work]
        most = min((rank.steps_alike(step) for rank, step in active), default=0)
        if most <= 0:
            return
        started = self.now
        requests = sum(len(rank.running) for rank, _ in active)
        batches = [self._next(rank) for rank in self.ranks]
        duration = self.timer.step_s(batches)
        rest = self.timer.step_s([_grown(batch, most) for batch in batches])
        slope = (rest - duration) / most  # contexts grow evenly, so step time is linear but for a window filling up
        done = 0
        while done < most and self.now < until_s:
            self.now += duration
            self.gaps.add(duration, requests)
            duration += slope
            done += 1
        for rank, _ in active:
            rank.skip(done, self.now)
        self._account(self.now - started, done)
        self._sample()

    def _next(self, rank: Scheduler) -> Batch:
        running = rank.running
        if not running:
            return _NOTHING
        context = sum(sequence.computed for sequence in running)
        window = self.timer.cost.window_tokens
        inside = sum(min(sequence.computed, window) for sequence in running) if window else 0
        return Batch(len(running), len(running), len(running), 0.0, 0.0, context, inside)

    def _sample(self, *, force: bool = False) -> None:
        if not force and self.samples and self.now - self.samples[-1].at_s < self._resolution_s:
            return
        share = sum(rank.pool.used_share for rank in self.ranks) / len(self.ranks)
        running = sum(len(rank.running) for rank in self.ranks)
        self.samples.append(Sample(self.now, running, sum(rank.waiting for rank in self.ranks), share))
        if len(self.samples) > _MOST_SAMPLES:
            self.samples = self.samples[::2]
            self._resolution_s *= 2


def _grown(batch: Batch, steps: int) -> Batch:
    return replace(batch, context_tokens=batch.context_tokens + steps * batch.requests)
