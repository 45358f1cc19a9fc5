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
AFTER = "corrected on"
SET_ASIDE = "set aside"
READINGS = (*(f"first reading {number}" for number in range(1, 5)), SET_ASIDE, "first reading 5")
"""Sets of repositories that nobody had looked at, in the order in which they were read."""

_HEAD = f"""# On real code

What the linter says of public repositories with `promptlint check . --isolated --no-cache --output-format json` in the
root of each. Every error and warning was judged in the source around it; where one kind repeats within a repository,
mostly KV501, one or two of its places were read for the rest:

- **true**: the value changes, or the bound is missing, as the finding says;
- **meant**: so, but on purpose, as with examples that are sampled for each vote;
- **false**: not text of a prompt, not a value that changes, or nothing behind it that a cache could give back.

The aim is at most one false finding per {LINES_PER_FALSE_FINDING:,} lines.

## Repositories not seen before

Each row was measured once, before any finding of its repositories had been looked at, and stays as it was taken.
Then the kinds of its false findings were corrected and the next repositories were taken, so a row tells what that
state of the linter says of code that it was not corrected on. The one set aside was fetched early, left unread while
the four rows above it were corrected on, and read once.

"""
_AFTER = """
The first row, before any of these corrections, does not meet the aim; nor do the third and the fourth, which are small.
The rows differ much among themselves: agents and applications hold more prompts a line than libraries do, and lines of
tests count although what is found in them is told as information only. A repository of a million lines was left out of
the last row for its size, before anything of it was read.

## The same repositories after correction

"""
_CAVEATS = """
**This row is no test**: it tells what is left of the false findings that were read, here the repositories above without
those of the last row, and twelve that were read before them.

## How far to trust it

The verdicts are one reader's, without a second opinion, from some 15 lines around each finding; a template that stands
in another place was not always opened. No prompt was sent to a model: `true` says that the source
is as the finding tells, not how much a cache would have saved. One place may be told for each prompt that it enters.
What was missed is not counted here; of 36 places known before, 33 are found.

Written by `python benchmarks/judged_findings.py` from `benchmarks/judged_findings.tsv`, which holds every finding with
its verdict, and `benchmarks/judged_repositories.tsv`.

## Repositories

| set | repository | commit | lines | findings | true | meant | false |
|---|---|---|--:|--:|--:|--:|--:|
"""
_RULES = """
## True findings by rule, after correction

| rule | true | meant | false |
|---|--:|--:|--:|
"""
_FINDINGS = """
## Findings that are false or meant

`first reading 4` and the like name the row in which a finding was read; `corrected on` is what is left.

| set | repository | place | rule | verdict | why |
|---|---|---|---|---|---|
"""

Row = dict[str, str]


def _rows(name: str) -> list[Row]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _counts(findings: list[Row]) -> str:
    verdicts = Counter(row["verdict"] for row in findings)
    return " | ".join(str(number) for number in (len(findings), *(verdicts[verdict] for verdict in VERDICTS)))


def _totals(sets: dict[str, tuple[str, ...]], findings: list[Row], repositories: list[Row]) -> str:
    text = "| set | repositories | lines | findings | true | meant | false | lines per false finding |\n"
    text += "|---|--:|--:|--:|--:|--:|--:|--:|\n"
    for name, members in sets.items():
        own = [row for row in findings if row["set"] in members]
        sizes = [int(row["python lines"]) for row in repositories if row["set"] in members]
        false = sum(row["verdict"] == "false" for row in own)
        per = f"{sum(sizes) // false:,}" if false else "none"
        text += f"| {name} | {len(sizes)} | {sum(sizes):,} | {_counts(own)} | {per} |\n"
    return text


def _by_rule(findings: list[Row]) -> str:
    counted = Counter((row["rule"], row["verdict"]) for row in findings if row["set"] == AFTER)
    rules = sorted({rule for rule, _ in counted})
    return "".join(
        f"| {rule} | {' | '.join(str(counted[rule, verdict]) for verdict in VERDICTS)} |\n" for rule in rules
    )


def page() -> str:
    """The page as Markdown."""
    findings, repositories = _rows("judged_findings.tsv"), _rows("judged_repositories.tsv")
    text = _HEAD + _totals(
        {name: (name,) for name in READINGS} | {"all but the first": READINGS[1:]}, findings, repositories
    )
    text += _AFTER + _totals({AFTER: (AFTER,)}, findings, repositories) + _CAVEATS
    for row in repositories:
        own = [f for f in findings if (f["set"], f["repository"]) == (row["set"], row["repository"])]
        commit = row["commit"] if " " in row["commit"] else f"`{row['commit'][:12]}`"
        text += f"| {row['set']} | {row['repository']} | {commit} | {int(row['python lines']):,} | {_counts(own)} |\n"
    text += _RULES + _by_rule(findings) + _FINDINGS
    for row in findings:
        if row["verdict"] != "true":
            place = f"`{row['path']}:{row['line']}`"
            text += (
                f"| {row['set']} | {row['repository']} | {place} | {row['rule']} | {row['verdict']} | {row['why']} |\n"
            )
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
