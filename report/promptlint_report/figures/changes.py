"""What changed since last week, fault by fault: new, gone, worse or better."""

from __future__ import annotations

from datetime import datetime

from promptlint_report.document import Basis, Cell, Column, Figure, Section, Table, Unit
from promptlint_report.figures.missed import Fault
from promptlint_report.material import LAST, THIS, Material, Row
from promptlint_report.period import Period

MIN_CHANGE = 0.1
"""Below a tenth more or less a fault counts as the same."""


def build(material: Material, this: list[Fault], last: list[Fault]) -> Section:
    if material.last is None:
        note = "The store holds nothing of last week, so nothing can be compared."
        return Section("changes", "What changed since last week", notes=(note,))
    now = {(fault.group, fault.rule): fault for fault in this}
    before = {(fault.group, fault.rule): fault for fault in last}
    counted = {key: _change(now.get(key), before.get(key)) for key in {**now, **before}}
    changed = {key: what for key, what in counted.items() if what != "same"}
    order = {"new": 0, "worse": 1, "gone": 2, "better": 3}
    keys = sorted(
        changed,
        key=lambda key: (order[changed[key]], -_tokens(now.get(key)) - _tokens(before.get(key)), key),
    )
    columns = (
        Column("change", "Change", Unit.TEXT),
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("rule", "Rule", Unit.TEXT),
        Column("missed_usd", "Missed this week", Unit.USD, Basis.ESTIMATED),
        Column("missed_usd_last_week", "Missed last week", Unit.USD, Basis.ESTIMATED),
        Column("missed_tokens", "Tokens this week", Unit.TOKENS, Basis.ESTIMATED),
        Column("missed_tokens_last_week", "Tokens last week", Unit.TOKENS, Basis.ESTIMATED),
    )
    rows = tuple(_line(changed[key], key, now.get(key), before.get(key)) for key in keys[: material.options.top])
    figures = tuple(
        Figure(
            f"faults_{what}",
            f"Faults {what}",
            sum(found == what for found in counted.values()),
            Unit.COUNT,
            Basis.ESTIMATED,
        )
        for what in ("new", "worse", "gone", "better")
    )
    table = Table("fault_changes", "Faults that changed", columns, rows, "", material.price_note)
    return Section("changes", "What changed since last week", figures, (table, _findings(material)))


def _change(now: Fault | None, before: Fault | None) -> str:
    if before is None:
        return "new"
    if now is None:
        return "gone"
    if now.tokens > before.tokens * (1 + MIN_CHANGE):
        return "worse"
    return "better" if now.tokens < before.tokens * (1 - MIN_CHANGE) else "same"


def _tokens(fault: Fault | None) -> int:
    return fault.tokens if fault else 0


def _line(change: str, key: tuple[str, str], now: Fault | None, before: Fault | None) -> tuple[Cell, ...]:
    return (
        change,
        key[0] or "(none)",
        key[1],
        now.usd if now else 0.0,
        before.usd if before else 0.0,
        _tokens(now),
        _tokens(before),
    )


def _findings(material: Material) -> Table:
    """Findings of the proxy by rule: also those that cost nothing yet, as unbounded outputs or usage not reported."""
    by_week = {week: _counts(material, material.period, week) for week in (THIS, LAST)}
    rules = sorted({*by_week[THIS], *by_week[LAST]})
    columns = (
        Column("rule", "Rule", Unit.TEXT),
        Column("findings", "This week", Unit.COUNT, Basis.REPORTED),
        Column("findings_last_week", "Last week", Unit.COUNT, Basis.REPORTED),
        Column("finding_groups", "Prompt groups", Unit.COUNT, Basis.REPORTED),
    )
    rows: list[tuple[Cell, ...]] = []
    for rule in rules:
        now, before = by_week[THIS].get(rule), by_week[LAST].get(rule)
        rows.append((rule, now["n"] if now else 0, before["n"] if before else 0, now["groups"] if now else 0))
    return Table("findings", "Findings on the wire by rule", columns, tuple(rows))


def _microseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000


def _counts(material: Material, period: Period, week: int) -> dict[str, Row]:
    findings = material.findings
    at_us = material.engine.microseconds(findings.started_at)
    starts, ends = period.bounds(week)
    inside = findings.filter((at_us >= _microseconds(starts)) & (at_us < _microseconds(ends)))
    # Counted as (exchange, rule, path): two sidecars that saw one exchange must not count it twice.
    once = inside.select("exchange_id", "rule", "path", "prompt_group").distinct()
    counted = once.group_by("rule").aggregate(n=once.count(), groups=once.prompt_group.nunique())
    return {row["rule"] or "": row for row in material.run(counted)}
