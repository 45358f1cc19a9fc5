"""A replay for people: one row an exchange, the faults, the totals, and what counted the tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_proxy.analysis import Observation
from promptlint_proxy.replay.json_output import totals
from promptlint_proxy.replay.price import Price
from promptlint_proxy.replay.run import ReplayResult
from promptlint_rules.base import Severity, WireFinding
from promptlint_rules.traffic import Pair

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
MOST_ROWS = 200
_SHOWN_INDICES = 6
_HEADER = ("#", "model", "prompt", "predicted", "reported", "verdict", "stops at", "rule")
_HONOURED = {"not-honoured": "not honoured", "less": "less than predicted", "more": "more than predicted"}


def render_text(result: ReplayResult, least: Severity = Severity.WARNING, price: Price | None = None) -> str:
    """The report as plain text; `?` is unknown, never 0."""
    lines = [*_table(result), ""]
    shown = [finding for finding in result.findings if finding.severity.rank <= least.rank]
    for finding in sorted(shown, key=lambda f: (f.severity.rank, f.exchanges[:1])):
        lines += _finding(finding)
    if not shown:
        lines.append("no faults")
    hidden = len(result.findings) - len(shown)
    if hidden:
        lines.append(f"{hidden} below {least}: show them with --min-severity info")
    return "\n".join(_CONTROL.sub(_escaped, line) for line in [*lines, "", *_totals(result, price)])


def _escaped(match: re.Match[str]) -> str:
    """A control character as it is written in source: names of models and tools come from the traffic."""
    return match.group().encode("unicode_escape").decode()


def _table(result: ReplayResult) -> Iterator[str]:
    rules = {(pair.earlier.index, pair.later.index): rule for pair, rule in result.pairs}
    rows = [_HEADER, *(_row(observation, rules) for observation in result.observations[:MOST_ROWS])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    numbers = (0, 2, 3, 4)
    for row in rows:
        cells = (
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
    if len(result.observations) > MOST_ROWS:
        yield f"… and {len(result.observations) - MOST_ROWS:,} more (all of them with --output-format json)"


def _row(observation: Observation, rules: dict[tuple[int, int], str | None]) -> tuple[str, ...]:
    seen, prediction = observation.seen, observation.prediction
    pair = observation.pairs[0] if observation.pairs else None
    rule = next((r for p in observation.pairs if (r := rules.get((p.earlier.index, p.later.index)))), None)
    own = next((f.rule for f in observation.findings if f.exchanges == (seen.index,)), None)
    return (
        str(seen.index),
        seen.request.model or "?",
        f"{seen.prompt_tokens:,}{'' if seen.reported else '~'}",
        _count(prediction.hit_tokens if prediction else None),
        _count(seen.hit_tokens),
        _verdict(observation, pair),
        _place(pair),
        rule or own or "",
    )


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _verdict(observation: Observation, pair: Pair | None) -> str:
    seen = observation.seen
    if seen.retry_of is not None:
        verdict = f"retry of {seen.retry_of}"
    elif pair is None:
        verdict = "first"
    else:
        verdict = f"{pair.comparison.verdict} from {pair.earlier.index}"
    parts = [verdict]
    if seen.failed:
        parts.append(f"failed ({seen.response.error or seen.response.status})")
    if observation.honoured in _HONOURED:
        parts.append(_HONOURED[observation.honoured])
    if seen.response.diagnosis:
        parts.append(f"vendor: {seen.response.diagnosis}")
    return ", ".join(parts)


def _place(pair: Pair | None) -> str:
    if pair is None or pair.comparison.divergence is None:
        return ""
    divergence = pair.comparison.divergence
    return f"{divergence.path} @{divergence.char_offset:,}"


def _finding(finding: WireFinding) -> Iterator[str]:
    shown = ", ".join(str(index) for index in finding.exchanges[:_SHOWN_INDICES])
    more = f" and {len(finding.exchanges) - _SHOWN_INDICES} more" if len(finding.exchanges) > _SHOWN_INDICES else ""
    where = f"exchanges {shown}{more}" if finding.exchanges else finding.path
    yield f"{finding.severity}: {finding.rule} {finding.name} ({where})"
    yield f"    {finding.message}"


def _totals(result: ReplayResult, price: Price | None) -> Iterator[str]:
    figures = totals(result, price)
    yield (
        f"{_several(figures['exchanges'], 'exchange')} in {_several(figures['lines'], 'conversation')} of "
        f"{_several(figures['groups'], 'prompt group')}, {figures['prompt_tokens']:,} prompt tokens"
        + (f", {_several(figures['retries'], 'repeat')} of failed ones" if figures["retries"] else "")
    )
    predicted, reported = _share(figures["predicted_hit_rate"]), _share(figures["reported_hit_rate"])
    yield f"hit rate: predicted {predicted}, reported {reported}"
    if figures["cost_usd"] is not None:
        priced, whole = figures["exchanges_priced"], figures["exchanges"]
        part = "" if priced == whole else f" ({whole - priced:,} of {whole:,} without usage or a known price)"
        yield f"cost: ${figures['cost_usd']:,.4f}{part}, by {' and '.join(figures['price_sources'])}"
    if figures["kv_in_flight_bytes_max"] is not None:
        pool = figures["kv_pool_bytes"]
        of_pool = "" if pool is None else f" of {_gib(pool)}"
        yield f"KV memory: at most {_gib(figures['kv_in_flight_bytes_max'])}{of_pool} at once"
    if figures["hits_not_honoured"]:
        yield f"{figures['hits_not_honoured']:,} predicted hits were not honoured by the provider"
    if figures["prompt_tokens_estimated"]:
        yield f"{figures['prompt_tokens_estimated']:,} prompts are estimates (~): no usage was reported"
    if figures["tokens_source"]:
        yield f"tokens counted with {figures['tokens_source']}"
    for entry in result.unreadable:
        yield f"not read: {entry.place}: {entry.sentence}"


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):,.2f} GiB"


def _several(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _share(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1%}"
