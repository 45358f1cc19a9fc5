"""Joins source and traffic: what a finding of the linter costs, and which line a missed saving comes from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from promptlint_linter.check import check
from promptlint_linter.config import Config, load_config
from promptlint_linter.fixes import plan_fixes
from promptlint_linter.reported import Reported
from promptlint_proxy.records.keys import load_key
from promptlint_report.document import Advice
from promptlint_report.engine import Engine, connect
from promptlint_report.figures.missed import Fault, faults, group_rows
from promptlint_report.make import Asked, materials
from promptlint_report.material import THIS, Material, Options
from promptlint_report.period import find_period, zone
from promptlint_report.requests import usd
from promptlint_report.templates import Match, Template, find_templates, match_group

UNBOUNDED = "KV501"
"""Costs no cache hit but the output that no bound limits."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the linter finds below some paths."""

    templates: tuple[Template, ...]
    findings: tuple[Reported, ...]


def read_source_tree(paths: Sequence[Path], store: Path, config: Config | None = None) -> Source:
    """Templates and findings below the paths.

    Raises PromptlintError for a path that does not exist or a configuration that is wrong.
    """
    known = config or load_config(paths[0])
    templates = find_templates(paths, known, load_key(store))
    return Source(templates, check(paths, known).findings)


def advise(material: Material, found: Sequence[Fault], source: Source) -> dict[tuple[str, str], Advice]:
    """For each fault, by group and rule: the line to change and the change."""
    groups = list(dict.fromkeys(fault.group for fault in found))
    rows = group_rows(material, groups) if groups else {}
    matches = {group: match_group(row["sketch"] or (), source.templates) for group, row in rows.items()}
    return {(fault.group, fault.rule): _advice(fault, matches.get(fault.group, []), source) for fault in found}


def price_findings(
    findings: Iterable[Reported], store: Path, config: Config, week: str = "last", timezone: str = "UTC"
) -> tuple[Reported, ...]:
    """The findings with their cost: what the fault cost in a week of recorded traffic of the groups they lie in.

    A finding whose prompt is in no recorded group, or whose fault did not show there, keeps cost None.

    Raises PromptlintError when there is no store.
    """
    listed = tuple(findings)
    paths = sorted({finding.prompt.path for finding in listed if finding.prompt} | {item.path for item in listed})
    there = [Path(path) for path in paths if Path(path).is_file()]
    now = datetime.now(UTC)
    asked = Asked(store, find_period(week, zone(timezone), now), Options(now=now, top=1_000_000))
    templates = find_templates(there, config, load_key(store)) if there else ()
    with tempfile.TemporaryDirectory(prefix="promptlint-report-") as scratch:
        engine = connect("duckdb", Path(scratch))
        try:
            material = materials(engine, asked)
            if material is None or not templates:
                return listed
            return _priced(listed, material, templates, engine)
        finally:
            engine.close()


def _priced(
    findings: Sequence[Reported], material: Material, templates: Sequence[Template], engine: Engine
) -> tuple[Reported, ...]:
    del engine
    sums = material.sums("week", "prompt_group")
    by_group = {row["prompt_group"]: row for row in material.run(sums.filter(sums.week == THIS))}
    rows = group_rows(material, [group for group in by_group if group])
    groups_of: dict[tuple[str, int], list[str]] = {}
    for group, row in rows.items():
        for match in match_group(row["sketch"] or (), templates):
            groups_of.setdefault((match.template.path, match.template.line), []).append(group)
    this = faults(material)[THIS]
    told = []
    for finding in findings:
        groups = groups_of.get((finding.prompt.path, finding.prompt.line), []) if finding.prompt else []
        if finding.rule == UNBOUNDED:
            parts = [
                Fault(group, UNBOUNDED, "", row["unbounded"], row["unbounded_output"], usd(row["cost_unbounded"]))
                for group in groups
                if (row := by_group[group])["unbounded"]
            ]
        else:
            parts = [fault for fault in this if fault.group in groups and fault.rule == finding.rule]
        told.append(replace(finding, cost=_cost(parts, material)) if parts else finding)
    return tuple(told)


def _cost(parts: Sequence[Fault], material: Material) -> dict[str, object]:
    known = [part.usd for part in parts if part.usd is not None]
    return {
        "week": material.period.name,
        "usd": sum(known) if known else None,
        "tokens": sum(part.tokens for part in parts),
        "requests": sum(part.requests for part in parts),
        "groups": sorted({part.group for part in parts}),
        "basis": "estimated",
        "price": material.price_note or None,
    }


def _advice(fault: Fault, matches: Sequence[Match], source: Source) -> Advice:
    if not matches:
        text = "No template of the source is in this group's prompts."
        return Advice(fault.group, fault.rule, fault.path, "", text)
    places = {(match.template.path, match.template.line) for match in matches}
    inside = [
        finding
        for finding in source.findings
        if finding.prompt and (finding.prompt.path, finding.prompt.line) in places
    ]
    same = [finding for finding in inside if finding.rule == fault.rule]
    if not same:
        template = matches[0].template
        text = f"The template; the linter finds no {fault.rule} in it."
        return Advice(fault.group, fault.rule, fault.path, f"{template.path}:{template.line}", text)
    finding = max(same, key=lambda item: item.tokens_behind or 0)
    planned = plan_fixes([finding], unsafe=True)
    diff = "".join(fix.diff() for fix in planned)
    text = finding.message if diff else finding.advice or finding.message
    if diff and finding.fix and not finding.fix.safe:
        text += " (an unsafe fix: read it before you apply it with --unsafe-fixes)"
    return Advice(fault.group, fault.rule, fault.path, f"{finding.path}:{finding.line}", text, diff)
