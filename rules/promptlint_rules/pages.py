"""The page of a rule: its docstring, read into headings and sections."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass

from promptlint_rules.base import Rule

HEADINGS = (
    "What it does",
    "Why it costs",
    "Example",
    "Use instead",
    "On the wire",
    "Limits",
    "Options",
    "References",
)
"""In the order in which a page has them."""
CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    rule: type[Rule]
    summary: str
    """The first sentence; empty where Python dropped the docstrings (`-OO`)."""
    sections: Mapping[str, str]
    text: str
    """The whole docstring."""

    def code(self, heading: str) -> str | None:
        """The first code block of a section."""
        match = CODE.search(self.sections.get(heading, ""))
        return match[2] if match else None


def page_of(rule: type[Rule]) -> Page:
    """Read a rule's docstring."""
    text = inspect.cleandoc(rule.__doc__ or "")
    head, *parts = re.split(r"^## +(.+?) *$", text, flags=re.MULTILINE)
    sections = {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    return Page(rule, head.strip().split("\n\n")[0], sections, text)


def sides(rule: type[Rule]) -> str:
    """Where the rule can be judged, derived from what it implements."""
    static, live = rule.is_static(), rule.is_live()
    if static and live:
        return "source and traffic"
    return "source" if static else "traffic" if live else "the tool itself"


def markdown(rule: type[Rule]) -> str:
    """The page as it stands in the documentation."""
    page = page_of(rule)
    head = f"# {rule.name} ({rule.id})\n\n"
    facts = f"Severity: {rule.severity.value} · judged in {sides(rule)} · since {rule.since}\n\n"
    return head + facts + page.text.rstrip() + "\n"
