"""KV503."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core import tokens
from promptlint_core.exchange import PieceKind
from promptlint_core.practice import Practice, PracticeKind
from promptlint_core.prompt import Part
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.size.repeated_blocks import repeated_across
from promptlint_rules.traffic import Seen, Traffic
from promptlint_rules.wire import wire_finding

TOOLS_SHARE = 0.5
LEAST_TOOLS_TOKENS = 1_000
LEAST_REQUESTS = 3
LEAST_BLOCK_TOKENS = 48
_BLOCK_CHARS = 150
"""A text of this many code points has about as many tokens as `LEAST_BLOCK_TOKENS`, or is not worth counting."""
LEAST_TIMES = 3


class InflatedPrompt(Rule):
    """The prompt carries text that nothing needs.

    ## What it does
    Finds tool definitions that make up most of the prompt while no tool is called, and blocks of text that are added to
    the history again on every turn.

    ## Why it costs
    Every token of the prompt is computed or read for each request and holds KV memory as long as the answer takes.

    ## Example
    ```python
    from pathlib import Path

    from openai import OpenAI

    client = OpenAI()


    def explain(error: str):
        log = Path("service.log").read_text(encoding="utf-8")
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": f"Log: {log} Explain: {error}"}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from pathlib import Path

    from openai import OpenAI

    client = OpenAI()


    def explain(error: str):
        log = Path("service.log").read_text(encoding="utf-8")[-4_000:]
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": f"Log: {log} Explain: {error}"}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "order_lookup", "description": "Find an order by number."}}],
      "messages": [{"role": "user", "content": "Hello."}]}, "response": {"tool_calls": 0},
      "usage": {"prompt_tokens": 2449, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 6, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "order_lookup", "description": "Find an order by number."}}],
      "messages": [{"role": "user", "content": "Good day."}]}, "response": {"tool_calls": 0},
      "usage": {"prompt_tokens": 2449, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 2432}}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "order_lookup", "description": "Find an order by number."}}],
      "messages": [{"role": "user", "content": "Bye."}]}, "response": {"tool_calls": 0},
      "usage": {"prompt_tokens": 2449, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 2432}}}
    ```

    ## Limits
    Whether a tool was called must be known from the answers, and no message of the history may hold a call. A block
    that comes again within one text is repeated text (KV507).
    """

    id = "KV503"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.WHOLE_FILES:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` puts whole files into the prompt, however long they are",
                "cut them to a number of tokens, or search them for what the question needs",
            )
        elif practice.kind is PracticeKind.REPEATED_CONSTANT:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` adds the same text to the history on every turn",
                "send it once, in the system text",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        yield from self._idle_tools(traffic)
        yield from self._added_each_turn(traffic)

    def _idle_tools(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen, counts = traffic.current, traffic.counts
        chars = sum(len(piece.text) for piece in seen.request.pieces if piece.part is Part.TOOLS)
        tools_tokens = seen.tokens_of_chars(chars)
        if tools_tokens < LEAST_TOOLS_TOKENS or tools_tokens < TOOLS_SHARE * seen.prompt_tokens:
            return
        idle = (
            counts.tools_known >= LEAST_REQUESTS and counts.tools_known == counts.answered and not counts.tools_called
        )
        if not idle or _holds_calls(seen):
            return
        share = tools_tokens / max(1, seen.prompt_tokens)
        yield wire_finding(
            type(self),
            f"{len(seen.request.tool_names)} tool definitions are {share:.0%} of the prompt "
            f"(about {tools_tokens:,} tokens) "
            f"and no tool was called in {counts.answered} answers",
            tuple(other.index for other in traffic.group),
            path="tools",
            tools_tokens=tools_tokens,
        )

    def _added_each_turn(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen = traffic.current
        by_message: dict[int, list[str]] = {}
        for piece in seen.request.pieces:
            own = piece.kind is PieceKind.TEXT and piece.role not in ("assistant", "model", "tool", "function")
            if piece.part is Part.MESSAGES and own and piece.message is not None:
                by_message.setdefault(piece.message, []).append(piece.text)
        if len(by_message) < LEAST_TIMES:
            return
        block, times = repeated_across(("\n".join(texts) for texts in by_message.values()), _BLOCK_CHARS)
        if times < LEAST_TIMES or not tokens.at_least(block, LEAST_BLOCK_TOKENS):
            return
        size = seen.tokens_of_chars(len(block))
        yield wire_finding(
            type(self),
            f"the same block of about {size:,} tokens stands in {times} messages of one conversation: "
            f"{size * (times - 1):,} tokens say nothing new",
            (seen.index,),
            path="messages",
            times=times,
            block_tokens=size,
        )


def _holds_calls(seen: Seen) -> bool:
    kinds = (PieceKind.ARGUMENTS, PieceKind.NAME)
    return any(piece.part is Part.MESSAGES and piece.kind in kinds for piece in seen.request.pieces)
