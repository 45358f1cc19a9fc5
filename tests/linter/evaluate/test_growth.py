"""Texts and lists that are put together of themselves double with each line; reading them ends all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from linter_reading import changing, read

from promptlint_linter.check import check
from promptlint_linter.config import Config

GROWING = {
    "a literal": ("s = 'You are'", "s = s + s"),
    "in place": ("s = 'You are'", "s += s"),
    "text of unknown parts": ("s = 'You are' + x", "s = s + s"),
    "an f-string": ("s = 'You are' + x", "s = f'{s}{s}'"),
    "format": ("s = 'You are' + x", "s = '{} {}'.format(s, s)"),
    "join": ("s = 'You are' + x", "s = ','.join([s, s])"),
    "replace": ("s = 'You are' + x", "s = s.replace('You', s)"),
    "a list": ("s = [{'role': 'user', 'content': 'You are'}]", "s = s + s"),
    "a list of spreads": ("s = [{'role': 'user', 'content': 'You are'}]", "s = [*s, *s]"),
    "a number": ("s = 3", "s = s * s"),
}


@pytest.mark.parametrize(("start", "line"), GROWING.values(), ids=GROWING)
def test_what_doubles_with_each_line_is_read_to_its_end(folder: Path, start: str, line: str) -> None:
    messages = "s" if start.startswith("s = [") else "[{'role': 'user', 'content': f'{s}'}]"
    lines = ["import openai", start, *[line] * 60]
    (folder / "a.py").write_text(
        "\n".join([*lines, f"openai.chat.completions.create(model='m', messages={messages})", ""])
    )

    outcome = check([folder], Config(root=folder, cache=False))

    assert [finding.rule for finding in outcome.findings] == ["KV501"]


def test_lists_of_the_same_list_sixty_deep_are_written_as_far_as_they_say_something() -> None:
    doubled = "parts = [parts, parts]\n" * 60
    unit = read(
        "import json\nfrom datetime import datetime\nfrom openai import OpenAI\nparts = ['a']\n"
        f"{doubled}"
        "def ask():\n"
        "    text = f'{datetime.now()} <RULES>' + json.dumps(parts)\n"
        "    return OpenAI().responses.create(model='m', instructions=text, max_output_tokens=9)\n"
    )

    assert "clock/call" in changing(unit)
