"""Which rules run: ids, prefixes, names, `ALL`; the more specific word wins, `ignore` wins a draw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from promptlint_core.errors import PromptlintError
from promptlint_linter.nearest import nearest
from promptlint_rules.base import Rule
from promptlint_rules.registry import RULES

PREFIX = re.compile(r"KV\d{0,3}", re.IGNORECASE)


@cache
def rules_by_word() -> dict[str, type[Rule]]:
    """Rules by id and by name."""
    return {word: rule for rule in RULES for word in (rule.id, rule.name)}


def matched(word: str) -> frozenset[str]:
    """Ids of the rules that a word names: none for an unknown word."""
    if word.upper() == "ALL":
        return frozenset(rule.id for rule in RULES)
    rule = rules_by_word().get(word) or rules_by_word().get(word.upper()) or rules_by_word().get(word.lower())
    if rule is not None:
        return frozenset((rule.id,))
    if PREFIX.fullmatch(word):
        return frozenset(rule.id for rule in RULES if rule.id.startswith(word.upper()))
    return frozenset()


def nearest_rule(word: str) -> str | None:
    """The id or name of a rule most like an unknown word."""
    return nearest(word, rules_by_word())


def resolve(words: Iterable[str], option: str) -> dict[str, int]:
    """Ids that the words name, each with how specific the word is.

    Raises PromptlintError for a word that names no rule.
    """
    specific: dict[str, int] = {}
    for word in words:
        ids = matched(word)
        if not ids:
            offer = nearest_rule(word)
            raise PromptlintError(
                f"{option}: {word!r} names no rule"
                + (f"; did you mean {offer}?" if offer else "; see `promptlint rules`")
            )
        weight = _weight(word)
        for id_ in ids:
            specific[id_] = max(weight, specific.get(id_, -1))
    return specific


def _weight(word: str) -> int:
    if word.upper() == "ALL":
        return 0
    return len(word) if PREFIX.fullmatch(word) else len("KV101")


def selected_rules(select: Sequence[str], extend_select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Ids of the rules that run."""
    chosen = resolve(select, "select")
    for id_, weight in resolve(extend_select, "extend-select").items():
        chosen[id_] = max(weight, chosen.get(id_, -1))
    ignored = resolve(ignore, "ignore")
    return frozenset(id_ for id_, weight in chosen.items() if weight > ignored.get(id_, -1))
