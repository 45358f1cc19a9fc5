"""KV209."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Relation, Traffic
from promptlint_rules.wire import leading, of_pair


class NearDuplicatePrompt(Rule):
    """Two prompts are copies of one another with a small edit.

    ## What it does
    Finds prompts that hold nearly the same text and part early, by white space, punctuation or capital letters.

    ## Why it costs
    Each copy keeps a cache entry of its own. With one text for both they would share one prefix.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You are the help desk."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Where is it?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You are the help desk!"},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "And now?"}]}}
    ```

    ## Limits
    On the wire only copies that differ in no word are told; other words are read as what the template puts in.
    """

    id = "KV209"
    severity = Severity.INFO

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.SMALL_EDIT):
            who = "two prompts" if pair.relation is Relation.GROUP else "two turns"
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: {who} share {pair.behind_tokens + pair.shared_tokens:,} tokens and part at token "
                f"{pair.shared_tokens:,} by {pair.detail}",
            )
