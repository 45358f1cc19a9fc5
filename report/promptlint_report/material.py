"""What every section of the report is made from: the rows, the priced cells and the totals of two weeks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from promptlint_report import expressions as ir
from promptlint_report.document import Basis, basis_of
from promptlint_report.engine import Engine
from promptlint_report.period import Period
from promptlint_report.prices import Rates
from promptlint_report.requests import CELL

THIS, LAST = 0, -1
Row = dict[str, Any]
MAXIMA = (
    "prompt_max",
    "unbounded_max",
    "retrieved_max",
    "passages_max",
    "kv_max",
    "kv_in_flight_max",
    "kv_pool",
)
_NO_SUMS = frozenset({"r_input", "r_read", "r_write_5m", "r_write_1h", "r_output", *CELL, *MAXIMA})


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asks of the report beside the week."""

    now: datetime
    budget_usd: float | None = None
    """For one week."""
    ttft_objective_s: float = 2.0
    itl_objective_s: float = 0.1
    min_requests: int = 50
    """Requests a day below which nothing is called an anomaly, a trend or a change."""
    top: int = 20
    """Rows of a table."""


@dataclass(frozen=True, slots=True)
class Material:
    engine: Engine
    period: Period
    options: Options
    rows: ir.Table
    """Exchanges of the week and the weeks ahead: see `requests.in_period`."""
    cells: ir.Table
    """See `requests.priced`."""
    findings: ir.Table
    groups: ir.Table
    rates: dict[str, Rates | None]
    totals: dict[int, Row] = field(default_factory=dict)
    """Sums of a week by its number: 0 this week, -1 the last."""

    @property
    def this(self) -> Row:
        return self.totals[THIS]

    @property
    def last(self) -> Row | None:
        """None where the store has nothing of last week."""
        return self.totals.get(LAST)

    @property
    def price_note(self) -> str:
        """Source and date of the prices that the week's figures in money rest on."""
        used = sorted({f"{rates.source}, {rates.date}" for rates in self.rates.values() if rates is not None})
        return "; ".join(used)

    def sums(self, *by: str) -> ir.Table:
        """All sums and maxima of the cells by some of their columns."""
        return sums_of(self.cells, *by)

    def run(self, expression: ir.Table) -> list[Row]:
        return self.engine.run(expression)

    def money_basis(self, row: Row | None = None) -> Basis:
        """A cost is as good as the token counts it is made of."""
        row = row or self.this
        reported = min(row["hit_reported_rows"], row["output_reported_rows"])
        whole = row["billed_requests"]
        return basis_of(reported, whole - reported)

    def hit_basis(self, row: Row | None = None) -> Basis:
        row = row or self.this
        return basis_of(row["hit_reported_rows"], row["hit_estimated_rows"] + row["hit_unknown_rows"])

    def prompt_basis(self, row: Row | None = None) -> Basis:
        row = row or self.this
        return basis_of(row["prompt_reported_rows"], row["prompt_rows"] - row["prompt_reported_rows"])

    def output_basis(self, row: Row | None = None) -> Basis:
        row = row or self.this
        return basis_of(row["output_reported_rows"], row["output_rows"] - row["output_reported_rows"])


def sums_of(cells: ir.Table, *by: str) -> ir.Table:
    measures = {name: cells[name].sum() for name in cells.columns if name not in _NO_SUMS}
    peaks = {name: cells[name].max() for name in MAXIMA}
    return cells.group_by(*by).aggregate(**measures, **peaks)


def ratio(part: float | None, whole: float | None) -> float | None:
    """A share or mean; None where there is nothing to divide by.

    >>> ratio(1, 4), ratio(1, 0), ratio(None, 2)
    (0.25, None, None)
    """
    return part / whole if part is not None and whole else None


def known(total: int, rows: int) -> int | None:
    """A sum over the rows that tell; None where none does.

    >>> known(5, 1), known(0, 3), known(0, 0)
    (5, 0, None)
    """
    return total if rows else None


def requests(count: int) -> str:
    """A number of requests in words.

    >>> requests(1), requests(2000)
    ('1 request', '2,000 requests')
    """
    return f"{count:,} request{'' if count == 1 else 's'}"
