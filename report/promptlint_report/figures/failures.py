"""Failures and retries, and the tokens that retries sent again."""

from __future__ import annotations

from promptlint_report.document import Basis, Column, Figure, Section, Table, Unit
from promptlint_report.material import THIS, Material, ratio


def build(material: Material) -> Section:
    this, last = material.this, material.last
    figures = (
        Figure(
            "failed",
            "Failed requests",
            this["failed"],
            Unit.REQUESTS,
            Basis.REPORTED,
            last["failed"] if last else None,
        ),
        Figure(
            "failed_share",
            "Share that failed",
            ratio(this["failed"], this["requests"]),
            Unit.SHARE,
            Basis.REPORTED,
            ratio(last["failed"], last["requests"]) if last else None,
        ),
        Figure("retries", "Retries", this["retries"], Unit.REQUESTS, Basis.REPORTED, last["retries"] if last else None),
        Figure(
            "retry_tokens",
            "Prompt tokens sent again",
            this["retry_tokens"],
            Unit.TOKENS,
            material.prompt_basis(),
            last["retry_tokens"] if last else None,
        ),
    )
    return Section("failures", "Failures and retries", figures, (_errors(material),))


def _errors(material: Material) -> Table:
    rows = material.rows
    wrong = rows.filter((rows.week == THIS) & rows.failed)
    counted = wrong.group_by("route", status=wrong.status.coalesce(0), error=wrong.error.coalesce("")).aggregate(
        requests=wrong.count()
    )
    found = material.run(counted)
    found.sort(key=lambda row: (-row["requests"], row["route"], row["status"], row["error"]))
    columns = (
        Column("route", "Route", Unit.TEXT),
        Column("status", "Status", Unit.TEXT),
        Column("error", "Error", Unit.TEXT),
        Column("failed", "Requests", Unit.REQUESTS, Basis.REPORTED),
    )
    lines = tuple(
        (row["route"] or "(none)", str(row["status"] or "no answer"), row["error"] or "(none)", row["requests"])
        for row in found[: material.options.top]
    )
    return Table("errors", "Errors", columns, lines)
