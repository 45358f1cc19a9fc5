"""The hit rate that one cache for the whole fleet would have, from all sidecars' block hashes, by one windowed query.

A block is in the cache when it was touched before within the cache's life. Since a block's hash is chained to all
blocks ahead of it, a request that touches a block touches its whole prefix, so each block can be judged for itself;
and since hashes are uniform, a sample of hashes gives the same rate (Waldspurger et al., SHARDS, FAST 2015).
"""

from __future__ import annotations

from promptlint_report import expressions as ir
from promptlint_report.document import Basis, Cell, Column, Figure, Section, Table, Unit
from promptlint_report.expressions import load_ibis
from promptlint_report.material import LAST, THIS, Material, Row, ratio

LIVES_S = (300, 1800, 3600, 86_400)
"""Five minutes, half an hour, an hour, a day."""
WHOLE_UP_TO = 1_000_000
"""Blocks above which one in 2, 4, 8 … is looked at."""


def build(material: Material) -> Section:
    known, blocks = material.this["hashed_rows"], material.this["hashed_blocks"]
    if not known:
        note = "No request of the week carries block hashes, so the fleet's hit rate is not known."
        return Section("fleet", "Fleet-wide cache", notes=(note,))
    keep_one_in = 1
    while blocks // keep_one_in > WHOLE_UP_TO:
        keep_one_in *= 2
    found = material.run(_touches(material, keep_one_in))
    this = [row for row in found if row["week"] == THIS]
    last = [row for row in found if row["week"] == LAST]
    note = "every block" if keep_one_in == 1 else f"one block in {keep_one_in}, chosen by its hash"
    note += f" of {known:,} requests"
    figures = []
    for name, label, suffix in (
        ("fleet", "One cache for the whole fleet", ""),
        ("sidecar", "One cache a sidecar", "_own"),
    ):
        for life, says in ((3600, "1h"), (None, "unlimited")):
            figures.append(
                Figure(
                    f"{name}_hit_rate_{says}",
                    f"{label}, life {'of an hour' if life else 'unlimited'}",
                    _rate(this, suffix, life),
                    Unit.SHARE,
                    Basis.ESTIMATED,
                    _rate(last, suffix, life),
                    note,
                )
            )
    return Section("fleet", "Fleet-wide cache", tuple(figures), (_by_life(this, note),))


def _rows(material: Material) -> ir.Table:
    rows = material.rows
    return rows.filter((rows.week >= LAST) & (rows.block_hashes.length() > 0))


def _touches(material: Material, keep_one_in: int) -> ir.Table:
    ibis = load_ibis()

    rows = _rows(material)
    hashes = rows.block_hashes
    if keep_one_in > 1:
        hashes = hashes.filter(lambda value: value % keep_one_in == 0)
    size = rows.block_size.coalesce(1)
    touched = rows.select("week", "provider", "model", "sidecar", "at_s", size=size, block=hashes.unnest())
    anywhere = ibis.window(group_by=[touched.provider, touched.model, touched.block], order_by=touched.at_s)
    own = ibis.window(group_by=[touched.provider, touched.model, touched.block, touched.sidecar], order_by=touched.at_s)
    aged = touched.select(
        "week",
        "size",
        age=touched.at_s - touched.at_s.lag().over(anywhere),
        age_own=touched.at_s - touched.at_s.lag().over(own),
    )
    measures = {"tokens": aged["size"].sum()}
    for suffix in ("", "_own"):
        age = aged[f"age{suffix}"]
        measures[f"ever{suffix}"] = ibis.ifelse(age.notnull(), aged["size"], 0).sum()
        for life in LIVES_S:
            measures[f"within_{life}{suffix}"] = ibis.ifelse(age <= life, aged["size"], 0).sum()
    return aged.group_by("week").aggregate(**measures)


def _rate(rows: list[Row], suffix: str, life: int | None) -> float | None:
    if not rows:
        return None
    name = f"ever{suffix}" if life is None else f"within_{life}{suffix}"
    return ratio(rows[0][name], rows[0]["tokens"])


def _by_life(rows: list[Row], note: str) -> Table:
    columns = (
        Column("cache_life", "Life of a block", Unit.TEXT),
        Column("fleet_hit_rate", "One cache for the fleet", Unit.SHARE, Basis.ESTIMATED),
        Column("sidecar_hit_rate", "One cache a sidecar", Unit.SHARE, Basis.ESTIMATED),
    )
    names = {300: "5 minutes", 1800: "30 minutes", 3600: "1 hour", 86_400: "1 day", None: "unlimited"}
    lines: list[tuple[Cell, ...]] = [
        (name, _rate(rows, "", life), _rate(rows, "_own", life)) for life, name in names.items()
    ]
    return Table("fleet_by_life", "Fleet-wide hit rate by the life of a block", columns, tuple(lines), note)
