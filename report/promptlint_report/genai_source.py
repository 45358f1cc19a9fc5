"""The prices that the installed `genai-prices` carries, read without a network."""

from __future__ import annotations

import importlib.metadata
from datetime import UTC, datetime, time
from decimal import Decimal
from functools import cache
from typing import Any

from promptlint_report.prices import STANDARD_TIERS, Priced, Rates, per_mtok

PROVIDERS = {
    "openai": "openai",
    "azure": "azure",
    "anthropic": "anthropic",
    "bedrock": "aws",
    "aws": "aws",
    "gemini": "google",
    "google": "google",
    "vertex": "google",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "openrouter": "openrouter",
    "xai": "x-ai",
    "groq": "groq",
    "together": "together",
    "fireworks": "fireworks",
    "cohere": "cohere",
    "perplexity": "perplexity",
    "moonshot": "moonshotai",
    "cerebras": "cerebras",
}
"""Our names of providers to theirs. Engines that one runs oneself are not in it: their tokens have no list price."""

_LONG_WRITE = (8, 5)
"""Anthropic sells writes of an hour at 2 x input and of five minutes at 1.25 x input: 8/5 of each other."""


class GenaiPrices:
    """A price source over the snapshot inside the installed package."""

    def rates(self, asked: Priced) -> Rates | None:
        provider = PROVIDERS.get(asked.provider)
        if provider is None or asked.tier not in STANDARD_TIERS or not asked.model:
            return None
        try:
            _, model = _snapshot().find_provider_model(asked.model, None, provider, None)
        except LookupError:
            return None
        price = model.get_prices(asked.at)
        standard = _at(price.input_mtok, asked.prompt_tokens)
        output = _at(price.output_mtok, asked.prompt_tokens)
        if standard is None or output is None:
            return None
        read = _at(price.cache_read_mtok, asked.prompt_tokens)
        write = _at(price.cache_write_mtok, asked.prompt_tokens)
        rate = per_mtok(standard)
        write_5m = rate if write is None else per_mtok(write)
        write_1h = write_5m * _LONG_WRITE[0] // _LONG_WRITE[1] if write is not None else rate
        version, date = _edition()
        return Rates(
            input=rate,
            read=rate if read is None else per_mtok(read),
            write_5m=write_5m,
            write_1h=write_1h,
            output=per_mtok(output),
            source=f"genai-prices {version}",
            date=date,
        )

    def prompt_steps(self) -> frozenset[int]:
        return _steps()[0]

    def day_steps_s(self) -> frozenset[int]:
        return _steps()[1]

    def date_steps(self) -> frozenset[datetime]:
        return _steps()[2]


def genai_release() -> str:
    """The version of the installed package."""
    return importlib.metadata.version("genai-prices")


def _at(price: Any, prompt_tokens: int) -> Decimal | None:
    if price is None or isinstance(price, Decimal):
        return price
    value: Decimal = price.base
    for tier in price.tiers:
        if prompt_tokens > tier.start:
            value = tier.price
    return value


@cache
def _snapshot() -> Any:
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot()


@cache
def _edition() -> tuple[str, str]:
    """Version of the package and the newest date in its data: the state that its prices are known to have."""
    version = genai_release()
    dates = [step for step in _steps()[2] if step <= datetime.now(UTC)]
    newest = max(dates).date().isoformat() if dates else "unknown"
    return version, f"release {version}, newest dated change {newest}"


@cache
def _steps() -> tuple[frozenset[int], frozenset[int], frozenset[datetime]]:
    sizes: set[int] = set()
    seconds: set[int] = set()
    dates: set[datetime] = set()
    for provider in _snapshot().providers:
        for model in provider.models:
            conditional = model.prices if isinstance(model.prices, list) else []
            for part in conditional:
                limit = part.constraint
                if hasattr(limit, "start_date"):
                    dates.add(datetime.combine(limit.start_date, time(), UTC))
                elif hasattr(limit, "start_time"):
                    seconds |= {_second(limit.start_time), _second(limit.end_time)}
            for price in [part.prices for part in conditional] or [model.prices]:
                for field in ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok"):
                    sizes |= {tier.start for tier in getattr(getattr(price, field, None), "tiers", ())}
    return frozenset(sizes), frozenset(seconds - {0}), frozenset(dates)


def _second(moment: time) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second
