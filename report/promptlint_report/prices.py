"""What a token costs: one small interface over the user's own prices, the `genai-prices` data and our dated table.

All offline. A price is known with its source and date, or it is not known; it is never taken as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Protocol

UNITS_PER_USD = 10**10
"""Rates and costs are whole numbers of 1e-10 USD, so that sums are exact and equal on every engine."""
_PER_MTOK = UNITS_PER_USD // 10**6

STANDARD_TIERS = frozenset({"", "default", "auto", "standard", "on_demand", "standard_only"})
HALVED_TIERS = frozenset({"batch", "flex"})
"""OpenAI, Azure, Anthropic, Gemini and Bedrock sell these at half of the standard price."""
_HALVING_PROVIDERS = frozenset({"openai", "azure", "anthropic", "gemini", "google", "vertex", "bedrock", "aws"})


@dataclass(frozen=True, slots=True)
class Rates:
    """What each kind of token costs, in 1e-10 USD a token."""

    input: int
    read: int
    """Read from the cache."""
    write_5m: int
    """Written to the cache at the standard life."""
    write_1h: int
    """Written with a life of an hour or more."""
    output: int
    source: str
    date: str

    def scaled(self, numerator: int, denominator: int, why: str) -> Rates:
        def scale(rate: int) -> int:
            return rate * numerator // denominator

        return Rates(
            scale(self.input),
            scale(self.read),
            scale(self.write_5m),
            scale(self.write_1h),
            scale(self.output),
            f"{self.source}; {why}",
            self.date,
        )


def per_mtok(usd: Decimal | float | str) -> int:
    """USD per million tokens as a rate.

    >>> per_mtok("1.25"), per_mtok(Decimal("0.0028"))
    (12500, 28)
    """
    return int((Decimal(str(usd)) * _PER_MTOK).to_integral_value())


@dataclass(frozen=True, slots=True)
class Priced:
    """What a price is asked for."""

    provider: str
    served_by: str
    model: str
    tier: str
    at: datetime
    """UTC."""
    prompt_tokens: int
    """Decides the tier of models that cost more above a prompt size."""


class PriceSource(Protocol):
    def rates(self, asked: Priced) -> Rates | None:
        """The rates, or None where this source knows none."""
        ...

    def prompt_steps(self) -> frozenset[int]:
        """Prompt sizes above which some price changes."""
        ...

    def day_steps_s(self) -> frozenset[int]:
        """Seconds after midnight UTC at which some price changes."""
        ...

    def date_steps(self) -> frozenset[datetime]:
        """Moments at which some price changes for good."""
        ...


@dataclass(frozen=True, slots=True)
class PriceEntry:
    """One line of a price file."""

    model: str
    """Exact name, or a pattern with `*`."""
    rates: Rates
    providers: tuple[str, ...] = ("*",)
    """Exact names or patterns; `*` is any."""
    tier: str = ""
    above_prompt_tokens: int = 0
    from_s: int = 0
    """Part of the day it holds for, in seconds after midnight UTC."""
    until_s: int = 86_400
    since: datetime | None = None

    def holds(self, asked: Priced, model: str) -> bool:
        second = asked.at.hour * 3600 + asked.at.minute * 60 + asked.at.second
        inside = self.from_s <= second < self.until_s
        if self.from_s > self.until_s:
            inside = second >= self.from_s or second < self.until_s
        return (
            fnmatchcase(model, self.model)
            and any(fnmatchcase(asked.provider, name) or fnmatchcase(asked.served_by, name) for name in self.providers)
            and self.tier == ("" if asked.tier in STANDARD_TIERS else asked.tier)
            and asked.prompt_tokens > self.above_prompt_tokens - (self.above_prompt_tokens == 0)
            and inside
            and (self.since is None or asked.at >= self.since)
        )


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices from a file."""

    entries: tuple[PriceEntry, ...]

    def rates(self, asked: Priced) -> Rates | None:
        for model in model_names(asked.model):
            found = [entry for entry in self.entries if entry.holds(asked, model)]
            if found:
                return max(found, key=_closeness).rates
        return None

    def prompt_steps(self) -> frozenset[int]:
        return frozenset(entry.above_prompt_tokens for entry in self.entries if entry.above_prompt_tokens)

    def day_steps_s(self) -> frozenset[int]:
        edges = {edge for entry in self.entries for edge in (entry.from_s, entry.until_s)}
        return frozenset(edges - {0, 86_400})

    def date_steps(self) -> frozenset[datetime]:
        return frozenset(entry.since for entry in self.entries if entry.since is not None)


