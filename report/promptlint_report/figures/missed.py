"""What the best order would have read from the cache and the week's traffic did not: by group, fault and place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from promptlint_report.document import Advice, Basis, Column, Figure, Section, Strip, StripSegment, Table, Unit
from promptlint_report.material import LAST, THIS, Material, Row, known, requests
from promptlint_report.requests import usd

UNNAMED = "(unnamed)"
STRIPS = 8
"""Groups drawn as strips."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What one fault of one prompt group cost in a week."""

    group: str
    rule: str
    path: str
    """The place on the wire with most of the missed tokens."""
    requests: int
    tokens: int
    usd: float | None


def faults(material: Material) -> dict[int, list[Fault]]:
    """The faults of this week and of the last, each dearest first, by the number of the week."""
    cells = material.cells
    missed = cells.filter((cells.week >= LAST) & (cells.missed > 0))
    sums = missed.group_by("week", "prompt_group", "rule").aggregate(
        requests=missed.missed_requests.sum(), tokens=missed.missed.sum(), cost=missed.cost_missed.sum()
    )
    found: dict[int, list[Fault]] = {THIS: [], LAST: []}
    for row in material.run(sums):
        fault = Fault(row["prompt_group"], row["rule"] or UNNAMED, "", row["requests"], row["tokens"], usd(row["cost"]))
        found[row["week"]].append(fault)
    for of_week in found.values():
        of_week.sort(key=lambda fault: (-(fault.usd or 0.0), -fault.tokens, fault.group, fault.rule))
    return {THIS: _with_paths(material, found[THIS]), LAST: found[LAST]}


def build(
    material: Material, found: list[Fault], advice: Mapping[tuple[str, str], Advice], why_none: str = ""
) -> Section:
    """`advice` holds the line to change by group and rule; `why_none` says why it is empty."""
    this, last, price = material.this, material.last, material.price_note
    figures = (
        Figure(
            "missed_usd",
            "Missed savings",
            usd(this["cost_missed"]),
            Unit.USD,
            Basis.ESTIMATED,
            usd(last["cost_missed"]) if last else None,
            _unknown_note(this),
            price,
        ),
        Figure(
            "missed_tokens",
            "Missed tokens",
            known(this["missed"], this["billed_requests"] - this["best_unknown_rows"]),
            Unit.TOKENS,
            Basis.ESTIMATED,
            last["missed"] if last else None,
            "what the best order would have read from the cache, less what was read",
        ),
        Figure(
            "missed_requests",
            "Requests that missed",
            this["missed_requests"],
            Unit.REQUESTS,
            Basis.ESTIMATED,
            last["missed_requests"] if last else None,
        ),
    )
    shown, rest = found[: material.options.top], found[material.options.top :]
    columns = (
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("rule", "Rule", Unit.TEXT),
        Column("wire_path", "Place on the wire", Unit.TEXT),
        Column("source_line", "Source line", Unit.TEXT),
        Column("missed_usd", "Missed", Unit.USD, Basis.ESTIMATED),
        Column("missed_tokens", "Missed tokens", Unit.TOKENS, Basis.ESTIMATED),
        Column("missed_requests", "Requests", Unit.REQUESTS, Basis.ESTIMATED),
    )
    rows = tuple(
        (
            fault.group or "(none)",
            fault.rule,
            fault.path,
            _source(advice, fault),
            fault.usd,
            fault.tokens,
            fault.requests,
        )
        for fault in shown
    )
    note = _note(shown, rest, advice, why_none)
    table = Table("missed", "Missed savings by fault", columns, rows, note, price)
    told = tuple(advice[key] for fault in shown if (key := (fault.group, fault.rule)) in advice and advice[key].place)
    return Section("missed", "Missed savings", figures, (table,), strips=_strips(material, found), advice=told)


def _note(shown: list[Fault], rest: list[Fault], advice: Mapping[tuple[str, str], Advice], why_none: str) -> str:
    notes = []
    if rest:
        notes.append(f"{len(rest)} smaller fault{' is' if len(rest) == 1 else 's are'} not shown")
    strange = {fault.group for fault in shown if advice and _source(advice, fault) is None}
    if strange:
        count = "1 group" if len(strange) == 1 else f"{len(strange)} groups"
        notes.append(f"of {count} no template stands below --source: give the folder of the application that sends it")
    if why_none:
        notes.append(why_none)
    return "; ".join(notes)


def _source(advice: Mapping[tuple[str, str], Advice], fault: Fault) -> str | None:
    found = advice.get((fault.group, fault.rule))
    return found.place or None if found else None


def _unknown_note(row: Row) -> str:
    unknown = row["best_unknown_rows"]
    return f"not known for {requests(unknown)}" if unknown else ""


def _with_paths(material: Material, found: list[Fault]) -> list[Fault]:
    """The faults that will be shown get their place on the wire: the one with most of the missed tokens."""
    shown, rest = found[: material.options.top], found[material.options.top :]
    groups = sorted({fault.group for fault in shown})
    if not groups:
        return found
    rows = material.rows
    missed = rows.filter((rows.week == THIS) & rows.prompt_group.isin(groups) & rows.billed & (rows.missed > 0))
    missed = missed.mutate(path=missed.divergence_path.coalesce(""))
    by_path = missed.group_by("prompt_group", "rule", "path").aggregate(tokens=missed.missed.sum())
    best: dict[tuple[str, str], tuple[int, str]] = {}
    for row in material.run(by_path):
        key = (row["prompt_group"], row["rule"] or UNNAMED)
        best[key] = max(best.get(key, (0, "")), (row["tokens"], row["path"]))
    return [replace(fault, path=best.get((fault.group, fault.rule), (0, ""))[1]) for fault in shown] + rest


def _strips(material: Material, found: list[Fault]) -> tuple[Strip, ...]:
    wanted = list(dict.fromkeys(fault.group for fault in found))[:STRIPS]
    if not wanted:
        return ()
    newest = group_rows(material, wanted)
    strips = []
    for group in wanted:
        row = newest.get(group)
        segments = strip_segments(row["strip"]) if row and row["strip"] else ()
        if row and segments:
            strips.append(Strip(group, f"{group} · {row['provider'] or ''} {row['model'] or ''}".strip(), segments))
    return tuple(strips)


def group_rows(material: Material, wanted: list[str]) -> dict[str, Row]:
    """The newest row of the groups table for each of some groups."""
    groups = material.groups
    rows = material.run(groups.filter(groups.prompt_group.isin(wanted)))
    rows.sort(key=lambda row: (row["updated_at"] is not None, row["updated_at"]))
    return {row["prompt_group"]: row for row in rows}


def strip_segments(text: str) -> tuple[StripSegment, ...]:
    """The segments of a strip as the records hold it, in JSON."""
    try:
        items = json.loads(text)
        return tuple(
            StripSegment(
                str(item.get("part", "")),
                str(item.get("path", "")),
                str(item.get("cadence") or "unknown"),
                str(item.get("origin") or "unknown"),
                int(item.get("tokens") or 0),
            )
            for item in items
        )
    except (ValueError, TypeError, AttributeError):
        # A strip that another version wrote in another shape is not drawn; the figures stand without it.
        return ()
