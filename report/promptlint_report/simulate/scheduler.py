"""Continuous batching as vLLM V1 schedules it: one token budget a step, running requests first, then waiting ones.

Modelled on vLLM 0.19 to 0.21: chunked prefill, FCFS or priority, a block pool with prefix cache, preemption by
recompute, admission only when the whole prompt fits (`scheduler_reserve_full_isl`).
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Literal

from promptlint_core.prefix_caches.vllm_blocks import BlockPool
from promptlint_report.simulate.step_time import Batch
from promptlint_report.simulate.workload import Job

MODELLED_VERSION = "vLLM V1, 0.19 to 0.21"


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """The engine's own options."""

    blocks: int
    """Physical blocks, the null block included."""
    block_size: int = 16
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    policy: Literal["fcfs", "priority"] = "fcfs"
    prefix_caching: bool = True
    reserve_full_prompt: bool = True
    long_prefill_token_threshold: int = 0
    """Most tokens of one long prompt a step; 0: no such limit."""
    async_scheduling: bool = True
    """A step is scheduled while the one before it runs: requests wait one more step, room that finished requests give
    back is used one step later. vLLM's default in these versions."""
    version: tuple[int, ...] = (0, 21)


@dataclass(slots=True, eq=False)
class Sequence:
    """A job inside an engine."""

    job: Job
    queued_s: float
    """When the engine sees it: between two steps, so up to a step after its arrival."""
    computed: int = 0
    """Positions in the KV cache."""
    generated: int = 0
    blocks: list[int] | None = None
    hashed: int = 0
    """Leading blocks that are entered in the map."""
    hit_tokens: int = 0
    """At its first look-up."""
    looked_up: bool = False
    scheduled_s: float | None = None
    first_token_s: float | None = None
    last_token_s: float | None = None
    preemptions: int = 0
    transferred: bool = False
    """Its prompt was computed elsewhere: positions arrive with it."""

    @property
    def tokens(self) -> int:
        """Tokens known so far: prompt and generated."""
        return self.job.prompt_tokens + self.generated

    def order(self) -> tuple[int, float, int]:
        """Key of the priority queue: lower first."""
        return self.job.priority, self.job.arrival_s, self.job.number


@dataclass(slots=True)
class Step:
    """What one step computes: every scheduled sequence with its count of new tokens."""

    scheduled: list[tuple[Sequence, int]]
    batch: Batch
    decode_only: bool
    blocked: bool
    """Requests wait that this state cannot admit."""
    unsettled: bool
    """Somebody was preempted, or blocks were given back: the next step may admit what this one could not."""