def _closeness(entry: PriceEntry) -> tuple[object, ...]:
    """Of several lines that hold, the one that says most counts."""
    return (
        "*" not in entry.model,
        len(entry.model),
        entry.providers != ("*",),
        entry.since.timestamp() if entry.since else 0.0,
        entry.above_prompt_tokens,
        entry.until_s - entry.from_s != 86_400,
    )


def model_names(model: str) -> list[str]:
    """The names under which a model may be listed, closest first: routers and clouds put prefixes and dates around it.

    >>> model_names("anthropic/claude-sonnet-5")[:2]
    ['anthropic/claude-sonnet-5', 'claude-sonnet-5']
    """
    whole = model.lower()
    names = [whole, *([whole.rsplit("/", 1)[1]] if "/" in whole else [])]
    for name in list(names):
        # us.anthropic.claude-…-v1:0 (Bedrock), model@20250929 (Vertex), model-2025-09-29, model:free (OpenRouter)
        bare = name.split("anthropic.")[-1].split("@")[0].split(":")[0]
        bare = bare.removesuffix("-v1").removesuffix("-v2")
        for length in (11, 9):
            tail = bare[-length:]
            if len(bare) > length and tail[0] == "-" and tail[1:].replace("-", "").isdigit() and "20" in tail[1:3]:
                bare = bare[:-length]
        names.append(bare)
    return list(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Several price sources; the first that knows a price counts."""

    sources: Sequence[PriceSource]

    def rates(self, asked: Priced) -> Rates | None:
        if found := self._first(asked):
            return found
        if asked.tier in HALVED_TIERS and asked.provider in _HALVING_PROVIDERS:
            standard = self._first(
                Priced(asked.provider, asked.served_by, asked.model, "", asked.at, asked.prompt_tokens)
            )
            return standard.scaled(1, 2, f"half for {asked.tier}") if standard else None
        return None

    def _first(self, asked: Priced) -> Rates | None:
        for source in self.sources:
            if (found := source.rates(asked)) is not None:
                return found
        return None

    def prompt_steps(self) -> list[int]:
        return sorted({step for source in self.sources for step in source.prompt_steps()})

    def day_steps_s(self) -> list[int]:
        return sorted({step for source in self.sources for step in source.day_steps_s()})

    def date_steps(self, start: datetime, end: datetime) -> list[datetime]:
        """The moments between two others at which some price changes."""
        steps = {step for source in self.sources for step in source.date_steps()}
        return sorted(step for step in steps if start < step < end)


@dataclass(frozen=True, slots=True)
class Band:
    """Requests that one price holds for: a step of prompt size, of the day and of time."""

    prompt: int
    day: int
    date: int

    @property
    def number(self) -> int:
        return self.prompt * 10_000 + self.day * 100 + self.date

    @staticmethod
    def of(number: int) -> Band:
        """The band of that number.

        >>> Band.of(Band(2, 1, 3).number)
        Band(prompt=2, day=1, date=3)
        """
        return Band(number // 10_000, number // 100 % 100, number % 100)

    def asked(self, book: PriceBook, start: datetime, end: datetime) -> tuple[datetime, int]:
        """A moment and a prompt size inside the band."""
        dates = book.date_steps(start, end)
        day = start.astimezone(UTC) if self.date == 0 else dates[self.date - 1]
        midnight = day.replace(hour=0, minute=0, second=0, microsecond=0)
        second = 0 if self.day == 0 else book.day_steps_s()[self.day - 1]
        moment = midnight + timedelta(seconds=second)
        if moment < day:
            moment += timedelta(days=1)
        size = 0 if self.prompt == 0 else book.prompt_steps()[self.prompt - 1] + 1
        return moment, size
