"""Price files: our own form (TOML or JSON), the LiteLLM price map (JSON), and self-hosted models by GPU-hour."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from promptlint_core.errors import PromptlintError
from promptlint_report.prices import PriceEntry, PriceTable, Rates, per_mtok

_KEYS = {
    "model",
    "provider",
    "tier",
    "input_usd_per_mtok",
    "read_usd_per_mtok",
    "write_5m_usd_per_mtok",
    "write_1h_usd_per_mtok",
    "output_usd_per_mtok",
    "above_prompt_tokens",
    "from",
    "until",
    "since",
}
_HOSTED_KEYS = {
    "model",
    "provider",
    "gpu_usd_per_hour",
    "gpus",
    "prefill_tokens_per_s",
    "decode_tokens_per_s",
    "throughput",
}
_LITELLM_TIERS = {"": "", "_batches": "batch", "_flex": "flex", "_priority": "priority"}
_LITELLM_STEP = re.compile(r"input_cost_per_token(_above_(\d+)k_tokens)")


def read_price_file(path: Path) -> PriceTable:
    """The prices of a file.

    Raises PromptlintError, naming the file and the line's model, for anything that is no price.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PromptlintError(f"--prices {path} cannot be read: {error.strerror}") from error
    return parse_prices(data, str(path), is_toml=path.suffix.lower() == ".toml")


def own_prices() -> PriceTable:
    """The dated table that promptlint ships, for models that `genai-prices` does not list or lists as they were."""
    return parse_prices(_own_table(), "promptlint's price table", is_toml=True)


def own_prices_are_newer(genai_release: str) -> bool:
    """Whether our table is newer than a release of `genai-prices`.

    >>> own_prices_are_newer("0.0.9"), own_prices_are_newer("99.0")
    (True, False)
    """
    compared = str(tomllib.loads(_own_table().decode())["ahead_of_genai_prices"])
    return _release(genai_release) <= _release(compared)


def _own_table() -> bytes:
    return resources.files("promptlint_report").joinpath("data/prices.toml").read_bytes()


