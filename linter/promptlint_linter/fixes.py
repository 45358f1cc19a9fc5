"""Applies the edits of fixes to files: no two that overlap, each file in its own encoding and line ends."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_linter.decode import Encoded, decode, lines_of, read_encoded
from promptlint_linter.reported import Reported
from promptlint_linter.sources.unit import Problem
from promptlint_rules.base import Edit, Fix


@dataclass(frozen=True, slots=True)
class FileFix:
    """The text of one file before and after."""

    path: str
    before: str
    after: str
    fixes: int

    def diff(self) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(lines_of(self.before), lines_of(self.after), self.path, self.path)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plan_fixes(
    findings: Iterable[Reported], *, unsafe: bool, texts: dict[str, str] | None = None
) -> tuple[FileFix, ...]:
    """What the fixes of these findings make of their files; `texts` holds files that are not on disk."""
    by_path: dict[str, list[Fix]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is not None and fix.edits and (fix.safe or unsafe):
            by_path.setdefault(fix.edits[0].place.path, []).append(fix)
    planned = []
    for path, fixes in sorted(by_path.items()):
        text = (texts or {}).get(path)
        if text is None:
            encoded = read_encoded(Path(path), path)
            if isinstance(encoded, Problem):
                continue
            text = encoded.text
        edits, count = _compatible(path, fixes)
        planned.append(FileFix(path, text, apply_edits(text, edits), count))
    return tuple(fix for fix in planned if fix.before != fix.after)


def _compatible(path: str, fixes: Sequence[Fix]) -> tuple[list[Edit], int]:
    """The edits of as many fixes as do not overlap, and how many fixes that are; a fix is taken whole or not at all."""
    chosen: list[Edit] = []
    count = 0
    for fix in fixes:
        if any(edit.place.path != path for edit in fix.edits):
            continue  # a fix over several files would leave one of them half done when another is skipped
        new = [edit for edit in fix.edits if edit not in chosen]
        if not any(_overlap(edit, other) for edit in new for other in chosen):
            chosen += new
            count += 1
    return chosen, count


def _overlap(one: Edit, other: Edit) -> bool:
    (start, end), (other_start, other_end) = _span(one), _span(other)
    return (start < other_end and other_start < end) or start == other_start


def _span(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    place = edit.place
    return (place.line, place.column), (place.end_line, place.end_column)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with its spans replaced; the edits must not overlap."""
    lines = lines_of(text)
    starts = [0, *accumulate(map(len, lines))]
    newline = next((end for end in ("\r\n", "\r") if lines and lines[0].endswith(end)), "\n")

    def offset(line: int, column: int) -> int:
        if line > len(lines):
            return len(text)
        return min(starts[line - 1] + column - 1, starts[line])

    for edit in sorted(edits, key=_span, reverse=True):
        start, end = (offset(*point) for point in _span(edit))
        before = text[:start]
        if not edit.text and (text[end : end + 1] in ("\n", "\r", "")):
            before = before.rstrip(" \t")  # a removed trailing comment leaves no blanks behind
        text = before + edit.text.replace("\n", newline) + text[end:]
    return text


def encoded_as(data: bytes, text: str, *, python: bool) -> bytes:
    """The text in the encoding and with the mark of `data`, which it was made from.

    Raises PromptlintError when that encoding cannot write it.
    """
    encoded = decode(data, "", python=python)
    assert isinstance(encoded, Encoded)
    try:
        return encoded.mark + text.encode(encoded.encoding)
    except UnicodeEncodeError as error:
        raise PromptlintError(f"cannot write the fix: {error}") from error


def write_fix(fix: FileFix) -> None:
    """Write the fixed text in the encoding of the file, whole or not at all.

    Raises PromptlintError when the file changed since it was read or cannot be written, or nobody may write it.
    """
    path = Path(fix.path)
    encoded = read_encoded(path, fix.path)
    if not isinstance(encoded, Encoded) or encoded.text != fix.before:
        raise PromptlintError(f"{fix.path} changed while it was being fixed; run again")
    try:
        data = encoded.mark + fix.after.encode(encoded.encoding)
        target = path.resolve()
        if not target.stat().st_mode & 0o222:
            raise PromptlintError(f"cannot write {fix.path}: it is read-only")
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as beside:
            beside.write(data)
        try:
            Path(beside.name).chmod(target.stat().st_mode)
            os.replace(beside.name, target)  # noqa: PTH105 - the same in fewer words
        except OSError:
            Path(beside.name).unlink(missing_ok=True)
            raise
    except (OSError, UnicodeEncodeError) as error:
        raise PromptlintError(f"cannot write {fix.path}: {error}") from error
