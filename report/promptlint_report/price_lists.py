"""The price lists that need no file of the user: `genai-prices` and our dated table, the newer one first."""

from __future__ import annotations

from importlib.util import find_spec

from promptlint_report.genai_source import GenaiPrices, genai_release
from promptlint_report.price_file import own_prices, own_prices_are_newer
from promptlint_report.prices import PriceSource


def price_lists() -> tuple[PriceSource, ...]:
    """The lists in the order in which they are asked; without `genai-prices` ours stands alone."""
    own = own_prices()
    if find_spec("genai_prices") is None:
        return (own,)
    installed = GenaiPrices()
    return (own, installed) if own_prices_are_newer(genai_release()) else (installed, own)
