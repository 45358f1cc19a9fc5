"""One stream of each wire format, as its server writes it: the tests cut them anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocol_wire import EVENT_STREAM, JSON, JSON_LINES, SSE, chunk, frame, sse


@dataclass(frozen=True)
class Sample:
    host: str
    path: str
    body: bytes
    headers: dict[str, str]
    content: list[tuple[str, int, int | None, int]]
    """(kind, choice, tokens, characters) of each event with generated content."""
    response: dict[str, Any]
    """Fields of the response that are checked."""


def _chat(delta: dict[str, Any], index: int = 0, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish, **more.pop("choice", {})}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], "usage": None, **more}


CHAT = Sample(
    "api.openai.com",
    "/v1/chat/completions",
    sse(
        _chat({"role": "assistant", "content": "", "refusal": None}, obfuscation="xY2"),
        _chat({"content": "Grüße"}, obfuscation="a"),
        _chat({"content": " an alle 👋"}, obfuscation="bcd9"),
        _chat({}, finish="stop"),
        {
            "object": "chat.completion.chunk",
            "model": "m-1",
            "choices": [],
            "usage": {
                "prompt_tokens": 1200,
                "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 1024},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        },
        "data: [DONE]\n\n",
    ),
    SSE,
    [("text", 0, None, 5), ("text", 0, None, 10)],
    {
        "finish_reason": "stop",
        "model": "m-1",
        "content_chars": 15,
        "content_tail": "Grüße an alle 👋",
        "usage": (1200, 1024, None, 176, 9),
    },
)

VLLM = Sample(
    "vllm:8000",
    "/v1/chat/completions",
    sse(
        ": keep-alive\n\n",
        _chat({"role": "assistant", "content": ""}, usage={"prompt_tokens": 40, "completion_tokens": 0}),
        _chat({"reasoning": "Let me"}, usage={"prompt_tokens": 40, "completion_tokens": 2}),
        _chat({"reasoning": " see."}, usage={"prompt_tokens": 40, "completion_tokens": 5}),
        _chat({"content": "Yes"}, usage={"prompt_tokens": 40, "completion_tokens": 6}),
        _chat({"content": "!"}, 1, usage={"prompt_tokens": 40, "completion_tokens": 1}),
        _chat({}, finish="length", usage={"prompt_tokens": 40, "completion_tokens": 6}),
        {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47}},
        "data: [DONE]\n\n",
    ).replace(b"\n", b"\r\n"),
    SSE,
    [("reasoning", 0, 2, 6), ("reasoning", 0, 3, 5), ("text", 0, 1, 3), ("text", 1, 1, 1)],
    {"finish_reason": "length", "reasoning": True, "usage": (40, None, None, None, 7)},
)

TOOLS = Sample(
    "openrouter.ai",
    "/api/v1/chat/completions",
    sse(
        ": OPENROUTER PROCESSING\n\n",
        _chat(
            {
                "role": "assistant",
                "tool_calls": [{"index": 0, "id": "t1", "function": {"name": "find", "arguments": ""}}],
            },
            provider="DeepInfra",
        ),
        _chat({"tool_calls": [{"index": 0, "function": {"arguments": '{"id":'}}]}),
        _chat({"tool_calls": [{"index": 0, "function": {"arguments": "7}"}}]}),
        _chat({"content": ""}, finish="tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "cost": 0.1}},
        "data: [DONE]\n\n",
    ),
    SSE,
    [("tool", 0, None, 6), ("tool", 0, None, 2)],
    {
        "finish_reason": "tool_calls",
        "served_by": "DeepInfra",
        "tool_calls": ("find",),
        "usage": (9, None, None, None, 4),
    },
)

COMPLETIONS = Sample(
    "127.0.0.1:8000",
    "/v1/completions",
    sse(
        {"choices": [{"index": 0, "text": "one", "logprobs": {"tokens": ["on", "e"]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "text": " two", "token_ids": [5, 6, 7], "finish_reason": None}]},
        {"choices": [{"index": 0, "text": "", "finish_reason": "length"}]},
        {
            "choices": [],
            "usage": {"prompt_tokens": 3, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}},
        },
        "data: [DONE]\n\n",
    ),
    SSE,
    [("text", 0, 2, 3), ("text", 0, 3, 4)],
    {"finish_reason": "length", "usage": (3, 0, None, 3, 5)},
)

RESPONSES = Sample(
    "api.openai.com",
    "/v1/responses",
    sse(
        {"type": "response.created", "response": {"id": "r", "model": "gpt-5.6-terra", "status": "in_progress"}},
        {"type": "response.output_item.added", "item": {"type": "reasoning"}},
        {"type": "response.reasoning_summary_text.delta", "delta": "Hm."},
        {"type": "response.output_text.delta", "delta": "Hello", "obfuscation": "zz"},
        {"type": "response.function_call_arguments.delta", "delta": "{}"},
        {
            "type": "response.incomplete",
            "response": {
                "model": "gpt-5.6-terra",
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "prompt_cache_diagnostics": {"type": "cache_miss", "reason": "tools_changed"},
                "output": [{"type": "function_call", "name": "find", "arguments": "{}"}],
                "usage": {
                    "input_tokens": 2322,
                    "input_tokens_details": {
                        "cached_tokens": 4,
                        "cache_write_tokens": 2000,
                        "cache_write_tokens_details": {"ttl_30m_tokens": 1500, "ttl_12h_tokens": 500},
                    },
                    "output_tokens": 40,
                    "output_tokens_details": {"reasoning_tokens": 20},
                },
            },
        },
        named=True,
    ),
    SSE,
    [("reasoning", 0, None, 3), ("text", 0, None, 5), ("tool", 0, None, 2)],
    {
        "finish_reason": "max_output_tokens",
        "diagnosis": "tools_changed",
        "tool_calls": ("find",),
        "usage": (2322, 4, 2000, 318, 40),
    },
)

MESSAGES = Sample(
    "api.anthropic.com",
    "/v1/messages",
    sse(
        {
            "type": "message_start",
            "message": {
                "model": "claude-opus-5",
                "usage": {
                    "input_tokens": 3,
                    "cache_read_input_tokens": 1000,
                    "cache_creation_input_tokens": 200,
                    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 200},
                    "output_tokens": 1,
                },
                "diagnostics": {"cache_miss_reason": {"type": "messages_changed", "cache_missed_input_tokens": 90}},
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Why"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Because."}},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "name": "find", "input": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 77, "input_tokens": None},
        },
        {"type": "message_stop"},
        named=True,
    ),
    SSE,
    [("reasoning", 0, None, 3), ("text", 0, None, 8), ("tool", 0, None, 7)],
    {
        "finish_reason": "tool_use",
        "model": "claude-opus-5",
        "tool_calls": ("find",),
        "reasoning": True,
        "diagnosis": "messages_changed",
        "usage": (1203, 1000, 200, 3, 77),
    },
)

_GEMINI = (
    {
        "candidates": [{"content": {"parts": [{"text": "Plan {", "thought": True}]}}],
        "usageMetadata": {"promptTokenCount": 9},
    },
    {"candidates": [{"content": {"parts": [{"text": 'He said "}" \\'}]}}], "modelVersion": "gemini-3.8-flash"},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "find", "args": {"a": 1}}}]}}]},
    {"usageMetadata": {"promptTokenCount": 10}},
    {
        "candidates": [{"finishReason": "MAX_TOKENS"}],
        "usageMetadata": {
            "promptTokenCount": 10,
            "cachedContentTokenCount": 4,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 2,
        },
    },
)
_GEMINI_CONTENT = [("reasoning", 0, None, 6), ("text", 0, None, 13), ("tool", 0, None, 7)]
_GEMINI_RESPONSE = {
    "finish_reason": "MAX_TOKENS",
    "model": "gemini-3.8-flash",
    "tool_calls": ("find",),
    "usage": (10, 4, None, 6, 7),
}
_GEMINI_HOST = "generativelanguage.googleapis.com"
GEMINI_SSE = Sample(
    _GEMINI_HOST,
    "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    sse(*_GEMINI).replace(b"\n\n", b"\r\n\r\n"),
    SSE,
    _GEMINI_CONTENT,
    _GEMINI_RESPONSE,
)
GEMINI_ARRAY = Sample(
    _GEMINI_HOST,
    "/v1beta/models/gemini-3.8-flash:streamGenerateContent",
    b"["
    + b"\n,\r\n".join(event.removeprefix(b"data: ").strip() for event in sse(*_GEMINI).split(b"\n\n") if event)
    + b"\n]\n",
    JSON,
    _GEMINI_CONTENT,
    _GEMINI_RESPONSE,
)

_BEDROCK = "bedrock-runtime.eu-west-1.amazonaws.com"
CONVERSE = Sample(
    _BEDROCK,
    "/model/eu.anthropic.claude-opus-5-v1%3A0/converse-stream",
    frame({"role": "assistant"}, event_type="messageStart", message_type="event")
    + frame({"delta": {"reasoningContent": {"text": "Hm"}}}, event_type="contentBlockDelta", message_type="event")
    + frame({"delta": {"text": "Hallo"}}, event_type="contentBlockDelta", message_type="event")
    + frame({"start": {"toolUse": {"name": "find"}}}, event_type="contentBlockStart", message_type="event")
    + frame({"delta": {"toolUse": {"input": "{}"}}}, event_type="contentBlockDelta", message_type="event")
    + frame({"stopReason": "max_tokens"}, event_type="messageStop", message_type="event")
    + frame(
        {
            "usage": {
                "inputTokens": 7,
                "outputTokens": 30,
                "cacheReadInputTokens": 900,
                "cacheWriteInputTokens": 50,
                "cacheDetails": [{"ttl": "1h", "inputTokens": 50}],
            },
            "metrics": {"latencyMs": 9},
        },
        event_type="metadata",
        message_type="event",
    ),
    EVENT_STREAM,
    [("reasoning", 0, None, 2), ("text", 0, None, 5), ("tool", 0, None, 2)],
    {"finish_reason": "max_tokens", "tool_calls": ("find",), "reasoning": True, "usage": (957, 900, 50, 7, 30)},
)

INVOKE = Sample(
    _BEDROCK,
    "/model/meta.llama4-70b-instruct-v1:0/invoke-with-response-stream",
    chunk({"generation": "Hi", "stop_reason": None})
    + chunk({"generation": " you", "stop_reason": None})
    + chunk(
        {
            "generation": "",
            "stop_reason": "length",
            "amazon-bedrock-invocationMetrics": {
                "inputTokenCount": 12,
                "outputTokenCount": 3,
                "cacheReadInputTokenCount": 30,
                "cacheWriteInputTokenCount": 0,
            },
        }
    ),
    EVENT_STREAM,
    [("text", 0, None, 2), ("text", 0, None, 4)],
    {"finish_reason": "length", "usage": (42, 30, 0, 12, 3)},
)

INVOKE_CLAUDE = Sample(
    _BEDROCK,
    "/model/anthropic.claude-opus-5-v1:0/invoke-with-response-stream",
    chunk({"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 8}}})
    + chunk({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hey"}})
    + chunk({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}})
    + chunk(
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 5, "outputTokenCount": 2}}
    ),
    EVENT_STREAM,
    [("text", 0, None, 3)],
    {"finish_reason": "end_turn", "usage": (13, 8, None, 5, 2)},
)

OLLAMA = Sample(
    "localhost:11434",
    "/api/chat",
    sse(
        '{"model":"qwen3","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}\n',
        '{"model":"qwen3","message":{"role":"assistant","content":"Hé"},"done":false}\n\n',
        '{"model":"qwen3","message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}\n',
        '{"model":"qwen3","message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":20,"eval_count":4}',
    ),
    JSON_LINES,
    [("reasoning", 0, None, 2), ("text", 0, None, 2), ("tool", 0, None, 7)],
    {"finish_reason": "length", "model": "qwen3", "tool_calls": ("f",), "usage": (20, None, None, None, 4)},
)

OLLAMA_GENERATE = Sample(
    "localhost:11434",
    "/api/generate",
    b'{"response":"A","done":false}\n{"response":"","done":true,"done_reason":"stop","prompt_eval_count":2,"eval_count":1}\n',
    JSON_LINES,
    [("text", 0, None, 1)],
    {"finish_reason": "stop", "usage": (2, None, None, None, 1)},
)

TGI = Sample(
    "tgi:80",
    "/generate_stream",
    sse(
        {"index": 1, "token": {"id": 1, "text": "Ah", "special": False}, "generated_text": None, "details": None},
        {
            "index": 2,
            "token": {"id": 2, "text": "</s>", "special": True},
            "generated_text": "Ah",
            "details": {"finish_reason": "eos_token", "generated_tokens": 2, "input_length": 8},
        },
    ),
    SSE,
    [("text", 0, 1, 2)],
    {"finish_reason": "eos_token", "usage": (8, None, None, None, 2)},
)

SGLANG = Sample(
    "sglang:30000",
    "/generate",
    sse(
        {"text": "One", "meta_info": {"prompt_tokens": 5, "cached_tokens": 4, "completion_tokens": 1}},
        {"text": "One two", "meta_info": {"prompt_tokens": 5, "cached_tokens": 4, "completion_tokens": 3}},
        {
            "text": "One two",
            "meta_info": {
                "prompt_tokens": 5,
                "cached_tokens": 4,
                "completion_tokens": 3,
                "finish_reason": {"type": "length"},
            },
        },
        "data: [DONE]\n\n",
    ),
    SSE,
    [("text", 0, 1, 3), ("text", 0, 2, 4)],
    {"finish_reason": "length", "content_chars": 7, "usage": (5, 4, None, 1, 3)},
)

LLAMACPP = Sample(
    "localhost:8080",
    "/completion",
    sse(
        ": ping\n\n",
        {"index": 0, "content": "Hi", "tokens": [9], "stop": False, "tokens_predicted": 1, "tokens_evaluated": 30},
        {"index": 0, "content": " you", "tokens": [3], "stop": False, "tokens_predicted": 3, "tokens_evaluated": 30},
        {
            "index": 0,
            "content": "",
            "stop": True,
            "stop_type": "limit",
            "tokens_predicted": 3,
            "tokens_evaluated": 30,
            "tokens_cached": 33,
            "timings": {"cache_n": 20, "prompt_n": 10, "predicted_n": 3},
        },
    ),
    SSE,
    [("text", 0, 1, 2), ("text", 0, 2, 4)],
    {"finish_reason": "length", "engine_hit_tokens": 20, "usage": (30, 20, None, 10, 3)},
)

COHERE = Sample(
    "api.cohere.com",
    "/v2/chat",
    sse(
        {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will"}}},
        {
            "type": "tool-call-start",
            "delta": {"message": {"tool_calls": {"function": {"name": "find", "arguments": ""}}}},
        },
        {"type": "tool-call-delta", "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}},
        {"type": "content-delta", "delta": {"message": {"content": {"text": "Done"}}}},
        {"type": "citation-start", "delta": {"message": {"citations": {"sources": [{"id": "doc:1"}]}}}},
        {
            "type": "message-end",
            "delta": {
                "finish_reason": "MAX_TOKENS",
                "usage": {"billed_units": {"input_tokens": 3}, "tokens": {"input_tokens": 8, "output_tokens": 2}},
            },
        },
        named=True,
    ),
    SSE,
    [("reasoning", 0, None, 6), ("tool", 0, None, 2), ("text", 0, None, 4)],
    {"finish_reason": "MAX_TOKENS", "tool_calls": ("find",), "cited": 1, "usage": (8, None, None, None, 2)},
)

INTERACTIONS = Sample(
    _GEMINI_HOST,
    "/v1beta/interactions",
    sse(
        {"event_type": "interaction.created", "interaction": {"id": "i"}},
        {"event_type": "step.start"},
        {"event_type": "step.delta", "delta": {"type": "thought_summary", "content": {"text": "Hm"}}},
        {"event_type": "step.delta", "delta": {"type": "text", "text": "Yes"}},
        {
            "event_type": "interaction.completed",
            "interaction": {
                "status": "completed",
                "usage": {"total_input_tokens": 9, "total_cached_tokens": 3, "total_output_tokens": 2},
            },
        },
    ),
    SSE,
    [("reasoning", 0, None, 2), ("text", 0, None, 3)],
    {"finish_reason": "completed", "usage": (9, 3, None, 6, 2)},
)

VLLM_GENERATE = Sample(
    "vllm:8000",
    "/inference/v1/generate",
    sse(
        {"request_id": "r", "choices": [{"index": 0, "token_ids": [5, 6], "finish_reason": None}]},
        {"request_id": "r", "choices": [{"index": 0, "token_ids": [], "finish_reason": "stop"}]},
        {"request_id": "r", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}},
        "data: [DONE]\n\n",
    ),
    SSE,
    [("text", 0, 2, 4)],
    {"finish_reason": "stop", "usage": (4, None, None, None, 2)},
)

CONVERSATIONS = Sample(
    "api.mistral.ai",
    "/v1/conversations",
    sse(
        {"type": "conversation.response.started", "conversation_id": "c"},
        {"type": "message.output.delta", "model": "m", "content": {"type": "thinking"}},
        {"type": "message.output.delta", "model": "m", "content": "Yes"},
        {"type": "function.call.delta", "name": "find", "arguments": "{}"},
        {"type": "conversation.response.done", "usage": {"prompt_tokens": 6, "completion_tokens": 3}},
        named=True,
    ),
    SSE,
    [("text", 0, None, 3), ("tool", 0, None, 2)],
    {"tool_calls": ("find",), "model": "m", "usage": (6, None, None, None, 3)},
)

SAMPLES: dict[str, Sample] = {
    name.lower(): value for name, value in list(globals().items()) if isinstance(value, Sample)
}
