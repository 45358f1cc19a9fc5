"""Token counts as each API reports them, read into one meaning: prompt = hit + written + computed.

Some APIs count cached tokens as a part of the prompt, others beside it; what is absent stays None.
"""

from __future__ import annotations

from promptlint_core.exchange import Usage
from promptlint_proxy.protocols.json_text import Object, as_count, as_list, as_object

_MINUTES_5_S, _MINUTES_30_S, _HOUR_S, _HOURS_12_S = 300, 1800, 3600, 43200
_LIVES_S = {"5m": _MINUTES_5_S, "30m": _MINUTES_30_S, "1h": _HOUR_S, "12h": _HOURS_12_S}


def read_usage(api: str, provider: str, obj: Object) -> Usage:  # noqa: ARG001 - no provider needs it today
    """The usage object of a response (for Ollama, llama.cpp and SGLang native: the object that holds the counts).

    The shape decides where it is telling, since gateways answer in the shape of another API than the one asked.
    """
    if any(name in obj for name in ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")):
        return _gemini(obj)
    if any(name in obj for name in ("inputTokenCount", "outputTokenCount")):
        return _exclusive(
            obj, "inputTokenCount", "cacheReadInputTokenCount", "cacheWriteInputTokenCount", "outputTokenCount"
        )
    if any(name in obj for name in ("inputTokens", "outputTokens", "cacheReadInputTokens")):
        return _converse(obj)
    if any(name in obj for name in ("total_input_tokens", "total_output_tokens")):
        return _interactions(obj)
    if any(name in obj for name in ("tokens", "billed_units")) and "tokens_evaluated" not in obj:
        return _cohere(obj)
    if any(name in obj for name in ("prompt_eval_count", "eval_count")):
        return _inclusive(as_count(obj.get("prompt_eval_count")), None, None, as_count(obj.get("eval_count")))
    if any(name in obj for name in ("tokens_evaluated", "tokens_predicted")):
        return _llamacpp(obj)
    if "prompt_tokens" not in obj and (
        "input_tokens" in obj or "cache_read_input_tokens" in obj or "output_tokens" in obj
    ):
        details = "input_tokens_details" in obj or "output_tokens_details" in obj
        anthropic_shape = any(name in obj for name in ("cache_read_input_tokens", "cache_creation_input_tokens"))
        if api in {"messages", "invoke"} or (anthropic_shape and not as_object(obj.get("input_tokens_details"))):
            return _anthropic(obj)
        if api == "responses" or details:
            return _openai_responses(obj)
        return _inclusive(as_count(obj.get("input_tokens")), None, None, as_count(obj.get("output_tokens")))
    return _openai_chat(obj)


def merge_usage(into: Object, later: Object) -> None:
    """A later report of a stream wins field by field; a null in it takes nothing back."""
    for name, value in later.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            merge_usage(into[name], value)
        elif value is not None:
            into[name] = dict(value) if isinstance(value, dict) else value


def _inclusive(
    prompt: int | None,
    hit: int | None,
    written: int | None,
    output: int | None,
    reasoning: int | None = None,
    by_life: tuple[tuple[int, int], ...] = (),
) -> Usage:
    """The prompt total counts hit and written tokens too."""
    computed = None if prompt is None or hit is None else max(prompt - hit - (written or 0), 0)
    return Usage(prompt, hit, written, computed, output, reasoning, by_life)


def _exclusive(
    obj: Object,
    computed_name: str,
    hit_name: str,
    written_name: str,
    output_name: str,
    *,
    reasoning: int | None = None,
    by_life: tuple[tuple[int, int], ...] = (),
) -> Usage:
    """Hit and written tokens are counted beside the input tokens.

    Without a word about the cache the input is the whole prompt, and how much of it was computed is not known.
    """
    computed, hit, written = (as_count(obj.get(name)) for name in (computed_name, hit_name, written_name))
    prompt = None if computed is None else computed + (hit or 0) + (written or 0)
    told = hit is not None or written is not None
    return Usage(prompt, hit, written, computed if told else None, as_count(obj.get(output_name)), reasoning, by_life)


def _openai_chat(obj: Object) -> Usage:
    details = as_object(obj.get("prompt_tokens_details"))
    hit = _first(
        details.get("cached_tokens"),
        obj.get("prompt_cache_hit_tokens"),  # DeepSeek
        obj.get("cached_tokens"),  # Moonshot, older Fireworks
        obj.get("cache_read_input_tokens"),  # gateways in front of Claude
        as_object(obj.get("timings")).get("cache_n"),  # llama.cpp
    )
    written = _first(
        details.get("cache_write_tokens"),
        details.get("cache_creation_tokens"),  # LiteLLM
        details.get("created_cache_tokens"),  # vLLM
        obj.get("cache_creation_input_tokens"),  # gateways in front of Claude
    )
    output_details = as_object(obj.get("completion_tokens_details"))
    missed = as_count(obj.get("prompt_cache_miss_tokens"))
    prompt = as_count(obj.get("prompt_tokens"))
    if prompt is None and hit is not None and missed is not None:
        prompt = hit + missed
    return _inclusive(
        prompt,
        hit,
        written,
        as_count(obj.get("completion_tokens")),
        _first(output_details.get("reasoning_tokens"), obj.get("reasoning_tokens")),
    )


def _openai_responses(obj: Object) -> Usage:
    details = as_object(obj.get("input_tokens_details"))
    split = as_object(details.get("cache_write_tokens_details") or obj.get("cache_write_tokens_details"))
    by_life = _by_life((_MINUTES_30_S, split.get("ttl_30m_tokens")), (_HOURS_12_S, split.get("ttl_12h_tokens")))
    return _inclusive(
        as_count(obj.get("input_tokens")),
        as_count(details.get("cached_tokens")),
        as_count(details.get("cache_write_tokens")),
        as_count(obj.get("output_tokens")),
        as_count(as_object(obj.get("output_tokens_details")).get("reasoning_tokens")),
        by_life,
    )


def _anthropic(obj: Object) -> Usage:
    split = as_object(obj.get("cache_creation"))
    by_life = _by_life(
        (_MINUTES_5_S, split.get("ephemeral_5m_input_tokens")), (_HOUR_S, split.get("ephemeral_1h_input_tokens"))
    )
    return _exclusive(
        obj,
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens",
        reasoning=as_count(as_object(obj.get("output_tokens_details")).get("thinking_tokens")),
        by_life=by_life,
    )


def _converse(obj: Object) -> Usage:
    by_life = _by_life(
        *((_LIVES_S.get(str(entry.get("ttl")), 0), entry.get("inputTokens")) for entry in _entries(obj, "cacheDetails"))
    )
    return _exclusive(
        obj, "inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens", by_life=by_life
    )


def _gemini(obj: Object) -> Usage:
    prompt = _sum(obj.get("promptTokenCount"), obj.get("toolUsePromptTokenCount"))
    output = _sum(obj.get("candidatesTokenCount"), obj.get("thoughtsTokenCount"))
    hit = as_count(obj.get("cachedContentTokenCount"))
    return _inclusive(prompt, hit, None, output, as_count(obj.get("thoughtsTokenCount")))


def _interactions(obj: Object) -> Usage:
    return _inclusive(
        as_count(obj.get("total_input_tokens")),
        as_count(obj.get("total_cached_tokens")),
        None,
        as_count(obj.get("total_output_tokens")),
        as_count(obj.get("total_thought_tokens")),
    )


def _cohere(obj: Object) -> Usage:
    tokens = as_object(obj.get("tokens"))
    billed = as_object(obj.get("billed_units"))
    return _inclusive(
        _first(tokens.get("input_tokens"), billed.get("input_tokens")),
        as_count(obj.get("cached_tokens")),
        None,
        _first(tokens.get("output_tokens"), billed.get("output_tokens")),
    )


def _llamacpp(obj: Object) -> Usage:
    # tokens_cached is what the slot holds afterwards in many builds; timings.cache_n is what was reused
    hit = _first(as_object(obj.get("timings")).get("cache_n"), obj.get("tokens_cached"))
    prompt = as_count(obj.get("tokens_evaluated"))
    if prompt is not None and hit is not None and hit > prompt:
        hit = None
    return _inclusive(prompt, hit, None, as_count(obj.get("tokens_predicted")))


def _entries(obj: Object, name: str) -> list[Object]:
    return [entry for entry in as_list(obj.get(name)) if isinstance(entry, dict)]


def _by_life(*pairs: tuple[int, object]) -> tuple[tuple[int, int], ...]:
    return tuple((life_s, count) for life_s, value in pairs if (count := as_count(value)) is not None and life_s)


def _first(*values: object) -> int | None:
    return next((count for value in values if (count := as_count(value)) is not None), None)


def _sum(*values: object) -> int | None:
    counts = [count for value in values if (count := as_count(value)) is not None]
    return sum(counts) if counts else None
