"""SARIF 2.1.0, for code scanning: rules with their pages, flows as code flows, fixes as replacements."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from promptlint_core import __version__
from promptlint_linter.check import Outcome
from promptlint_linter.reported import FlowStep, Reported
from promptlint_rules.base import Fix, Rule, Severity
from promptlint_rules.pages import page_of
from promptlint_rules.registry import RULES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
Json = dict[str, Any]


def render(outcome: Outcome) -> str:
    used = {finding.rule for finding in outcome.findings}
    rules = [rule for rule in RULES if rule.id in used]
    index = {rule.id: number for number, rule in enumerate(rules)}
    run: Json = {
        "tool": {
            "driver": {
                "name": "promptlint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.rule]) for finding in outcome.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _rule(rule: type[Rule]) -> Json:
    page = page_of(rule)
    return {
        "id": rule.id,
        "name": rule.__name__,
        "shortDescription": {"text": page.summary or rule.name},
        "fullDescription": {"text": page.sections.get("Why it costs", page.summary) or rule.name},
        "help": {"text": page.text or rule.name, "markdown": page.text or rule.name},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(finding: Reported, rule_index: int) -> Json:
    message = finding.message + (f". Help: {finding.advice}." if finding.advice else "")
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [{"physicalLocation": _location(finding.path, _region(finding))}],
        "partialFingerprints": {"promptlint/v1": finding.fingerprint},
        "properties": {
            "confidence": finding.confidence.value,
            "cadence": finding.cadence,
            "tokensBehind": finding.tokens_behind,
        },
    }
    if finding.flow:
        result["codeFlows"] = [{"threadFlows": [{"locations": [_flow_location(step) for step in finding.flow]}]}]
    if finding.fix:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _region(finding: Reported) -> Json:
    region = {"startLine": finding.line, "startColumn": finding.column, "endLine": finding.end_line}
    if finding.end_line > finding.line or finding.end_column > finding.column:
        region["endColumn"] = finding.end_column
    return region


def _location(path: str, region: Json) -> Json:
    return {"artifactLocation": _artifact(path), "region": region}


def _artifact(path: str) -> Json:
    uri = quote(path, safe="/")
    return {"uri": f"file://{uri}" if path.startswith("/") else uri}


def _flow_location(step: FlowStep) -> Json:
    region = {"startLine": step.line, "startColumn": step.column}
    return {"location": {"physicalLocation": _location(step.path, region), "message": {"text": step.note}}}


def _fix(fix: Fix) -> Json:
    changes: dict[str, list[Json]] = {}
    for edit in fix.edits:
        place = edit.place
        region = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }
        changes.setdefault(place.path, []).append({"deletedRegion": region, "insertedContent": {"text": edit.text}})
    return {
        "description": {"text": fix.note or "fix"},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }
