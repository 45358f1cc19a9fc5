"""KV109."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import across, behind, leading, of_pair


class CounterFirst(Rule):
    """A counter or other state of the step stands ahead of stable text.

    ## What it does
    Finds loop indices, step numbers, budgets, plans and conditional sentences inside a system text that is built
    anew in each step.

    ## Why it costs
    The text changes at every step of one conversation, so an agent reads its rules and its whole history again on
    every step.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def run(messages: list[dict]) -> None:
        for step in range(12):
            reply = client.chat.completions.create(
                model="gpt-5.4-mini",
                messages=[{"role": "system", "content": f"Step {step + 1} of 12. {RULES}"}, *messages],
                max_tokens=300,
            )
            messages.append({"role": "assistant", "content": reply.choices[0].message.content})
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def run(messages: list[dict]) -> None:
        for step in range(12):
            messages.append({"role": "user", "content": f"Step {step + 1} of 12."})
            reply = client.chat.completions.create(
                model="gpt-5.4-mini",
                messages=[{"role": "system", "content": RULES}, *messages],
                max_tokens=300,
            )
            messages.append({"role": "assistant", "content": reply.choices[0].message.content})
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "[Step 1 of 30]"},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Tidy up."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "[Step 2 of 30]"},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Tidy up."},
      {"role": "assistant", "content": "Shelf one is done."},
      {"role": "user", "content": "Go on."}]}}
    ```

    ## Limits
    A counter that is read from another object is told by its name alone.
    """

    id = "KV109"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.STATE):
            segment = violation.segment
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` changes at every step, ahead of {violation.behind}",
                advice="append it as the newest message instead",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.STATE):
            what = "a counter" if pair.detail == "a number" else "live state"
            yield of_pair(type(self), pair, f"{pair.place}: {what} changes {across(pair)}; {behind(pair)}")
