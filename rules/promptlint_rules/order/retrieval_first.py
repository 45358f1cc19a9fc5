"""KV108."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, is_instruction, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import across, behind, leading, of_pair


class RetrievalFirst(Rule):
    """Retrieved text stands ahead of stable text.

    ## What it does
    Finds passages, memories and search results (a retriever's or vector store's result, a variable named context,
    passages, memories …) in system text, ahead of rules or of the history.

    ## Why it costs
    Retrieved text changes with each question. Rules that stand behind it are read at full price each time, and a
    history behind it is never read from the cache at all.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(store, question: str) -> str:
        context = "\\n".join(d.page_content for d in store.similarity_search(question, k=4))
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"Room list:\\n{context}\\n{RULES}"},
                {"role": "user", "content": question},
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

    def ask(store, question: str) -> str:
        context = "\\n".join(d.page_content for d in store.similarity_search(question, k=4))
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": f"Room list:\\n{context}\\n\\n{question}"},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Passages: The market hall opens at nine."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Hours?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Passages: Cards cost ten euros a year."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Hours?"},
      {"role": "assistant", "content": "From nine."},
      {"role": "user", "content": "Price?"}]}}
    ```

    ## Limits
    Text that is loaded once and sent with every request is not retrieved text; a variable named like passages is
    taken for them. Behind a history, in the newest message or in a stored one, it is told as information.
    """

    id = "KV108"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.RETRIEVAL):
            segment = violation.segment
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` changes with each question, ahead of {violation.behind}",
                advice="put it into the newest user message, behind the rules and the history",
                severity=Severity.INFO if violation.history_ahead and not is_instruction(segment) else None,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.RETRIEVAL):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}, inside retrieved or recalled text that changes {across(pair)}; {behind(pair)}",
            )
