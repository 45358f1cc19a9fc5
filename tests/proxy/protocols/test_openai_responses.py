"""OpenAI Responses: how requests and whole answers are read."""

from __future__ import annotations

from typing import Any

import pytest
from protocol_wire import answer, read, shown

from promptlint_core.prompt import Part

HOST, PATH = "api.openai.com", "/v1/responses"


def ask(**body: Any) -> Any:
    return read(HOST, PATH, {"model": "gpt-5.6-terra", **body})


def test_tools_then_instructions_then_input() -> None:
    request = ask(
        input="Hi",
        instructions="Be brief.",
        tools=[
            {"type": "function", "name": "find", "description": "Find.", "parameters": {"a": 1}, "strict": True},
            {"type": "web_search", "search_context_size": "low"},
        ],
        max_output_tokens=50,
    )

    assert [
        ("tools[0].name", "find"),
        ("tools[0].description", "Find."),
        ("tools[0].schema", '{"a":1}'),
        ("tools[1].type", "web_search"),
        ("tools[1].schema", '{"search_context_size":"low"}'),
        ("instructions", "Be brief."),
        ("input", "user"),
        ("input", "Hi"),
    ] == shown(request)
    assert request.bound.tokens == 50
    assert request.wants_usage is None


ITEMS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "message": ({"role": "user", "content": "Hi"}, [("role", "user"), ("content", "Hi")]),
    "message of one part": (
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        [("role", "user"), ("content", "Hi")],
    ),
    "image": (
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "https://a"}],
        },
        [("role", "user"), ("content[0].text", "x"), ("content[1].image_url", "https://a")],
    ),
    "call": (
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
        [("call_id", "c1"), ("name", "f"), ("arguments", '{"a": 1}')],
    ),
    "output": (
        {"type": "function_call_output", "call_id": "c1", "output": "42"},
        [("call_id", "c1"), ("output", "42")],
    ),
    "output in parts": (
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "42"}]},
        [("call_id", "c1"), ("output", "42")],
    ),
    "custom call": (
        {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": "ls"},
        [("call_id", "c1"), ("name", "sh"), ("input", "ls")],
    ),
    "sealed reasoning": (
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        [("encrypted_content", "gAAA")],
    ),
    "reasoning by its summary": (
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]},
        [("summary", "Hm")],
    ),
    "another kind, without its id": (
        {"type": "configuration_update", "id": "x", "reasoning": {"effort": "low"}},
        [("", '{"type":"configuration_update","reasoning":{"effort":"low"}}')],
    ),
}


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_reads_in_pieces(name: str) -> None:
    item, expected = ITEMS[name]

    told = shown(ask(input=[{"role": "user", "content": "first"}, item]))

    assert [(f"input[1].{path}" if path else "input[1]", text) for path, text in expected] == told[2:]


def test_developer_items_at_the_head_belong_to_the_system_part() -> None:
    items = [
        {"role": "developer", "content": "Rules"},
        {"role": "user", "content": "Hi"},
        {"role": "developer", "content": "x"},
    ]

    parts = [piece.part for piece in ask(input=items).pieces if piece.path.endswith("content")]

    assert [Part.SYSTEM, Part.MESSAGES, Part.MESSAGES] == parts


def test_a_string_and_a_list_of_one_message_are_the_same_prompt() -> None:
    assert ask(input="Hi").text == ask(input=[{"role": "user", "content": "Hi"}]).text


@pytest.mark.parametrize(
    "kept",
    [
        {"previous_response_id": "resp_1"},
        {"conversation": {"id": "conv_1"}},
        {"prompt": {"id": "pmpt_1", "variables": {}}},
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
    ],
)
def test_what_the_server_keeps_hides_the_prefix(kept: dict[str, Any]) -> None:
    assert ask(**{"input": "Hi", **kept}).hidden_prefix
    assert not ask(input="Hi", previous_response_id=None).hidden_prefix


def test_markers_of_both_kinds() -> None:
    items = [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}],
        },
        {"role": "user", "content": [{"type": "input_text", "text": "b", "cache_control": {"type": "ephemeral"}}]},
    ]

    assert [1800, 300] == [marker.life_s for marker in ask(input=items).markers]


def test_cache_relevant_parameters() -> None:
    request = ask(
        input="Hi",
        reasoning={"effort": "high", "summary": "auto"},
        text={"verbosity": "low", "format": {"type": "text"}},
        tool_choice="none",
        parallel_tool_calls=True,
        service_tier="flex",
    )

    assert (
        ("reasoning.effort", '"high"'),
        ("service_tier", '"flex"'),
        ("text.verbosity", '"low"'),
    ) == request.parameters


def test_a_whole_answer() -> None:
    body = {
        "model": "gpt-5.6-terra",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": [
            {"type": "reasoning", "summary": [{"text": "Hm"}]},
            {"type": "function_call", "name": "find", "arguments": "{}"},
            {
                "type": "message",
                "content": [
                    {"type": "output_text", "text": "Yes", "annotations": [{"type": "file_citation", "file_id": "f1"}]}
                ],
            },
        ],
        "usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 3},
    }

    response = answer(HOST, PATH, body)

    assert (None, "completed", ("find",), 1, True, 7, "{}Yes") == (
        response.error,
        response.finish_reason,
        response.tool_calls,
        response.cited,
        response.reasoning,
        response.content_chars,
        response.content_tail,
    )
