"""KV110."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, is_instruction, is_newest, violations
from promptlint_rules.order.opening import is_later_turn
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import leading, of_pair


class TaskFirst(Rule):
    """The task or question stands ahead of constant text.

    ## What it does
    Finds a parameter named task, query, question or goal, and text of the caller, ahead of constant instructions.

    ## Why it costs
    The instructions behind the task are the same for all tasks and would be read from the cache if they stood
    first.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(task: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"Your task: {task}\\n{RULES}"},
                {"role": "user", "content": "Begin."},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
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

    def ask(task: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": f"Your task: {task}"},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Your task: book a table for four."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Start."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Your task: find the next ferry."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Start."}]}}
    ```

    ## Limits
    Names are judged where the value is a parameter. A task ahead of a short closing line, or of tags and labels around
    other values, is not told. In the newest message of a conversation it is told as information.
    """

    id = "KV110"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.TASK):
            segment = violation.segment
            instructs = is_instruction(segment)
            if not violation.enough and not (instructs and segment.role):
                continue  # a conversation that begins with its task only grows behind it
            newest = is_newest(violation) or is_later_turn(prompt)
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` changes from task to task, ahead of {violation.behind}",
                advice="put the constant text first and the task at the end",
                severity=Severity.INFO if newest else None,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.TASK):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: the task or question stands ahead of {pair.behind_tokens:,} tokens that stay",
            )
