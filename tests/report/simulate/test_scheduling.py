"""Laws of the scheduler: no token lost, the pool never over its size, first come first served, linear cost."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import geometry_of, gpu_of
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.engine import Engine
from promptlint_report.simulate.model_cost import model_cost
from promptlint_report.simulate.outcome import Outcome
from promptlint_report.simulate.run import simulate
from promptlint_report.simulate.scheduler import Scheduler, SchedulerSettings, Step
from promptlint_report.simulate.scheduler import Sequence as Running
from promptlint_report.simulate.step_time import Batch, StepTimer
from promptlint_report.simulate.workload import Job, Workload

MODEL, GPU = geometry_of("Llama-3.1-8B"), gpu_of("H100")
TIMER = StepTimer(model_cost(MODEL), GPU)


def jobs(*shapes: tuple[float, int, int], shared: int = 0) -> list[Job]:
    """(arrival, prompt, output) of each; the first `shared` blocks are common to all."""
    common = tuple(("shared", index) for index in range(shared))
    return [Job(i, at, prompt, out, common[: prompt // 16]) for i, (at, prompt, out) in enumerate(shapes)]


def served(engine: Engine, asked: Sequence[Job]) -> list[Running]:
    found = []
    for job in asked:
        engine.advance(job.arrival_s)
        found.append(engine.add(job))
    engine.advance(float("inf"))
    return found


SHAPES = st.lists(st.tuples(st.floats(0, 0.2), st.integers(1, 300), st.integers(1, 120)), min_size=1, max_size=25).map(
    sorted
)


@examples(150)
@given(
    shapes=SHAPES,
    blocks=st.integers(30, 60),
    seqs=st.integers(1, 12),
    budget=st.integers(16, 400),
    shared=st.integers(0, 6),
    policy=st.sampled_from(["fcfs", "priority"]),
    asynchronous=st.booleans(),
    ranks=st.integers(1, 2),
)
def test_no_token_is_lost_and_no_block_too_many(
    shapes: list[tuple[float, int, int]],
    blocks: int,
    seqs: int,
    budget: int,
    shared: int,
    policy: str,
    asynchronous: bool,
    ranks: int,
) -> None:
    options = SchedulerSettings(
        blocks,
        max_num_seqs=seqs,
        max_num_batched_tokens=budget,
        policy=policy,  # type: ignore[arg-type]
        async_scheduling=asynchronous,
    )
    engine = Engine([Scheduler(options) for _ in range(ranks)], TIMER)
    asked = jobs(*shapes, shared=shared)
    found = served(engine, asked)

    refused = {id(sequence) for rank in engine.ranks for sequence in rank.refused}
    for sequence in found:
        if id(sequence) in refused:
            assert sequence.job.prompt_tokens + sequence.job.output_tokens - 1 > (blocks - 1) * 16
            continue
        assert sequence.generated == sequence.job.output_tokens
        assert sequence.first_token_s is not None
        assert sequence.last_token_s is not None
        assert sequence.job.arrival_s <= sequence.queued_s <= sequence.first_token_s <= sequence.last_token_s
        assert sequence.hit_tokens <= max(0, sequence.job.prompt_tokens - 1) // 16 * 16
    gaps = sum(engine.gaps.counts)
    assert gaps == sum(sequence.generated - 1 for sequence in found if id(sequence) not in refused)
    for rank in engine.ranks:
        rank.schedule(engine.now)  # lets go of what finished last
        assert rank.pool.free_blocks == blocks - 1
    assert all(0 <= sample.kv_use <= 1 for sample in engine.samples)


@examples(80)
@given(shapes=SHAPES, seqs=st.integers(1, 6), budget=st.integers(16, 400))
def test_first_come_is_first_scheduled(shapes: list[tuple[float, int, int]], seqs: int, budget: int) -> None:
    options = SchedulerSettings(64, max_num_seqs=seqs, max_num_batched_tokens=budget)
    found = served(Engine([Scheduler(options)], TIMER), jobs(*shapes))
    starts = [sequence.scheduled_s for sequence in found]

    assert starts == sorted(starts)  # type: ignore[type-var]


@examples(60)
@given(shapes=SHAPES, shared=st.integers(0, 6))
def test_steps_run_in_one_go_equal_steps_run_one_by_one(shapes: list[tuple[float, int, int]], shared: int) -> None:
    options = SchedulerSettings(50, max_num_seqs=6, max_num_batched_tokens=128)
    asked = jobs(*shapes, shared=shared)
    fast = served(Engine([Scheduler(options)], TIMER), asked)

    class OneByOne(Engine):
        def _skip(self, *_: object) -> None:
            return

    slow = served(OneByOne([Scheduler(options)], TIMER), asked)

    for one, other in zip(fast, slow, strict=True):
        assert one.last_token_s == pytest.approx(other.last_token_s, rel=1e-6)
        assert one.preemptions == other.preemptions


def run(asked: Sequence[Job], **options: object) -> list[Running]:
    settings_ = SchedulerSettings(**{"blocks": 1000, "async_scheduling": False, **options})  # type: ignore[arg-type]
    return served(Engine([Scheduler(settings_)], TIMER), asked)


def test_lower_priority_values_are_served_first() -> None:
    asked = [Job(0, 0.0, 100, 50), Job(1, 0.001, 100, 50, priority=5), Job(2, 0.001, 100, 50, priority=1)]
    _, low, high = run(asked, max_num_seqs=1, policy="priority")

    assert high.scheduled_s < low.scheduled_s  # type: ignore[operator]


def test_a_long_prompt_is_computed_in_chunks_beside_decodes() -> None:
    short, long = run(jobs((0.0, 16, 40), (0.001, 4000, 2)), max_num_batched_tokens=256)

    assert short.last_token_s is not None
    assert long.first_token_s is not None
    assert short.generated == 40
    assert long.first_token_s > 16 * TIMER.efficiency.overhead_s


def test_the_last_running_request_is_preempted_and_computed_anew() -> None:
    first, second = run(jobs((0.0, 160, 200), (0.0, 160, 200)), blocks=32)

    assert (first.preemptions, second.preemptions > 0) == (0, True)
    assert second.generated == 200
    assert first.last_token_s < second.last_token_s  # type: ignore[operator]


def test_a_shared_prefix_is_read_from_the_second_request_on() -> None:
    one, two = run(jobs((0.0, 170, 5), (1.0, 170, 5), shared=10))

    assert (one.hit_tokens, two.hit_tokens) == (0, 160)
    assert two.first_token_s - 1.0 < one.first_token_s  # type: ignore[operator]


def test_without_a_prefix_cache_nothing_is_read() -> None:
    assert [s.hit_tokens for s in run(jobs((0.0, 170, 5), (1.0, 170, 5), shared=10), prefix_caching=False)] == [0, 0]


def test_asynchronous_scheduling_costs_a_request_one_more_step() -> None:
    asked = jobs((0.0, 64, 400), (0.5, 64, 5))
    at_once = run(asked)[1]
    one_later = run(asked, async_scheduling=True)[1]
    step_s = TIMER.step_s([Batch(1, 1, 1, context_tokens=100)])

    assert one_later.first_token_s - at_once.first_token_s == pytest.approx(step_s, rel=0.2)  # type: ignore[operator]


def test_a_job_longer_than_the_pool_is_refused_and_the_others_go_on() -> None:
    deployment = Deployment(MODEL, GPU, blocks=20)
    outcome = simulate(Workload("t", tuple(jobs((0.0, 5000, 5), (0.1, 50, 5))), 16), deployment)

    assert (outcome.finished, outcome.refused) == (1, 1)


def test_the_prompt_runs_elsewhere_and_generation_goes_on() -> None:
    asked = Workload("t", tuple(jobs(*[(0.05 * i, 600, 30) for i in range(20)])), 16)
    outcome = simulate(asked, Deployment(MODEL, GPU, replicas=2, split="prefill-decode"))

    assert (outcome.finished, outcome.output_tokens) == (20, 600)


def test_prefill_apart_needs_two_instances() -> None:
    asked = Workload("t", tuple(jobs((0.0, 60, 3))), 16)

    with pytest.raises(PromptlintError, match="two instances"):
        simulate(asked, Deployment(MODEL, GPU, split="prefill-decode"))


def test_long_outputs_have_an_instance_of_their_own() -> None:
    shapes = [(0.01 * i, 100, 500 if i % 5 == 0 else 20) for i in range(100)]
    asked = Workload("t", tuple(jobs(*shapes)), 16)
    base = Deployment(MODEL, GPU, replicas=2, max_num_seqs=8, max_num_batched_tokens=2048)
    mixed = simulate(asked, base)
    apart = simulate(asked, base.with_options(split="long-outputs", long_output_tokens=100))

    def slowest_short(outcome: Outcome) -> float:
        return max(
            m.ttft_s or 0.0 for m, job in zip(outcome.per_job, asked.jobs, strict=True) if job.output_tokens == 20
        )

    assert apart.finished == mixed.finished == 100
    assert slowest_short(apart) < slowest_short(mixed) / 2


def test_blocks_of_another_size_than_the_hashes_are_an_error() -> None:
    asked = Workload("t", tuple(jobs((0.0, 60, 3))), 512, has_hashes=True)

    with pytest.raises(PromptlintError, match="--block-size 512"):
        simulate(asked, Deployment(MODEL, GPU))


def test_cost_grows_with_steps_not_with_their_square() -> None:
    """Twice the load takes twice the scheduled work: nothing is scanned that grows with the run."""

    def scheduled(count: int) -> int:
        work = 0

        class Counting(Scheduler):
            def _fill(self, now: float) -> Step:
                nonlocal work
                step = super()._fill(now)
                work += len(step.scheduled) + 1
                return step

        options = SchedulerSettings(4000, max_num_seqs=64)
        served(Engine([Counting(options)], TIMER), jobs(*[(0.05 * i, 400, 60) for i in range(count)]))
        return work

    assert scheduled(800) / scheduled(400) == pytest.approx(2.0, rel=0.1)


def test_a_load_far_beyond_capacity_costs_no_more_a_request() -> None:
    """Ten thousand requests waiting at once are not looked at in every step."""
    started = time.process_time()
    found = run(jobs(*[(0.0, 64, 8)] * 10_000), max_num_seqs=128)

    assert all(sequence.generated == 8 for sequence in found)
    assert time.process_time() - started < 10
