"""For people: the source line, a caret below the value, the way it takes into the prompt, and the fix that fits."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from promptlint_linter.check import Outcome
from promptlint_linter.excerpts import Excerpts
from promptlint_linter.output.characters import on_one_line, without_control
from promptlint_linter.reported import Reported
from promptlint_rules.base import Severity

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
MOST_COLUMNS = 160
"""Of a source line; a longer one is cut around the value."""


def render(outcome: Outcome) -> str:
    """Styled text; the writer takes the styles out where there is no terminal."""
    excerpts = Excerpts(outcome.texts)
    blocks = [_finding(finding, excerpts) for finding in outcome.findings]
    return "\n\n".join([*blocks, _summary(outcome)])


def _finding(finding: Reported, excerpts: Excerpts) -> str:
    colour = COLOURS[finding.severity]
    where = click.style(f"{on_one_line(finding.path)}:{finding.line}:{finding.column}", bold=True)
    head = f"{where} {click.style(finding.severity.value, fg=colour, bold=True)} {finding.rule} [{finding.name}]"
    lines = [head, f"  {without_control(finding.message)}"]
    width = len(str(max([finding.line, *(step.line for step in finding.flow)])))
    lines += _excerpt(finding, excerpts, width, colour)
    margin = " " * width
    if len(finding.flow) > 1:
        for step in finding.flow:
            where = f"line {step.line}" if step.path == finding.path else f"{on_one_line(step.path)}:{step.line}"
            lines.append(f"  {margin} = {step.note}, {where}{_code(excerpts, step.path, step.line)}")
    if finding.prompt and finding.prompt.tokens:
        sender = f", sent by {finding.prompt.call}" if finding.prompt.call else ""
        lines.append(f"  {margin} = prompt of {finding.prompt.tokens:,} known tokens{sender}")
    if finding.cost:
        lines.append(f"  {margin} = {_cost(finding.cost)}")
    if finding.advice:
        lines.append(f"  {margin} = {click.style('help', fg='green')}: {without_control(finding.advice)}")
    if finding.fix:
        flags = "--fix" if finding.fix.safe else "--fix --unsafe-fixes"
        lines.append(
            f"  {margin} = {click.style('fix', fg='green')}: {without_control(finding.fix.note)}, with {flags}"
        )
    return "\n".join(lines)


def _cost(cost: dict[str, Any]) -> str:
    tokens, requests = (_counted(cost[name], name) for name in ("tokens", "requests"))
    shared = f", together with {others}" if (others := _others(cost)) else ""
    return f"cost in {cost['week']}: {_money(cost.get('usd'))}, {tokens} in {requests}{shared} (estimated)"


def _money(usd: float | None) -> str:
    if usd is None:
        return "no known price"
    return f"${usd:,.2f}" if usd >= 0.01 or not usd else f"${usd:.6f}".rstrip("0")


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name[:-1] if number == 1 else name}"


def _others(cost: dict[str, Any]) -> str:
    others = cost.get("shared_by", 1) - 1
    return f"{others} other {'finding' if others == 1 else 'findings'}" if others else ""


def _code(excerpts: Excerpts, path: str, line: int) -> str:
    code = excerpts.line(path, line)
    if not code or not code.strip():
        return ""
    short = without_control(code.strip())
    return click.style(": " + (short if len(short) <= 70 else short[:69] + "…"), dim=True)


def _excerpt(finding: Reported, excerpts: Excerpts, width: int, colour: str) -> list[str]:
    code = excerpts.line(finding.path, finding.line)
    if code is None:
        return []
    code = without_control(code.expandtabs(1))
    start = min(finding.column - 1, len(code))
    end = finding.end_column - 1 if finding.end_line == finding.line else len(code)
    end = max(min(end, len(code)), start + 1)
    cut = max(0, min(start - 20, len(code) - MOST_COLUMNS)) if len(code) > MOST_COLUMNS else 0
    shown = ("…" if cut else "") + code[cut : cut + MOST_COLUMNS] + ("…" if len(code) > cut + MOST_COLUMNS else "")
    shift = start - cut + bool(cut)
    carets = "^" * min(end - start, MOST_COLUMNS - (start - cut))
    bar = click.style("|", dim=True)
    return [
        f"  {' ' * width} {bar}",
        f"  {click.style(f'{finding.line:>{width}}', dim=True)} {bar} {shown.rstrip()}",
        f"  {' ' * width} {bar} {' ' * shift}{click.style(carets, fg=colour, bold=True)}",
    ]


def _summary(outcome: Outcome) -> str:
    counts = Counter(finding.severity for finding in outcome.findings)
    told = [_plural(counts[level], level.value) for level in Severity if counts[level]]
    summary = outcome.summary
    found = "Found " + ", ".join(told) if told else click.style("All clear", fg="green")
    aside = [f"{summary.suppressed} suppressed"] if summary.suppressed else []
    aside += [f"{summary.known} known"] if summary.known else []
    fixes = Counter(finding.fix.safe for finding in outcome.findings if finding.fix)
    aside += [_plural(fixes[True], "fix", "fixes") + " with --fix"] if fixes[True] else []
    aside += [_plural(fixes[False], "fix", "fixes") + " with --fix --unsafe-fixes"] if fixes[False] else []
    looked = f"{_plural(summary.prompts, 'prompt')} in {_plural(summary.files, 'file')}"
    return f"{found}: {looked}" + (f" ({', '.join(aside)})" if aside else "") + "."


def _plural(count: int, word: str, words: str = "") -> str:
    plural = words or ("infos" if word == "info" else f"{word}s")
    return f"{count:,} {word if count == 1 else plural}"
