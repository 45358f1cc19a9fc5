"""What one exchange costs, by hand."""

from __future__ import annotations

import pytest
from factories import exchange, request, response

from promptlint_core.exchange import Usage
from promptlint_report.exchange_cost import ExchangePrices
from promptlint_report.price_file import parse_prices
from promptlint_report.prices import PriceBook

PRICES = b"""
source = "a test"
date = "2026-11-01"
[[price]]
model = "claude-a"
input_usd_per_mtok = 10
read_usd_per_mtok = 1
write_5m_usd_per_mtok = 12.5
write_1h_usd_per_mtok = 20
output_usd_per_mtok = 50
"""

USAGE = {
    # 600 × 10 + 400 × 1 + 100 × 50 = 11,400 per million
    "read": (Usage(1000, 400, None, 600, 100), 0.0114),
    # 100 × 10 + 400 × 1 + 500 × 12.5 + 100 × 50 = 12,650
    "written for five minutes": (Usage(1000, 400, 500, 100, 100), 0.01265),
    # … of which 200 for an hour: 300 × 12.5 + 200 × 20 instead of 6,250: 14,150
    "written for both lives": (Usage(1000, 400, 500, 100, 100, written_by_life=((300, 300), (3600, 200))), 0.01415),
    "output unknown": (Usage(1000, 400, None, 600, None), None),
    "hits unknown": (Usage(1000, None, None, None, 100), None),
}


@pytest.mark.parametrize(("usage", "usd"), USAGE.values(), ids=USAGE.keys())
def test_each_kind_of_token_has_its_price(usage: Usage, usd: float | None) -> None:
    prices = ExchangePrices(PriceBook([parse_prices(PRICES, "test", is_toml=True)]))
    asked = exchange(0, request(provider="anthropic", model="claude-a"), response(usage=usage))

    assert prices.cost_usd(asked, usage) == usd
    assert prices.sources == (() if usd is None else ("a test (2026-11-01)",))


def test_an_engine_of_ones_own_has_no_list_price() -> None:
    usage = Usage(1000, 400, None, 600, 100)
    asked = exchange(0, request(provider="vllm", model="Qwen/Qwen3-8B"), response(usage=usage))

    assert ExchangePrices().cost_usd(asked, usage) is None


def test_listed_prices_of_the_day_are_found_without_a_network() -> None:
    usage = Usage(1000, 400, None, 600, 100)
    asked = exchange(0, request(provider="openai", model="gpt-4o"), response(usage=usage))

    # 600 × 2.5 + 400 × 1.25 + 100 × 10 USD per million
    assert ExchangePrices().cost_usd(asked, usage) == pytest.approx(0.003)
