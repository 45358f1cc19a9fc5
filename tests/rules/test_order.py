"""A faster segment ahead of slower text is told; everything else is silent."""

from __future__ import annotations

import pytest

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.prompt import Marker, Part, Place, Prompt, Segment
from promptlint_rules.base import Severity
from promptlint_rules.order.clock_first import ClockFirst
from promptlint_rules.order.identity_first import IdentityFirst
from promptlint_rules.order.random_id_first import RandomIdFirst
from promptlint_rules.order.retrieval_first import RetrievalFirst
from promptlint_rules.order.task_first import TaskFirst

RULES_TEXT = "Answer in two sentences and name the source of every figure that you give to the reader. " * 4
PLACE = Place("app.py", 3, 5, 3, 20)

LONG = Segment(RULES_TEXT, Cadence.FIXED)
SHORT = Segment("Begin.", Cadence.FIXED)
HISTORY = Segment(None, Cadence.APPEND, Origin.HISTORY, part=Part.MESSAGES)
CLOCK = Segment(None, Cadence.CALL, Origin.CLOCK, place=PLACE, expression="datetime.now()")
DAY = Segment(None, Cadence.DAY, Origin.CLOCK, place=PLACE, expression="date.today()")
IMPORT_TIME = Segment(None, Cadence.DEPLOY, Origin.CLOCK, place=PLACE)
NAMED_CLOCK = Segment(None, Cadence.CALL, Origin.CLOCK, Evidence.NAMED, place=PLACE, expression="current_time")
USER = Segment(None, Cadence.USER, Origin.IDENTITY, Evidence.NAMED, place=PLACE, expression="user_name")
USER_IN_MESSAGE = Segment(None, Cadence.USER, Origin.IDENTITY, part=Part.MESSAGES, role="user", place=PLACE)
UNKNOWN = Segment(None, None, Origin.UNKNOWN)
PASSAGES = Segment(None, Cadence.TURN, Origin.RETRIEVAL, part=Part.MESSAGES, role="user", place=PLACE)


@pytest.mark.parametrize(
    ("segments", "severity"),
    [
        pytest.param([CLOCK, LONG], Severity.ERROR, id="a clock ahead of long text"),
        pytest.param([SHORT, CLOCK, LONG], Severity.ERROR, id="in the middle"),
        pytest.param([CLOCK, HISTORY], Severity.ERROR, id="ahead of a history"),
        pytest.param([CLOCK, UNKNOWN, LONG], Severity.ERROR, id="unknown text between"),
        pytest.param([DAY, LONG], Severity.INFO, id="a date costs one miss a day"),
        pytest.param([NAMED_CLOCK, LONG], Severity.WARNING, id="only the name says so"),
        pytest.param([LONG, CLOCK], None, id="at the tail"),
        pytest.param([LONG, CLOCK, SHORT], None, id="ahead of a short closing line"),
        pytest.param([LONG, CLOCK, UNKNOWN], None, id="ahead of something unknown"),
        pytest.param([IMPORT_TIME, LONG], None, id="read once per process"),
        pytest.param([CLOCK], None, id="nothing else"),
    ],
)
def test_clock_first(segments: list[Segment], severity: Severity | None) -> None:
    found = list(ClockFirst().check_prompt(Prompt(tuple(segments))))

    assert ([severity] if severity else []) == [finding.severity for finding in found]


def test_behind_the_last_breakpoint_nothing_is_told() -> None:
    marked = Segment(RULES_TEXT, Cadence.FIXED, marker=Marker())

    assert [] == list(ClockFirst().check_prompt(Prompt((marked, CLOCK, LONG))))
    assert len(list(ClockFirst().check_prompt(Prompt((CLOCK, marked, LONG))))) == 1


def test_tokens_behind_count_slower_text_only() -> None:
    (finding,) = RandomIdFirst().check_prompt(
        Prompt((Segment(None, Cadence.CALL, Origin.RANDOM, place=PLACE, expression="uuid4()"), LONG, CLOCK, LONG))
    )

    assert finding.tokens_behind is not None
    assert 140 <= finding.tokens_behind <= 150
    assert finding.place == PLACE


def test_text_of_one_user_is_told_ahead_of_shared_text_in_instructions_only() -> None:
    assert len(list(IdentityFirst().check_prompt(Prompt((USER, LONG))))) == 1
    assert [] == list(IdentityFirst().check_prompt(Prompt((USER_IN_MESSAGE, LONG))))
    assert [] == list(IdentityFirst().check_prompt(Prompt((USER, HISTORY))))


def test_passages_ahead_of_rules_are_told_in_a_user_message_too() -> None:
    assert len(list(RetrievalFirst().check_prompt(Prompt((PASSAGES, LONG))))) == 1
    assert [] == list(RetrievalFirst().check_prompt(Prompt((LONG, PASSAGES, SHORT))))


TASK = Segment(None, Cadence.TURN, Origin.TASK, part=Part.MESSAGES, role="user", place=PLACE, expression="task")


@pytest.mark.parametrize(
    ("segments", "severity"),
    [
        pytest.param([TASK, LONG], Severity.WARNING, id="a task ahead of rules"),
        pytest.param([HISTORY, TASK, LONG], Severity.INFO, id="in the newest message, behind a history"),
        pytest.param([LONG, TASK], None, id="behind the rules"),
    ],
)
def test_a_task_in_the_newest_message_is_told_quietly(segments: list[Segment], severity: Severity | None) -> None:
    found = list(TaskFirst().check_prompt(Prompt(tuple(segments))))

    assert ([severity] if severity else []) == [finding.severity for finding in found]
