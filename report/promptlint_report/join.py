"""Joins source and traffic: what a finding of the linter costs, and which line a missed saving comes from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_linter.check import check
from promptlint_linter.config import Config, load_config
from promptlint_linter.reported import Reported
from promptlint_proxy.records.keys import KEY_FILE, load_key
from promptlint_report.document import Advice
from promptlint_report.engine import connect
from promptlint_report.explain import Seen, Source, Sureness, causes, explain, findings_of_group
from promptlint_report.figures.missed import Fault, faults, group_rows, strip_segments
from promptlint_report.make import Asked, materials, nothing_recorded
from promptlint_report.material import THIS, Material, Options
from promptlint_report.period import find_period, zone
from promptlint_report.records import has_damaged_pages
from promptlint_report.requests import usd
from promptlint_report.templates import find_templates, match_group

UNBOUNDED = "KV501"
"""Costs no cache hit but the output that no bound limits."""
_NO_KEY = (
    f"the store has no {KEY_FILE}, so its prompts cannot be matched with source: put the key there that the proxy got "
    "with --hash-key-file"
)


@dataclass(frozen=True, slots=True)
class Priced:
    """Findings with their cost, and what a user should know about it."""

    findings: tuple[Reported, ...]
    notes: tuple[str, ...]


def read_source_tree(paths: Sequence[Path], store: Path, config: Config | None = None) -> Source:
    """Templates and findings below the paths.

    Raises PromptlintError for a path that does not exist or a configuration that is wrong.
    """
    known = config or load_config(paths[0])
    findings = check(paths, known).findings
    if not (store / KEY_FILE).exists():
        return Source((), findings, _NO_KEY)
    return Source(find_templates(paths, known, load_key(store)), findings)


def advise(material: Material, found: Sequence[Fault], source: Source) -> dict[tuple[str, str], Advice]:
    """For each fault, by group and rule: the line to change and the change."""
    return explain(found, _seen(material, [fault.group for fault in found], source), source)


def price_findings(
    findings: Iterable[Reported],
    store: Path,
    config: Config,
    week: str = "last",
    timezone: str = "UTC",
    price_files: Sequence[Path] = (),
) -> Priced:
    """The findings with their cost: what the fault cost in a week of recorded traffic of the groups they lie in.

    A finding whose prompt is in no recorded group, or whose fault did not show there, keeps cost None.

    Raises PromptlintError when there is no store or a price file is wrong.
    """
    listed = tuple(findings)
    now = datetime.now(UTC)
    asked = Asked(store, find_period(week, zone(timezone), now), Options(now=now, top=1_000_000), price_files)
    try:
        return _price(listed, asked, config, check_pages=False)
    except PromptlintError:
        raise
    except Exception:
        # As in the report: one file that is damaged behind a good footer fails the engine as a whole.
        if not has_damaged_pages(store, asked.period):
            raise
        return _price(listed, asked, config, check_pages=True)


def _price(listed: tuple[Reported, ...], asked: Asked, config: Config, check_pages: bool) -> Priced:
    with tempfile.TemporaryDirectory(prefix="promptlint-report-") as scratch:
        engine = connect("duckdb", Path(scratch))
        try:
            material, left_out = materials(engine, asked, check_pages)
            notes = tuple(f"left out: {left.sentence}" for left in left_out)
            if THIS not in material.totals:
                return Priced(listed, (nothing_recorded(asked), *notes))
            if not (asked.store / KEY_FILE).exists():
                return Priced(listed, (_NO_KEY, *notes))
            paths = sorted({item.prompt.path for item in listed if item.prompt} | {item.path for item in listed})
            there = [Path(path) for path in paths if Path(path).is_file()]
            templates = find_templates(there, config, load_key(asked.store)) if there else ()
            priced = _priced(material, Source(templates, listed))
            return Priced(priced, (_summary(priced, material), *notes))
        finally:
            engine.close()


def _summary(priced: Sequence[Reported], material: Material) -> str:
    count = sum(finding.cost is not None for finding in priced)
    text = f"{count:,} of {len(priced):,} findings cost something in {material.period.name}"
    if count < len(priced):
        text += "; the others lie in no recorded prompt, or their fault did not show there"
    return text


def _seen(material: Material, groups: Iterable[str], source: Source) -> dict[str, Seen]:
    wanted = list(dict.fromkeys(group for group in groups if group))
    rows = group_rows(material, wanted) if wanted else {}
    return {
        group: Seen(
            tuple(match_group(row["sketch"] or (), source.templates)),
            strip_segments(row["strip"]) if row["strip"] else (),
        )
        for group, row in rows.items()
    }


def _priced(material: Material, source: Source) -> tuple[Reported, ...]:
    sums = material.sums("week", "prompt_group")
    by_group = {row["prompt_group"]: row for row in material.run(sums.filter(sums.week == THIS))}
    groups = _seen(material, by_group, source)
    parts: list[tuple[Fault, tuple[Reported, ...]]] = []
    this = faults(material)[THIS]
    known = causes(this, groups, source)
    for fault in this:
        cause = known[fault.group, fault.rule]
        if cause.sureness in {Sureness.EXACT, Sureness.FAMILY}:
            parts.append((fault, cause.findings))
    for group, seen in groups.items():
        row = by_group[group]
        open_ended = tuple(item for item in findings_of_group(seen.matches, source) if item.rule == UNBOUNDED)
        if open_ended and row["unbounded"]:
            fault = Fault(group, UNBOUNDED, "", row["unbounded"], row["unbounded_output"], usd(row["cost_unbounded"]))
            parts.append((fault, open_ended))
    return tuple(_with_cost(finding, parts, material) for finding in source.findings)


def _with_cost(finding: Reported, parts: Sequence[tuple[Fault, tuple[Reported, ...]]], material: Material) -> Reported:
    mine = [(fault, shared) for fault, shared in parts if finding in shared]
    if not mine:
        return finding
    known = [fault.usd for fault, _ in mine if fault.usd is not None]
    cost: dict[str, object] = {
        "week": material.period.name,
        "usd": sum(known) if known else None,
        "tokens": sum(fault.tokens for fault, _ in mine),
        "requests": sum(fault.requests for fault, _ in mine),
        "groups": sorted({fault.group for fault, _ in mine}),
        "rules": sorted({fault.rule for fault, _ in mine}),
        "shared_by": max(len(shared) for _, shared in mine),
        "basis": "estimated",
        "price": material.price_note or None,
    }
    return replace(finding, cost=cost)
