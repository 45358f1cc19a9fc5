"""KV303."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class RollingSummary(Rule):
    """A summary at the head of the prompt is written anew on every turn.

    ## What it does
    Finds conversations whose head holds a summary that differs from one turn to the next.

    ## Why it costs
    The summary stands ahead of the rules and the history, so that rewriting it leaves nothing to read from the cache.
    One summary in a long stretch of turns costs one miss.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def summarise(summary: str, text: str) -> str:
        asked = [{"role": "user", "content": f"Add to this summary: {summary}. New: {text}"}]
        reply = client.chat.completions.create(model="gpt-5.4-mini", messages=asked, max_tokens=300)
        return reply.choices[0].message.content


    def turn(state: dict, text: str):
        state["summary"] = summarise(state["summary"], text)
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": RULES + state["summary"]},
                {"role": "user", "content": text},
            ],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def summarise(history: list[dict]) -> str:
        asked = [*history, {"role": "user", "content": "Sum up what was said."}]
        reply = client.chat.completions.create(model="gpt-5.4-mini", messages=asked, max_tokens=300)
        return reply.choices[0].message.content


    def turn(state: dict, text: str):
        if len(state["history"]) > 60:
            state["history"] = [{"role": "user", "content": summarise(state["history"])}]
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": RULES}, *state["history"], {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Summary of the talk so far: a coat is wanted."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "user", "content": "I want a coat."},
      {"role": "assistant", "content": "Which size?"},
      {"role": "user", "content": "M, and boots."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Summary of the talk so far: a coat in size M and boots are wanted."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "user", "content": "I want a coat."},
      {"role": "assistant", "content": "Which size?"},
      {"role": "user", "content": "M, and boots."},
      {"role": "assistant", "content": "We have both."},
      {"role": "user", "content": "Send them."}]}}
    ```

    ## Limits
    A summary is recognised by what it, its tag or its heading calls itself.
    """

    id = "KV303"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.ROLLING_SUMMARY:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` in the system text is written anew by a model on each turn: "
                "all behind it is read again",
                "sum up seldom, when the history has grown long, and keep the messages in between as they are",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.SUMMARY):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}, inside a summary that is written anew; "
                f"{pair.behind_tokens:,} tokens behind it are read again: summarise in rare steps",
            )
