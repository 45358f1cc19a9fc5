"""One file in, its findings out: decode, read, judge. Nothing that goes wrong in one file ends the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Call, Place, Prompt
from promptlint_linter import gate
from promptlint_linter.decode import read_source
from promptlint_linter.file_result import FileResult
from promptlint_linter.reported import Reported, from_finding
from promptlint_linter.rewrites.fixer import with_fixes
from promptlint_linter.sources.kinds import Kind
from promptlint_linter.sources.read import read_unit
from promptlint_linter.sources.unit import Problem, SourceFile, SourceUnit, no_python
from promptlint_linter.suppress import find_suppressions
from promptlint_rules.base import Finding, Rule, Severity
from promptlint_rules.registry import RULES
from promptlint_rules.tool.unreadable_file import UnreadableFile

if TYPE_CHECKING:
    from promptlint_linter.files import Target
    from promptlint_linter.session import Session

MOST_BYTES = 100_000_000
"""A larger file is not even looked at."""


def lint_file(target: Target, session: Session) -> FileResult:
    """Judge one file by all rules, or find what was said of the same content before."""
    source = read_source(target.path, target.shown, MOST_BYTES)
    if isinstance(source, Problem):
        return FileResult(target.shown, (unreadable(source),))
    return lint_source(source, target, session)


def lint_source(source: SourceFile, target: Target, session: Session) -> FileResult:
    """Judge decoded text by all rules, as the content of `target`."""
    if target.kind is Kind.PYTHON and not gate.may_hold_prompt(source.text):
        problem = syntax_problem(source) if target.explicit else None
        return FileResult(
            source.path, (unreadable(problem),) if problem else (), find_suppressions(source.text, target.kind)
        )
    if len(source.text) > session.max_file_bytes:
        return FileResult(source.path, (_too_large(source, session.max_file_bytes),))
    kept = session.kept(source, target)
    if kept is not None:
        return kept
    try:
        unit = read_unit(source, target.kind, session, explicit=target.explicit)
    except Exception as error:
        return FileResult(source.path, (_crash(source.path, "the reader", error),), read=True)
    found = [*map(unreadable, unit.problems), *once_a_place(judge(unit))]
    findings = with_fixes(found, lambda path: source.text if path == source.path else _text_of(path))
    result = FileResult(
        source.path,
        tuple(sorted(findings, key=lambda finding: finding.order)),
        find_suppressions(source.text, target.kind),
        len(unit.prompts),
        read=True,
    )
    session.keep(source, target, result)
    return result


def _text_of(path: str) -> str | None:
    """The text of another file that a finding lies in."""
    other = read_source(Path(path), path, MOST_BYTES)
    return None if isinstance(other, Problem) else other.text


def _too_large(source: SourceFile, max_file_bytes: int) -> Reported:
    size, most = len(source.text) / 1e6, max_file_bytes / 1e6
    message = f"{size:.1f} MB of text skipped: more than max-file-bytes ({most:.1f} MB)"
    return replace(unreadable(Problem(Place(source.path, 1), message)), severity=Severity.WARNING)


def judge(unit: SourceUnit) -> Iterator[Reported]:
    """What the rules say of the prompts and calls of one file."""
    callers = [(call, call.prompt) for call in unit.calls if call.prompt is not None]
    prompts = [*unit.prompts, *(prompt for _, prompt in callers if prompt not in unit.prompts)]
    for rule in static_rules():
        try:
            for prompt in prompts:
                for finding in rule.check_prompt(prompt):
                    yield from_finding(_with_call(finding, prompt, callers))
            for call in unit.calls:
                yield from map(from_finding, rule.check_call(call))
            for practice in unit.practices:
                yield from map(from_finding, rule.check_practice(practice))
        except Exception as error:
            yield _crash(unit.path, f"rule {rule.id}", error)


def once_a_place(findings: Iterable[Reported]) -> list[Reported]:
    """One finding where several views of one prompt show the same fault.

    The branches of a condition, and a prompt seen where it is made and again where it is sent, tell of one value: what
    is sent counts, then what costs most.
    """
    by_place: dict[tuple[object, ...], list[Reported]] = {}
    for finding in findings:
        by_place.setdefault((finding.rule, finding.path, finding.line, finding.column), []).append(finding)
    kept: list[Reported] = []
    for told in by_place.values():
        sent = [finding for finding in told if finding.prompt and finding.prompt.call]
        by_prompt: dict[object, Reported] = {}
        for finding in sorted(sent or told, key=_gravity):
            by_prompt.setdefault(finding.prompt and (finding.prompt.path, finding.prompt.line), finding)
        kept += by_prompt.values()
    return kept


def _gravity(finding: Reported) -> tuple[int, int]:
    """Sorts the most severe first: one reading may enter a prompt as a date and as a time."""
    return finding.severity.rank, -(finding.tokens_behind or 0)


def _with_call(finding: Finding, prompt: Prompt, callers: list[tuple[Call, Prompt]]) -> Finding:
    """The finding with its prompt and, where one sends exactly this prompt, its call."""
    call = finding.call or next((call for call, sent in callers if sent == prompt), None)
    return replace(finding, prompt=finding.prompt or prompt, call=call)


@cache
def static_rules() -> tuple[Rule, ...]:
    return tuple(rule() for rule in RULES if rule.is_static())


def unreadable(problem: Problem) -> Reported:
    """A file or a part of it that could not be read, as a KV901 finding."""
    rule = UnreadableFile
    return from_finding(Finding(rule.id, rule.name, rule.severity, Evidence.PROVED, problem.message, problem.place))


def _crash(path: str, where: str, error: BaseException) -> Reported:
    said = " ".join(str(error).split())[:200]
    message = f"internal error in {where}: {type(error).__name__}{': ' + said if said else ''}; please report it"
    return unreadable(Problem(Place(path, 1), message))


def syntax_problem(source: SourceFile) -> Problem | None:
    """What the compiler of the running Python says against the text, which is not run."""
    from promptlint_linter.evaluate.syntax import parse

    try:
        parse(source.text)
    except SyntaxError as error:
        return no_python(source.path, error)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(Place(source.path, 1), f"cannot be parsed: {error or type(error).__name__}")
    return None
