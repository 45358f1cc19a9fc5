"""Outputs: how much is generated, which requests send no bound, and what those used."""

from __future__ import annotations

from promptlint_report.document import Basis, Column, Figure, Section, Table, Unit
from promptlint_report.material import THIS, Material, ratio
from promptlint_report.requests import usd


def build(material: Material) -> Section:
    this, last = material.this, material.last
    basis = material.output_basis()
    figures = (
        Figure(
            "unbounded_requests",
            "Requests without an output bound",
            this["unbounded"],
            Unit.REQUESTS,
            Basis.REPORTED,
            last["unbounded"] if last else None,
        ),
        Figure(
            "unbounded_share",
            "Share of requests without a bound",
            ratio(this["unbounded"], this["requests"] - this["failed"]),
            Unit.SHARE,
            Basis.REPORTED,
            ratio(last["unbounded"], last["requests"] - last["failed"]) if last else None,
        ),
        Figure(
            "unbounded_output",
            "Output of those",
            this["unbounded_output"],
            Unit.TOKENS,
            basis,
            last["unbounded_output"] if last else None,
        ),
        Figure(
            "unbounded_usd",
            "Spend on that output",
            usd(this["cost_unbounded"]),
            Unit.USD,
            basis,
            usd(last["cost_unbounded"]) if last else None,
            "",
            material.price_note,
        ),
        Figure(
            "unbounded_max",
            "Longest of those",
            this["unbounded_max"],
            Unit.TOKENS,
            basis,
            last["unbounded_max"] if last else None,
        ),
        Figure(
            "cut_off",
            "Answers cut off at their bound",
            this["cut_off"],
            Unit.REQUESTS,
            Basis.REPORTED,
            last["cut_off"] if last else None,
        ),
    )
    return Section("outputs", "Outputs", figures, (_by_route(material),))


def _by_route(material: Material) -> Table:
    sums = material.sums("week", "route", "prompt_group")
    found = material.run(sums.filter((sums.week == THIS) & (sums.unbounded > 0)))
    found.sort(key=lambda row: (-row["unbounded_output"], row["route"], row["prompt_group"]))
    basis = material.output_basis()
    columns = (
        Column("route", "Route", Unit.TEXT),
        Column("prompt_group", "Prompt group", Unit.TEXT),
        Column("unbounded_requests", "Without a bound", Unit.REQUESTS, Basis.REPORTED),
        Column("unbounded_mean", "Mean output", Unit.TOKENS, basis),
        Column("unbounded_max", "Longest output", Unit.TOKENS, basis),
        Column("unbounded_usd", "Spend on output", Unit.USD, basis),
    )
    rows = tuple(
        (
            row["route"] or "(none)",
            row["prompt_group"] or "(none)",
            row["unbounded"],
            ratio(row["unbounded_output"], row["unbounded_output_rows"]),
            row["unbounded_max"],
            usd(row["cost_unbounded"]),
        )
        for row in found[: material.options.top]
    )
    return Table("unbounded", "Unbounded outputs and what they used", columns, rows, "", material.price_note)
