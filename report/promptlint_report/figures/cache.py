"""What the prefix cache gave back: read, written and computed tokens, hit rates, savings, writes and expiry."""

from __future__ import annotations

from promptlint_report.document import Basis, Column, Figure, Section, Table, Unit
from promptlint_report.expressions import load_ibis
from promptlint_report.material import THIS, Material, Row, ratio
from promptlint_report.requests import usd

GAP_MINUTES = (5, 10, 30, 60, 240, 1440)
"""Upper ends of the classes that gaps between requests are counted in."""


def build(material: Material) -> Section:
    return Section(
        "cache",
        "Prefix cache",
        figures=_figures(material),
        tables=(_split(material), _writes(material), _expiry(material)),
    )


def _figures(material: Material) -> tuple[Figure, ...]:
    this, last, price = material.this, material.last, material.price_note
    hit = material.hit_basis()

    def figure(name: str, label: str, column: str, basis: Basis) -> Figure:
        return Figure(name, label, this[column], Unit.TOKENS, basis, last[column] if last else None)

    def rate(name: str, label: str, part: str, whole: str, basis: Basis) -> Figure:
        before = ratio(last[part], last[whole]) if last else None
        share_known = ratio(this[whole], this["prompt"])
        note = f"known for {share_known:.0%} of the prompt tokens" if share_known is not None else ""
        return Figure(name, label, ratio(this[part], this[whole]), Unit.SHARE, basis, before, note)

    amplification = ratio(this["written"], this["read"])
    return (
        figure("computed_tokens", "Computed", "computed", hit),
        figure("read_tokens", "Read from the cache", "read", hit),
        figure("written_tokens", "Written to the cache", "written", Basis.REPORTED),
        rate("reported_hit_rate", "Hit rate, reported", "reported_hit", "reported_of", Basis.REPORTED),
        rate("predicted_hit_rate", "Hit rate, predicted", "predicted_hit", "predicted_of", Basis.ESTIMATED),
        rate("best_hit_rate", "Hit rate with the best order", "best", "best_of", Basis.ESTIMATED),
        Figure(
            "saved",
            "Saved by the cache",
            usd(this["saved"]),
            Unit.USD,
            hit,
            usd(last["saved"]) if last else None,
            "discount on tokens read, less the surcharge on tokens written",
            price,
        ),
        Figure(
            "write_surcharge",
            "Surcharge on writes",
            usd(this["write_surcharge"]),
            Unit.USD,
            Basis.REPORTED,
            usd(last["write_surcharge"]) if last else None,
            "",
            price,
        ),
        Figure(
            "write_amplification",
            "Written for each token read",
            amplification,
            Unit.RATIO,
            Basis.REPORTED,
            ratio(last["written"], last["read"]) if last else None,
            "above 1, more is written than ever read back",
        ),
    )


def _split(material: Material) -> Table:
    sums = material.sums("week", "model")
    found = material.run(sums.filter(sums.week == THIS))
    found.sort(key=lambda row: (-row["prompt"], row["model"]))
    hit = material.hit_basis()
    columns = (
        Column("name", "Model", Unit.TEXT),
        Column("prompt_tokens", "Prompt tokens", Unit.TOKENS, material.prompt_basis()),
        Column("computed_tokens", "Computed", Unit.TOKENS, hit),
        Column("read_tokens", "Read", Unit.TOKENS, hit),
        Column("written_tokens", "Written", Unit.TOKENS, Basis.REPORTED),
        Column("reported_hit_rate", "Hit rate, reported", Unit.SHARE, Basis.REPORTED),
        Column("predicted_hit_rate", "Hit rate, predicted", Unit.SHARE, Basis.ESTIMATED),
        Column("saved", "Saved", Unit.USD, hit),
    )
    rows = tuple(
        (
            row["model"] or "(none)",
            row["prompt"],
            row["computed"],
            row["read"],
            row["written"],
            ratio(row["reported_hit"], row["reported_of"]),
            ratio(row["predicted_hit"], row["predicted_of"]),
            usd(row["saved"]),
        )
        for row in found[: material.options.top]
    )
    return Table("input_split", "Where the input tokens came from", columns, rows, "", material.price_note)


def _writes(material: Material) -> Table:
    sums = material.sums("week", "prompt_group")
    found = material.run(sums.filter((sums.week == THIS) & (sums.written > 0)))
    found.sort(key=lambda row: (-row["written"], row["prompt_group"]))
    columns = (
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("written_tokens", "Written", Unit.TOKENS, Basis.REPORTED),
        Column("written_1h_tokens", "With a life of an hour or more", Unit.TOKENS, Basis.REPORTED),
        Column("read_tokens", "Read", Unit.TOKENS, material.hit_basis()),
        Column("write_amplification", "Written for each token read", Unit.RATIO, Basis.REPORTED),
        Column("write_surcharge", "Surcharge on writes", Unit.USD, Basis.REPORTED),
    )
    rows = tuple(
        (
            row["prompt_group"] or "(none)",
            row["written"],
            row["written_1h"],
            row["read"],
            ratio(row["written"], row["read"]),
            usd(row["write_surcharge"]),
        )
        for row in found[: material.options.top]
    )
    return Table("writes", "Write amplification", columns, rows, "", material.price_note)


def _expiry(material: Material) -> Table:
    """Prefixes that were equal but whose life was over: how long the gaps were, so which life catches them."""
    ibis = load_ibis()

    rows = material.rows
    known = rows.filter((rows.week == THIS) & rows.expired.fill_null(False) & rows.idle_s.notnull())
    late = ibis.literal(len(GAP_MINUTES), "int64")
    place = late
    for index in reversed(range(len(GAP_MINUTES))):
        place = ibis.ifelse(known.idle_s <= GAP_MINUTES[index] * 60, ibis.literal(index, "int64"), place)
    counted = known.group_by("prompt_group", gap=place).aggregate(
        requests=known.count(), missed=known.missed.sum().coalesce(0)
    )
    found = material.run(counted)
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(row["prompt_group"], []).append(row)
    lines = [_expiry_line(group, gaps) for group, gaps in groups.items()]
    lines.sort(key=lambda line: (-int(line[2] or 0), str(line[0])))
    columns = (
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("expired_requests", "Came too late", Unit.REQUESTS, Basis.ESTIMATED),
        Column("expired_tokens", "Tokens computed again", Unit.TOKENS, Basis.ESTIMATED),
        Column("gap_up_to_1h", "Gaps up to an hour", Unit.REQUESTS, Basis.REPORTED),
        Column("gap_median", "Half of the gaps are shorter than", Unit.SECONDS, Basis.REPORTED),
    )
    return Table("expiry", "Expiry gaps", columns, tuple(lines[: material.options.top]))


def _expiry_line(group: str, gaps: list[Row]) -> tuple[str | int | float | None, ...]:
    total = sum(row["requests"] for row in gaps)
    hour = GAP_MINUTES.index(60)
    seen = 0
    median: float | None = None
    for row in sorted(gaps, key=lambda row: int(row["gap"])):
        seen += row["requests"]
        if seen * 2 >= total:
            median = GAP_MINUTES[row["gap"]] * 60.0 if row["gap"] < len(GAP_MINUTES) else None
            break
    within = sum(row["requests"] for row in gaps if row["gap"] <= hour)
    return (group or "(none)", total, sum(row["missed"] for row in gaps), within, median)
