"""A fault of the wire is explained by the finding of its rule, else by a related one, else by a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Place
from promptlint_linter.reported import PromptRef, Reported
from promptlint_report.document import StripSegment
from promptlint_report.explain import Cause, Seen, Source, Sureness, causes, explain
from promptlint_report.figures.missed import UNNAMED, Fault
from promptlint_report.templates import Match, Template
from promptlint_rules.base import Edit, Fix, Severity

AGENT, OTHER = Template("app/agent.py", 30, frozenset()), Template("app/other.py", 5, frozenset())
SYSTEM = (StripSegment("system", "messages[0].content", "call", "clock", 90),)
CONVERSATION = (StripSegment("messages", "messages", "append", "history", 400),)


def finding(
    rule: str, line: int = 31, *, path: str = "app/agent.py", at: int | None = 30, **values: object
) -> Reported:
    """`at` is the line of the prompt that the finding lies in; None: a finding of the call."""
    prompt = PromptRef(path, at) if at else None
    usual = {"tokens_behind": 100, "advice": f"change {rule}", "prompt": prompt}
    return Reported(rule, "name", Severity.ERROR, Evidence.PROVED, f"told by {rule}", path, line, **{**usual, **values})  # type: ignore[arg-type]


def fault(rule: str, path: str = "messages[0].content") -> Fault:
    return Fault("g1", rule, path, 3, 1000, 0.5)


def cause(rule: str, path: str, inside: list[Reported], strip: tuple[StripSegment, ...] = SYSTEM) -> Cause:
    seen = Seen((Match(AGENT, 0.9),), strip)
    return causes([fault(rule, path)], {"g1": seen}, Source((AGENT, OTHER), tuple(inside)))["g1", rule]


@pytest.mark.parametrize(
    ("rule", "path", "inside", "strip", "expected"),
    [
        ("KV101", "messages[0].content", ["KV101"], SYSTEM, (Sureness.EXACT, "KV101")),
        ("KV110", "messages[0].content", ["KV105"], SYSTEM, (Sureness.FAMILY, "KV105")),
        ("KV101", "messages[0].content", ["KV205", "KV501"], SYSTEM, (Sureness.NONE, None)),
        ("KV201", "tools[0]", ["KV202", "KV101"], SYSTEM, (Sureness.FAMILY, "KV202")),
        (UNNAMED, "messages[0].content", ["KV301", "KV104"], SYSTEM, (Sureness.FAMILY, "KV104")),
        (UNNAMED, "messages[0].content", ["KV301", "KV104"], CONVERSATION, (Sureness.FAMILY, "KV301")),
        (UNNAMED, "messages[3].content", ["KV104"], CONVERSATION, (Sureness.NONE, None)),
        (UNNAMED, "tools[1].description", ["KV204", "KV101"], SYSTEM, (Sureness.FAMILY, "KV204")),
        (UNNAMED, "input", ["KV101"], SYSTEM, (Sureness.FAMILY, "KV101")),
    ],
)
def test_the_finding_that_explains_a_fault(
    rule: str, path: str, inside: list[str], strip: tuple[StripSegment, ...], expected: tuple[Sureness, str | None]
) -> None:
    found = cause(rule, path, [finding(name) for name in inside], strip)

    assert (found.sureness, found.findings[0].rule if found.findings else None) == expected


@pytest.mark.parametrize(
    ("there", "belongs"),
    [
        (finding("KV101"), True),
        (finding("KV101", at=99), False),
        (finding("KV408", 33, at=None), True),
        (finding("KV408", 7, path="app/other.py", at=None), False),
        (finding("KV408", 33, path="app/strange.py", at=None), False),
    ],
)
def test_a_finding_of_the_call_belongs_to_the_nearest_template_of_its_file(there: Reported, belongs: bool) -> None:
    found = cause(there.rule, "messages[0].content", [there])

    assert (found.sureness is Sureness.EXACT) is belongs


def test_a_finding_that_explains_one_row_is_named_again_only_where_nothing_else_is_left() -> None:
    seen = {"g1": Seen((Match(AGENT, 0.9),), SYSTEM)}
    inside = (finding("KV104", 21), finding("KV105", 22))
    faults = [fault("KV104"), fault("KV110"), fault("KV111")]

    told = explain(faults, seen, Source((AGENT,), inside))

    assert ["app/agent.py:21", "app/agent.py:22"] == [told["g1", rule].place for rule in ("KV104", "KV110")]
    assert ["KV104", "KV105"] == [told["g1", rule].source_rule for rule in ("KV104", "KV110")]
    assert "in the source it is KV105: told by KV105; change KV105" in told["g1", "KV110"].text
    assert "nothing more in this prompt" in told["g1", "KV111"].text


def test_the_heaviest_finding_of_the_rule_is_named() -> None:
    found = cause("KV105", "messages[0].content", [finding("KV105", 9, tokens_behind=4), finding("KV105", 22)])

    assert [22, 9] == [item.line for item in found.findings]


@pytest.mark.parametrize("safe", [True, False])
def test_the_diff_is_that_of_the_fix(tmp_path: Path, safe: bool) -> None:
    file = tmp_path / "agent.py"
    file.write_text('labels = ", ".join(LABELS)\n')
    edit = Edit(Place(str(file), 1, 20, 1, 26), "sorted(LABELS)")
    fixed = finding("KV205", 1, path=str(file), at=1, fix=Fix(safe, (edit,)))
    template = Template(str(file), 1, frozenset())

    told = explain([fault("KV205")], {"g1": Seen((Match(template, 1.0),))}, Source((template,), (fixed,)))

    advice = told["g1", "KV205"]
    assert '-labels = ", ".join(LABELS)\n+labels = ", ".join(sorted(LABELS))\n' in advice.diff
    assert ("--unsafe-fixes" in advice.text) is not safe


@pytest.mark.parametrize(
    ("rule", "matches", "place", "says"),
    [
        ("KV110", (Match(AGENT, 0.9),), "app/agent.py:30", "`promptlint rule KV110` shows the usual change"),
        (UNNAMED, (Match(AGENT, 0.9),), "app/agent.py:30", "look at what the calling code puts there."),
        ("KV110", (), "", "No template below --source is in this group's prompts."),
    ],
)
def test_where_nothing_explains_a_fault_a_sentence_says_what_to_look_at(
    rule: str, matches: tuple[Match, ...], place: str, says: str
) -> None:
    told = explain([fault(rule)], {"g1": Seen(matches, SYSTEM)}, Source((AGENT,), ()))

    advice = told["g1", rule]
    assert advice.place == place
    assert advice.text.endswith(says) or says in advice.text
    assert not matches or "call text of the kind clock" in advice.text
