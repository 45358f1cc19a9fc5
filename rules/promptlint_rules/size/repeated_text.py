"""KV507."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core import tokens
from promptlint_core.cadence import Evidence
from promptlint_core.exchange import PieceKind
from promptlint_core.prompt import Part, Place, Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.size.repeated_blocks import repeated_within
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

LEAST_BLOCK_TOKENS = 32
_BLOCK_CHARS = 120


class RepeatedText(Rule):
    """The same block stands twice in one text of the prompt.

    ## What it does
    Finds lines and paragraphs of at least 32 tokens that come again within the system text or within one message.

    ## Why it costs
    The second copy says nothing new and is computed, held in KV memory and paid like the first.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch, "
        "and say which shelf it stands on. Answer in two sentences and name the source of every figure.\\n"
    )


    def ask(question: str, branch: str):
        system = f"{RULES}Branch: {branch}\\n{RULES}"
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch, "
        "and say which shelf it stands on. Answer in two sentences and name the source of every figure.\\n"
    )


    def ask(question: str, branch: str):
        system = f"{RULES}Branch: {branch}"
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Never promise a reservation. When a book is lent out, tell the day it comes back, offer the nearest branch that still has it, and ask for the card number before any renewal.\\nNever promise a reservation. When a book is lent out, tell the day it comes back, offer the nearest branch that still has it, and ask for the card number before any renewal."},
      {"role": "user", "content": "Where is it?"}]}}
    ```

    ## Limits
    Answers, tool results and tool definitions may repeat themselves; a block that is added to the history on each
    turn is an inflated prompt (KV503).
    """  # noqa: E501 - a JSON string cannot be broken

    id = "KV507"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        system = "\n\n".join(s.text for s in prompt.segments if s.text and s.part is Part.SYSTEM and not s.repeated)
        block, times = repeated_within(system, _BLOCK_CHARS) if len(system) >= 2 * _BLOCK_CHARS else ("", 0)
        if times < 2 or not tokens.at_least(block, LEAST_BLOCK_TOKENS):
            return
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=Severity.INFO,  # a text that is put together in branches may hold either of two blocks
            confidence=Evidence.PROVED,
            message=f"a block of {tokens.count(block):,} tokens stands {times} times in one text: `{block[:40]}…`",
            place=prompt.place or Place("", 1),
            expression=block[:80],
            advice="say it once",
            prompt=prompt,
        )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen = traffic.current
        texts = [
            (piece.path, piece.text)
            for piece in seen.request.pieces
            if piece.kind is PieceKind.TEXT and (piece.part is Part.SYSTEM or piece.role == "user")
        ]
        system = "\n".join(p.text for p in seen.request.pieces if p.part is Part.SYSTEM and p.kind is PieceKind.TEXT)
        for path, text in (("system", system), *((path, text) for path, text in texts if path.startswith("messages"))):
            if len(text) < 2 * _BLOCK_CHARS:
                continue
            block, times = repeated_within(text, _BLOCK_CHARS)
            if times < 2 or not tokens.at_least(block, LEAST_BLOCK_TOKENS):
                continue
            size = seen.tokens_of_chars(len(block))
            yield wire_finding(
                type(self),
                f"a block of about {size:,} tokens stands {times} times in `{path}`",
                (seen.index,),
                path=path,
                times=times,
                block_tokens=size,
            )
            return
