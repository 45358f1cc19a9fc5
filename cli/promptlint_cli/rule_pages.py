"""Rules for people: the page in the terminal, the table as text, JSON and Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import click

from promptlint_rules.base import Rule, Severity
from promptlint_rules.pages import markdown, page_of, sides
from promptlint_rules.registry import RULES

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
NO_PAGE = "Python runs with -OO, which drops the pages of the rules; run promptlint without it."


def styled_page(rule: type[Rule]) -> str:
    """The page with headings that stand out in a terminal."""
    text = markdown(rule) if page_of(rule).text else f"{markdown(rule)}\n{NO_PAGE}"
    text = re.sub(r"^#+ (.+)$", lambda match: click.style(match[1], bold=True), text, flags=re.MULTILINE)
    text = re.sub(r"^```\w*\n(.*?)^```$", _code, text, flags=re.MULTILINE | re.DOTALL)
    return text.rstrip()


def _code(match: re.Match[str]) -> str:
    return "\n".join(click.style(f"    {line}", fg="blue") if line else "" for line in match[1].rstrip().split("\n"))


def text_table() -> str:
    """One line a rule."""
    width = max(len(rule.name) for rule in RULES)
    return "\n".join(
        f"{rule.id}  {rule.name:<{width}}  {click.style(f'{rule.severity.value:<7}', fg=COLOURS[rule.severity])}  "
        f"{sides(rule):<18}  {page_of(rule).summary}"
        for rule in RULES
    )


def json_table() -> str:
    """All rules as data."""
    rows = [
        {
            "id": rule.id,
            "name": rule.name,
            "severity": rule.severity.value,
            "static": rule.is_static(),
            "live": rule.is_live(),
            "since": rule.since,
            "summary": page_of(rule).summary,
        }
        for rule in RULES
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False)


def markdown_table() -> str:
    """The table as it stands in the documentation."""
    head = "| id | name | severity | judged in | what it finds |\n|---|---|---|---|---|"
    rows = [
        f"| {rule.id} | [{rule.name}]({rule.name}.md) | {rule.severity.value} | {sides(rule)} "
        f"| {page_of(rule).summary} |"
        for rule in RULES
    ]
    return "\n".join([head, *rows])


TABLES: dict[str, Callable[[], str]] = {"text": text_table, "json": json_table, "markdown": markdown_table}
