"""KV108."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity
from promptlint_rules.order.law import finding, violations


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

    ## Limits
    Text that is loaded once and sent with every request is not retrieved text; a variable named like passages is
    taken for them.
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
            )
