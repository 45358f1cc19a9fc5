"""Fixes become edits of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_core.prompt import Place
from promptlint_linter.fixes import FileFix, apply_edits, plan_fixes, write_fix
from promptlint_linter.reported import Reported
from promptlint_rules.base import Edit, Fix, Severity


def edit(line: int, column: int, end_line: int, end_column: int, text: str, path: str = "a.py") -> Edit:
    return Edit(Place(path, line, column, end_line, end_column), text)


def finding(*edits: Edit, safe: bool = True) -> Reported:
    place = edits[0].place
    return Reported("KV101", "clock-first", Severity.ERROR, Evidence.PROVED, "m", place.path, 1, fix=Fix(safe, edits))


EDITS = {
    "replace in a line": ("ab\ncde\n", [edit(2, 2, 2, 3, "X")], "ab\ncXe\n"),
    "insert": ("ab\n", [edit(1, 2, 1, 2, "--")], "a--b\n"),
    "over two lines": ("ab\ncd\n", [edit(1, 2, 2, 2, "-")], "a-d\n"),
    "several, from the end": ("abcd\n", [edit(1, 1, 1, 2, "X"), edit(1, 3, 1, 4, "YY")], "XbYYd\n"),
    "a whole line": ("a\nb\nc\n", [edit(2, 1, 3, 1, "")], "a\nc\n"),
    "a trailing comment with its blanks": ("a = 1  # x\nb\n", [edit(1, 8, 1, 11, "")], "a = 1\nb\n"),
    "at the end of a file without line end": ("a  # x", [edit(1, 4, 1, 7, "")], "a"),
    "line ends stay": ("a\r\nb\r\n", [edit(1, 1, 1, 2, "x\ny")], "x\r\ny\r\nb\r\n"),
    "columns are characters": ("'äö' + b\n", [edit(1, 8, 1, 9, "c")], "'äö' + c\n"),
    "form feeds are no line ends": ("\x0ca\nbc\n", [edit(2, 1, 2, 2, "X")], "\x0ca\nXc\n"),
    "nor are separators of Unicode": ("'\u2028\x85\x1c'\nbc\n", [edit(2, 1, 2, 2, "X")], "'\u2028\x85\x1c'\nXc\n"),
    "past the end": ("a\n", [edit(9, 1, 9, 1, "b\n")], "a\nb\n"),
}


@pytest.mark.parametrize(("text", "edits", "expected"), EDITS.values(), ids=EDITS.keys())
def test_edits_replace_spans(text: str, edits: list[Edit], expected: str) -> None:
    assert apply_edits(text, edits) == expected


def test_only_safe_fixes_unless_asked_for(folder: Path) -> None:
    (folder / "a.py").write_text("abc\n")
    findings = [finding(edit(1, 1, 1, 2, "X")), finding(edit(1, 3, 1, 4, "Z"), safe=False)]

    [safe], [both] = plan_fixes(findings, unsafe=False), plan_fixes(findings, unsafe=True)

    assert (safe.after, safe.fixes) == ("Xbc\n", 1)
    assert (both.after, both.fixes) == ("XbZ\n", 2)


def test_of_two_fixes_that_overlap_the_first_is_taken_whole(folder: Path) -> None:
    (folder / "a.py").write_text("abcdef\n")
    first = finding(edit(1, 1, 1, 4, "X"))
    second = finding(edit(1, 3, 1, 5, "Y"), edit(1, 6, 1, 7, "Z"))

    [fix] = plan_fixes([first, second], unsafe=False)

    assert (fix.after, fix.fixes) == ("Xdef\n", 1)


def test_equal_edits_of_two_findings_are_made_once(folder: Path) -> None:
    (folder / "a.py").write_text("f(x)\n")
    add_import = edit(1, 1, 1, 1, "import m\n")

    [fix] = plan_fixes([finding(add_import), finding(add_import)], unsafe=False)

    assert fix.after == "import m\nf(x)\n"


def test_the_difference_reads_like_a_patch(folder: Path) -> None:
    fix = FileFix("a.py", "a\nb", "a\nc", 1)

    assert (
        fix.diff()
        == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


def test_a_file_keeps_its_encoding_its_mark_its_line_ends_and_its_rights(folder: Path) -> None:
    path = folder / "a.py"
    path.write_bytes(b"# coding: latin-1\r\nx = '\xe4'\r\n")
    path.chmod(0o640)
    [fix] = plan_fixes([finding(edit(2, 1, 2, 2, "y"))], unsafe=False)

    write_fix(fix)

    assert path.read_bytes() == b"# coding: latin-1\r\ny = '\xe4'\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(folder.glob(".a.py*")) == []


def test_a_file_that_nobody_may_write_is_left_alone(folder: Path) -> None:
    path = folder / "a.py"
    path.write_text("abc\n")
    path.chmod(0o444)
    [fix] = plan_fixes([finding(edit(1, 1, 1, 2, "X"))], unsafe=False)

    with pytest.raises(PromptlintError, match="read-only"):
        write_fix(fix)

    assert path.read_text() == "abc\n"


def test_a_file_that_changed_meanwhile_is_left_alone(folder: Path) -> None:
    (folder / "a.py").write_text("abc\n")
    [fix] = plan_fixes([finding(edit(1, 1, 1, 2, "X"))], unsafe=False)
    (folder / "a.py").write_text("changed\n")

    with pytest.raises(PromptlintError, match="changed while it was being fixed"):
        write_fix(fix)
    assert (folder / "a.py").read_text() == "changed\n"