class Scheduler:
    """One engine core: its queues and its block pool."""

    def __init__(self, settings: SchedulerSettings, window_tokens: int = 0) -> None:
        self.settings = settings
        self.pool = BlockPool(settings.blocks, version=settings.version)
        self.running: list[Sequence] = []
        self._waiting: deque[Sequence] = deque()
        self._heap: list[tuple[tuple[int, float, int], int, Sequence]] = []
        self._heap_entries = 0
        self._window = window_tokens
        self._staged: list[Sequence] = []
        """Seen, but too late for the step scheduled already."""
        self._leaving: list[Sequence] = []
        """Finished in the step before; the next one was scheduled with their blocks still held."""
        self._scheduled_at = 0.0
        self.query_tokens = 0
        self.hit_tokens = 0
        self.preemptions = 0
        self.refused: list[Sequence] = []
        """Jobs that can never fit into the pool."""

    @property
    def waiting(self) -> int:
        return len(self._waiting) + len(self._heap) + len(self._staged)

    @property
    def has_work(self) -> bool:
        return bool(self.running or self._waiting or self._heap or self._staged)

    def add(self, sequence: Sequence) -> None:
        """A request arrives."""
        if self.settings.async_scheduling and self.running:
            self._staged.append(sequence)
        else:
            self._queue(sequence)

    def _queue(self, sequence: Sequence) -> None:
        if self.settings.policy == "priority":
            self._heap_entries += 1
            heapq.heappush(self._heap, (sequence.order(), self._heap_entries, sequence))
        else:
            self._waiting.append(sequence)

    def _head(self) -> Sequence | None:
        if self._heap:
            return self._heap[0][2]
        return self._waiting[0] if self._waiting else None

    def _pop(self) -> Sequence:
        return heapq.heappop(self._heap)[2] if self._heap else self._waiting.popleft()

    def _return(self, sequence: Sequence) -> None:
        """A preempted request goes to the front."""
        if self.settings.policy == "priority":
            self._queue(sequence)
        else:
            self._waiting.appendleft(sequence)

    def schedule(self, now: float) -> Step:
        """What the step that starts now computes."""
        decided_at = self._scheduled_at if self.settings.async_scheduling and self.running else now
        step = self._fill(decided_at)
        if self._leaving:
            for sequence in self._leaving:
                self._release(sequence)
            self._leaving = []
            if not step.scheduled:
                step = self._fill(now)
            step.unsettled = True
        for sequence in self._staged:
            self._queue(sequence)
        self._staged = []
        if not step.scheduled and self.waiting:
            step = self._fill(now)
        self._scheduled_at = now
        return step

    def _fill(self, now: float) -> Step:
        """Fill the step's token budget; running requests keep their order."""
        budget = self.settings.max_num_batched_tokens
        scheduled: list[tuple[Sequence, int]] = []
        preempted = False
        index = 0
        last = self.settings.block_size - 1
        while index < len(self.running) and budget > 0:
            sequence = self.running[index]
            if sequence.tokens - sequence.computed == 1 and 0 < sequence.computed % (last + 1) < last:
                scheduled.append((sequence, 1))  # inside its last block: nothing to allocate or to enter
                budget -= 1
                index += 1
                continue
            new = self._chunk(sequence.tokens - sequence.computed, budget)
            while not self._allocate(sequence, sequence.computed + new):
                preempted = True
                victim = self._victim()
                self._preempt(victim)
                if victim is sequence:
                    break
                kept = [entry for entry in scheduled if entry[0] is not victim]
                if len(kept) < len(scheduled):  # only by priority: the victim was scheduled already
                    budget += sum(count for other, count in scheduled if other is victim)
                    scheduled = kept
                    index -= 1
            else:
                scheduled.append((sequence, new))
                budget -= new
                index += 1
                continue
            break
        blocked = False
        if not preempted:
            blocked = self._admit(scheduled, budget, now)
        return self._step(scheduled, blocked=blocked, unsettled=preempted)

    def _chunk(self, remaining: int, budget: int) -> int:
        limit = self.settings.long_prefill_token_threshold
        if limit and remaining > limit:
            remaining = limit
        return min(remaining, budget)

    def _victim(self) -> Sequence:
        if self.settings.policy == "priority":
            return max(self.running, key=Sequence.order)
        return self.running[-1]

    def _preempt(self, sequence: Sequence) -> None:
        self.running.remove(sequence)
        self._release(sequence)
        sequence.computed = 0
        sequence.transferred = False
        sequence.preemptions += 1
        self.preemptions += 1
        self._return(sequence)

    def _release(self, sequence: Sequence) -> None:
        if sequence.blocks:
            self.pool.release(sequence.blocks)
        sequence.blocks = None
        sequence.hashed = 0

    def _allocate(self, sequence: Sequence, positions: int) -> bool:
        """Blocks for so many positions; newly full ones are entered in the map at once."""
        blocks = sequence.blocks
        assert blocks is not None
        size = self.settings.block_size
        needed = -(-positions // size) - len(blocks)
        if needed > 0:
            if needed > self.pool.free_blocks:
                return False
            blocks += self.pool.take(needed)
        self._enter(sequence, positions)
        return True

    def _enter(self, sequence: Sequence, positions: int) -> None:
        hashes = sequence.job.hashes
        if not hashes or not self.settings.prefix_caching or sequence.blocks is None:
            return
        full = min(positions // self.settings.block_size, len(hashes))
        for index in range(sequence.hashed, full):
            if not self.pool.has_hash(sequence.blocks[index]):
                self.pool.remember(sequence.blocks[index], hashes[index])
        sequence.hashed = max(sequence.hashed, full)

    def _admit(self, scheduled: list[tuple[Sequence, int]], budget: int, now: float) -> bool:
        """Take waiting requests in; True when one had to stay outside."""
        while (sequence := self._head()) is not None:
            if budget <= 0 or len(self.running) + len(self._leaving) >= self.settings.max_num_seqs:
                return True
            if -(-(sequence.job.prompt_tokens + sequence.job.output_tokens - 1) // self.settings.block_size) > (
                self.settings.blocks - 1
            ):
                self.refused.append(self._pop())
                continue
            found = self._look_up(sequence)
            computed = sequence.computed if sequence.transferred else len(found) * self.settings.block_size
            new = self._chunk(sequence.tokens - computed, budget)
            needed = -(-(computed + new) // self.settings.block_size) - len(found)
            whole = -(-sequence.tokens // self.settings.block_size) - len(found)
            free = self.pool.free_blocks - sum(self.pool.is_free(block) for block in found)
            if needed > free or (self.settings.reserve_full_prompt and whole > free):
                return True
            self._pop()
            self._count(sequence, len(found) * self.settings.block_size)
            self.pool.touch(found)
            sequence.blocks = [*found, *self.pool.take(needed)]
            sequence.hashed = len(found)
            sequence.computed = computed
            self._enter(sequence, computed + new)
            if sequence.scheduled_s is None:
                sequence.scheduled_s = max(now, sequence.queued_s)
            self.running.append(sequence)
            scheduled.append((sequence, new))
            budget -= new
        return False

    def _look_up(self, sequence: Sequence) -> list[int]:
        if not self.settings.prefix_caching or sequence.transferred:
            return []
        most = (sequence.tokens - 1) // self.settings.block_size
        found = []
        for block_hash in sequence.job.hashes[:most]:
            block = self.pool.find(block_hash)
            if block is None:
                break
            found.append(block)
        return found

    def _count(self, sequence: Sequence, hit_tokens: int) -> None:
        """Queries and hits count first look-ups only, as vLLM's two counters do."""
        if sequence.looked_up:
            return
        sequence.looked_up = True
        sequence.hit_tokens = hit_tokens
        self.query_tokens += sequence.job.prompt_tokens
        self.hit_tokens += hit_tokens

    def _step(self, scheduled: list[tuple[Sequence, int]], *, blocked: bool, unsettled: bool) -> Step:
        tokens = sampled = context = window_context = 0
        pairs = window_pairs = 0.0
        window = self._window
        decode_only = True
        for sequence, new in scheduled:
            before = sequence.computed
            tokens += new
            context += before
            window_context += min(before, window)
            sampled += before + new == sequence.tokens
            if new > 1:
                decode_only = False
                whole = new * before + new * new / 2
                pairs += whole
                window_pairs += min(whole, float(new * window))
        batch = Batch(tokens, len(scheduled), sampled, pairs, window_pairs, context, window_context)
        return Step(scheduled, batch, decode_only, blocked, unsettled)

    def complete(self, step: Step, now: float) -> list[Sequence]:
        """The step is computed: positions move on, sequences at their end sample a token; returns finished ones."""
        finished = []
        for sequence, new in step.scheduled:
            sequence.computed += new
            if sequence.computed < sequence.tokens:
                continue
            sequence.generated += 1
            if sequence.first_token_s is None:
                sequence.first_token_s = now
            sequence.last_token_s = now
            if sequence.generated >= sequence.job.output_tokens:
                finished.append(sequence)
        if finished:
            done = set(map(id, finished))
            self.running = [sequence for sequence in self.running if id(sequence) not in done]
            if self.settings.async_scheduling:
                self._leaving = finished
            else:
                for sequence in finished:
                    self._release(sequence)
        return finished

    def steps_alike(self, step: Step) -> int:
        """How many further steps would schedule exactly the same decodes: no finish and no lack of blocks before.

        Valid while nobody arrives. 0 when the next step must be scheduled anew.
        """
        if not step.decode_only or step.unsettled or not self.running or self._leaving or self._staged:
            return 0
        if self.waiting and not step.blocked:
            return 0
        most = min(sequence.job.output_tokens - sequence.generated for sequence in self.running) - 1
        if most <= 0:
            return 0
        free = self.pool.free_blocks
        if self._blocks_for(most) > free:
            low, high = 0, most
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if self._blocks_for(middle) <= free else (low, middle)
            most = low
        return most

    def _blocks_for(self, steps: int) -> int:
        size = self.settings.block_size
        return sum(
            max(0, -(-(sequence.computed + steps) // size) - len(sequence.blocks or ())) for sequence in self.running
        )

    def skip(self, steps: int, now: float) -> None:
        """Apply `steps` equal decode steps at once, the last of which ended at `now`."""
        for sequence in self.running:
            self._allocate(sequence, sequence.computed + steps)
            sequence.computed += steps
            sequence.generated += steps
            sequence.last_token_s = now
