"""Prompt growth per group: trend, the day of a change, the part that grew; and how much retrieval adds."""

from __future__ import annotations

from promptlint_report.document import Basis, Cell, Chart, Column, Figure, Section, Series, Table, Unit
from promptlint_report.material import THIS, Material, Row, ratio
from promptlint_report.period import WEEKS_BEFORE
from promptlint_report.trend import Change, change_point, slope_a_day

PARTS = ("tools", "system", "messages")


def build(material: Material) -> Section:
    this, last = material.this, material.last
    mean = Figure(
        "prompt_mean",
        "Mean prompt",
        ratio(this["prompt"], this["prompt_rows"]),
        Unit.TOKENS,
        material.prompt_basis(),
        ratio(last["prompt"], last["prompt_rows"]) if last else None,
    )
    longest = Figure(
        "prompt_max",
        "Longest prompt",
        this["prompt_max"],
        Unit.TOKENS,
        material.prompt_basis(),
        last["prompt_max"] if last else None,
    )
    retrieved = Figure(
        "retrieved_share",
        "Retrieved text in prompts that hold any",
        ratio(this["retrieved"], this["retrieved_of"]),
        Unit.SHARE,
        Basis.ESTIMATED,
        ratio(last["retrieved"], last["retrieved_of"]) if last else None,
    )
    growth, charts = _growth(material)
    return Section("growth", "Prompt size", (mean, longest, retrieved), (growth, _retrieval(material)), charts)


def _growth(material: Material) -> tuple[Table, tuple[Chart, ...]]:
    sums = material.sums("week", "day", "prompt_group")
    days: dict[str, list[Row]] = {}
    for row in material.run(sums):
        days.setdefault(row["prompt_group"], []).append(row)
    lines: list[tuple[float, tuple[Cell, ...], list[Row]]] = []
    for group, found in days.items():
        found.sort(key=lambda row: int(row["day"]))
        if not any(row["week"] == THIS and row["prompt_rows"] for row in found):
            continue
        line = _growth_line(material, group, found)
        prompt = sum(row["prompt"] for row in found if row["week"] == THIS)
        lines.append((prompt, line, found))
    lines.sort(key=lambda item: (-item[0], str(item[1][0])))
    columns = (
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("prompt_mean", "Mean prompt", Unit.TOKENS, material.prompt_basis()),
        Column("prompt_slope", "Tokens more a day", Unit.TOKENS, material.prompt_basis()),
        Column("change_day", "Changed on", Unit.TEXT),
        Column("change_share", "By", Unit.SHARE, material.prompt_basis()),
        Column("change_part", "Part that changed most", Unit.TEXT, Basis.ESTIMATED),
    )
    least = material.options.min_requests
    note = f"over this week and up to {WEEKS_BEFORE} before, days with at least {least} requests of the group"
    table = Table(
        "prompt_growth", "Prompt growth", columns, tuple(line for _, line, _ in lines[: material.options.top]), note
    )
    changed = [item for item in lines if item[1][3]]
    return table, tuple(_chart(material, str(line[0]), found) for _, line, found in changed[:3])


def _growth_line(material: Material, group: str, found: list[Row]) -> tuple[Cell, ...]:
    enough = [row for row in found if row["prompt_rows"] >= material.options.min_requests]
    points = [(int(row["day"]), row["prompt"] / row["prompt_rows"]) for row in enough]
    slope, change = slope_a_day(points), change_point(points)
    this = [row for row in found if row["week"] == THIS]
    mean = ratio(sum(row["prompt"] for row in this), sum(row["prompt_rows"] for row in this))
    return (
        group or "(none)",
        mean,
        slope,
        material.period.date_of(change.day).isoformat() if change else None,
        change.share if change else None,
        _part(enough, change) if change else None,
    )


def _part(days: list[Row], change: Change) -> str | None:
    """The part whose mean moved most in the direction of the change, with its step in tokens."""
    before = [row for row in days if row["day"] < change.day and row["parts_rows"]]
    after = [row for row in days if row["day"] >= change.day and row["parts_rows"]]
    if not before or not after:
        return None

    def mean(rows: list[Row], part: str) -> float:
        return float(sum(row[part] for row in rows)) / float(sum(row["parts_rows"] for row in rows))

    steps = {part: mean(after, part) - mean(before, part) for part in PARTS}
    grew = change.after > change.before
    part = max(PARTS, key=lambda name: steps[name] if grew else -steps[name])
    return f"{part} ({steps[part]:+,.0f} tokens)"


def _chart(material: Material, group: str, found: list[Row]) -> Chart:
    labels = tuple(f"{material.period.date_of(row['day']):%d %b}" for row in found)
    values = tuple(ratio(row["prompt"], row["prompt_rows"]) for row in found)
    known = [value for value in values if value is not None]
    summary = f"The mean prompt of {group} went from {known[0]:,.0f} to {known[-1]:,.0f} tokens." if known else ""
    return Chart(
        f"growth_{group}",
        f"Mean prompt of {group}",
        "line",
        Unit.TOKENS,
        labels,
        (Series("mean prompt", values),),
        summary,
    )


def _retrieval(material: Material) -> Table:
    sums = material.sums("week", "prompt_group")
    found = material.run(sums.filter((sums.week == THIS) & (sums.retrieved_rows > 0)))
    found.sort(key=lambda row: (-row["retrieved"], row["prompt_group"]))
    columns = (
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("retrieved_requests", "Requests with retrieved text", Unit.REQUESTS, Basis.ESTIMATED),
        Column("retrieved_mean", "Mean retrieved", Unit.TOKENS, Basis.ESTIMATED),
        Column("retrieved_max", "Most retrieved", Unit.TOKENS, Basis.ESTIMATED),
        Column("retrieved_share", "Share of the prompt", Unit.SHARE, Basis.ESTIMATED),
        Column("passages_mean", "Mean passages", Unit.RATIO, Basis.ESTIMATED),
        Column("passages_max", "Most passages", Unit.COUNT, Basis.ESTIMATED),
    )
    rows = tuple(
        (
            row["prompt_group"] or "(none)",
            row["retrieved_rows"],
            ratio(row["retrieved"], row["retrieved_rows"]),
            row["retrieved_max"],
            ratio(row["retrieved"], row["retrieved_of"]),
            ratio(row["passages"], row["passages_rows"]),
            row["passages_max"],
        )
        for row in found[: material.options.top]
    )
    return Table("retrieval", "Retrieval size", columns, rows)
