"""The headline as a Slack message: JSON with blocks, for an incoming webhook."""

from __future__ import annotations

import json

from promptlint_report.document import Report
from promptlint_report.render.headline import headline
from promptlint_report.render.numbers import LEGEND


def render(report: Report) -> str:
    """Slack takes at most ten fields a section and 3,000 characters a text."""
    head = headline(report)
    blocks: list[dict[str, object]] = [
        {"type": "header", "text": {"type": "plain_text", "text": head.title}},
        {"type": "section", "text": _text(escape(head.summary))},
    ]
    fields = [_text(f"*{escape(label)}*\n{escape(value)}") for label, value in head.figures]
    blocks += [{"type": "section", "fields": fields[start : start + 10]} for start in range(0, len(fields), 10)]
    if head.faults:
        lines = "\n".join(f"• {escape(line)}" for line in head.faults)
        blocks.append({"type": "section", "text": _text(f"*What to change*\n{lines}")})
    foot = "; ".join((LEGEND, *head.left_out))
    blocks.append({"type": "context", "elements": [_text(escape(foot))]})
    return json.dumps({"text": head.summary, "blocks": blocks}, ensure_ascii=False, indent=2) + "\n"


def escape(text: str) -> str:
    """Slack's three control characters.

    >>> escape("a<b & c")
    'a&lt;b &amp; c'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text[:3000]}
