"""The simulated upstream answers as the real ones do, and its reported hits are those that are predicted."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest

from promptlint_proxy.predict import Predictor, PredictorSettings
from promptlint_proxy.protocols import find
from promptlint_proxy.protocols.base import RequestHead, ResponseHead
from promptlint_proxy.simulated.clock import VirtualClock
from promptlint_proxy.simulated.engine import Engine, Reply, next_request
from promptlint_proxy.simulated.server import SimulatedUpstream
from promptlint_proxy.simulated.settings import SimulatedSettings

CHAT, MESSAGES, RESPONSES, COMPLETIONS = "/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions"
RULES = "You are a helper. " * 30
TOOLS: dict[str, Any] = {
    CHAT: {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "required": ["n"]}}},
    MESSAGES: {"name": "look", "description": "d", "input_schema": {"type": "object", "properties": {"n": {}}}},
    RESPONSES: {"type": "function", "name": "look", "parameters": {"type": "object"}},
}


def document(path: str, tools: bool = False) -> dict[str, Any]:
    asked: dict[str, Any] = {
        CHAT: {"max_tokens": 40, "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": "hi"}]},
        MESSAGES: {"max_tokens": 40, "system": RULES, "messages": [{"role": "user", "content": "hi"}]},
        RESPONSES: {"max_output_tokens": 40, "instructions": RULES, "input": [{"role": "user", "content": "hi"}]},
        COMPLETIONS: {"max_tokens": 40, "prompt": RULES},
    }[path]
    return {"model": "m", **asked, **({"tools": [TOOLS[path]]} if tools else {})}


def with_next_question(path: str, asked: dict[str, Any], turn: int, answer: dict[str, Any]) -> dict[str, Any]:
    after = next_request(path, asked, answer)
    if path == COMPLETIONS:
        return asked | {"prompt": f"{after['prompt'] if turn % 2 else asked['prompt']} And what of {turn}?"}
    key = "input" if path == RESPONSES else "messages"
    return after | {key: [*after[key], {"role": "user", "content": f"And what of {turn}?"}]}


@pytest.mark.parametrize(
    ("path", "tools", "reasoning"),
    [
        (CHAT, False, 0), (CHAT, False, 5), (CHAT, True, 0), (CHAT, True, 5),
        (MESSAGES, False, 0), (MESSAGES, False, 5), (MESSAGES, True, 0), (MESSAGES, True, 5),
        (RESPONSES, False, 0), (RESPONSES, False, 30), (RESPONSES, True, 0), (RESPONSES, True, 30),
        (COMPLETIONS, False, 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("blocks", [8192, 40])
def test_predicted_and_reported_tokens_are_equal(path: str, tools: bool, reasoning: int, blocks: int) -> None:
    """Over a growing conversation, prompt and hit, exactly; also when the pool is too small to keep everything."""
    engine = Engine(SimulatedSettings(call_tools=tools, reasoning_tokens=reasoning, blocks=blocks))
    predictor = Predictor(PredictorSettings(engine="vllm", capacity_tokens=(blocks - 1) * 16))
    protocol = find("POST", "127.0.0.1:8000", path, {})
    assert protocol is not None
    head = RequestHead("POST", "127.0.0.1:8000", path, {})
    asked = document(path, tools)
    told: list[tuple[int | None, int | None]] = []
    for turn in range(6):
        body = json.dumps(asked).encode()
        request = protocol.read_request(body, head)
        reply = engine.answer(path, body, float(turn))
        assert reply is not None
        response = protocol.read_response(reply.parts[0][1], ResponseHead(200, {}))
        prediction = predictor.predict(request, float(turn))
        predictor.answered(request, response, float(turn))
        engine.finish(reply)
        assert response.usage is not None
        assert (prediction.prompt_tokens, prediction.hit_tokens) == (
            response.usage.prompt_tokens, response.usage.hit_tokens,
        )  # fmt: skip
        told.append((response.usage.prompt_tokens, response.usage.hit_tokens))
        asked = with_next_question(path, asked, turn, json.loads(reply.parts[0][1]))
    assert told[0][1] == 0
    assert told[1][1]


def test_prompts_that_differ_behind_their_last_full_block_each_find_their_answer() -> None:
    engine = Engine(SimulatedSettings())
    predictor = Predictor(PredictorSettings(engine="vllm"))
    protocol = find("POST", "127.0.0.1:8000", COMPLETIONS, {})
    assert protocol is not None
    head = RequestHead("POST", "127.0.0.1:8000", COMPLETIONS, {})
    answers: list[str] = []
    told: list[tuple[int | None, int | None]] = []
    for turn in range(6):
        prompt = f"{RULES} {'ABC'[turn % 3]}" + (f"{answers[turn - 3]} Go on." if turn >= 3 else "")
        body = json.dumps({"model": "m", "max_tokens": 40, "prompt": prompt}).encode()
        request = protocol.read_request(body, head)
        reply = engine.answer(COMPLETIONS, body, float(turn))
        assert reply is not None
        response = protocol.read_response(reply.parts[0][1], ResponseHead(200, {}))
        predicted = predictor.predict(request, float(turn)).hit_tokens
        predictor.answered(request, response, float(turn))
        engine.finish(reply)
        assert response.usage is not None
        told.append((predicted, response.usage.hit_tokens))
        answers.append(json.loads(reply.parts[0][1])["choices"][0]["text"])

    assert [predicted for predicted, _ in told] == [reported for _, reported in told]
    assert told[3][1] > told[2][1]


def answer(engine: Engine, path: str, asked: dict[str, Any], at_s: float = 0.0) -> tuple[Reply, dict[str, Any]]:
    reply = engine.answer(path, json.dumps(asked).encode(), at_s)
    assert reply is not None
    engine.finish(reply)
    return reply, json.loads(reply.parts[0][1])


def test_a_hosted_cache_has_a_minimum_and_steps() -> None:
    engine = Engine(SimulatedSettings(hosted=True))
    short, long = document(CHAT), document(CHAT)
    long["messages"][0]["content"] = "You are a helper. " * 245
    for asked, expected in ((short, 0), (long, 1024 + 128)):
        answer(engine, CHAT, asked, 0.0)
        usage = answer(engine, CHAT, asked, 10.0)[1]["usage"]
        assert usage["prompt_tokens_details"]["cached_tokens"] == expected
    assert 1024 + 128 <= usage["prompt_tokens"] < 1024 + 256
    assert answer(engine, CHAT, long, 1000.0)[1]["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def test_marked_prefixes_are_written_once_and_then_read() -> None:
    engine = Engine(SimulatedSettings(hosted=True))
    asked = document(MESSAGES)
    asked["system"] = [{"type": "text", "text": RULES * 10, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    first = answer(engine, MESSAGES, asked, 0.0)[1]["usage"]
    second = answer(engine, MESSAGES, asked, 5.0)[1]["usage"]
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 1024
    assert first["cache_creation"]["ephemeral_1h_input_tokens"] == first["cache_creation_input_tokens"]
    assert second["cache_creation_input_tokens"] == 0
    assert first["input_tokens"] == second["input_tokens"] < 30
    assert answer(engine, MESSAGES, document(MESSAGES), 6.0)[1]["usage"]["cache_read_input_tokens"] == 0


def test_a_full_pool_makes_a_request_wait() -> None:
    engine = Engine(SimulatedSettings(blocks=20))
    body = json.dumps(document(CHAT)).encode()
    first = engine.answer(CHAT, body, 0.0)
    assert first is not None
    other = document(CHAT)
    other["messages"][0]["content"] = "Other rules. " * 60
    assert engine.answer(CHAT, json.dumps(other).encode(), 0.0) is None
    engine.finish(first)
    assert engine.answer(CHAT, json.dumps(other).encode(), 0.0) is not None


@pytest.mark.parametrize(("fault", "status"), [("429", 429), ("529", 529), ("500", 500)])
def test_faults_come_in_the_api_s_shape(fault: str, status: int) -> None:
    engine = Engine(SimulatedSettings(faults={0: fault}))
    reply, told = answer(engine, MESSAGES, document(MESSAGES))
    assert reply.status == status
    assert told["type"] == "error"
    assert answer(engine, MESSAGES, document(MESSAGES))[0].status == 200


def test_the_same_seed_says_the_same() -> None:
    def bodies(seed: int) -> list[bytes]:
        engine = Engine(SimulatedSettings(seed=seed, itl_jitter=0.9))
        return [part for _ in range(3) for _, part in answer(engine, CHAT, document(CHAT))[0].parts]

    assert bodies(1) == bodies(1) != bodies(2)


def test_a_virtual_clock_jumps_and_keeps_the_order() -> None:
    async def scenario() -> list[tuple[str, float]]:
        clock, told = VirtualClock(), []

        async def wait(name: str, *moments: float) -> None:
            for at_s in moments:
                await clock.sleep_until(at_s)
                told.append((name, clock.now_s()))

        await asyncio.gather(wait("a", 10.0, 3600.0), wait("b", 20.0, 30.0))
        return told

    assert asyncio.run(scenario()) == [("a", 10.0), ("b", 20.0), ("b", 30.0), ("a", 3600.0)]


@pytest.mark.parametrize("encoding", ["", "gzip", "br", "zstd"])
def test_the_real_clients_read_its_answers(encoding: str) -> None:
    settings = SimulatedSettings(
        encoding=encoding, tokens_per_chunk=3, reasoning_tokens=4, padding=True, call_tools=True
    )

    async def scenario() -> None:
        upstream = SimulatedUpstream(settings, VirtualClock())
        url = await upstream.start()
        chat = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        claude = anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)
        try:
            asked = document(CHAT, tools=True) | {"stream_options": {"include_usage": True}, "n": 2}
            chunks = [chunk async for chunk in await chat.chat.completions.create(**asked, stream=True)]
            assert chunks[-1].usage.completion_tokens > 0
            assert {choice.index for chunk in chunks for choice in chunk.choices} == {0, 1}
            events = [event async for event in await chat.responses.create(**document(RESPONSES), stream=True)]
            assert events[-1].response.usage.output_tokens > 0
            async with claude.messages.stream(**document(MESSAGES, tools=True)) as stream:
                message = await stream.get_final_message()
            assert [block.type for block in message.content] == ["thinking", "tool_use"]
            assert (await chat.completions.create(**document(COMPLETIONS))).choices[0].text
            assert (await chat.models.list()).data[0].id == "simulated"
        finally:
            await chat.close()
            await claude.close()
            await upstream.close()

    asyncio.run(scenario())


def test_metrics_have_the_engine_s_names() -> None:
    engine = Engine()
    for _ in range(2):
        answer(engine, CHAT, document(CHAT))
    text = engine.counters.exposition("m", engine.cache.blocks)
    assert 'vllm:prefix_cache_queries_total{engine="0",model_name="m"} 326' in text
    assert 'vllm:prefix_cache_hits_total{engine="0",model_name="m"} 160' in text
    assert "vllm:time_to_first_token_seconds_count" in text
    assert 'vllm:num_requests_running{engine="0",model_name="m"} 0' in text
