"""What a provider can read back of a later request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from wire_cases import ANTHROPIC, OPENAI, VLLM, assistant, block, chat, claude, rules, system, usage, user

from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import RecordedExchange, to_exchange
from promptlint_proxy.replay.run import replay

R = rules()
GROWN = [user("A?"), assistant("B."), user("C?")]


def shares(first: dict[str, Any], second: dict[str, Any]) -> tuple[float, float | None]:
    exchanges = []
    for index, line in enumerate((first, second)):
        recorded = read_line(json.dumps(line).encode(), "line")
        assert isinstance(recorded, RecordedExchange)
        exchange = to_exchange(recorded, index)
        assert exchange is not None
        exchanges.append(exchange)
    ((pair, _rule),) = replay(exchanges, all_pairs=True).pairs
    reusable = pair.comparison.reusable_prefix_share
    return round(pair.comparison.shared_prefix_share, 2), None if reusable is None else round(reusable, 2)


def marked(*texts: str, at: int = -1) -> list[dict[str, Any]]:
    """Anthropic messages of which one carries a marker."""
    messages = [user([block(text)]) if n % 2 == 0 else assistant(text) for n, text in enumerate(texts)]
    messages[at] = {**messages[at], "content": [block(texts[at], marked=True)]}
    return messages


WARM = claude(0, [block(R, marked=True)], marked("A?"))
NEXT = claude(20, [block(R, marked=True)], marked("A?", "B.", "C?"))
WHOLE = {
    "automatic": (chat(0, [system(R), GROWN[0]], OPENAI), chat(9, [system(R), *GROWN], OPENAI)),
    "an engine of one's own": (chat(0, [system(R), GROWN[0]], VLLM), chat(9, [system(R), *GROWN], VLLM)),
    "an engine after a day": (chat(0, [system(R), GROWN[0]], VLLM), chat(90_000, [system(R), *GROWN], VLLM)),
    "a short prompt on an engine": (chat(0, [GROWN[0]], VLLM), chat(9, [GROWN[0]], VLLM)),
    "markers that find each other": (WARM, NEXT),
    "within the hour that was paid for": (
        claude(0, [block(R, marked=True, ttl="1h")], [user("A?")]),
        claude(3000, [block(R, marked=True, ttl="1h")], [user("B?")]),
    ),
    "after the answer began": (
        {**WARM, "response": {"first_byte_at": 2.0}},
        NEXT,
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_nearly_all_is_reusable(name: str) -> None:
    shared, reusable = shares(*WHOLE[name])

    assert reusable is not None
    assert shared >= reusable > shared - 0.05


NOTHING = {
    "no marker": (claude(0, R, [user("A?")]), claude(9, R, GROWN)),
    "marker behind the difference": (
        claude(0, [block(f"{R} 10:00:01", marked=True)], [user("A?")]),
        claude(9, [block(f"{R} 10:00:02", marked=True)], [user("A?")]),
    ),
    "below the minimum of the model": (
        claude(0, [block(R[:2000], marked=True)], [user("A?")]),
        claude(9, [block(R[:2000], marked=True)], [user("B?")]),
    ),
    "below the minimum of a hosted automatic cache": (
        chat(0, [system(R[:2000]), user("A?")], OPENAI),
        chat(9, [system(R[:2000]), user("A?")], OPENAI),
    ),
    "a model that wants four thousand": (
        claude(0, [block(R, marked=True)], [user("A?")], model="claude-haiku-4-5"),
        claude(9, [block(R, marked=True)], [user("B?")], model="claude-haiku-4-5"),
    ),
    "after five minutes": (WARM, {**NEXT, "t": 301}),
    "another model": (
        chat(0, [system(R), user("A?")], OPENAI),
        chat(9, [system(R), *GROWN], OPENAI, model="gpt-5.4-mini"),
    ),
    "another salt": (
        chat(0, [system(R), user("A?")], VLLM, cache_salt="a"),
        chat(9, [system(R), *GROWN], VLLM, cache_salt="b"),
    ),
    "another serving provider": (
        chat(0, [system(R), user("A?")], "openrouter.ai", response={"provider": "A"}),
        chat(9, [system(R), *GROWN], "openrouter.ai", response={"provider": "B"}),
    ),
    "another effort": (
        chat(0, [system(R), user("A?")], OPENAI, reasoning_effort="low"),
        chat(9, [system(R), *GROWN], OPENAI, reasoning_effort="high"),
    ),
    "before the answer began": ({**WARM, "response": {"first_byte_at": 25.0}}, NEXT),
    "after a refusal": ({**WARM, "response": {"status": 529}}, NEXT),
}


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_is_reusable(name: str) -> None:
    shared, reusable = shares(*NOTHING[name])

    assert shared > 0.8
    assert 0 == reusable


def test_a_changed_tool_choice_keeps_the_system_text_at_anthropic() -> None:
    first = claude(0, [block(R, marked=True)], marked("A " * 900), tool_choice={"type": "any"})
    second = claude(9, [block(R, marked=True)], marked("A " * 900, "B.", "C?"))
    shared, reusable = shares(first, second)

    assert reusable is not None
    assert shared > 0.95
    assert 0.5 < reusable < 0.9


def test_an_entry_more_than_twenty_blocks_back_is_not_found() -> None:
    near, far = (
        claude(
            9,
            [block(R, marked=True)],
            [user([block("Q " * 900)]), assistant("Go."), user([*(block(f"row {n}") for n in range(count)), block("x", marked=True)])],
        )
        for count in (15, 25)
    )  # fmt: skip
    first = claude(0, [block(R, marked=True)], marked("Q " * 900))

    assert (shares(first, near)[1] or 0) > (shares(first, far)[1] or 0) > 0.5


def test_what_the_server_keeps_is_unknown() -> None:
    line = {
        "path": "/v1/responses",
        "headers": {"host": OPENAI},
        "request": {"model": "gpt-5.4", "input": "Hi", "previous_response_id": "resp_1", "max_output_tokens": 9},
    }

    assert shares({"t": 0, **line}, {"t": 9, **line})[1] is None


def test_a_breakpoint_model_reads_to_the_end_of_a_message_only() -> None:
    base = {"model": "gpt-5.6-terra", "usage": usage(1500)}
    first = chat(0, [system(R), user("A?")], OPENAI, **base)
    appended = chat(9, [system(R), *GROWN], OPENAI, **base)

    shared, reusable = shares(first, appended)
    assert reusable is not None
    assert reusable > shared - 0.05
    assert ANTHROPIC != OPENAI
