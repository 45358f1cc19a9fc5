"""Every format says the same of the same findings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import jsonschema
import pytest

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Place
from promptlint_linter.check import Outcome, Summary
from promptlint_linter.config import OUTPUT_FORMATS
from promptlint_linter.output import statistics
from promptlint_linter.output.formats import renderer
from promptlint_linter.reported import FlowStep, PromptRef, Reported
from promptlint_rules.base import Edit, Fix, Severity

SCHEMA = json.loads((Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json").read_text())
TEXT = 'NOW = clock()\n\ndef ask():\n    return f"It is {NOW}. You are a clerk."\n'
CLOCK = Reported(
    rule="KV101",
    name="clock-first",
    severity=Severity.ERROR,
    confidence=Evidence.PROVED,
    message="clock value `clock()` changes to the second, ahead of 1,240 stable tokens",
    path="app/prompts.py",
    line=1,
    column=7,
    end_line=1,
    end_column=14,
    expression="clock()",
    cadence="call",
    tokens_behind=1240,
    advice="cut it to the date",
    flow=(FlowStep("app/prompts.py", 1, "read here", 7), FlowStep("app/prompts.py", 4, "enters the prompt", 21)),
    prompt=PromptRef("app/prompts.py", 4, "openai.chat.completions.create", 1262),
    fix=Fix(True, (Edit(Place("app/prompts.py", 1, 7, 1, 14), "today()"),), "cut it to the date"),
    fingerprint="0123456789abcdef",
)
BOUND = Reported(
    rule="KV501",
    name="unbounded-output",
    severity=Severity.WARNING,
    confidence=Evidence.NAMED,
    message="no bound: 100 %, a,b",
    path="app/über uns.py",
    line=7,
    end_line=9,
    end_column=3,
    fingerprint="fedcba9876543210",
)
NOTE = replace(
    BOUND, severity=Severity.INFO, rule="KV502", name="oversized-output-bound", path="<stdin>", line=2, end_line=2
)
SUMMARY = Summary(files=12, files_read=3, prompts=7, findings=3, suppressed=1)
OUTCOME = Outcome((CLOCK, BOUND, NOTE), SUMMARY, {"app/prompts.py": TEXT})
NOTHING = Outcome((), Summary(2, 1, 1, 0, 0))


def render(name: str, outcome: Outcome = OUTCOME) -> str:
    return renderer(name)(outcome)


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_every_format_can_say_that_there_is_nothing(name: str) -> None:
    assert isinstance(render(name, NOTHING), str)


def test_text_shows_the_line_the_caret_the_way_and_the_help() -> None:
    assert click.unstyle(render("text")).split("\n\n")[0] == (
        "app/prompts.py:1:7 error KV101 [clock-first]\n"
        "  clock value `clock()` changes to the second, ahead of 1,240 stable tokens\n"
        "    |\n"
        "  1 | NOW = clock()\n"
        "    |       ^^^^^^^\n"
        "    = read here, line 1: NOW = clock()\n"
        '    = enters the prompt, line 4: return f"It is {NOW}. You are a clerk."\n'
        "    = prompt of 1,262 known tokens, sent by openai.chat.completions.create\n"
        "    = help: cut it to the date\n"
        "    = fix: cut it to the date, with --fix"
    )


def test_text_ends_with_a_summary() -> None:
    last = click.unstyle(render("text")).split("\n\n")[-1]

    assert last == "Found 1 error, 1 warning, 1 info: 7 prompts in 12 files (1 suppressed, 1 fix with --fix)."
    assert click.unstyle(render("text", NOTHING)) == "All clear: 1 prompt in 2 files."


def test_text_cuts_a_long_line_around_the_value() -> None:
    long = "x = '" + "a" * 300 + "' + clock() + '" + "b" * 300 + "'"
    finding = replace(CLOCK, column=310, end_column=317, flow=())

    lines = click.unstyle(render("text", Outcome((finding,), SUMMARY, {"app/prompts.py": long}))).split("\n")

    shown, carets = lines[3], lines[4]
    assert len(shown) < 180
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "clock()"


def test_control_characters_of_the_source_never_reach_the_terminal() -> None:
    finding = replace(CLOCK, message="a\x1b[31mred", expression="\x1b]0;title\x07", flow=())

    text = click.unstyle(render("text", Outcome((finding,), SUMMARY, {"app/prompts.py": "x = '\x1b[2J'  # clock()"})))

    assert "\x1b" not in text
    assert "\\x1b[2J" in text


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_a_name_with_control_characters_breaks_no_format(name: str) -> None:
    """Names of files come with other people's code, as their text does."""
    path = "a\x1b[31m\x01\nb.py"
    finding = replace(CLOCK, path=path, message="m\x1b[2J", flow=(FlowStep(path, 1, "read"), FlowStep(path, 2, "in")))

    text = click.unstyle(render(name, Outcome((finding,), SUMMARY)))

    assert [char for char in text if char < " " and char != "\n"] == []
    if name == "concise":
        assert text.count("\n") == 0
    if name in ("json", "sarif", "gitlab"):
        json.loads(text)
    if name == "junit":
        ET.fromstring(text)


