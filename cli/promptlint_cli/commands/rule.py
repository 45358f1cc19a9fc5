"""`promptlint rule`: the page of a rule."""

from __future__ import annotations

import click

from promptlint_core import exit_status


@click.command("rule")
@click.argument("word", metavar="RULE")
def command(word: str) -> int:
    """Print the page of RULE, an id such as KV101 or a name such as clock-first."""
    from promptlint_cli.rule_pages import styled_page
    from promptlint_cli.terminal import write
    from promptlint_core.errors import PromptlintError
    from promptlint_linter.selection import nearest_rule, rules_by_word

    rule = rules_by_word().get(word) or rules_by_word().get(word.upper()) or rules_by_word().get(word.lower())
    if rule is None:
        offer = nearest_rule(word)
        raise PromptlintError(
            f"no rule {word!r}" + (f"; did you mean {offer}?" if offer else "; see `promptlint rules`")
        )
    write(styled_page(rule))
    return exit_status.CLEAN
