"""Prices: where they come from, what they hold for, and that an unknown one is unknown."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_report.make import price_book
from promptlint_report.price_file import parse_prices
from promptlint_report.prices import Band, Priced

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


def asked(model: str, provider: str = "openai", *, tier: str = "", at: datetime = NOON, prompt: int = 1000) -> Priced:
    return Priced(provider, "", model, tier, at, prompt)


# name, what is asked, (input, read, write 5 min, write 1 h, output) in USD per million tokens
LISTED = [
    ("reads have their price", asked("gpt-4o"), (2.5, 1.25, 2.5, 2.5, 10)),
    ("writes by life", asked("claude-sonnet-4-5", "anthropic"), (3, 0.3, 3.75, 6, 15)),
    (
        "a dearer tier above a prompt size",
        asked("gpt-5.4", prompt=300_000),
        (5, 0.5, 5, 5, 22.5),
    ),
    ("a tier of a new model", asked("claude-haiku-5-5", "anthropic", prompt=100_001), (0.5, 0.05, 0.625, 1, 2.5)),
    ("a tier of writes", asked("gpt-6-astra", prompt=272_001), (20, 2, 25, 50, 75)),
    (
        "a price that changed",
        asked("deepseek-v4-pro", "deepseek", at=NOON.replace(hour=2)),
        (1.32, 0.044, 1.32, 1.32, 3.96),
    ),
    ("off-peak", asked("deepseek-v4-pro", "deepseek", at=NOON.replace(hour=5)), (0.66, 0.022, 0.66, 0.66, 1.98)),
    ("a model that only genai-prices lists", asked("gpt-3.5-turbo"), (0.5, 0.5, 0.5, 0.5, 1.5)),
    ("a model newer than genai-prices", asked("gpt-5.6-terra"), (2, 0.2, 2.5, 5, 12)),
    ("a dated name", asked("gpt-5.6-terra-2026-08-01"), (2, 0.2, 2.5, 5, 12)),
    ("a router's name", asked("openai/gpt-5.6-terra", "openrouter"), (2, 0.2, 2.5, 5, 12)),
    ("half for batch", asked("gpt-4o", tier="batch"), (1.25, 0.625, 1.25, 1.25, 5)),
]


@pytest.mark.parametrize(("priced", "usd"), [row[1:] for row in LISTED], ids=[row[0] for row in LISTED])
def test_a_listed_price(priced: Priced, usd: tuple[float, ...]) -> None:
    rates = price_book([]).rates(priced)

    assert rates is not None
    assert usd == tuple(
        rate / 10_000 for rate in (rates.input, rates.read, rates.write_5m, rates.write_1h, rates.output)
    )
    assert rates.source
    assert rates.date


UNKNOWN = [
    ("a model that nobody lists", asked("made-up-model")),
    ("an open model that one serves oneself", asked("deepseek-v4-pro", "vllm")),
    ("a tier without a price", asked("gpt-4o", tier="priority")),
    ("no model", asked("")),
]


@pytest.mark.parametrize("priced", [row[1] for row in UNKNOWN], ids=[row[0] for row in UNKNOWN])
def test_an_unknown_price_is_unknown(priced: Priced) -> None:
    assert price_book([]).rates(priced) is None


def test_the_price_goes_by_the_time_of_day() -> None:
    book = price_book([])
    day = book.rates(asked("deepseek-chat", "deepseek"))
    night = book.rates(asked("deepseek-chat", "deepseek", at=NOON.replace(hour=20)))

    assert day is not None
    assert night is not None
    assert day.input > night.input


def test_a_file_goes_ahead_of_the_lists(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'source = "contract"\ndate = 2026-10-01\n[[price]]\nmodel = "gpt-4*"\n'
        "input_usd_per_mtok = 2\noutput_usd_per_mtok = 8\n"
    )

    rates = price_book([path]).rates(asked("gpt-4o"))

    assert rates is not None
    assert (20_000, 20_000, 80_000) == (rates.input, rates.read, rates.output)
    assert ("contract", "2026-10-01") == (rates.source, rates.date)


@pytest.mark.parametrize(
    ("release", "first"),
    [
        ("0.0.60", "promptlint's table"),
        ("0.0.61", "promptlint's table"),
        ("0.0.62", "genai-prices"),
        ("1.0", "genai-prices"),
    ],
)
def test_the_newer_list_goes_first(monkeypatch: pytest.MonkeyPatch, release: str, first: str) -> None:
    monkeypatch.setattr("promptlint_report.price_lists.genai_release", lambda: release)

    rates = price_book([]).rates(asked("gpt-4o"))

    assert rates is not None
    assert rates.source.startswith(first)


def test_the_litellm_form_is_read() -> None:
    form = {
        "sample_spec": {"input_cost_per_token": 0},
        "m": {
            "input_cost_per_token": 3e-06,
            "output_cost_per_token": 1.5e-05,
            "cache_read_input_token_cost": 3e-07,
            "cache_creation_input_token_cost": 3.75e-06,
            "cache_creation_input_token_cost_above_1hr": 6e-06,
            "input_cost_per_token_above_200k_tokens": 6e-06,
            "output_cost_per_token_above_200k_tokens": 2.25e-05,
            "input_cost_per_token_batches": 1.5e-06,
        },
    }
    table = parse_prices(json.dumps(form).encode(), "map.json", is_toml=False)

    assert table.prompt_steps() == {200_000}
    small, large = table.rates(asked("m")), table.rates(asked("m", prompt=200_001))
    batch = table.rates(asked("m", tier="batch"))
    assert small is not None and large is not None and batch is not None  # noqa: PT018
    assert (30_000, 3000, 37_500, 60_000, 150_000) == (
        small.input,
        small.read,
        small.write_5m,
        small.write_1h,
        small.output,
    )
    assert (60_000, 225_000) == (large.input, large.output)
    assert batch.input == 15_000
    assert table.rates(asked("sample_spec")) is None


def test_a_self_hosted_model_is_priced_by_gpu_seconds() -> None:
    text = b"""date = "2026-11-01"
