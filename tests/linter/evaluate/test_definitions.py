"""Methods of objects that are not known, and attributes that a base class leaves to its subclasses."""

from __future__ import annotations

from pathlib import Path

import pytest
from linter_reading import changing, read, read_tree

CLOCK = """
from datetime import datetime
class Prompts:
    def {method}(self):
        return f"Today is {{datetime.now()}}. <RULES>"
"""
SEND = """
from openai import OpenAI
client = OpenAI()
def send(prompts):
    client.responses.create(model="m", input=prompts.{method}(), max_output_tokens=9)
"""


def _sent(tmp_path: Path, method: str, *definers: str) -> list[str]:
    modules = {f"m{number}": text for number, text in enumerate(definers)}
    return changing(read_tree(tmp_path, "app.py", app=SEND.format(method=method), **modules))


def test_a_method_that_one_class_of_the_project_has_is_followed(tmp_path: Path) -> None:
    assert _sent(tmp_path, "build_instructions", CLOCK.format(method="build_instructions")) == ["clock/call"]


@pytest.mark.parametrize(
    ("method", "definers"),
    [
        ("build_instructions", (CLOCK.format(method="build_instructions"),) * 2),
        ("build_instructions", (CLOCK.format(method="build_other_text"),)),
        ("render", (CLOCK.format(method="render"),)),
        ("to_text", (CLOCK.format(method="to_text"),)),
        ("build_instructions", (CLOCK.format(method="build_instructions").replace("class Prompts:", "def made():"),)),
    ],
    ids=["two classes", "another name", "one word", "a short name", "a function inside a function"],
)
def test_a_method_that_may_be_another_is_not_followed(tmp_path: Path, method: str, definers: tuple[str, ...]) -> None:
    assert "clock/call" not in _sent(tmp_path, method, *definers)


def test_what_is_known_of_an_object_counts_before_a_name(tmp_path: Path) -> None:
    app = """
    import random
    def ask(client):
        order = random.random()
        return client.messages.create(system=f"{order.build_instructions()} <RULES>", max_tokens=9)
    """
    other = CLOCK.format(method="build_instructions")

    assert changing(read_tree(tmp_path, "app.py", app=app, m0=other)) == ["random/call"]


BASE = """
from datetime import datetime
class Coder:
    {attribute}
    def ask(self, client):
        system = self.prompts.format(now=datetime.now())
        return client.messages.create(system=system, max_tokens=9)
"""


@pytest.mark.parametrize("attribute", ["pass", "prompts = None"])
def test_a_template_that_subclasses_set_is_filled(tmp_path: Path, attribute: str) -> None:
    subclass = """
    from base import Coder
    class Editor(Coder):
        prompts = "It is {now}. <RULES>"
    """

    unit = read_tree(tmp_path, "base.py", base=BASE.format(attribute=attribute), editor=subclass)

    assert changing(unit) == ["clock/call"]
    assert any(segment.text and "You are the assistant" in segment.text for p in unit.prompts for segment in p.segments)


def test_a_class_of_the_same_base_name_elsewhere_says_nothing(tmp_path: Path) -> None:
    other = """
    from library import Coder
    class Editor(Coder):
        prompts = "It is {now}. <RULES>"
    """

    unit = read_tree(tmp_path, "base.py", base=BASE.format(attribute="pass"), other=other)

    assert not any(segment.text for prompt in unit.prompts for segment in prompt.segments)


def test_what_the_class_itself_sets_counts_before_its_subclasses() -> None:
    text = BASE.format(attribute='prompts = "{now} <RULES>"') + (
        """
class Editor(Coder):
    prompts = "A constant text."
"""
    )

    assert changing(read(text)) == ["clock/call"]
