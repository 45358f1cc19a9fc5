"""What the week cost: against last week and the budget, and by everything a request is labelled with."""

from __future__ import annotations

from promptlint_report.document import Basis, Chart, Column, Figure, Section, Series, Table, Unit
from promptlint_report.material import LAST, THIS, Material, Row, known, ratio, requests
from promptlint_report.period import elapsed_share
from promptlint_report.requests import usd

WEEKS_A_MONTH = 365.25 / 12 / 7
DIMENSIONS = (
    ("model", "By model"),
    ("route", "By route"),
    ("team", "By team or key"),
    ("environment", "By environment"),
    ("prompt_group", "By prompt group"),
)


def build(material: Material) -> Section:
    tables = [_breakdown(material, column, title) for column, title in DIMENSIONS]
    notes = _unpriced(material)
    return Section(
        "spend",
        "Spend",
        figures=_figures(material),
        tables=(*tables, _pareto(material), *([notes] if notes else [])),
        charts=(_by_day(material),),
    )


def _figures(material: Material) -> tuple[Figure, ...]:
    this, last, price = material.this, material.last, material.price_note
    basis = material.money_basis()
    spent = usd(this["cost"])
    before = usd(last["cost"]) if last else None
    over = elapsed_share(material.period, material.options.now)
    figures = [
        Figure("spend", "Spend", spent, Unit.USD, basis, before, _spend_note(this), price),
        Figure(
            "projection_week",
            "Projected for the whole week",
            None if spent is None or not over else spent / over,
            Unit.USD,
            Basis.ESTIMATED,
            before,
            "the week is over" if over == 1 else f"{over:.0%} of the week is over; the rest is taken to go on alike",
            price,
        ),
        Figure(
            "projection_month",
            "Projected for a month",
            None if spent is None or not over else spent / over * WEEKS_A_MONTH,
            Unit.USD,
            Basis.ESTIMATED,
            None if before is None else before * WEEKS_A_MONTH,
            "weeks like this one",
            price,
        ),
    ]
    budget = material.options.budget_usd
    if budget is not None:
        figures.append(Figure("budget", "Budget of the week", budget, Unit.USD, Basis.REPORTED))
        over_usd = (spent or 0.0) - budget
        amount = f" by ${over_usd:,.2f}" if over_usd >= 0.01 else ""
        note = f"over the budget{amount}" if over_usd > 0 else ""
        used, used_before = ratio(spent, budget), ratio(before, budget)
        figures.append(Figure("budget_used", "Budget used", used, Unit.SHARE, basis, used_before, note, price))
    requests_before = last["requests"] if last else None
    return (
        *figures,
        Figure("requests", "Requests", this["requests"], Unit.REQUESTS, Basis.REPORTED, requests_before),
        Figure(
            "prompt_tokens",
            "Prompt tokens",
            known(this["prompt"], this["prompt_rows"]),
            Unit.TOKENS,
            material.prompt_basis(),
            last["prompt"] if last else None,
        ),
        Figure(
            "output_tokens",
            "Output tokens",
            known(this["output"], this["output_rows"]),
            Unit.TOKENS,
            material.output_basis(),
            last["output"] if last else None,
        ),
    )


def _spend_note(row: Row) -> str:
    notes = []
    if row["unpriced_requests"]:
        notes.append(f"without {requests(row['unpriced_requests'])} of no known price")
    if row["hit_unknown_rows"]:
        notes.append(f"{requests(row['hit_unknown_rows'])} without a known hit priced as wholly computed")
    if row["output_unknown_rows"]:
        notes.append(f"without the output of {requests(row['output_unknown_rows'])} of which it is not known")
    return "; ".join(notes)


def _breakdown(material: Material, column: str, title: str) -> Table:
    sums = material.sums("week", column)
    found = material.run(sums.filter(sums.week.isin((THIS, LAST))))
    before = {row[column]: row for row in found if row["week"] == LAST}
    now = [row for row in found if row["week"] == THIS]
    now.sort(key=lambda row: (-(row["cost"] or 0), -row["requests"], row[column]))
    shown, rest = now[: material.options.top], now[material.options.top :]
    rows = [_line(row[column] or "(none)", row, before.get(row[column]), material) for row in shown]
    note = f"{len(rest)} more with {_spent(rest)} together" if rest else ""
    label = {"prompt_group": "Prompt group", "team": "Team or key"}.get(column, column.capitalize())
    return Table(f"spend_by_{column}", title, _columns(material, label), tuple(rows), note, material.price_note)


