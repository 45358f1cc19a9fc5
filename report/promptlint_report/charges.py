"""The charges of a week, one a day, label, kind of token and unit price: what cost tools import."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from promptlint_report.document import Charge
from promptlint_report.material import THIS, Material, Row
from promptlint_report.prices import UNITS_PER_USD

METERS = (
    ("input", "computed", "r_input"),
    ("cache read", "read", "r_read"),
    ("cache write, 5 minutes", "written_5m", "r_write_5m"),
    ("cache write, 1 hour", "written_1h", "r_write_1h"),
    ("output", "output", "r_output"),
)
"""Name, column of the tokens, column of the unit price."""
KEYS = ("day", "provider", "model", "service_tier", "route", "team", "environment", "prompt_group")


def find_charges(material: Material) -> tuple[Charge, ...]:
    """The week's charges in the order of days; tokens without a known price are no charge.

    Tokens of two prices, as by day and by night, are two charges: cost is quantity times unit price on every line.
    """
    cells = material.cells
    rates = [rate for _, _, rate in METERS]
    sums = cells.filter((cells.week == THIS) & cells.r_input.notnull()).group_by(*KEYS, *rates)
    totals = material.run(
        sums.aggregate(
            computed=cells.computed.sum(),
            read=cells.read.sum(),
            written_5m=(cells.written - cells.written_1h).sum(),
            written_1h=cells.written_1h.sum(),
            output=cells.output.sum(),
        )
    )
    tokens: dict[tuple[tuple[object, ...], int, int], int] = {}
    rows: dict[tuple[object, ...], Row] = {}
    for row in totals:
        key = tuple(row[name] for name in KEYS)
        rows[key] = row
        for place, (_, column, rate) in enumerate(METERS):
            if row[column]:
                line = (key, place, int(row[rate]))
                tokens[line] = tokens.get(line, 0) + int(row[column])
    return tuple(_charges(material, rows, tokens))


def _charges(
    material: Material, rows: dict[tuple[object, ...], Row], tokens: dict[tuple[tuple[object, ...], int, int], int]
) -> Iterator[Charge]:
    for (key, place, rate), count in sorted(tokens.items(), key=lambda item: item[0]):
        row = rows[key]
        day = material.period.date_of(row["day"])
        first = day.replace(day=1)
        labels = {name: row[name] for name in ("team", "environment", "prompt_group") if row[name]}
        yield Charge(
            starts_at=_moment(material, day),
            ends_at=_moment(material, day + timedelta(days=1)),
            month_starts_at=_moment(material, first),
            month_ends_at=_moment(material, (first + timedelta(days=32)).replace(day=1)),
            provider=row["provider"],
            model=row["model"],
            tier=row["service_tier"],
            route=row["route"],
            tags=json.dumps(labels, ensure_ascii=False, sort_keys=True) if labels else "",
            meter=METERS[place][0],
            tokens=count,
            unit_usd=Decimal(rate) / UNITS_PER_USD,
        )


def _moment(material: Material, day: date) -> str:
    """Midnight of a local day, in UTC."""
    local = datetime.combine(day, time(), material.period.timezone)
    return local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
