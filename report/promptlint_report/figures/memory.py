"""KV memory: bytes per request, the peak in flight against the pool, and how often preemption was likely."""

from __future__ import annotations

from promptlint_report.document import Basis, Column, Figure, Section, Table, Unit
from promptlint_report.material import THIS, Material, ratio


def build(material: Material) -> Section:
    this, last = material.this, material.last

    def figure(name: str, label: str, column: str) -> Figure:
        return Figure(name, label, this[column], Unit.BYTES, Basis.ESTIMATED, last[column] if last else None)

    mean = Figure(
        "kv_mean",
        "KV memory per request, mean",
        ratio(this["kv_bytes"], this["kv_rows"]),
        Unit.BYTES,
        Basis.ESTIMATED,
        ratio(last["kv_bytes"], last["kv_rows"]) if last else None,
        f"known for {this['kv_rows']:,} of {this['requests']:,} requests",
    )
    risk = Figure(
        "preemption_risk",
        "Requests that started above the pool",
        ratio(this["kv_over"], this["kv_pool_rows"]),
        Unit.SHARE,
        Basis.ESTIMATED,
        ratio(last["kv_over"], last["kv_pool_rows"]) if last else None,
        "" if this["kv_pool_rows"] else "no pool is configured",
    )
    figures = (
        mean,
        figure("kv_max", "KV memory per request, most", "kv_max"),
        figure("kv_in_flight_max", "KV memory in flight, peak", "kv_in_flight_max"),
        figure("kv_pool", "KV pool", "kv_pool"),
        risk,
    )
    sums = material.sums("week", "model")
    found = material.run(sums.filter((sums.week == THIS) & (sums.kv_rows > 0)))
    found.sort(key=lambda row: (-(row["kv_in_flight_max"] or 0), row["model"]))
    columns = (
        Column("name", "Model", Unit.TEXT),
        Column("kv_mean", "Mean per request", Unit.BYTES, Basis.ESTIMATED),
        Column("kv_max", "Most per request", Unit.BYTES, Basis.ESTIMATED),
        Column("kv_in_flight_max", "Peak in flight", Unit.BYTES, Basis.ESTIMATED),
        Column("kv_pool", "Pool", Unit.BYTES, Basis.REPORTED),
        Column("preemption_risk", "Started above the pool", Unit.SHARE, Basis.ESTIMATED),
    )
    rows = tuple(
        (
            row["model"] or "(none)",
            ratio(row["kv_bytes"], row["kv_rows"]),
            row["kv_max"],
            row["kv_in_flight_max"],
            row["kv_pool"],
            ratio(row["kv_over"], row["kv_pool_rows"]),
        )
        for row in found[: material.options.top]
    )
    return Section("memory", "KV memory", figures, (Table("kv_by_model", "KV memory by model", columns, rows),))
