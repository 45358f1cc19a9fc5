"""Findings of what code does around a prompt."""

from __future__ import annotations

from promptlint_core.cadence import Evidence
from promptlint_core.practice import Practice
from promptlint_rules.base import Finding, Rule, Severity


def of_practice(
    rule: type[Rule], practice: Practice, message: str, advice: str, *, severity: Severity | None = None
) -> Finding:
    """A finding; one that is not sure is told on request only."""
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=severity or (rule.severity if practice.is_sure else Severity.INFO),
        confidence=Evidence.PROVED if practice.is_sure else Evidence.NAMED,
        message=message,
        place=practice.place,
        expression=practice.expression,
        advice=advice,
    )
