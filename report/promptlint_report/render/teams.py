"""The headline as a Microsoft Teams message: an adaptive card, for a workflow's webhook."""

from __future__ import annotations

import json

from promptlint_report.document import Report
from promptlint_report.render.headline import headline
from promptlint_report.render.numbers import LEGEND


def render(report: Report) -> str:
    head = headline(report)
    body: list[dict[str, object]] = [
        {"type": "TextBlock", "text": head.title, "weight": "bolder", "size": "large", "wrap": True},
        {"type": "TextBlock", "text": head.summary, "wrap": True},
        {"type": "FactSet", "facts": [{"title": label, "value": value} for label, value in head.figures]},
    ]
    if head.faults:
        body.append({"type": "TextBlock", "text": "What to change", "weight": "bolder"})
        body += [{"type": "TextBlock", "text": f"- {line}", "wrap": True} for line in head.faults]
    foot = "; ".join((LEGEND, *head.left_out))
    body.append({"type": "TextBlock", "text": foot, "isSubtle": True, "wrap": True})
    card = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "body": body,
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return json.dumps({"type": "message", "attachments": [attachment]}, ensure_ascii=False, indent=2) + "\n"
