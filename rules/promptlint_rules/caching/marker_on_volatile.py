"""KV401."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.practice import Practice, PracticeKind
from promptlint_core.prompt import Marker, Part, Place, Prompt, Segment
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.caching.lookback import written_inside
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Pair, Relation, Traffic
from promptlint_rules.wire import MIN_BEHIND_TOKENS, changed_once, of_pair

_MIN_SHARED_TOKENS = 256
"""A smaller shared head is not worth a marker of its own."""
_TELLS_BY_ITSELF = frozenset(
    {
        Kind.CLOCK, Kind.FRAMEWORK_CLOCK, Kind.RANDOM, Kind.IDENTITY, Kind.ENVIRONMENT, Kind.ATTRIBUTION,
        Kind.RETRIEVAL, Kind.STATE, Kind.TASK, Kind.EXAMPLES, Kind.ITEM_ORDER, Kind.JSON_BYTES, Kind.SUMMARY,
        Kind.TOOL_ORDER, Kind.TOOL_SET, Kind.SCHEMA_ORDER,
    }
)  # fmt: skip
"""With stable text behind it, the difference is told by its own rule: moving the marker would not be enough."""

_VOLATILE = (Origin.CLOCK, Origin.RANDOM, Origin.SAMPLE, Origin.ORDER)


class MarkerOnVolatile(Rule):
    """The cache marker closes a block that differs on each request.

    ## What it does
    Finds requests that share a long head, whose every marker stands behind the first difference: at the end of a block
    that ends with a time, or on the newest message alone while the constant parts have none.

    ## Why it costs
    An explicit cache is read only where a marked block ends inside the common part. Each request pays for writing the
    entry and none ever reads it.

    ## Example
    ```python
    from datetime import datetime

    import anthropic

    client = anthropic.Anthropic()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def ask(question: str):
        text = f"{RULES} It is {datetime.now():%H:%M:%S}."
        return client.messages.create(
            model="claude-opus-4-8",
            max_tokens=300,
            system=[{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}],
            messages=[{"role": "user", "content": question}],
        )
    ```

    ## Use instead
    ```python
    from datetime import datetime

    import anthropic

    client = anthropic.Anthropic()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def ask(question: str):
        return client.messages.create(
            model="claude-opus-4-8",
            max_tokens=300,
            system=[
                {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": f"It is {datetime.now():%H:%M:%S}."},
            ],
            messages=[{"role": "user", "content": question}],
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Where is it?", "cache_control": {"type": "ephemeral"}}]}]},
      "usage": {"input_tokens": 3, "cache_creation_input_tokens": 1400, "cache_read_input_tokens": 0}}
    {"t": 9, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "And now?", "cache_control": {"type": "ephemeral"}}]}]},
      "usage": {"input_tokens": 3, "cache_creation_input_tokens": 1400, "cache_read_input_tokens": 0}}
    ```

    ## Limits
    A marker on the newest message of a conversation that goes on is right: its next turn reads it.
    """

    id = "KV401"
    severity = Severity.ERROR

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for segment, marker in _marked_text(prompt):
            is_volatile = segment.origin in _VOLATILE and segment.cadence is Cadence.CALL
            if is_volatile and segment.evidence is Evidence.PROVED:
                yield Finding(
                    rule=self.id,
                    name=self.name,
                    severity=self.severity,
                    confidence=segment.evidence,
                    message=f"`{segment.expression}` changes on every call inside a block with a cache breakpoint: "
                    "it is written each time and never read",
                    place=marker.place or segment.place or prompt.place or Place("", 1),
                    expression=segment.expression,
                    cadence=segment.cadence,
                    advice="put the changing part into a block of its own behind the breakpoint",
                    flow=segment.flow,
                    prompt=prompt,
                )

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.MARKER_ON_REQUEST:
            yield of_practice(
                type(self),
                practice,
                "the only cache breakpoint stands on text that differs with each request: it is written each time and "
                "never read, while the constant system text ahead of it has none",
                "put the breakpoint behind the system text",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        if not traffic.policy.explicit:
            return
        for pair in traffic.pairs:
            if not _never_read(pair) or not _worth_a_marker(pair):
                continue
            if pair.kind is Kind.COMPACTION or changed_once(traffic, pair):
                continue
            if pair.kind in _TELLS_BY_ITSELF and pair.behind_tokens >= MIN_BEHIND_TOKENS:
                continue
            if pair.kind in (Kind.NEWEST, Kind.UNKNOWN) and not _only_the_question_is_marked(pair, traffic):
                continue
            marked = pair.later.request.markers[0].path
            yield of_pair(
                type(self),
                pair,
                f"the first marker (`{marked}`) stands behind the first difference ({pair.place}): "
                f"{pair.shared_tokens:,} shared tokens ahead of it are written each time and never read",
                shared_tokens=pair.shared_tokens,
            )


def _never_read(pair: Pair) -> bool:
    earlier, later = pair.earlier, pair.later
    if pair.append_only or not earlier.request.markers or not later.request.markers or earlier.failed or later.failed:
        return False
    return written_inside(earlier.request, pair.shared_pieces) is None and not later.hit_tokens


def _worth_a_marker(pair: Pair) -> bool:
    return pair.shared_tokens >= _MIN_SHARED_TOKENS and pair.same_cache


def _only_the_question_is_marked(pair: Pair, traffic: Traffic) -> bool:
    """Single questions under a shared head, each written and none read; not the start of a longer conversation."""
    asked_once = all(seen.turn == 0 for seen in traffic.group)
    written = all((seen.written_tokens or 0) > 0 for seen in (pair.earlier, pair.later))
    return pair.relation is Relation.GROUP and asked_once and written


def _marked_text(prompt: Prompt) -> Iterator[tuple[Segment, Marker]]:
    """The segments of tools and system text that stand in a block with a breakpoint behind it."""
    block: list[Segment] = []
    for segment in prompt.segments:
        if segment.part is Part.MESSAGES:
            return
        block.append(segment)
        if segment.marker is not None:
            yield from ((inner, segment.marker) for inner in block)
            block = []
