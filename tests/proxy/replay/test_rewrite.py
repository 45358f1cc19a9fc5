"""What the fixes give, with figures computed by hand: one token a byte, so a hit is the length of the common text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wire_cases import assistant, call, chat, result, system, user

from promptlint_core.exchange import Exchange, Usage
from promptlint_proxy.predict import PredictorSettings
from promptlint_proxy.replay.before_after import BeforeAfter, compare_fixes, render_text
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import RecordedExchange, to_exchange
from promptlint_proxy.replay.rewrite import rewrite
from promptlint_proxy.replay.run import ReplayResult, replay

pytest.importorskip("tokenizers")
pytest.importorskip("jinja2")

TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}]{% for c in m.tool_calls or [] %}{{ c.id }}{{ c.function.arguments }}"
    "{% endfor %}{% if m.tool_call_id %}{{ m.tool_call_id }}={% endif %}{{ m.content }}{% endfor %}"
)
HEAD = "Name the shelf and the depot in every answer. " * 40  # 46 × 40 = 1,840 characters
NOTE = "The shelf is the third one from the door. " * 10  # 42 × 10 = 420 characters


@pytest.fixture
def engine(tmp_path: Path) -> PredictorSettings:
    """SGLang, which reads back any common prefix but the last token, with one token a byte."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: index for index, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    return PredictorSettings(engine="sglang", tokenizer=tmp_path)


def replayed(lines: list[dict[str, Any]]) -> ReplayResult:
    exchanges = []
    for index, line in enumerate(lines):
        entry = read_line(json.dumps(line).encode(), f"test:{index}")
        assert isinstance(entry, RecordedExchange)
        exchange = to_exchange(entry, index)
        assert exchange is not None
        exchanges.append(exchange)
    return replay(exchanges)


# Rendered: [system] is 8 characters, [user] 6, [assistant] 11, [tool] 6.
START = 8 + 1840
QUESTION = "Where is my parcel?"  # 19


def calls(turn: int) -> list[dict[str, Any]]:
    """Call ids that are made anew on each turn, 6 characters each."""
    return [
        system(HEAD), user(QUESTION),
        call("look", '{"order":7}', f"call_{turn}"), result(NOTE, f"call_{turn}"),
    ]  # fmt: skip


def stamps(turn: int) -> list[dict[str, Any]]:
    """A stamp of 21 characters that is written anew on each turn."""
    return [
        system(HEAD), user(f"[2026-11-25 10:0{turn}:00] {QUESTION}"), assistant(NOTE), user("And the other?"),
    ]  # fmt: skip


def arguments(turn: int) -> list[dict[str, Any]]:
    """The same arguments, 17 characters, with their keys in another order on the second turn."""
    return [
        system(HEAD), user(QUESTION),
        call("look", ('{"a":11,"order":7}', '{"order":7,"a":11}')[turn], "call_1"), result(NOTE, "call_1"),
    ]  # fmt: skip


def completion(turn: int) -> list[dict[str, Any]]:
    """Results of two calls, 420 characters each, in the order of their completion."""
    both = call("look", '{"order":7}', "call_1")
    both["tool_calls"] = [both["tool_calls"][0], call("look", '{"order":8}', "call_2")["tool_calls"][0]]
    results = [result(NOTE, "call_1"), result(NOTE.upper(), "call_2")]
    return [system(HEAD), user(QUESTION), both, *(results if turn else reversed(results))]


ANSWER, THANKS = "It is in depot 4.", "Thanks!"  # 17 and 7
MORE = 11 + 17 + 6 + 7

# turns, the rule, prompt tokens of the first turn, what the second turn reads of it without the fixes
FAULTS = {
    "ids made anew": (
        calls, "KV207", START + 6 + 19 + 11 + 6 + 11 + 6 + 7 + 420, START + 6 + 19 + 11 + 5
    ),
    "stamps written anew": (
        stamps, "KV306", START + 6 + 41 + 11 + 420 + 6 + 14, START + 6 + 16
    ),
    "keys of arguments": (
        arguments, "KV204", START + 6 + 19 + 11 + 6 + 18 + 6 + 7 + 420, START + 6 + 19 + 11 + 6 + 2
    ),
    "results as they completed": (
        completion, "KV206", START + 6 + 19 + 11 + 2 * (6 + 11) + 2 * (6 + 7 + 420), START + 6 + 19 + 11 + 34 + 6 + 5
    ),
}  # fmt: skip


