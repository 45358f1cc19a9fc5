"""Makes the report of a week from a store: the one entry point of the engine."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_report.charges import find_charges
from promptlint_report.document import Advice, LeftOut, PriceLine, Report, Section
from promptlint_report.engine import Engine, connect
from promptlint_report.figures import (
    anomalies,
    cache,
    changes,
    failures,
    fleet,
    growth,
    latency,
    memory,
    missed,
    outputs,
    spend,
)
from promptlint_report.material import LAST, THIS, Material, Options, requests, sums_of
from promptlint_report.period import Period
from promptlint_report.price_file import read_price_file
from promptlint_report.price_lists import price_lists
from promptlint_report.prices import PriceBook
from promptlint_report.records import Records, has_damaged_pages, open_records, recorded_days
from promptlint_report.requests import PRICE_KEYS, cells, in_period, priced, usd


@dataclass(frozen=True, slots=True)
class Asked:
    """Where the records are and how to read them."""

    store: Path
    period: Period
    options: Options
    price_files: Sequence[Path] = ()
    engine: str = "duckdb"
    spark_master: str = "local[*]"
    sources: Sequence[Path] = ()
    """Source to look for the templates in."""
    charges: bool = False
    """List the charges too."""


def price_book(files: Sequence[Path]) -> PriceBook:
    """The user's files go first, later ones ahead of earlier ones; then the newer of `genai-prices` and our table."""
    return PriceBook([*(read_price_file(path) for path in reversed(files)), *price_lists()])


def make_report(asked: Asked) -> Report:
    """The report of a week.

    Raises PromptlintError when there is no store, a price file is wrong or the engine does not start.
    """
    try:
        return _attempt(asked, check_pages=False)
    except PromptlintError:
        raise
    except Exception:
        # An engine fails as a whole on one file that is damaged behind a good footer: find it, go on without it.
        if not has_damaged_pages(asked.store, asked.period):
            raise
        return _attempt(asked, check_pages=True)


def _attempt(asked: Asked, check_pages: bool) -> Report:
    with tempfile.TemporaryDirectory(prefix="promptlint-report-") as scratch:
        engine = connect(asked.engine, Path(scratch), asked.spark_master)
        try:
            records = open_records(asked.store, asked.period, engine, check_pages)
            return report_of(records, engine, asked, price_book(asked.price_files))
        finally:
            engine.close()


def materials(engine: Engine, asked: Asked, check_pages: bool = False) -> tuple[Material, tuple[LeftOut, ...]]:
    """What the figures of a week are made from, and what was left out; without a request the week has no totals.

    Raises PromptlintError when there is no store or a price file is wrong.
    """
    records = open_records(asked.store, asked.period, engine, check_pages)
    material = _material(records, engine, asked, price_book(asked.price_files))
    return material, records.left_out


def _material(records: Records, engine: Engine, asked: Asked, book: PriceBook) -> Material:
    period = asked.period
    rows = engine.keep_rows(in_period(records.exchanges, engine, period, book), "rows")
    daily = engine.keep(cells(rows), "daily")
    costs, rates = priced(daily, engine, period, book)
    costs = engine.keep(costs, "costs")
    totals = {int(row["week"]): row for row in engine.run(sums_of(costs, "week"))}
    return Material(engine, period, asked.options, rows, costs, records.findings, records.groups, rates, totals)


def report_of(records: Records, engine: Engine, asked: Asked, book: PriceBook) -> Report:
    left_out = (*records.left_out, *_without_a_time(records, engine))
    material = _material(records, engine, asked, book)
    if THIS not in material.totals:
        return _empty(asked, engine, left_out)
    faults = missed.faults(material)
    advice, why_none = _advice(material, faults[THIS], asked)
    sections = (
        spend.build(material),
        missed.build(material, faults[THIS], advice, why_none),
        changes.build(material, faults[THIS], faults[LAST]),
        cache.build(material),
        outputs.build(material),
        growth.build(material),
        latency.build(material),
        memory.build(material),
        failures.build(material),
        anomalies.build(material),
        fleet.build(material),
    )
    report = _frame(asked, engine, _summary(material), sections, left_out)
    charges = find_charges(material) if asked.charges else ()
    return replace(report, prices=_prices(material), notes=_notes(material), charges=charges)


