"""KV106."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt, Segment
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, is_frozen, is_instruction, violations
from promptlint_rules.order.opening import introduces
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import across, behind, leading, of_pair


class EnvironmentFirst(Rule):
    """A snapshot of the environment stands ahead of stable text.

    ## What it does
    Finds the output of subprocesses (git status, log, diff), the working directory, file lists, modification
    times and readings of the platform that are written into prompt text by a function that runs for each call.

    ## Why it costs
    A file saved, a commit made or another machine changes the snapshot, and everything behind it is computed
    again.

    ## Example
    ```python
    import subprocess

    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(question: str) -> str:
        status = subprocess.run(["git", "status"], capture_output=True, text=True).stdout
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"Repository:\\n{status}\\n{RULES}"},
                {"role": "user", "content": question},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## Use instead
    ```python
    import subprocess

    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(question: str) -> str:
        status = subprocess.run(["git", "status"], capture_output=True, text=True).stdout
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": f"{question}\\nRepository:\\n{status}"},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "<env>cwd: /srv/shop</env>"},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Fix it."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "<env>cwd: /srv/shop/tests</env>"},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Fix it."},
      {"role": "assistant", "content": "Done."},
      {"role": "user", "content": "Test it."}]}}
    ```

    ## Limits
    A snapshot taken once per process or session is told only when its flow shows that it is taken for each call. In a
    message of the user, and in a text that no call is seen to send and that does not introduce the model, it is told as
    information: there it is what this call is about, or a note in the middle of a conversation.
    """

    id = "KV106"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.ENVIRONMENT):
            segment = violation.segment
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` reads the environment for each call, ahead of {violation.behind}",
                advice="freeze it for the session, put it behind the stable text, or offer it as a tool",
                severity=None if _heads_conversations(prompt, segment) else Severity.INFO,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.ENVIRONMENT):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}, inside an environment block that is taken anew {across(pair)}; {behind(pair)}",
            )


def _heads_conversations(prompt: Prompt, segment: Segment) -> bool:
    return is_instruction(segment) and not is_frozen(segment) and (prompt.complete or introduces(prompt))
