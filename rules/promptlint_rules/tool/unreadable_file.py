"""KV901."""

from __future__ import annotations

from promptlint_rules.base import Rule, Severity


class UnreadableFile(Rule):
    """A file or a body cannot be read.

    ## What it does
    Reports files that cannot be read, decoded or parsed, with the place where reading ended. The run goes on with
    the other files. In traffic, a body that cannot be read is counted and passed on unchanged.

    ## Why it costs
    What is not read is not checked: silence would look like a clean file.

    ## Limits
    A file that only a newer Python can parse is reported as such; run promptlint with that Python.
    """

    id = "KV901"
    severity = Severity.ERROR
