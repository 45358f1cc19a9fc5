"""What the analysis keeps is bounded in bytes and in entries, however many requests, groups and conversations come."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

from factories import exchange, request, response, usage

from promptlint_core.exchange import Exchange
from promptlint_proxy import calibration
from promptlint_proxy.analysis import Analysis, AnalysisSettings
from promptlint_proxy.calibration import TokenCounter
from promptlint_proxy.compare import lines
from promptlint_proxy.compare.lines import Sketches
from promptlint_proxy.metrics import OTHER, BoundedLabels

if TYPE_CHECKING:
    import pytest

BUDGET_CHARS = 60_000


def turn(number: int, *, template: int = 0, system: str | None = None) -> Exchange:
    """A first request; `template` 0 to 25 is one of so many prompts that have nothing in common."""
    words = " ".join(f"{chr(97 + template)}{chr(97 + n)}{'word'[n % 4 :]}." for n in range(20))
    asked = request(system or f"{words} Case {number}.", (f"question {number} of a client",))
    return exchange(number, asked, response(usage=usage(hit=0)), started_s=1_790_000_000.0 + number)


def analysis(budget_chars: int = BUDGET_CHARS) -> Analysis:
    return Analysis(AnalysisSettings(budget_chars=budget_chars, predict=False))


def test_what_is_compared_with_stays_within_the_budget() -> None:
    observer = analysis()
    for number in range(400):
        observer.observe(turn(number, template=number % 20))
    kept = observer._lines

    assert kept._kept_chars <= BUDGET_CHARS
    assert kept._kept_chars == sum(known.weight for known in kept._kept)
    assert 1 < len(kept._kept) < 100
    assert sum(len(holders) for holders in kept._message_index.values()) <= 2 * len(kept._kept)


def test_many_small_requests_count_for_more_than_their_text() -> None:
    observer = analysis()
    for number in range(400):
        observer.observe(turn(number, system="Be kind."))

    assert len(observer._lines._kept) * 500 < BUDGET_CHARS


def test_nothing_holds_a_request_beyond_the_budget() -> None:
    observer = analysis()
    gone: list[weakref.ref[Kept]] = []
    for number in range(300):
        made = turn(number, template=number % 7)
        text = Kept(made.request.pieces[1].text)
        pieces = list(made.request.pieces)
        object.__setattr__(pieces[1], "text", text)
        gone.append(weakref.ref(text))
        observer.observe(made)
        del made, text, pieces
    gc.collect()
    alive = [index for index, reference in enumerate(gone) if reference() is not None]

    assert min(alive) >= 300 - len(observer._lines._kept)


class Kept(str):
    """A text that can be watched."""

    __slots__ = ("__weakref__",)


def test_a_group_is_told_of_after_its_text_is_gone() -> None:
    observer = analysis()
    for number in range(3):
        observer.observe(turn(number, template=1))
    before = {view.group: view for view in observer.groups()}
    for number in range(3, 300):
        observer.observe(turn(number, template=2))
    after = {view.group: view for view in observer.groups()}

    assert len(before) == 1
    assert before.items() <= after.items()
    (first,) = before
    assert not observer._states[first].pairs
    assert observer._states[first].strip._newest is None


def test_chunks_of_all_groups_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_MOST_GROUP_CHUNKS", 100)
    observer = analysis()
    for number in range(26):
        observer.observe(turn(number, template=number))
    kept = observer._lines

    assert kept._group_chunks <= 100
    assert kept._group_chunks == sum(len(holders) for holders in kept._chunk_groups.values())
    assert 1 < len(kept._groups) < 10


def test_sketches_are_shared_and_bounded() -> None:
    sketches = Sketches(most=5)
    first = sketches.of(("One. Two.",))
    again = sketches.of(("One. Two.",))
    for number in range(50):
        sketches.of((f"{chr(97 + number % 26)} {number}",))

    assert first is again
    assert len(sketches._known) == 5


def test_models_of_the_token_counter_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_KEPT_MODELS", 10)
    counter = TokenCounter()
    for number in range(50):
        counter.prompt_tokens(request(model=f"model-{number}"), 40)

    assert len(counter._reported) == len(counter._factors) == 10


def test_metrics_bound_combinations_of_labels() -> None:
    labels = BoundedLabels()
    told = {labels.of("vllm", f"m{number % 50}", f"g{number % 49}") for number in range(5000)}

    assert len(told) <= 300
    assert ("vllm", "m0", OTHER) in told
