"""The first difference of a text names the fault, and a typed value is known whatever else differs behind it."""

from __future__ import annotations

import pytest

from promptlint_proxy.compare.classify_text import judge_text
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Relation

RULES = "You answer the questions of the customers of a garden shop. Be brief. Name the article number. " * 6
ID_A, ID_B = "018f3c6e-8b1c-4c3a-9d1e-0123456789ab", "7b2e9d40-15aa-4f0e-8c77-a1b2c3d4e5f6"


@pytest.mark.parametrize("relation", [Relation.LINE, Relation.GROUP])
@pytest.mark.parametrize(
    ("earlier", "later", "kind"),
    [
        pytest.param(
            f"Time: 10:15:02\nReference: {ID_A}\nCustomer: Ann Lee\n",
            f"Time: 10:15:31\nReference: {ID_B}\nCustomer: Bob Ray\n",
            Kind.CLOCK,
            id="a clock, an id and a name, each in its line",
        ),
        pytest.param(
            f"Reference: {ID_A}\nCustomer: Ann Lee\n",
            f"Reference: {ID_B}\nCustomer: Bob Ray\n",
            Kind.RANDOM,
            id="an id and a name",
        ),
        pytest.param(f"[10:15:02 {ID_A}] ", f"[10:15:31 {ID_B}] ", Kind.CLOCK, id="a clock and an id in one line"),
        pytest.param(
            "Passages:\n[1] 10:15 Watering of roses in a dry June, with a table of amounts for clay and sand.\n",
            "Passages:\n[1] 11:40 Storing dahlias over winter: lift them after the first frost and keep them dry.\n",
            Kind.RETRIEVAL,
            id="passages that begin with a time are passages",
        ),
    ],
)
def test_the_kind_of_the_first_difference(relation: Relation, earlier: str, later: str, kind: Kind) -> None:
    assert kind is judge_text(earlier + RULES, later + RULES, relation).kind


BARE_HOURS = {
    "it is": ("It is 17h. ", "It is 18h. ", Kind.CLOCK),
    "it's about": ("It's about 9h, and ", "It's about 10h, and ", Kind.CLOCK),
    "current time": ("Current time: 17h\n", "Current time: 18h\n", Kind.CLOCK),
    "time alone in its line": ("Time: 17h\n", "Time: 18h\n", Kind.CLOCK),
    "now": ("Now (23h)\n", "Now (0h)\n", Kind.CLOCK),
    "a duration": ("The battery lasts 17h. ", "The battery lasts 18h. ", None),
    "what is left": ("Time left: 17h\n", "Time left: 18h\n", Kind.STATE),
    "an uptime": ("Uptime: 17h\n", "Uptime: 18h\n", Kind.ENVIRONMENT),
    "more hours than a day has": ("It is 25h away. ", "It is 26h away. ", None),
}


@pytest.mark.parametrize("name", BARE_HOURS)
def test_a_bare_hour_is_a_clock_only_where_the_words_say_so(name: str) -> None:
    earlier, later, kind = BARE_HOURS[name]
    found = judge_text(earlier + RULES, later + RULES, Relation.LINE).kind

    assert found is kind if kind is not None else found is not Kind.CLOCK
