"""Days that stand far from the group's earlier days, where there were enough requests to say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from promptlint_report.document import Basis, Cell, Column, Figure, Section, Table, Unit
from promptlint_report.material import THIS, Material, Row, ratio
from promptlint_report.requests import usd

MIN_DAYS = 5
"""Earlier days with enough requests."""
MIN_DISTANCE = 5.0
"""In robust standard deviations: 1.4826 x the median distance from the median (Hampel 1974)."""
MIN_CHANGE = 0.2
"""Share of the usual value: a steady group's tiny spread must not make small changes loud."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    day: int
    group: str
    what: str
    value: float
    usual: float
    requests: int
    earlier_days: int


def build(material: Material) -> Section:
    found = find_anomalies(material)
    columns = (
        Column("day", "Day", Unit.TEXT),
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("anomaly_what", "What", Unit.TEXT),
        Column("anomaly_value", "Value", Unit.RATIO, Basis.MIXED),
        Column("anomaly_usual", "Usual", Unit.RATIO, Basis.MIXED),
        Column("requests", "Requests", Unit.REQUESTS, Basis.REPORTED),
        Column("anomaly_days", "Earlier days", Unit.COUNT, Basis.REPORTED),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            material.period.date_of(item.day).isoformat(),
            item.group or "(none)",
            item.what,
            item.value,
            item.usual,
            item.requests,
            item.earlier_days,
        )
        for item in found[: material.options.top]
    )
    least = material.options.min_requests
    note = f"days with at least {least} requests against at least {MIN_DAYS} such days before"
    figure = Figure("anomalies", "Anomalies", len(found), Unit.COUNT, Basis.MIXED)
    return Section("anomalies", "Anomalies", (figure,), (Table("anomaly", "Unusual days", columns, rows, note),))


def find_anomalies(material: Material) -> list[Anomaly]:
    sums = material.sums("week", "day", "prompt_group")
    least = material.options.min_requests
    days: dict[str, list[Row]] = {}
    for row in material.run(sums.filter(sums.requests >= least)):
        days.setdefault(row["prompt_group"], []).append(row)
    found: list[Anomaly] = []
    for group, rows in days.items():
        rows.sort(key=lambda row: int(row["day"]))
        for what, read in MEASURES.items():
            found += _of_measure(group, what, [(row, read(row)) for row in rows])
    return sorted(
        found, key=lambda item: (-abs(item.value - item.usual) / (abs(item.usual) or 1.0), item.day, item.group)
    )


def _of_measure(group: str, what: str, points: list[tuple[Row, float | None]]) -> list[Anomaly]:
    known = [(row, value) for row, value in points if value is not None]
    found = []
    for row, value in known:
        if row["week"] != THIS:
            continue
        earlier = [other for before, other in known if before["day"] < row["day"]]
        if len(earlier) < MIN_DAYS:
            continue
        usual = median(earlier)
        spread = 1.4826 * median(abs(other - usual) for other in earlier)
        distance = abs(value - usual)
        if distance > MIN_DISTANCE * spread and distance > MIN_CHANGE * abs(usual) and distance > 0:
            found.append(Anomaly(row["day"], group, what, value, usual, row["requests"], len(earlier)))
    return found


def _cost(row: Row) -> float | None:
    cost = usd(row["cost"])
    return None if cost is None else ratio(cost, row["billed_requests"] - row["unpriced_requests"])


def _hit_rate(row: Row) -> float | None:
    if row["reported_of"]:
        return ratio(row["reported_hit"], row["reported_of"])
    return ratio(row["predicted_hit"], row["predicted_of"])


MEASURES: dict[str, Callable[[Row], float | None]] = {
    "requests": lambda row: float(row["requests"]),
    "spend per request (USD)": _cost,
    "hit rate": _hit_rate,
    "mean prompt (tokens)": lambda row: ratio(row["prompt"], row["prompt_rows"]),
    "mean output (tokens)": lambda row: ratio(row["output"], row["output_rows"]),
    "share that failed": lambda row: ratio(row["failed"], row["requests"]),
}