@pytest.mark.parametrize(("turns", "rule", "first", "before"), FAULTS.values(), ids=FAULTS.keys())
def test_a_repaired_history_is_read_back_whole(
    turns: Any, rule: str, first: int, before: int, engine: PredictorSettings
) -> None:
    lines = [chat(0, turns(0)), chat(60, [*turns(1), assistant(ANSWER), user(THANKS)])]
    recorded = replayed(lines)
    (row,) = compare_fixes(recorded, settings=engine)

    assert rule in {finding.rule for finding in recorded.findings}
    assert (row.before.prompt_tokens, row.after.prompt_tokens) == (2 * first + MORE, 2 * first + MORE)
    assert (row.before.hit_tokens, row.after.hit_tokens) == (before, first)


class TenthPrice:
    """A token costs 10 USD, one that is read from the cache 1."""

    sources = ("made for the test",)

    def cost_usd(self, exchange: Exchange, usage: Usage) -> float | None:
        assert usage.prompt_tokens is not None
        assert usage.hit_tokens is not None
        return None if exchange.request.model == "unknown" else 10 * usage.prompt_tokens - 9 * usage.hit_tokens


def fixes(engine: PredictorSettings, model: str = "Qwen3-8B") -> tuple[BeforeAfter, ...]:
    lines = [chat(0, calls(0), model=model), chat(60, [*calls(1), assistant(ANSWER), user(THANKS)], model=model)]
    return compare_fixes(replayed(lines), (None, 2_000), engine, TenthPrice())


def test_money_and_hits_follow_engine_and_capacity(engine: PredictorSettings) -> None:
    first = START + 6 + 19 + 11 + 6 + 11 + 6 + 7 + 420  # 2,334
    whole = 2 * first + MORE
    unlimited, small = fixes(replace(engine, engine="vllm"))

    assert (unlimited.capacity_tokens, small.capacity_tokens) == (None, 2_000)
    # Blocks of 16: 1,889 characters before the id are 118 blocks, the 2,334 of the first turn are 145.
    assert (unlimited.before.hit_tokens, unlimited.after.hit_tokens) == (118 * 16, 145 * 16)
    assert (unlimited.before.cost_usd, unlimited.after.cost_usd) == (
        10 * whole - 9 * 118 * 16, 10 * whole - 9 * 145 * 16,
    )  # fmt: skip
    assert (small.before.hit_tokens, small.after.hit_tokens) == (0, 0)  # no prompt fits into 125 blocks
    assert small.after.cost_usd == 10 * whole
    assert "→ $" in render_text((unlimited, small))


def test_without_a_price_no_money_is_told(engine: PredictorSettings) -> None:
    assert [(row.before.cost_usd, row.after.cost_usd) for row in fixes(engine, "unknown")] == [(None, None)] * 2


def test_every_engine_is_told_where_none_is_named() -> None:
    rows = fixes(PredictorSettings())

    assert [(row.engine, row.capacity_tokens) for row in rows] == [
        (name, capacity) for name in ("as recorded", "vllm", "sglang") for capacity in (None, 2_000)
    ]


def grown(turn: int) -> list[dict[str, Any]]:
    """A history that only grows: its ids, stamps and results stand as they were sent."""
    both = call("look", '{"order":7}', "call_b")
    both["tool_calls"] = [both["tool_calls"][0], call("look", '{"order":8}', "call_a")["tool_calls"][0]]
    history = [
        system(HEAD), user(f"[2026-11-25 10:00:00] {QUESTION}"), both, result(NOTE, "call_a"), result(NOTE, "call_b"),
    ]  # fmt: skip
    return [*history, assistant(ANSWER), user(f"[2026-11-25 10:05:00] {THANKS}")] if turn else history


def test_a_history_that_only_grows_is_left_as_it_is() -> None:
    recorded = replayed([chat(60 * turn, grown(turn)) for turn in range(2)])

    for observation, fixed in zip(recorded.observations, rewrite(recorded.observations), strict=True):
        assert fixed.request.pieces == observation.exchange.request.pieces