def _advice(
    material: Material, found: Sequence[missed.Fault], asked: Asked
) -> tuple[dict[tuple[str, str], Advice], str]:
    """The line to change of each fault, and why there is none at all."""
    if not asked.sources:
        return {}, "--source DIR names the line to change of each fault" if found else ""
    # Reading source loads the linter: only a report that is asked to name lines needs it.
    from promptlint_report.join import advise, read_source_tree

    source = read_source_tree(asked.sources, asked.store)
    return ({}, source.note) if source.note else (advise(material, found[: asked.options.top], source), "")


def _frame(
    asked: Asked, engine: Engine, summary: str, sections: tuple[Section, ...], left_out: tuple[LeftOut, ...]
) -> Report:
    period = asked.period
    return Report(
        week=period.name,
        starts_at=period.start.isoformat(),
        ends_at=period.end.isoformat(),
        timezone=str(period.timezone),
        made_at=asked.options.now.astimezone(UTC).isoformat(timespec="seconds"),
        engine=engine.name,
        summary=summary,
        sections=sections,
        left_out=left_out,
    )


def _empty(asked: Asked, engine: Engine, left_out: tuple[LeftOut, ...]) -> Report:
    return _frame(asked, engine, nothing_recorded(asked), (), left_out)


def nothing_recorded(asked: Asked) -> str:
    """That a week has no requests, and which days the store has some of."""
    text = f"No requests were recorded in {asked.period.name}"
    days = recorded_days(asked.store)
    if days is None:
        return f"{text}: the store holds none."
    first, last = days
    return f"{text}. The store holds requests of {first}{f' to {last}' if last != first else ''} (UTC)."


def _summary(material: Material) -> str:
    this = material.this
    spent, missed_usd = usd(this["cost"]), usd(this["cost_missed"])
    text = requests(this["requests"])
    text += f" cost ${spent:,.2f}" if spent is not None else " whose cost is not known"
    before = usd(material.last["cost"]) if material.last else None
    if spent is not None and before:
        text += f" ({(spent - before) / before:+.0%} against last week)"
    if missed_usd:
        text += f"; ${missed_usd:,.2f} of it would not have been spent with the best order of the prompts"
    return text + "."


def _notes(material: Material) -> tuple[str, ...]:
    notes = []
    if material.last is None:
        notes.append("The store holds nothing of last week: comparisons with it are empty.")
    return tuple(notes)


def _without_a_time(records: Records, engine: Engine) -> list[LeftOut]:
    exchanges = records.exchanges
    found = engine.run(exchanges.aggregate(n=exchanges.started_at.isnull().sum()))[0]["n"]
    return [LeftOut("exchanges", int(found), "no time is recorded, so no week is known")] if found else []


def _prices(material: Material) -> tuple[PriceLine, ...]:
    cells = material.cells
    used = material.run(
        cells.filter(cells.week == THIS).group_by(*PRICE_KEYS).aggregate(requests=cells.billed_requests.sum())
    )
    lines: dict[PriceLine, int] = {}
    for row in used:
        rates = material.rates["\0".join(str(row[column]) for column in PRICE_KEYS)]
        if rates is None:
            continue
        line = PriceLine(
            provider=row["provider"],
            model=row["model"],
            tier=row["service_tier"],
            input_usd=rates.input / 10_000,
            read_usd=rates.read / 10_000,
            write_5m_usd=rates.write_5m / 10_000,
            write_1h_usd=rates.write_1h / 10_000,
            output_usd=rates.output / 10_000,
            source=rates.source,
            date=rates.date,
            requests=0,
        )
        lines[line] = lines.get(line, 0) + row["requests"]
    found = [replace(line, requests=requests) for line, requests in lines.items()]
    return tuple(sorted(found, key=lambda line: (-line.requests, line.provider, line.model, line.tier)))
