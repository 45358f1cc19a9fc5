"""Which rules run."""

from __future__ import annotations

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_linter.selection import selected_rules
from promptlint_rules.registry import RULES

ALL = {rule.id for rule in RULES}
ORDER = {id_ for id_ in ALL if id_.startswith("KV1")}

CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], set[str]]] = {
    "all by default": (("ALL",), (), (), ALL),
    "a prefix": (("KV1",), (), (), ORDER),
    "an id": (("KV101",), (), (), {"KV101"}),
    "a name": (("clock-first",), (), (), {"KV101"}),
    "letter case does not count": (("kv101", "Random-Id-First"), (), (), {"KV101", "KV104"}),
    "in addition": (("KV101",), ("KV501",), (), {"KV101", "KV501"}),
    "ignored id of a selected prefix": (("KV1",), (), ("KV101",), ORDER - {"KV101"}),
    "selected id of an ignored prefix": (("KV101",), (), ("KV1",), {"KV101"}),
    "added id of an ignored prefix": (("ALL",), ("KV101",), ("KV1",), ALL - ORDER | {"KV101"}),
    "ignore wins a draw": (("KV101",), (), ("clock-first",), set()),
}


@pytest.mark.parametrize(("select", "extend", "ignore", "expected"), CASES.values(), ids=CASES.keys())
def test_the_more_specific_word_wins(
    select: tuple[str, ...], extend: tuple[str, ...], ignore: tuple[str, ...], expected: set[str]
) -> None:
    assert selected_rules(select, extend, ignore) == expected


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("clok-first", "did you mean clock-first?"), ("KV1O1", "did you mean KV101?"), ("E501", "names no rule")],
)
def test_a_word_that_names_no_rule_is_told_with_the_nearest_one(word: str, sentence: str) -> None:
    with pytest.raises(PromptlintError, match="select: ") as told:
        selected_rules((word,), (), ())

    assert sentence in str(told.value)
