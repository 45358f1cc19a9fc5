"""KV902."""

from __future__ import annotations

from promptlint_rules.base import Rule, Severity


class UnusedSuppression(Rule):
    """A suppression comment suppresses nothing.

    ## What it does
    Reports `# promptlint: ignore[…]` comments, and single ids in them, that no finding of this run matches.

    ## Why it costs
    A comment that has outlived its fault hides the next one in the same line.

    ## Limits
    Only rules that ran are judged: with `--select` or a narrower configuration the comment may be of use to
    others.
    """

    id = "KV902"
    severity = Severity.WARNING
