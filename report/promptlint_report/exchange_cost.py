"""What one exchange costs: the report's prices for replays, which have no records."""

from __future__ import annotations

from datetime import UTC, datetime

from promptlint_core.exchange import Exchange, Usage
from promptlint_report.price_lists import price_lists
from promptlint_report.prices import UNITS_PER_USD, PriceBook, Priced

_FIRST_REAL_S = 1_000_000_000
"""Replays may count seconds from any zero; smaller times are no dates, and today's prices are taken."""
_LONG_LIFE_S = 3600


class ExchangePrices:
    """Prices of `genai-prices`, where it is installed, then of our dated table."""

    def __init__(self, book: PriceBook | None = None) -> None:
        self._book = book or PriceBook(price_lists())
        self._sources: dict[str, None] = {}

    @property
    def sources(self) -> tuple[str, ...]:
        """Source and date of the prices that were told."""
        return tuple(self._sources)

    def cost_usd(self, exchange: Exchange, usage: Usage) -> float | None:
        """USD of the tokens; None where a count is missing or no price is known.

        cost = computed × input + read × cache read + written × cache write of their life + output × output.
        """
        prompt_tokens, hit_tokens, output_tokens = usage.prompt_tokens, usage.hit_tokens, usage.output_tokens
        if prompt_tokens is None or hit_tokens is None or output_tokens is None:
            return None
        request = exchange.request
        started_at = exchange.timing.started_at
        rates = self._book.rates(
            Priced(
                provider=request.provider,
                served_by=exchange.response.served_by or "",
                model=request.model or exchange.response.model or "",
                tier=dict(request.parameters).get("service_tier", "").strip('"').lower(),
                at=datetime.fromtimestamp(started_at, UTC) if started_at >= _FIRST_REAL_S else datetime.now(UTC),
                prompt_tokens=prompt_tokens,
            )
        )
        if rates is None:
            return None
        self._sources[f"{rates.source} ({rates.date})"] = None
        written = usage.written_tokens or 0
        long = min(written, sum(tokens for life_s, tokens in usage.written_by_life if life_s >= _LONG_LIFE_S))
        units = (
            max(0, prompt_tokens - hit_tokens - written) * rates.input
            + hit_tokens * rates.read
            + (written - long) * rates.write_5m
            + long * rates.write_1h
            + output_tokens * rates.output
        )
        return units / UNITS_PER_USD
