"""The whole run: files → findings, then selection, quiet files, suppressions, severity and baseline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_linter.baseline import read_baseline, without_known
from promptlint_linter.config import Config
from promptlint_linter.decode import as_source, decode, read_source
from promptlint_linter.file_result import FileResult
from promptlint_linter.files import Found, Target, find_files, shown_path
from promptlint_linter.ignores import Patterns
from promptlint_linter.lint_file import MOST_BYTES, once_a_place, unreadable
from promptlint_linter.neighbours import project_modules
from promptlint_linter.parallel import lint_all, lint_one, on_deep_stack
from promptlint_linter.reachable import is_file, is_folder
from promptlint_linter.reported import Reported, with_unique_fingerprints
from promptlint_linter.selection import resolve, selected_rules
from promptlint_linter.session import Session
from promptlint_linter.sources.kinds import STDIN_WITHOUT_NAME, Kind, kind_of
from promptlint_linter.sources.read import read_unit
from promptlint_linter.sources.unit import Problem, SourceUnit
from promptlint_linter.suppressed import Suppressions
from promptlint_rules.base import Severity
from promptlint_rules.tool.unreadable_file import UnreadableFile

Progress = Callable[[int, int], None]
"""Called with the files done and the files in all."""


@dataclass(frozen=True, slots=True)
class Summary:
    files: int
    """Files found."""
    files_read: int
    """Files that the gate let through and that were read."""
    prompts: int
    findings: int
    suppressed: int
    known: int = 0
    """Findings of the baseline, not shown."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found, in the order of files and lines."""

    findings: tuple[Reported, ...]
    summary: Summary
    texts: Mapping[str, str] = field(default_factory=dict)
    """Text by path of what is not on disk: standard input."""


def check(
    paths: Sequence[Path], config: Config, *, force_exclude: bool = False, progress: Progress | None = None
) -> Outcome:
    """Lint all files below the paths.

    Raises PromptlintError for a path that does not exist or a rule that is unknown.
    """
    found = find_files(paths, config, force_exclude=force_exclude)
    results = lint_all(found.targets, project_modules(found.targets, config), config, progress)
    return conclude(found, results, config)


def check_text(data: bytes, name: Path | None, config: Config) -> Outcome:
    """Lint what came by standard input as if it were the file `name`."""
    path = Path(os.path.abspath(name or "stdin.py"))  # noqa: PTH100 - the file need not exist
    shown = shown_path(path) if name else STDIN_WITHOUT_NAME
    kind = kind_of(PurePosixPath(path.as_posix()), explicit=True) or Kind.PROMPT
    inside = path.is_relative_to(config.root)
    relative = path.relative_to(config.root).as_posix() if inside else path.name
    target = Target(path, shown, relative, kind, explicit=True)
    decoded = decode(data, shown, python=kind is Kind.PYTHON)
    if isinstance(decoded, Problem):
        return conclude(Found((target,)), [FileResult(shown, (unreadable(decoded),))], config)
    modules = project_modules((target,), config) if is_folder(path.parent) else ()
    result = lint_one(as_source(decoded, shown), target, modules, config)
    return replace(conclude(Found((target,)), [result], config), texts={shown: decoded.text})


def read_file(path: Path, config: Config) -> SourceUnit:
    """The prompts and calls of one file, unjudged.

    Raises PromptlintError for a file that does not exist or that no reader fits.
    """
    if is_folder(path):
        raise PromptlintError(f"{path}: a folder; name one file in it")
    if not is_file(path):
        raise PromptlintError(f"{path}: no such file")
    targets = find_files([path], config).targets
    if not targets:
        raise PromptlintError(f"{path}: no reader for this kind of file")
    target = targets[0]
    source = read_source(target.path, target.shown, MOST_BYTES)
    if isinstance(source, Problem):
        return SourceUnit(target.shown, problems=(source,))
    session = Session(project_modules(targets, config), replace(config, cache=False))
    return on_deep_stack(lambda: read_unit(source, target.kind, session, explicit=True))


def conclude(found: Found, results: Sequence[FileResult], config: Config) -> Outcome:
    """Turn raw results into what is told."""
    raw = [unreadable(problem) for problem in found.problems]
    raw += [finding for result in results for finding in result.findings]
    policy = _Policy(config, found.targets)
    shown = [told for finding in _distinct(raw) if (told := policy.judge(finding))]
    named = {target.shown for target in found.targets if target.explicit and target.kind is Kind.PYTHON}
    unread = {finding.path for finding in raw if finding.rule == UnreadableFile.id}
    suppressions = Suppressions({result.path: result.suppressions for result in results}, named | unread)
    kept = suppressions.apply(shown)
    kept += [told for finding in suppressions.complaints(policy.selected) if (told := policy.judge(finding))]
    visible = [finding for finding in kept if finding.severity.rank <= config.min_severity.rank]
    ordered = with_unique_fingerprints(sorted(visible, key=lambda finding: finding.order))
    before = len(ordered)
    if config.baseline:
        ordered = without_known(ordered, read_baseline(config.root / config.baseline))
    summary = Summary(
        files=len(found.targets),
        files_read=sum(result.read for result in results),
        prompts=sum(result.prompts for result in results),
        findings=len(ordered),
        suppressed=suppressions.suppressed,
        known=before - len(ordered),
    )
    return Outcome(tuple(ordered), summary)


def _distinct(findings: Iterable[Reported]) -> list[Reported]:
    """Drop what two files report alike: a flow through both is found from either end, and one prompt from each."""
    return once_a_place(findings)


class _Policy:
    """What the configuration says of a finding: leave it out, lower it, or let it be."""

    def __init__(self, config: Config, targets: Iterable[Target]) -> None:
        self.selected = selected_rules(config.select, config.extend_select, config.ignore)
        self._quiet = Patterns((*config.quiet_files, *config.extend_quiet_files))
        self._per_file = [
            (Patterns([pattern]), frozenset(resolve(words, "per-file-ignores")))
            for pattern, words in config.per_file_ignores.items()
        ]
        self._relative = {target.shown: target.relative for target in targets}
        self._proved_only = config.min_confidence is Evidence.PROVED

    def judge(self, finding: Reported) -> Reported | None:
        if finding.rule not in self.selected or (self._proved_only and finding.confidence is Evidence.NAMED):
            return None
        places = {finding.path, finding.prompt.path if finding.prompt else finding.path}
        relatives = [self._relative.get(place, place) for place in places]
        if any(
            finding.rule in ids and any(patterns.match(relative) for relative in relatives)
            for patterns, ids in self._per_file
        ):
            return None
        if any(self._quiet.match(relative) for relative in relatives):
            return replace(finding, severity=Severity.INFO)
        return finding
