"""KV101."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.prompt import Part, Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, is_frozen, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import across, behind, leading, of_pair


class ClockFirst(Rule):
    """A clock value stands ahead of stable text.

    ## What it does
    Finds values read from the clock (`datetime.now()`, `time.time()`, `timezone.now()` …) that reach prompt text with
    at least 32 tokens of slower text, or a growing history, behind them. A value finer than a day is an error; a date
    is told as information, because it costs one miss a day.

    ## Why it costs
    A prefix cache gives back everything up to the first byte that changed. A clock to the second changes with every
    request, so nothing behind it is ever read from the cache: it is computed again, at full price and full latency.

    ## Example
    ```python
    from datetime import datetime
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def ask(question: str) -> str:
        system = f"It is {datetime.now():%H:%M:%S}. {RULES}"
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## Use instead
    ```python
    from datetime import datetime
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def ask(question: str) -> str:
        question = f"{question}\\n(It is {datetime.now():%H:%M:%S}.)"
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": RULES}, {"role": "user", "content": question}],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "It is 17:42:08."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Where is it?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "It is 17:42:17."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "And now?"}]}}
    ```

    ## Limits
    A clock that reaches the prompt through a container, a database or another process is not followed. A value that
    only its name speaks for (`current_time`) is told as a warning.
    """

    id = "KV101"
    severity = Severity.ERROR

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        if prompt.chat_template:
            return  # KV103's
        for violation in violations(prompt, Origin.CLOCK, slowest=Cadence.DEPLOY):
            segment = violation.segment
            if segment.repeated and segment.part is Part.MESSAGES:
                continue  # a clock in each stored message: KV306's, where it is read anew
            by_day = segment.cadence is not None and segment.cadence <= Cadence.DAY
            how_often = "once a day" if by_day else (segment.detail or "on every call")
            by_day = by_day or is_frozen(segment)
            if segment.cadence is Cadence.DEPLOY:
                if "frozen" not in segment.detail:
                    continue  # a month or a year
                how_often = "with each start of the process and is stale in one that runs for days"
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"clock value `{segment.expression}` changes {how_often}, ahead of {violation.behind}",
                advice="put it behind the stable text, or freeze it for the session"
                if by_day
                else "move it to the end of the newest user message, cut it to the date, or offer it as a tool",
                severity=Severity.INFO if by_day else None,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.CLOCK):
            by_day = pair.detail == "to the day"
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: a clock value {pair.detail} changes {across(pair)}; {behind(pair)}",
                severity=Severity.INFO if by_day else None,
                precision=pair.detail,
            )
