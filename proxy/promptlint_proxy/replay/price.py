"""What tokens cost, as replays are told: prices themselves live above this package and are handed in."""

from __future__ import annotations

from typing import Protocol

from promptlint_core.exchange import Exchange, Usage

COST_DIGITS = 8
"""A cached token costs as little as 1e-8 USD."""


class Price(Protocol):
    """A book of prices that remembers what it was asked."""

    def cost_usd(self, exchange: Exchange, usage: Usage) -> float | None:
        """USD of so many tokens at the model, the provider and the time of an exchange; None where a count or the
        price is not known."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the prices that were told come from, with their dates."""
        ...