def _release(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def parse_prices(data: bytes, name: str, is_toml: bool) -> PriceTable:
    """Prices from the bytes of a file; the LiteLLM form is known by its keys."""
    try:
        content: Any = tomllib.loads(data.decode()) if is_toml else json.loads(data, parse_float=Decimal)
    except (ValueError, UnicodeDecodeError) as error:
        raise PromptlintError(f"{name} is no {'TOML' if is_toml else 'JSON'}: {error}") from error
    if not isinstance(content, dict):
        raise PromptlintError(f"{name} holds no prices: a table with `price` or `self_hosted`, or a LiteLLM price map")
    if "price" in content or "self_hosted" in content:
        return PriceTable(tuple(_own_form(content, name)))
    if any(isinstance(entry, dict) and "input_cost_per_token" in entry for entry in content.values()):
        return PriceTable(tuple(_litellm_form(content, name)))
    raise PromptlintError(f"{name} holds no prices: a table with `price` or `self_hosted`, or a LiteLLM price map")


def _own_form(content: Mapping[str, Any], name: str) -> list[PriceEntry]:
    source = str(content.get("source", name))
    dated = str(content.get("date", "undated"))
    entries = [_own_entry(line, name, source, dated) for line in _lines(content, "price", name)]
    return entries + [_hosted_entry(line, name, source, dated) for line in _lines(content, "self_hosted", name)]


def _lines(content: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    lines = content.get(key, [])
    if not isinstance(lines, list) or not all(isinstance(line, dict) and line.get("model") for line in lines):
        raise PromptlintError(f"{name}: `{key}` is a list of tables, each with a `model`")
    return lines


def _own_entry(line: Mapping[str, Any], name: str, source: str, dated: str) -> PriceEntry:
    where = f"{name}, model {line['model']}"
    _known(line, _KEYS, where)
    standard = _usd(line, "input_usd_per_mtok", where)
    rates = Rates(
        input=standard,
        read=_usd(line, "read_usd_per_mtok", where, standard),
        write_5m=_usd(line, "write_5m_usd_per_mtok", where, standard),
        write_1h=_usd(line, "write_1h_usd_per_mtok", where, _usd(line, "write_5m_usd_per_mtok", where, standard)),
        output=_usd(line, "output_usd_per_mtok", where),
        source=source,
        date=dated,
    )
    return PriceEntry(
        model=str(line["model"]).lower(),
        rates=rates,
        providers=_providers(line, where),
        tier=str(line.get("tier", "")),
        above_prompt_tokens=int(line.get("above_prompt_tokens", 0)),
        from_s=_second(line.get("from", "00:00"), where),
        until_s=_second(line.get("until", "24:00"), where),
        since=_moment(line.get("since"), where),
    )


def _hosted_entry(line: Mapping[str, Any], name: str, source: str, dated: str) -> PriceEntry:
    """A self-hosted model: GPU seconds that a token takes, times their price.

    rate = GPUs x USD an hour / 3600 / tokens a second; a token read from the cache takes no computing.
    """
    where = f"{name}, self-hosted model {line['model']}"
    _known(line, _HOSTED_KEYS, where)
    usd_per_s = _number(line, "gpu_usd_per_hour", where) * Decimal(str(line.get("gpus", 1))) / 3600
    prefill = per_mtok(usd_per_s / _number(line, "prefill_tokens_per_s", where) * 1_000_000)
    decode = per_mtok(usd_per_s / _number(line, "decode_tokens_per_s", where) * 1_000_000)
    how = str(line.get("throughput", "modelled"))
    if how not in {"measured", "modelled"}:
        raise PromptlintError(f"{where}: `throughput` is measured or modelled")
    return PriceEntry(
        model=str(line["model"]).lower(),
        rates=Rates(prefill, 0, prefill, prefill, decode, f"{source}, GPU-hours at {how} throughput", dated),
        providers=_providers(line, where),
    )


def _litellm_form(content: Mapping[str, Any], name: str) -> list[PriceEntry]:
    entries: list[PriceEntry] = []
    for model, line in content.items():
        if not isinstance(line, dict) or model == "sample_spec" or "input_cost_per_token" not in line:
            continue
        for tier_suffix, tier in _LITELLM_TIERS.items():
            for step_suffix, step in _litellm_steps(line).items():
                suffix = step_suffix + tier_suffix
                if f"input_cost_per_token{suffix}" in line and "output_cost_per_token" in line:
                    rates = _litellm_rates(line, suffix, f"{name} (LiteLLM form)", f"{name}, model {model}")
                    entries.append(PriceEntry(model.lower(), rates, tier=tier, above_prompt_tokens=step))
    return entries


def _litellm_steps(line: Mapping[str, Any]) -> dict[str, int]:
    """Suffixes of the keys of a model to the prompt size above which they hold."""
    found = (_LITELLM_STEP.match(key) for key in line)
    return {"": 0, **{match[1]: int(match[2]) * 1000 for match in found if match}}


def _litellm_rates(line: Mapping[str, Any], suffix: str, source: str, where: str) -> Rates:
    def rate(key: str, default: int | None = None) -> int:
        for name in (f"{key}{suffix}", key):
            if line.get(name) is not None:
                return per_mtok(_decimal(line[name], f"{where}, {name}") * 1_000_000)
        assert default is not None
        return default

    standard = rate("input_cost_per_token")
    write_5m = rate("cache_creation_input_token_cost", standard)
    long_key = "cache_creation_input_token_cost_above_1hr"
    if long_key not in line and "cache_creation_input_token_cost_above_12hr" in line:
        long_key = "cache_creation_input_token_cost_above_12hr"
    return Rates(
        input=standard,
        read=rate("cache_read_input_token_cost", standard),
        write_5m=write_5m,
        write_1h=rate(long_key, write_5m),
        output=rate("output_cost_per_token"),
        source=source,
        date="date of the file",
    )


def _known(line: Mapping[str, Any], keys: set[str], where: str) -> None:
    if unknown := sorted(line.keys() - keys):
        raise PromptlintError(f"{where}: unknown key {', '.join(unknown)}; there are {', '.join(sorted(keys))}")


def _providers(line: Mapping[str, Any], where: str) -> tuple[str, ...]:
    names = line.get("provider", "*")
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise PromptlintError(f"{where}: `provider` is a name, a pattern with * or a list of them")
    return tuple(names)


def _usd(line: Mapping[str, Any], key: str, where: str, default: int | None = None) -> int:
    if key not in line:
        if default is None:
            raise PromptlintError(f"{where}: `{key}` is missing")
        return default
    return per_mtok(_decimal(line[key], f"{where}, {key}"))


def _number(line: Mapping[str, Any], key: str, where: str) -> Decimal:
    if key not in line:
        raise PromptlintError(f"{where}: `{key}` is missing")
    value = _decimal(line[key], f"{where}, {key}")
    if not value:
        raise PromptlintError(f"{where}: `{key}` is greater than 0")
    return value


def _decimal(value: object, where: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PromptlintError(f"{where}: {value!r} is no number")
    number = Decimal(str(value))
    if not number.is_finite() or number < 0:
        raise PromptlintError(f"{where}: {value!r} is no price")
    return number


def _second(value: object, where: str) -> int:
    text = value.isoformat("minutes") if isinstance(value, time) else str(value)
    if text == "24:00":
        return 86_400
    try:
        moment = time.fromisoformat(text)
    except ValueError as error:
        raise PromptlintError(f"{where}: {text!r} is no time of day; write it as 16:30 (UTC)") from error
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _moment(value: object, where: str) -> datetime | None:
    if value is None:
        return None
    try:
        day = value if isinstance(value, date) else date.fromisoformat(str(value))
    except ValueError as error:
        raise PromptlintError(f"{where}: since {value!r} is no date; write it as 2026-11-01") from error
    return datetime.combine(day, time(), UTC)