[[self_hosted]]
model = "llama-*"
provider = "vllm"
gpu_usd_per_hour = 3.6
gpus = 2
prefill_tokens_per_s = 10000
decode_tokens_per_s = 500
throughput = "measured"
"""
    rates = parse_prices(text, "gpu.toml", is_toml=True).rates(asked("llama-3", "vllm"))

    # two GPUs cost 0.002 USD a second: 0.2 USD for a million prompt tokens, 4 USD for a million output tokens
    assert rates is not None
    assert (2000, 0, 40_000) == (rates.input, rates.read, rates.output)
    assert "measured" in rates.source


BROKEN = [
    ("no TOML", b"[[price", "is no TOML"),
    ("no prices", b"x = 1", "holds no prices"),
    ("a missing key", b'[[price]]\nmodel="m"\ninput_usd_per_mtok=1', "`output_usd_per_mtok` is missing"),
    ("an unknown key", b'[[price]]\nmodel="m"\ninput_usd=1', "unknown key input_usd"),
    ("a negative price", b'[[price]]\nmodel="m"\ninput_usd_per_mtok=-1\noutput_usd_per_mtok=1', "is no price"),
    (
        "a time that is none",
        b'[[price]]\nmodel="m"\ninput_usd_per_mtok=1\noutput_usd_per_mtok=1\nfrom="9 am"',
        "time of day",
    ),
    ("no throughput", b'[[self_hosted]]\nmodel="m"\ngpu_usd_per_hour=1', "`prefill_tokens_per_s` is missing"),
]


@pytest.mark.parametrize(("data", "says"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_price_file_is_explained(data: bytes, says: str) -> None:
    with pytest.raises(PromptlintError, match=says):
        parse_prices(data, "own.toml", is_toml=True)


def test_every_band_has_a_moment_and_a_size_inside() -> None:
    book = price_book([])
    start, end = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 30, tzinfo=UTC)
    for prompt in range(len(book.prompt_steps()) + 1):
        for day in range(len(book.day_steps_s()) + 1):
            for date in range(len(book.date_steps(start, end)) + 1):
                moment, size = Band(prompt, day, date).asked(book, start, end)
                second = moment.hour * 3600 + moment.minute * 60

                assert prompt == sum(size > step for step in book.prompt_steps())
                assert day == sum(second >= step for step in book.day_steps_s())
                assert date == sum(moment >= step for step in book.date_steps(start, end))