def test_concise_is_one_line_a_finding() -> None:
    assert render("concise").split("\n")[1] == (
        "app/über uns.py:7:1: warning KV501 [unbounded-output] no bound: 100 %, a,b"
    )


def test_json_keeps_the_contract() -> None:
    data = json.loads(render("json"))

    assert (data["version"], len(data["findings"])) == (1, 3)
    assert data["summary"] == {
        "files": 12,
        "files_read": 3,
        "prompts": 7,
        "findings": 3,
        "suppressed": 1,
        "known": 0,
    }
    assert data["findings"][0]["prompt"]["call"] == "openai.chat.completions.create"


@pytest.mark.parametrize("outcome", [OUTCOME, NOTHING], ids=["findings", "nothing"])
def test_sarif_is_valid_against_the_schema(outcome: Outcome) -> None:
    data = json.loads(render("sarif", outcome))

    jsonschema.Draft7Validator(SCHEMA).validate(data)
    assert data["version"] == "2.1.0"


def test_sarif_tells_flow_fix_and_fingerprint() -> None:
    run = json.loads(render("sarif"))["runs"][0]
    first, second = run["results"][:2]

    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["KV101", "KV501", "KV502"]
    assert (first["level"], second["level"], run["results"][2]["level"]) == ("error", "warning", "note")
    assert len(first["codeFlows"][0]["threadFlows"][0]["locations"]) == 2
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "today()"}
    assert first["partialFingerprints"] == {"promptlint/v1": "0123456789abcdef"}
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "app/%C3%BCber%20uns.py"


def test_github_annotations_escape_what_the_runner_would_read() -> None:
    first, second, third = render("github").split("\n")

    assert first.startswith("::error file=app/prompts.py,line=1,endLine=1,title=KV101 clock-first,col=7,endColumn=14::")
    assert (
        second == "::warning file=app/über uns.py,line=7,endLine=9,title=KV501 unbounded-output::no bound: 100 %25, a,b"
    )
    assert third.startswith("::notice ")


def test_gitlab_code_quality_has_what_gitlab_asks_for() -> None:
    issues = json.loads(render("gitlab"))

    assert issues[0] == {
        "description": CLOCK.message,
        "check_name": "KV101 clock-first",
        "fingerprint": "0123456789abcdef",
        "severity": "major",
        "location": {"path": "app/prompts.py", "lines": {"begin": 1, "end": 1}},
    }
    assert json.loads(render("gitlab", NOTHING)) == []


def test_junit_has_one_failing_case_a_finding() -> None:
    suites = ET.fromstring(render("junit"))

    assert (suites.get("tests"), suites.get("failures")) == ("3", "3")
    assert [suite.get("name") for suite in suites] == ["app/prompts.py", "app/über uns.py", "<stdin>"]
    assert suites[0][0][0].get("message") == CLOCK.message


def test_junit_without_findings_is_one_passing_case() -> None:
    suites = ET.fromstring(render("junit", NOTHING))

    assert (suites.get("tests"), suites.get("failures"), len(suites[0][0])) == ("1", "0", 0)


def test_statistics_count_the_findings_of_each_rule() -> None:
    outcome = Outcome((CLOCK, BOUND, BOUND), SUMMARY)

    assert statistics.render(outcome) == "2  KV501  unbounded-output\n1  KV101  clock-first"
