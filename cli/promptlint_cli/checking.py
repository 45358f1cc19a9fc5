"""What `promptlint check` does with its options: lint, fix or show the difference, write, and tell by exit status."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from promptlint_cli.terminal import Progress, tell, write
from promptlint_core import exit_status
from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_linter.baseline import write_baseline
from promptlint_linter.check import Outcome, check, check_text
from promptlint_linter.config import Config, load_config, override
from promptlint_linter.decode import PYTHON_SUFFIXES
from promptlint_linter.fixes import FileFix, encoded_as, plan_fixes, write_fix
from promptlint_linter.output import statistics
from promptlint_linter.output.formats import renderer
from promptlint_linter.reported import Reported
from promptlint_rules.base import Severity

MOST_FIX_PASSES = 5
"""A fix may make way for the next one; more passes than this would go round in circles."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of `promptlint check` that are no settings of the configuration, and `settings`, which are."""

    paths: tuple[Path, ...]
    isolated: bool
    config_file: str | None
    force_exclude: bool
    output_file: Path | None
    statistics: bool
    fix: bool
    unsafe_fixes: bool
    diff: bool
    write_baseline: Path | None
    stdin_filename: Path | None
    exit_zero: bool
    watch: bool
    settings: dict[str, Any]
    traffic: Path | None = None
    """Store of the proxy that findings are priced with."""
    traffic_week: str = "last"
    prices: tuple[Path, ...] = ()

    @property
    def from_stdin(self) -> bool:
        return str(self.paths[0]) == "-"


def effective_config(wishes: Wishes) -> Config:
    """The configuration with the options of the command line over it."""
    start = (wishes.stdin_filename or Path()) if wishes.from_stdin else wishes.paths[0]
    file = Path(wishes.config_file) if wishes.config_file else None
    config = load_config(start, isolated=wishes.isolated, config_file=file)
    tell(config.notes)
    settings = dict(wishes.settings)
    if settings.get("min_severity"):
        settings["min_severity"] = Severity(settings["min_severity"])
    if settings.get("min_confidence"):
        settings["min_confidence"] = Evidence(settings["min_confidence"])
    if settings.get("baseline"):
        settings["baseline"] = str(Path(settings["baseline"]).absolute())
    return override(config, **settings)


def run_check(wishes: Wishes) -> int:
    """One run; the exit status."""
    if wishes.from_stdin and len(wishes.paths) > 1:
        raise PromptlintError("`-` stands alone: standard input and files cannot be linted in one run")
    if wishes.prices and not wishes.traffic:
        raise PromptlintError("--prices is for --traffic: give the store whose traffic the prices are for")
    config = effective_config(wishes)
    stdin = sys.stdin.buffer.read() if wishes.from_stdin else None
    if wishes.write_baseline:
        everything = _lint(wishes, replace(config, baseline=None), stdin)
        count = write_baseline(wishes.write_baseline, everything.findings)
        click.echo(f"wrote {count:,} {'finding' if count == 1 else 'findings'} to {wishes.write_baseline}", err=True)
        return exit_status.CLEAN
    outcome = _lint(wishes, config, stdin)
    if wishes.diff:
        return _show_diff(wishes, outcome)
    if wishes.fix:
        if stdin is not None:
            return _fix_stdin(wishes, outcome, stdin)
        outcome = _fix_files(wishes, config, outcome)
    if wishes.traffic:
        outcome = replace(outcome, findings=_with_costs(outcome, wishes.traffic, wishes, config))
    render = statistics.render if wishes.statistics else renderer(config.output_format)
    text = render(outcome)
    if text or wishes.output_file:
        write(text, wishes.output_file)
    return exit_status.CLEAN if wishes.exit_zero or not outcome.findings else exit_status.FINDINGS


def _with_costs(outcome: Outcome, store: Path, wishes: Wishes, config: Config) -> tuple[Reported, ...]:
    try:
        from promptlint_report.join import price_findings
    except ImportError as error:
        raise PromptlintError(f"--traffic needs {error.name}: install promptlint-prefix[report]") from error
    if not store.is_dir():
        raise PromptlintError(f"--traffic {store} is no folder: give the folder that the proxy writes its records to")
    priced = price_findings(outcome.findings, store, config, week=wishes.traffic_week, price_files=wishes.prices)
    for note in priced.notes:
        click.echo(f"--traffic: {note}", err=True)
    return priced.findings


def _lint(wishes: Wishes, config: Config, stdin: bytes | None) -> Outcome:
    if stdin is not None:
        return check_text(stdin, wishes.stdin_filename, config)
    with Progress("Linting") as progress:
        return check(wishes.paths, config, force_exclude=wishes.force_exclude, progress=progress)


def _plan(wishes: Wishes, outcome: Outcome) -> tuple[FileFix, ...]:
    return plan_fixes(outcome.findings, unsafe=wishes.unsafe_fixes, texts=dict(outcome.texts))


def _show_diff(wishes: Wishes, outcome: Outcome) -> int:
    fixes = _plan(wishes, outcome)
    if fixes:
        write("".join(fix.diff() for fix in fixes).rstrip("\n"), wishes.output_file)
    return exit_status.FINDINGS if fixes and not wishes.exit_zero else exit_status.CLEAN


def _fix_stdin(wishes: Wishes, outcome: Outcome, stdin: bytes) -> int:
    """Standard output gets all of the input back, whatever is wrong with it: an editor puts it into its buffer."""
    fixes = _plan(wishes, outcome)
    python = wishes.stdin_filename is None or wishes.stdin_filename.suffix in PYTHON_SUFFIXES
    click.echo(encoded_as(stdin, fixes[0].after, python=python) if fixes else stdin, nl=False)
    left = len(outcome.findings) - sum(fix.fixes for fix in fixes)
    return exit_status.FINDINGS if left and not wishes.exit_zero else exit_status.CLEAN


def _fix_files(wishes: Wishes, config: Config, outcome: Outcome) -> Outcome:
    count = 0
    left: set[str] = set()
    for _ in range(MOST_FIX_PASSES):
        fixes = [fix for fix in _plan(wishes, outcome) if fix.path not in left]
        if not fixes:
            break
        for fix in fixes:
            try:
                write_fix(fix)
                count += fix.fixes
            except PromptlintError as error:  # the other files are fixed, and its findings are reported
                left.add(fix.path)
                click.echo(f"error: {error}", err=True)
        outcome = _lint(wishes, config, None)
    if count:
        click.echo(f"fixed {count:,} {'finding' if count == 1 else 'findings'}", err=True)
    return outcome


def run_watch(wishes: Wishes) -> int:
    """Lint, and lint again whenever a file below the paths changes, until interrupted."""
    try:
        from watchfiles import watch  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise PromptlintError("--watch needs watchfiles: install promptlint-prefix[watch]") from error
    if wishes.from_stdin:
        raise PromptlintError("--watch watches files, not standard input")
    run_check(wishes)
    for _ in watch(*wishes.paths):
        click.clear()
        try:
            run_check(wishes)
        except PromptlintError as error:  # a configuration that is half written is whole at the next change
            tell([str(error)])
    return exit_status.CLEAN
