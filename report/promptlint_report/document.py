"""A finished report, in one shape for all output formats: sections of figures, tables, charts and prompt strips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

JSON_VERSION = 1
"""Version of the report's JSON form: raised when a key goes or changes its meaning."""

Cell = str | int | float | None


class Unit(StrEnum):
    """What a number counts: renderers format by it, and columns of one unit can be summed."""

    USD = "usd"
    TOKENS = "tokens"
    REQUESTS = "requests"
    SHARE = "share"
    """0 to 1."""
    SECONDS = "s"
    BYTES = "bytes"
    RATIO = "ratio"
    COUNT = "count"
    TEXT = "text"


class Basis(StrEnum):
    """How a number is known. It is told beside every number."""

    REPORTED = "reported"
    """By the provider's or engine's usage fields, or measured by the proxy's own clock."""
    ESTIMATED = "estimated"
    """By promptlint's tokenizers and models of prefix caches."""
    MIXED = "mixed"
    """Rows of both kinds."""
    UNKNOWN = "unknown"


def basis_of(reported_rows: int, estimated_rows: int) -> Basis:
    """The basis of a sum over rows of both kinds.

    >>> str(basis_of(3, 0)), str(basis_of(3, 1)), str(basis_of(0, 0))
    ('reported', 'mixed', 'unknown')
    """
    if reported_rows and estimated_rows:
        return Basis.MIXED
    if reported_rows:
        return Basis.REPORTED
    return Basis.ESTIMATED if estimated_rows else Basis.UNKNOWN


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. Its `id` names its definition."""

    id: str
    label: str
    value: Cell
    unit: Unit
    basis: Basis
    before: Cell = None
    """The same number a week earlier; None: not known or not comparable."""
    note: str = ""
    price: str = ""
    """Where the prices behind a figure in money come from, with their date."""


@dataclass(frozen=True, slots=True)
class Column:
    id: str
    label: str
    unit: Unit
    basis: Basis | None = None
    """None for columns that name things."""


@dataclass(frozen=True, slots=True)
class Table:
    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """What was left out, or how to read it."""
    price: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    kind: str
    """`line` or `bar`."""
    unit: Unit
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    summary: str
    """The chart in one sentence, for those who do not see it."""


@dataclass(frozen=True, slots=True)
class StripSegment:
    part: str
    path: str
    cadence: str
    origin: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Strip:
    """The observed segments of a prompt group, drawn to scale."""

    group: str
    title: str
    segments: tuple[StripSegment, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """The change to make for one missed-savings row: the source line, the rule, the diff or the advice."""

    group: str
    rule: str
    path: str
    """Place on the wire."""
    place: str
    """`file:line`, or a sentence that says why there is none."""
    text: str
    diff: str = ""
    source_rule: str = ""
    """The rule of the finding at `place`: mostly the same as `rule`; empty where there is no finding."""


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    strips: tuple[Strip, ...] = ()
    advice: tuple[Advice, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows or files that no figure counts, and why."""

    what: str
    """In the plural."""
    count: int
    why: str

    @property
    def sentence(self) -> str:
        """What was left out and why, in words.

        >>> LeftOut("exchanges", 1, "without a time: of no week").sentence
        '1 exchange: without a time: of no week'
        """
        return f"{self.count:,} {self.what[:-1] if self.count == 1 else self.what}: {self.why}"


@dataclass(frozen=True, slots=True)
class PriceLine:
    """Prices used, in USD per million tokens; None: the kind has no price of its own."""

    provider: str
    model: str
    tier: str
    input_usd: float
    read_usd: float
    write_5m_usd: float
    write_1h_usd: float
    output_usd: float
    source: str
    date: str
    requests: int


@dataclass(frozen=True, slots=True)
class Charge:
    """The tokens of one kind and price that one day, model, route and label used: a line of a FOCUS file."""

    starts_at: str
    ends_at: str
    month_starts_at: str
    month_ends_at: str
    provider: str
    model: str
    tier: str
    route: str
    tags: str
    """JSON of the labels; empty where there is none."""
    meter: str
    """`input`, `cache read`, `cache write` with its life, or `output`."""
    tokens: int
    unit_usd: Decimal
    """For one token, exact."""

    @property
    def usd(self) -> Decimal:
        return self.unit_usd * self.tokens


@dataclass(frozen=True, slots=True)
class Report:
    week: str
    starts_at: str
    ends_at: str
    timezone: str
    made_at: str
    engine: str
    summary: str
    """The week in one sentence."""
    sections: tuple[Section, ...] = ()
    prices: tuple[PriceLine, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    charges: tuple[Charge, ...] = ()
    """Filled only for formats that list charges: one line a day, label and kind of token."""
    version: int = field(default=JSON_VERSION)

    def figures(self) -> Iterator[tuple[Section, Figure]]:
        for section in self.sections:
            for figure in section.figures:
                yield section, figure

    def figure(self, name: str) -> Figure:
        """The figure of that id. Raises KeyError."""
        for _, figure in self.figures():
            if figure.id == name:
                return figure
        raise KeyError(name)

    def table(self, name: str) -> Table:
        """The table of that id. Raises KeyError."""
        for section in self.sections:
            for table in section.tables:
                if table.id == name:
                    return table
        raise KeyError(name)
