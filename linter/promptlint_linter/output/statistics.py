"""How often each rule was broken, most first."""

from __future__ import annotations

from collections import Counter

from promptlint_linter.check import Outcome


def render(outcome: Outcome) -> str:
    counts = Counter((finding.rule, finding.name) for finding in outcome.findings)
    width = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return "\n".join(f"{count:>{width}}  {rule}  {name}" for (rule, name), count in rows)