def _columns(material: Material, label: str) -> tuple[Column, ...]:
    money = material.money_basis()
    return (
        Column("name", label, Unit.TEXT),
        Column("spend", "Spend", Unit.USD, money),
        Column("spend_last_week", "Last week", Unit.USD, money),
        Column("requests", "Requests", Unit.REQUESTS, Basis.REPORTED),
        Column("prompt_tokens", "Prompt tokens", Unit.TOKENS, material.prompt_basis()),
        Column("output_tokens", "Output tokens", Unit.TOKENS, material.output_basis()),
        Column("hit_rate", "Hit rate", Unit.SHARE, material.hit_basis()),
        Column("missed_usd", "Missed", Unit.USD, Basis.ESTIMATED),
    )


def _line(name: str, row: Row, before: Row | None, material: Material) -> tuple[str | int | float | None, ...]:
    del material
    return (
        name,
        usd(row["cost"]),
        usd(before["cost"]) if before else None,
        row["requests"],
        known(row["prompt"], row["prompt_rows"]),
        known(row["output"], row["output_rows"]),
        ratio(row["read"], row["prompt"]) if row["hit_unknown_rows"] < row["billed_requests"] else None,
        usd(row["cost_missed"]),
    )


def _spent(rows: list[Row]) -> str:
    costs = [usd(row["cost"]) or 0.0 for row in rows if row["cost"] is not None]
    return f"${sum(costs):,.2f}" if costs else "unknown spend"


def _pareto(material: Material) -> Table:
    """Routes by spend with the running share: how few of them make up most of the cost."""
    sums = material.sums("week", "route")
    found = material.run(sums.filter(sums.week == THIS))
    found.sort(key=lambda row: (-(row["cost"] or 0), row["route"]))
    whole = sum(row["cost"] or 0 for row in found)
    rows: list[tuple[str | int | float | None, ...]] = []
    running = 0
    for row in found[: material.options.top]:
        running += row["cost"] or 0
        rows.append((row["route"] or "(none)", usd(row["cost"]), ratio(row["cost"], whole), ratio(running, whole)))
    basis = material.money_basis()
    columns = (
        Column("name", "Route", Unit.TEXT),
        Column("spend", "Spend", Unit.USD, basis),
        Column("spend_share", "Share", Unit.SHARE, basis),
        Column("spend_running_share", "Running share", Unit.SHARE, basis),
    )
    return Table("route_pareto", "Routes that make up the spend", columns, tuple(rows), "", material.price_note)


def _by_day(material: Material) -> Chart:
    sums = material.sums("week", "day")
    found = material.run(sums.filter(sums.week.isin((THIS, LAST))))
    costs = {row["day"]: usd(row["cost"]) for row in found}
    first = material.period.first_day
    this = tuple(costs.get(first + day) for day in range(7))
    last = tuple(costs.get(first - 7 + day) for day in range(7))
    labels = tuple(f"{material.period.date_of(first + day):%a %d}" for day in range(7))
    days = [(value, label) for value, label in zip(this, labels, strict=True) if value is not None]
    most = max(days, default=None)
    summary = f"The dearest day was {most[1]} with ${most[0]:,.2f}." if most else "No day has a known spend."
    return Chart(
        "spend_by_day",
        "Spend by day",
        "line",
        Unit.USD,
        labels,
        (Series("this week", this), Series("last week", last)),
        summary,
    )


def _unpriced(material: Material) -> Table | None:
    cells = material.cells
    lines = material.run(
        cells.filter((cells.week == THIS) & cells.r_input.isnull() & (cells.billed_requests > 0))
        .group_by("provider", "model", "service_tier")
        .aggregate(
            requests=cells.billed_requests.sum(),
            prompt=cells.prompt.sum(),
            prompt_rows=cells.prompt_rows.sum(),
            output=cells.output.sum(),
            output_rows=cells.output_rows.sum(),
        )
    )
    if not lines:
        return None
    lines.sort(key=lambda row: (-row["requests"], row["provider"], row["model"]))
    columns = (
        Column("provider", "Provider", Unit.TEXT),
        Column("model", "Model", Unit.TEXT),
        Column("service_tier", "Tier", Unit.TEXT),
        Column("requests", "Requests", Unit.REQUESTS, Basis.REPORTED),
        Column("prompt_tokens", "Prompt tokens", Unit.TOKENS, material.prompt_basis()),
        Column("output_tokens", "Output tokens", Unit.TOKENS, material.output_basis()),
    )
    rows = tuple(
        (
            row["provider"],
            row["model"] or "(none)",
            row["service_tier"],
            row["requests"],
            known(row["prompt"], row["prompt_rows"]),
            known(row["output"], row["output_rows"]),
        )
        for row in lines
    )
    note = "no price is known: in no figure in money; name one in a file with --prices"
    return Table("unpriced", "Models without a known price", columns, rows, note)
