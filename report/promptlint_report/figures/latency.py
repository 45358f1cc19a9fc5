"""TTFT and inter-token gaps, apart: prefill and decode have other causes. Quantiles of merged histograms."""

from __future__ import annotations

import math

from promptlint_core.histogram import BUCKETS, GROWTH, LOWEST_S, merge, middle_s, quantile_s
from promptlint_report import expressions as ir
from promptlint_report.document import Basis, Cell, Column, Figure, Section, Table, Unit
from promptlint_report.expressions import load_ibis
from promptlint_report.material import LAST, THIS, Material, Row, ratio

QUANTILES = (0.5, 0.95, 0.99)
KINDS = ("hit", "miss", "unknown")
"""What was read from the cache: something, nothing, not known."""


def build(material: Material) -> Section:
    ttft = _ttft(material)
    gaps = _gaps(material)
    options = material.options
    figures: list[Figure] = []
    for name, label, histograms in (("ttft", "TTFT", ttft), ("itl", "Inter-token gap", gaps)):
        this, last = _whole(histograms, THIS), _whole(histograms, LAST)
        figures += [
            Figure(
                f"{name}_p{q * 100:.0f}",
                f"{label} p{q * 100:.0f}",
                quantile_s(this, q),
                Unit.SECONDS,
                Basis.REPORTED,
                quantile_s(last, q),
            )
            for q in QUANTILES
        ]
    figures.append(_objective("ttft", "TTFT", ttft, options.ttft_objective_s))
    figures.append(_objective("itl", "Inter-token gaps", gaps, options.itl_objective_s))
    tables = (
        _split("ttft_by_hit", "TTFT by cache hit", ttft, "requests"),
        _split("itl_by_hit", "Inter-token gaps by cache hit", gaps, "gaps"),
        _by_route(material, ttft, gaps),
    )
    notes = (f"Quantiles are those of merged histograms, right within {(GROWTH - 1) / 2:.0%}.",)
    return Section("latency", "Latency", tuple(figures), tables, notes=notes)


Key = tuple[int, str, str]
"""Week, route, hit kind."""


def _keys(rows: ir.Table) -> dict[str, ir.Value]:
    """What both kinds of histogram are grouped by, as numbers: grouping by text takes most of the time otherwise."""
    ibis = load_ibis()

    kind = ibis.cases((rows.hit > 0, 0), (rows.hit == 0, 1), else_=2)
    return {"route_hash": rows.route.hash(), "kind": kind.cast("int64")}


def _ttft(material: Material) -> dict[Key, list[int]]:
    ibis = load_ibis()

    rows = material.rows
    timed = rows.filter((rows.week >= LAST) & (rows.ttft_s >= 0))
    place = ((timed.ttft_s / LOWEST_S).ln() / math.log(GROWTH)).floor().cast("int64") + 1
    bucket = ibis.ifelse(timed.ttft_s < LOWEST_S, ibis.literal(0, "int64"), place).clip(upper=BUCKETS - 1)
    counted = timed.group_by("week", bucket=bucket, **_keys(timed)).aggregate(n=timed.count())
    return _by_key(material, counted)


def _gaps(material: Material) -> dict[Key, list[int]]:
    """The gap histograms of all requests, summed place by place: no list is taken apart into rows.

    Histograms are packed; those with as many empty buckets in front have their places in common.
    """
    ibis = load_ibis()

    rows = material.rows
    streamed = rows.filter((rows.week >= LAST) & (rows.itl_histogram.length() > 0))
    longest = material.run(streamed.aggregate(n=streamed.itl_histogram.length().max()))[0]["n"]
    if not longest:
        return {}
    first = streamed.itl_histogram[0]
    streamed = streamed.mutate(empty=ibis.ifelse(first < 0, -first - 1, 0).cast("int64"), **_keys(streamed))
    counts = streamed.itl_histogram
    sums = {f"place_{place}": material.engine.item(counts, place).sum() for place in range(1, int(longest))}
    sums["place_0"] = counts[0].clip(lower=0).sum()
    summed = streamed.group_by("week", "route_hash", "kind", "empty").aggregate(**sums)
    routes = _routes(material)
    histograms: dict[Key, list[int]] = {}
    for row in material.run(summed):
        key = (row["week"], routes[row["route_hash"]], KINDS[row["kind"]])
        part = [0] * row["empty"] + [int(row[f"place_{place}"] or 0) for place in range(int(longest))]
        histograms[key] = merge([histograms.get(key, []), part])
    return histograms


