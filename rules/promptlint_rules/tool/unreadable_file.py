"""KV901."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

_NO_PROMPT = frozenset({"unknown", "embeddings"})
"""What passes without being read is not unreadable."""


class UnreadableFile(Rule):
    """A file or a body cannot be read.

    ## What it does
    Reports files that cannot be read, decoded or parsed, with the place where reading ended. The run goes on with
    the other files. In traffic, a body that cannot be read is counted and passed on unchanged.

    ## Why it costs
    What is not read is not checked: silence would look like a clean file.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": "Where is it?"}}
    ```

    ## Limits
    A file that only a newer Python can parse is reported as such; run promptlint with that Python.
    """

    id = "KV901"
    severity = Severity.ERROR

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        request = traffic.current.request
        if request.pieces or request.hidden_prefix or request.api in _NO_PROMPT:
            return
        sentence = request.notes[0] if request.notes else "the request holds no prompt that can be read"
        yield wire_finding(type(self), sentence, (traffic.current.index,), notes=list(request.notes))
