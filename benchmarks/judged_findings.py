"""Writes docs/real-code.md from the findings on public repositories that were judged by reading.

python benchmarks/judged_findings.py
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "real-code.md"
LINES_PER_FALSE_FINDING = 50_000
VERDICTS = ("true", "meant", "false")
SETS = ("corrected on", "not seen before")

_HEAD = f"""# On real code

What the linter says of public repositories with `promptlint check . --isolated --no-cache --output-format json` in the
root of each. Every error and warning was read in the source around it and judged:

- **true**: the value changes, or the bound is missing, as the finding says;
- **meant**: so, but on purpose, as with examples that are sampled for each vote;
- **false**: not text of a prompt, not a value that changes, or nothing behind it that a cache could give back.

The aim is at most one false finding per {LINES_PER_FALSE_FINDING:,} lines.

"""
_CAVEATS = """
**The first row is no test.** Its false findings were read, their kinds corrected and the same trees read again, so it
tells what is left after correction. khoj-ai/khoj was new at first and shows the difference: 68 findings, of which 53
were false, most of them stored messages and a persona taken for retrieved text; 14 findings are left of it.
The second row was read once, after those corrections and before any for its own sake, and **does not meet the aim**.
It is small: two repositories. Since then cells of notebooks that start with an indent are read (3 of its 12 false
findings); the row stays as it was taken.

The verdicts are one reader's, without a second opinion, from some 15 lines around each finding; a template that stands
in another place was not always opened. No prompt was sent to a model: `true` says that the source
is as the finding tells, not how much a cache would have saved. The reasons of true findings are told by kind.

Written by `python benchmarks/judged_findings.py` from `benchmarks/judged_findings.tsv` and
`benchmarks/judged_repositories.tsv`.

## Repositories

| repository | commit | lines | findings | true | meant | false |
|---|---|--:|--:|--:|--:|--:|
"""
_FINDINGS = """
## Findings

| repository | place | rule | verdict | why |
|---|---|---|---|---|
"""

Row = dict[str, str]


def _rows(name: str) -> list[Row]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _counts(findings: list[Row]) -> str:
    verdicts = Counter(row["verdict"] for row in findings)
    return " | ".join(str(number) for number in (len(findings), *(verdicts[verdict] for verdict in VERDICTS)))


def _totals(findings: list[Row], repositories: list[Row]) -> str:
    text = "| repositories | number | lines | findings | true | meant | false | lines per false finding |\n"
    text += "|---|--:|--:|--:|--:|--:|--:|--:|\n"
    for name in SETS:
        own = [row for row in findings if row["set"] == name]
        sizes = [int(row["python lines"]) for row in repositories if row["set"] == name]
        false = sum(row["verdict"] == "false" for row in own)
        per = f"{sum(sizes) // false:,}" if false else "none"
        text += f"| {name} | {len(sizes)} | {sum(sizes):,} | {_counts(own)} | {per} |\n"
    return text


def page() -> str:
    """The page as Markdown."""
    findings, repositories = _rows("judged_findings.tsv"), _rows("judged_repositories.tsv")
    text = _HEAD + _totals(findings, repositories) + _CAVEATS
    for row in repositories:
        own = [finding for finding in findings if finding["repository"] == row["repository"]]
        commit = row["commit"] if " " in row["commit"] else f"`{row['commit'][:12]}`"
        text += f"| {row['repository']} | {commit} | {int(row['python lines']):,} | {_counts(own)} |\n"
    text += _FINDINGS
    for row in findings:
        place = f"`{row['path']}:{row['line']}`"
        text += f"| {row['repository']} | {place} | {row['rule']} | {row['verdict']} | {row['why']} |\n"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