def _by_key(material: Material, counted: ir.Table) -> dict[Key, list[int]]:
    routes = _routes(material)
    histograms: dict[Key, list[int]] = {}
    for row in material.run(counted):
        counts = histograms.setdefault((row["week"], routes[row["route_hash"]], KINDS[row["kind"]]), [])
        counts.extend([0] * (row["bucket"] + 1 - len(counts)))
        counts[row["bucket"]] += row["n"]
    return histograms


def _routes(material: Material) -> dict[int, str]:
    cells = material.cells
    named = material.run(cells.select("route", route_hash=cells.route.hash()).distinct())
    return {row["route_hash"]: row["route"] for row in named}


def _whole(histograms: dict[Key, list[int]], week: int, route: str | None = None, kind: str | None = None) -> list[int]:
    return merge(
        counts
        for (of_week, of_route, of_kind), counts in histograms.items()
        if of_week == week and route in {None, of_route} and kind in {None, of_kind}
    )


def _within(counts: list[int], objective_s: float) -> float | None:
    inside = sum(count for bucket, count in enumerate(counts) if middle_s(bucket) <= objective_s)
    return ratio(inside, sum(counts))


def _objective(name: str, label: str, histograms: dict[Key, list[int]], objective_s: float) -> Figure:
    return Figure(
        f"{name}_within",
        f"{label} within {objective_s:g} s",
        _within(_whole(histograms, THIS), objective_s),
        Unit.SHARE,
        Basis.REPORTED,
        _within(_whole(histograms, LAST), objective_s),
    )


def _split(name: str, title: str, histograms: dict[Key, list[int]], what: str) -> Table:
    prefix = name.partition("_")[0]
    columns = (
        Column("hit_kind", "Cache", Unit.TEXT),
        Column(f"{prefix}_samples", what.capitalize(), Unit.COUNT, Basis.REPORTED),
        *(Column(f"{prefix}_p{q * 100:.0f}", f"p{q * 100:.0f}", Unit.SECONDS, Basis.REPORTED) for q in QUANTILES),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind in KINDS:
        counts = _whole(histograms, THIS, kind=kind)
        if sum(counts):
            rows.append((kind, sum(counts), *(quantile_s(counts, q) for q in QUANTILES)))
    return Table(name, title, columns, tuple(rows))


def _by_route(material: Material, ttft: dict[Key, list[int]], gaps: dict[Key, list[int]]) -> Table:
    routes = {route for week, route, _ in [*ttft, *gaps] if week == THIS}
    lines: list[Row] = []
    for route in routes:
        first, between = _whole(ttft, THIS, route), _whole(gaps, THIS, route)
        lines.append({"route": route, "n": sum(first), "ttft": first, "itl": between})
    lines.sort(key=lambda line: (-line["n"], line["route"]))
    columns = (
        Column("route", "Route", Unit.TEXT),
        Column("ttft_samples", "Requests", Unit.COUNT, Basis.REPORTED),
        *(Column(f"ttft_p{q * 100:.0f}", f"TTFT p{q * 100:.0f}", Unit.SECONDS, Basis.REPORTED) for q in QUANTILES),
        *(Column(f"itl_p{q * 100:.0f}", f"Gap p{q * 100:.0f}", Unit.SECONDS, Basis.REPORTED) for q in QUANTILES),
    )
    rows = tuple(
        (
            line["route"] or "(none)",
            line["n"],
            *(quantile_s(line["ttft"], q) for q in QUANTILES),
            *(quantile_s(line["itl"], q) for q in QUANTILES),
        )
        for line in lines[: material.options.top]
    )
    return Table("latency_by_route", "Latency by route", columns, rows)
