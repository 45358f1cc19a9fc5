"""The charges of a week, one a day, model, label and kind of token: what cost tools import."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta

from promptlint_report.document import Charge
from promptlint_report.material import THIS, Material, Row
from promptlint_report.requests import usd

METERS = (
    ("input", "computed", "cost_computed"),
    ("cache read", "read", "cost_read"),
    ("cache write", "written", "cost_written"),
    ("output", "output", "cost_output"),
)
"""Name, column of the tokens, column of the cost."""
KEYS = ("day", "provider", "model", "service_tier", "route", "team", "environment", "prompt_group")


def find_charges(material: Material) -> tuple[Charge, ...]:
    """The week's charges in the order of days; tokens without a known price are no charge."""
    cells = material.cells
    sums = cells.filter(cells.week == THIS).group_by(*KEYS)
    columns = {name: cells[name].sum() for _, tokens, cost in METERS for name in (tokens, cost)}
    found = material.run(sums.aggregate(**columns))
    found.sort(key=lambda row: tuple(row[key] for key in KEYS))
    return tuple(charge for row in found for meter in METERS if (charge := _charge(material, row, *meter)) is not None)


def _charge(material: Material, row: Row, meter: str, tokens: str, cost: str) -> Charge | None:
    amount = usd(row[cost])
    if amount is None or not row[tokens]:
        return None
    day = material.period.date_of(row["day"])
    first = day.replace(day=1)
    following = (first + timedelta(days=32)).replace(day=1)
    labels = {name: row[name] for name in ("team", "environment", "prompt_group") if row[name]}

    def moment(of: date) -> str:
        local = datetime.combine(of, time(), material.period.timezone)
        return local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    return Charge(
        starts_at=moment(day),
        ends_at=moment(day + timedelta(days=1)),
        month_starts_at=moment(first),
        month_ends_at=moment(following),
        provider=row["provider"],
        model=row["model"],
        tier=row["service_tier"],
        route=row["route"],
        tags=json.dumps(labels, ensure_ascii=False, sort_keys=True),
        meter=meter,
        tokens=row[tokens],
        usd=amount,
    )
