"""Suppression comments: where they stand, what they cover, and what is said of useless ones."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from promptlint_core.cadence import Evidence
from promptlint_linter.check import check
from promptlint_linter.config import Config
from promptlint_linter.fixes import plan_fixes, write_fix
from promptlint_linter.reported import FlowStep, PromptRef, Reported
from promptlint_linter.selection import selected_rules
from promptlint_linter.sources.kinds import Kind
from promptlint_linter.suppress import find_suppressions, from_json, to_json
from promptlint_linter.suppressed import Suppressions
from promptlint_rules.base import Severity

RAN = selected_rules(("ALL",), (), ())


def finding(rule: str = "KV101", line: int = 1, path: str = "a.py", **more: object) -> Reported:
    return Reported(rule, "clock-first", Severity.ERROR, Evidence.PROVED, "m", path, line, end_line=line, **more)  # type: ignore[arg-type]


COVERED = {
    "trailing": ("x = now()  # promptlint: ignore[KV101] why", {1}),
    "alone above": ("# promptlint: ignore[KV101]\n\nx = now()\ny = now()", {3}),
    "first line of a long statement": ("x = f(  # promptlint: ignore[KV101]\n    now(),\n    now(),\n)", {1, 2, 3, 4}),
    "last line of a long statement": ("x = f(\n    now(),\n)  # promptlint: ignore[KV101]", {1, 2, 3}),
    "inside a long statement": ("x = f(\n    now(),  # promptlint: ignore[KV101]\n    now(),\n)", {2}),
    "alone inside a long statement": ("x = f(\n    # promptlint: ignore[KV101]\n    now(),\n    now(),\n)", {3}),
    "behind a long string": ('x = f"""\n{now()}\n"""  # promptlint: ignore[KV101]\ny = 1', {1, 2, 3}),
    "whole file": ("a = 1\n# promptlint: ignore-file[KV101]\nb = 2", {1, 2, 3}),
    "by name": ("x = now()  # promptlint: ignore[clock-first]", {1}),
    "by prefix": ("x = now()  # promptlint: ignore[KV1]", {1}),
    "several": ("x = now()  # promptlint: ignore[KV501, KV101]", {1}),
    "all rules": ("x = now()  # promptlint: ignore", {1}),
    "no blank": ("x = now()  #promptlint:ignore[KV101]", {1}),
    "another rule": ("x = now()  # promptlint: ignore[KV501]", set()),
    "text in a string": ('x = "# promptlint: ignore[KV101]"', set()),
    "in the middle of a comment": ("x = 1  # see promptlint: ignore[KV101]", set()),
    "quoted in a comment": ("x = 1  # write `# promptlint: ignore[KV101]`", set()),
    "behind another comment": ("x = now()  # noqa: E501  # promptlint: ignore[KV101]", {1}),
    "ahead of another comment": ("x = now()  # promptlint: ignore[KV101] # type: ignore", {1}),
}


@pytest.mark.parametrize(("text", "lines"), COVERED.values(), ids=COVERED.keys())
def test_a_comment_covers_the_statement_that_it_belongs_to(text: str, lines: set[int]) -> None:
    found = find_suppressions(text, Kind.PYTHON)
    every = range(1, text.count("\n") + 2)

    silent = {n for n in every if not Suppressions({"a.py": found}).apply([finding(line=n)])}

    assert silent == lines


TEMPLATES = {
    "jinja": ("{# promptlint: ignore[KV101] for the log #}\n{{ now }}\n{{ now }}", {2}),
    "jinja with signs": ("a {#- promptlint: ignore[KV101] -#}\n{{ now }}", {1}),
    "markdown": ("<!-- promptlint: ignore[KV101] -->\n{now}", {2}),
    "yaml": ("a: 1\nb: '{now}'  # promptlint: ignore[KV101]\n", {2}),
    "jinja ahead of text": ("{# promptlint: ignore[KV101] #} It is {{ now }}\n{{ now }}", {1}),
    "markdown ahead of text": ("<!-- promptlint: ignore[KV101] --> It is {now}\n{now}", {1}),
}


@pytest.mark.parametrize(("text", "lines"), TEMPLATES.values(), ids=TEMPLATES.keys())
def test_templates_have_comments_of_their_own(text: str, lines: set[int]) -> None:
    found = find_suppressions(text, Kind.TEMPLATE)

    silent = {n for n in (1, 2, 3) if not Suppressions({"a.py": found}).apply([finding(line=n)])}

    assert silent == lines


def test_a_comment_works_anywhere_on_the_way_of_the_value() -> None:
    text = "x = now()  # promptlint: ignore[KV101]"
    told = finding(path="b.py", line=7, flow=(FlowStep("a.py", 1, "read here"), FlowStep("b.py", 7, "enters")))
    into = finding(path="b.py", line=7, prompt=PromptRef("a.py", 1))

    kept = Suppressions({"a.py": find_suppressions(text, Kind.PYTHON)}).apply([told, into, finding(path="b.py")])

    assert [f.line for f in kept] == [1]


COMPLAINTS = {
    "unused": ("x = 1  # promptlint: ignore[KV101]", "KV902", "nothing to ignore here: no finding of KV101"),
    "unknown id": ("x = 1  # promptlint: ignore[KV999]", "KV903", "`KV999` names no rule; did you mean KV"),
    "unknown name": ("x = 1  # promptlint: ignore[clok-first]", "KV903", "did you mean clock-first?"),
    "unknown word": (
        "x = 1  # promptlint: ingore[KV101]",
        "KV903",
        "`ingore` is no instruction to promptlint; did you mean ignore?",
    ),
}


@pytest.mark.parametrize(("text", "rule", "message"), COMPLAINTS.values(), ids=COMPLAINTS.keys())
def test_useless_comments_are_told(text: str, rule: str, message: str) -> None:
    suppressions = Suppressions({"a.py": find_suppressions(text, Kind.PYTHON)})
    suppressions.apply([])

    [told] = suppressions.complaints(RAN)

    assert (told.rule, told.line, told.column) == (rule, 1, 8)
    assert message in told.message


def test_a_single_word_of_a_comment_that_silences_nothing_is_told_without_a_fix() -> None:
    found = find_suppressions("x = now()  # promptlint: ignore[KV101, KV104]", Kind.PYTHON)
    suppressions = Suppressions({"a.py": found})
    suppressions.apply([finding()])

    [told] = suppressions.complaints(RAN)

    assert (told.rule, told.message, told.fix) == ("KV902", "nothing to ignore here: no finding of KV104", None)


def test_a_comment_of_use_or_of_a_rule_that_did_not_run_is_not_complained_of() -> None:
    text = "x = now()  # promptlint: ignore[KV101]\ny = 1  # promptlint: ignore[KV501]"
    suppressions = Suppressions({"a.py": find_suppressions(text, Kind.PYTHON)})
    suppressions.apply([finding()])

    assert list(suppressions.complaints(RAN - {"KV501"})) == []


def test_a_file_that_cannot_be_tokenised_still_has_its_comments() -> None:
    text = textwrap.dedent("""\
        x = (  # promptlint: ignore[KV101]
        """)

    [found] = find_suppressions(text, Kind.PYTHON)

    assert found.covers(1)


REMOVED = {
    "trailing": ("x = 1  # promptlint: ignore[KV101] why\n", "x = 1\n"),
    "alone": ("# promptlint: ignore[KV101]\nx = 1\n", "x = 1\n"),
    "a number sign in the reason": ("x = 1  # promptlint: ignore[KV101] see #12\n", "x = 1\n"),
    "ahead of another comment": ("x = 1  # promptlint: ignore[KV101]  # type: ignore\n", "x = 1  # type: ignore\n"),
    "behind another comment": ("x = 1  # noqa: E501  # promptlint: ignore[KV101]\n", "x = 1  # noqa: E501\n"),
    "alone with another comment": ("# promptlint: ignore[KV101]  # noqa\nx = 1\n", "# noqa\nx = 1\n"),
    "behind a form feed": ("\x0cdef f():\n    return 2  # promptlint: ignore[KV101]\n", "\x0cdef f():\n    return 2\n"),
    "behind separators of Unicode": (
        "s = '\u2028\x85'\ndef f():\n    return 2  # promptlint: ignore[KV101]\n",
        "s = '\u2028\x85'\ndef f():\n    return 2\n",
    ),
    "old line ends": ("x = 1  # promptlint: ignore[KV101]\ry = 2\r", "x = 1\ry = 2\r"),
}


@pytest.mark.parametrize(("text", "expected"), REMOVED.values(), ids=REMOVED.keys())
def test_the_fix_removes_the_comment_and_nothing_else(folder: Path, text: str, expected: str) -> None:
    (folder / "a.py").write_bytes(text.encode())
    outcome = check([folder], Config(root=folder))
    [fix] = plan_fixes(outcome.findings, unsafe=False)

    assert fix.after == expected
    write_fix(fix)
    assert check([folder], Config(root=folder)).findings == ()


REMOVED_FROM_TEMPLATES = {
    "alone": ("{# promptlint: ignore[KV101] #}\nHello.\n", "Hello.\n"),
    "ahead of text": ("{# promptlint: ignore[KV101] #} Hello.\n", " Hello.\n"),
    "between text": ("Hello{#- promptlint: ignore[KV101] why -#}world\n", "Helloworld\n"),
    "over two lines": ("{# promptlint: ignore[KV101]\nbecause #}\nHello.\n", None),
}


@pytest.mark.parametrize(("text", "expected"), REMOVED_FROM_TEMPLATES.values(), ids=REMOVED_FROM_TEMPLATES.keys())
def test_the_text_around_a_comment_of_a_template_stays(folder: Path, text: str, expected: str | None) -> None:
    (folder / "a.j2").write_bytes(text.encode())
    [told] = check([folder / "a.j2"], Config(root=folder)).findings

    assert told.rule == "KV902"
    assert [fix.after for fix in plan_fixes([told], unsafe=False)] == ([] if expected is None else [expected])


def test_nothing_is_said_of_the_comments_of_a_file_that_cannot_be_read(folder: Path) -> None:
    """What they would silence is not known: a newer Python, which parses the file, finds it."""
    (folder / "a.py").write_text("x = now()  # promptlint: ignore[KV101]\nopenai(\n")

    assert [finding.rule for finding in check([folder], Config(root=folder)).findings] == ["KV901"]


def test_a_comment_survives_the_cache() -> None:
    [found] = find_suppressions("x = 1  # promptlint: ignore[KV101, KV104] why", Kind.PYTHON)

    assert from_json(to_json(found)) == found
