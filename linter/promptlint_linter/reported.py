"""A finding as it is told: flat, without its prompt, ready to be written, cached and passed between processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Place, Prompt
from promptlint_rules.base import Edit, Finding, Fix, Severity


@dataclass(frozen=True, slots=True)
class FlowStep:
    path: str
    line: int
    note: str
    column: int = 1


@dataclass(frozen=True, slots=True)
class PromptRef:
    """The prompt that a finding lies in."""

    path: str
    line: int
    call: str | None = None
    """Canonical name of the call that sends it, where one was seen."""
    tokens: int | None = None
    """Tokens of its literal text."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One finding of the JSON contract. Lines and columns count from 1; `end_column` is exclusive."""

    rule: str
    name: str
    severity: Severity
    confidence: Evidence
    message: str
    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    expression: str = ""
    cadence: str | None = None
    tokens_behind: int | None = None
    advice: str = ""
    flow: tuple[FlowStep, ...] = ()
    prompt: PromptRef | None = None
    fix: Fix | None = None
    fingerprint: str = ""
    cost: dict[str, Any] | None = None

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        return (self.path, self.line, self.column, self.rule, self.message)


def from_finding(finding: Finding) -> Reported:
    """Flatten a rule's finding; counts the tokens of its prompt."""
    place = finding.place
    return Reported(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        confidence=finding.confidence,
        message=finding.message,
        path=place.path,
        line=place.line,
        column=place.column,
        end_line=place.end_line or place.line,
        end_column=place.end_column or place.column,
        expression=finding.expression,
        cadence=None if finding.cadence is None else str(finding.cadence),
        tokens_behind=finding.tokens_behind,
        advice=finding.advice,
        flow=tuple(FlowStep(s.place.path, s.place.line, s.note, s.place.column) for s in finding.flow),
        prompt=_prompt_ref(finding),
        fix=finding.fix,
        fingerprint=finding.fingerprint,
        cost=finding.cost,
    )


def _prompt_ref(finding: Finding) -> PromptRef | None:
    call = finding.call
    prompt = finding.prompt or (call.prompt if call else None)
    place = (prompt.place if prompt else None) or (call.place if call else None)
    if place is None:
        return None
    tokens = literal_tokens(prompt, call.model if call else None) if prompt else None
    return PromptRef(place.path, place.line, call.callee if call else None, tokens)


def literal_tokens(prompt: Prompt, model: str | None = None) -> int:
    """Tokens of the text that is known; what stands in the holes is not counted."""
    from promptlint_core import tokens  # loads a vocabulary: only when a finding needs it

    encoding = tokens.encoding_for(model).name
    return sum(tokens.count(segment.text, encoding) for segment in prompt.segments if segment.text)


def to_json(finding: Reported) -> dict[str, Any]:
    """The finding in the form of the JSON contract."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "expression": finding.expression,
        "cadence": finding.cadence,
        "tokens_behind": finding.tokens_behind,
        "advice": finding.advice,
        "flow": [
            {"path": step.path, "line": step.line, "column": step.column, "note": step.note} for step in finding.flow
        ],
        "prompt": None
        if finding.prompt is None
        else {
            "path": finding.prompt.path,
            "line": finding.prompt.line,
            "call": finding.prompt.call,
            "tokens": finding.prompt.tokens,
        },
        "fix": _fix_to_json(finding.fix),
        "fingerprint": finding.fingerprint,
        "cost": finding.cost,
    }


def from_json(data: Mapping[str, Any]) -> Reported:
    """Read back what `to_json` wrote.

    Raises KeyError, TypeError or ValueError where the data has another form.
    """
    flat = dict(data)
    prompt, fix = flat.pop("prompt"), flat.pop("fix")
    flow = tuple(FlowStep(s["path"], s["line"], s["note"], s["column"]) for s in flat.pop("flow"))
    flat["severity"], flat["confidence"] = Severity(flat["severity"]), Evidence(flat["confidence"])
    return Reported(**flat, flow=flow, prompt=PromptRef(**prompt) if prompt else None, fix=_fix_from_json(fix))


def _fix_to_json(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "safety": "safe" if fix.safe else "unsafe",
        "note": fix.note,
        "edits": [
            {
                "path": edit.place.path,
                "line": edit.place.line,
                "column": edit.place.column,
                "end_line": edit.place.end_line,
                "end_column": edit.place.end_column,
                "text": edit.text,
            }
            for edit in fix.edits
        ],
    }


def _fix_from_json(data: Mapping[str, Any] | None) -> Fix | None:
    if data is None:
        return None
    edits = tuple(
        Edit(Place(e["path"], e["line"], e["column"], e["end_line"], e["end_column"]), e["text"]) for e in data["edits"]
    )
    return Fix(data["safety"] == "safe", edits, data["note"])


def with_unique_fingerprints(findings: Iterable[Reported]) -> list[Reported]:
    """Number equal fingerprints, in order, so that each names one finding of a report."""
    seen: dict[str, int] = {}
    unique = []
    for finding in findings:
        count = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        unique.append(finding if count == 1 else replace(finding, fingerprint=f"{finding.fingerprint}-{count}"))
    return unique
