"""KV903."""

from __future__ import annotations

from promptlint_rules.base import Rule, Severity


class UnknownSuppression(Rule):
    """A suppression comment names no known rule.

    ## What it does
    Reports ids and names in suppression comments that no rule has, and offers the nearest known one.

    ## Why it costs
    A misspelt id suppresses nothing, and the reader of the code believes that it does.

    ## Limits
    Rules of other tools are not known.
    """

    id = "KV903"
    severity = Severity.WARNING
