"""A faster segment ahead of slower text is told; everything else is silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.prompt import Marker, Part, Place, Prompt, Segment
from promptlint_rules.base import Rule, Severity
from promptlint_rules.determinism.unordered_iteration import UnorderedIteration
from promptlint_rules.order.clock_first import ClockFirst
from promptlint_rules.order.environment_first import EnvironmentFirst
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


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        pytest.param("user_name", Severity.WARNING, id="of one user"),
        pytest.param("user_language", Severity.INFO, id="of many users"),
        pytest.param("customer.timezone", Severity.INFO, id="of a region"),
    ],
)
def test_what_many_users_have_in_common_is_told_quietly(name: str, severity: Severity) -> None:
    (found,) = IdentityFirst().check_prompt(Prompt((replace(USER, expression=name), LONG)))

    assert found.severity is severity


@pytest.mark.parametrize(
    ("rules", "severity"),
    [
        pytest.param("You lend books to the members of a library. ", Severity.WARNING, id="of a library"),
        pytest.param("You lead a team of agents. Delegate each task. ", Severity.INFO, id="of a team of agents"),
    ],
)
def test_a_member_of_a_team_of_agents_is_no_user(rules: str, severity: Severity) -> None:
    ahead = Segment(rules, Cadence.FIXED)
    (found,) = IdentityFirst().check_prompt(Prompt((ahead, replace(USER, expression="member.name"), LONG)))

    assert found.severity is severity


def test_passages_ahead_of_rules_are_told_in_a_user_message_too() -> None:
    assert len(list(RetrievalFirst().check_prompt(Prompt((PASSAGES, LONG))))) == 1
    assert [] == list(RetrievalFirst().check_prompt(Prompt((LONG, PASSAGES, SHORT))))


PASSAGES_OF_A_STORED_MESSAGE = replace(PASSAGES, repeated=True)
CLOCK_IN_MESSAGE = replace(CLOCK, part=Part.MESSAGES, role="user")
CLOCK_IN_STORED_MESSAGES = replace(CLOCK_IN_MESSAGE, repeated=True, origin=Origin.ORDER)


@pytest.mark.parametrize(
    ("rule", "segments", "severity"),
    [
        pytest.param(ClockFirst, [CLOCK_IN_MESSAGE, LONG], Severity.ERROR, id="a clock in the first message"),
        pytest.param(ClockFirst, [HISTORY, CLOCK_IN_MESSAGE, LONG], Severity.INFO, id="a clock in the newest message"),
        pytest.param(ClockFirst, [HISTORY, CLOCK, LONG], Severity.ERROR, id="a clock in instructions behind examples"),
        pytest.param(RetrievalFirst, [PASSAGES, LONG], Severity.WARNING, id="passages in the first message"),
        pytest.param(RetrievalFirst, [HISTORY, PASSAGES, LONG], Severity.INFO, id="passages in the newest message"),
        pytest.param(
            RetrievalFirst, [HISTORY, PASSAGES_OF_A_STORED_MESSAGE, LONG], Severity.INFO, id="passages that were stored"
        ),
        pytest.param(
            UnorderedIteration,
            [HISTORY, CLOCK_IN_STORED_MESSAGES, LONG],
            Severity.WARNING,
            id="an order in each stored message",
        ),
    ],
)
def test_the_newest_message_is_read_for_the_first_time_anyway(
    rule: type[Rule], segments: list[Segment], severity: Severity
) -> None:
    (found,) = rule().check_prompt(Prompt(tuple(segments)))

    assert found.severity is severity


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


QUERY = Segment(None, Cadence.TURN, Origin.TASK, place=PLACE, expression="query")
LABELS = (
    "</query>\n\n<schema>\n",
    "\n</schema>\n<page_content>\n",
    "\n</page_content>\n",
    " written by ",
    "\n\n### Source\n",
)
MANY_LABELS = [segment for label in LABELS * 4 for segment in (Segment(label, Cadence.FIXED), UNKNOWN)]
RULES_IN_TAGS = Segment(f"</query>\n<rules>\n{RULES_TEXT}\n</rules>", Cadence.FIXED)


@pytest.mark.parametrize(
    ("segments", "found"),
    [
        pytest.param([QUERY, RULES_IN_TAGS], 1, id="rules in tags"),
        pytest.param([QUERY, *MANY_LABELS, LONG], 1, id="rules behind labelled values"),
        pytest.param([QUERY, *MANY_LABELS], 0, id="tags, headings and labels of other values"),
    ],
)
def test_labels_of_other_values_are_no_stable_text(segments: list[Segment], found: int) -> None:
    assert found == len(list(TaskFirst().check_prompt(Prompt(tuple(segments)))))


FORGOT = Segment("You forgot to use the search tool to answer the question of the user: ", Cadence.FIXED)
LOOKING_BACK = Segment("The above messages hold the conversation that led to the answer.", Cadence.FIXED)
SYSTEM_QUERY = replace(QUERY, role="system")
YOU_ARE = Segment("You are the librarian of a town. The question: ", Cadence.FIXED)


@pytest.mark.parametrize(
    ("segments", "complete", "severity"),
    [
        pytest.param([YOU_ARE, QUERY, LONG], False, Severity.WARNING, id="an introduction"),
        pytest.param([FORGOT, QUERY, LONG], True, Severity.WARNING, id="sent by itself"),
        pytest.param([FORGOT, QUERY, LONG], False, Severity.INFO, id="a reply to what the model wrote"),
        pytest.param([QUERY, LONG, LOOKING_BACK], False, Severity.INFO, id="a text about the messages above"),
        pytest.param([SYSTEM_QUERY, LONG, LOOKING_BACK], False, Severity.WARNING, id="a system text about them"),
    ],
)
def test_a_task_in_a_later_turn_is_told_quietly(segments: list[Segment], complete: bool, severity: Severity) -> None:
    (found,) = TaskFirst().check_prompt(Prompt(tuple(segments), complete=complete))

    assert found.severity is severity


STATUS = Segment(None, Cadence.TURN, Origin.ENVIRONMENT, place=PLACE, expression="subprocess.run(['git', 'status'])")
STATUS_IN_MESSAGE = Segment(None, Cadence.TURN, Origin.ENVIRONMENT, part=Part.MESSAGES, role="user", place=PLACE)


@pytest.mark.parametrize(
    ("segments", "complete", "severity"),
    [
        pytest.param([YOU_ARE, STATUS, LONG], False, Severity.WARNING, id="an introduction"),
        pytest.param([STATUS, LONG], True, Severity.WARNING, id="a system text that is sent"),
        pytest.param([STATUS, LONG], False, Severity.INFO, id="a note that may stand anywhere"),
        pytest.param([YOU_ARE, STATUS_IN_MESSAGE, LONG], True, Severity.INFO, id="what a message is about"),
    ],
)
def test_the_environment_is_told_loudly_at_the_head_of_a_conversation(
    segments: list[Segment], complete: bool, severity: Severity
) -> None:
    (found,) = EnvironmentFirst().check_prompt(Prompt(tuple(segments), complete=complete))

    assert found.severity is severity


ANSWER = Segment("Let us think step by step.", Cadence.FIXED, part=Part.MESSAGES, role="assistant")
NEXT = Segment(RULES_TEXT, Cadence.FIXED, part=Part.MESSAGES, role="user")


@pytest.mark.parametrize(
    ("segments", "found"),
    [
        pytest.param([TASK, NEXT], 1, id="rules in the same turn"),
        pytest.param([TASK, ANSWER, NEXT], 0, id="the next turn of the conversation"),
        pytest.param([TASK, HISTORY, NEXT], 0, id="turns that a loop appends"),
        pytest.param([SYSTEM_QUERY, ANSWER, NEXT], 1, id="a task in the system text"),
    ],
)
def test_a_later_turn_cannot_be_moved_ahead_of_the_question(segments: list[Segment], found: int) -> None:
    assert found == len(list(TaskFirst().check_prompt(Prompt(tuple(segments)))))


RANDOM = Segment(None, Cadence.CALL, Origin.RANDOM, place=PLACE, expression="token_hex(16)")


@pytest.mark.parametrize(
    ("ahead", "severity"),
    [
        pytest.param("This is run ", Severity.ERROR, id="a run's number"),
        pytest.param("Untrusted text stands between two marks tagged ", Severity.INFO, id="a fence"),
    ],
)
def test_a_random_fence_around_untrusted_text_is_meant(ahead: str, severity: Severity) -> None:
    (found,) = RandomIdFirst().check_prompt(Prompt((Segment(ahead, Cadence.FIXED), RANDOM, LONG)))

    assert found.severity is severity
