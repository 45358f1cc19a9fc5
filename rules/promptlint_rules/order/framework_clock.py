"""KV102."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Cadence, Evidence
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import behind, leading, of_pair

_SWITCHES = {"add_datetime_to_context": "agno", "add_datetime_to_instructions": "agno"}
"""Keyword to the framework that then writes the time, to the microsecond, into the system message."""


class FrameworkClock(Rule):
    """A framework is told to write the time into the system message.

    ## What it does
    Finds switches that make an agent framework put the current time into the system text: `add_datetime_to_context`
    of agno. A switch that adds the date alone (crewai's `inject_date`) changes once a day and is not told.

    ## Why it costs
    The framework writes the time to the second or finer ahead of the history, so that no request finds its prefix in
    the cache.

    ## Example
    ```python
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat

    agent = Agent(
        model=OpenAIChat(id="gpt-5.4-mini", max_tokens=400),
        instructions="You keep the calendar of a small practice. Offer free slots. Never move an appointment unasked.",
        add_datetime_to_context=True,
    )
    ```

    ## Use instead
    ```python
    from datetime import datetime

    from agno.agent import Agent
    from agno.models.openai import OpenAIChat


    def now() -> str:
        \"\"\"The current time.\"\"\"
        return datetime.now().isoformat()


    agent = Agent(
        model=OpenAIChat(id="gpt-5.4-mini", max_tokens=400),
        instructions="You keep the calendar of a small practice. Offer free slots. Never move an appointment unasked.",
        tools=[now],
    )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "The current time is 2026-10-19 08:05:31."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Where is it?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "The current time is 2026-10-19 08:05:40."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "And now?"}]}}
    ```

    ## Limits
    A switch that is set on the object after its construction is not seen.
    """

    id = "KV102"
    severity = Severity.ERROR

    def check_call(self, call: Call) -> Iterator[Finding]:
        for name, value, place in call.switches:
            if name not in _SWITCHES or value != "True":
                continue
            yield Finding(
                rule=self.id,
                name=self.name,
                severity=self.severity,
                confidence=Evidence.PROVED,
                message=f"`{name}=True` makes {_SWITCHES[name]} write the time into the system message on every run",
                place=place,
                expression=f"{name}=True",
                cadence=Cadence.CALL,
                advice="leave it off and offer the time as a tool, or add it to the newest user message",
                prompt=call.prompt,
                call=call,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.FRAMEWORK_CLOCK):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}, in the sentence that an agent framework adds for the time "
                f"({pair.detail}); {behind(pair)}",
                precision=pair.detail,
            )
