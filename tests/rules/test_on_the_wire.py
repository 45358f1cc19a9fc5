"""The `On the wire` example of every live rule, replayed, shows exactly that fault."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from promptlint_proxy.analysis import Analysis
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import RecordedExchange, to_exchange
from promptlint_rules.base import Rule, Severity
from promptlint_rules.registry import RULES
from promptlint_rules.traffic import Memory

_BLOCK = re.compile(r"^## On the wire\n.*?```json\n(.*?)```", re.DOTALL | re.MULTILINE)
LIVE = [rule for rule in RULES if rule.is_live()]


def entries(rule: type[Rule]) -> Iterator[dict[str, Any]]:
    """The JSON values of the example, one request each."""
    page = inspect.getdoc(rule) or ""
    found = _BLOCK.search(page)
    assert found, f"{rule.id} has a live check and no example under `On the wire`"
    text, decoder, at = found[1], json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.id)
def test_the_example_is_flagged_by_its_rule_and_no_other(rule: type[Rule]) -> None:
    analysis = Analysis()
    for index, entry in enumerate(entries(rule)):
        recorded = read_line(json.dumps(entry).encode(), "example")
        assert isinstance(recorded, RecordedExchange), recorded
        exchange = to_exchange(recorded, index)
        assert exchange is not None
        analysis.observe(exchange, Memory(**entry["kv"]) if "kv" in entry else None)

    loud = {f.rule for f in analysis.findings() if f.severity is not Severity.INFO or f.rule == rule.id}
    assert {rule.id} == loud


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.id)
def test_messages_hold_no_text_of_the_prompt(rule: type[Rule]) -> None:
    analysis = Analysis()
    spoken: set[str] = set()
    for index, entry in enumerate(entries(rule)):
        exchange = to_exchange(read_line(json.dumps(entry).encode(), "example"), index)  # type: ignore[arg-type]
        assert exchange is not None
        spoken |= {piece.text for piece in exchange.request.pieces if len(piece.text) > 30}
        analysis.observe(exchange)

    for finding in analysis.findings():
        assert not any(text[:30] in finding.message for text in spoken), finding.message
