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

_HEAD = """# On real code

The linter was run on {count} public repositories, {lines:,} lines of Python, with
`promptlint check . --isolated --no-cache --output-format json` in the root of each. One reader looked at every error
and warning in the source around it and judged it:

- **true**: the value changes, or the bound is missing, as the finding says;
- **meant**: so, but on purpose, as with examples that are sampled for each vote;
- **false**: not text of a prompt, not a value that changes, or nothing behind it that a cache could give back.

The rows were judged while the linter was being corrected on the same trees, so they are no test on code that it had
not seen. Rows of one kind were judged by the code around the finding; no prompt was sent to a model.

Of {total} findings {true} are true, {meant} meant and {false} false: one false finding per {per:,} lines
(the aim is at most one per {aim:,}).

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


def _rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def page() -> str:
    """The page as Markdown."""
    findings, repositories = _rows("judged_findings.tsv"), _rows("judged_repositories.tsv")
    verdicts = Counter(row["verdict"] for row in findings)
    lines = sum(int(row["python lines"]) for row in repositories)
    text = _HEAD.format(
        count=len(repositories),
        lines=lines,
        total=len(findings),
        per=round(lines / max(verdicts["false"], 1), -2),
        aim=LINES_PER_FALSE_FINDING,
        **{verdict: verdicts[verdict] for verdict in VERDICTS},
    )
    for row in repositories:
        own = Counter(f["verdict"] for f in findings if f["repository"] == row["repository"])
        commit = row["commit"] if " " in row["commit"] else f"`{row['commit'][:12]}`"
        counts = " | ".join(str(own[verdict]) for verdict in VERDICTS)
        size = int(row["python lines"])
        text += f"| {row['repository']} | {commit} | {size:,} | {own.total()} | {counts} |\n"
    text += _FINDINGS
    for row in findings:
        place = f"{row['path']}:{row['line']}"
        text += f"| {row['repository']} | `{place}` | {row['rule']} | {row['verdict']} | {row['why']} |\n"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
