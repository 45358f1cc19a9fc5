"""KV103."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core import tokens
from promptlint_core.cadence import Cadence, Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.order.law import Violation, finding
from promptlint_rules.traffic import LOCAL_ENGINES, Pair, Relation, Traffic
from promptlint_rules.wire import wire_finding

_DAY_S = 86_400
_EQUAL_SHARE = 0.9
_MIN_SHARED_TOKENS = 128
_WARM_SHARE = 0.5
_COLD_SHARE = 0.15
_MOST_GAP_S = 7_200
"""After a longer pause other traffic may have pushed the entry out."""


class TemplateDate(Rule):
    """The server's chat template writes the date ahead of the messages.

    ## What it does
    Finds chat templates (`chat_template.jinja`, the template inside a tokenizer_config.json) that print
    `strftime_now(…)` or `date_string` ahead of tools and messages; a constant default is none. In traffic, finds a
    reported reuse that collapses between two equal or growing requests on either side of midnight, on an engine
    whose entries have no fixed life.

    ## Why it costs
    A template that calls `strftime_now` changes the first line of every prompt at midnight: the whole cache of the
    server is cold at once, for all clients.

    ## Example
    ```jinja
    {%- set today = strftime_now("%d %B %Y") -%}
    <|system|>
    Today is {{ today }}.
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}
    {%- endfor %}
    ```

    ## Use instead
    ```jinja
    <|system|>
    {%- for message in messages %}
    <|{{ message.role }}|>
    {{ message.content }}
    {%- endfor %}
    ```

    ## On the wire
    ```json
    {"t": 86370, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You are the night desk. Answer in two sentences."},
      {"role": "user", "content": "Is the north depot open?"}]},
      "usage": {"prompt_tokens": 499, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 480}}}
    {"t": 86412, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You are the night desk. Answer in two sentences."},
      {"role": "user", "content": "Is the north depot open?"}]},
      "usage": {"prompt_tokens": 499, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 16}}}
    ```

    ## Limits
    The date itself is not on the wire: it is suspected from the time of the collapse. Midnight is that of UTC unless
    the server's offset is configured.
    """

    id = "KV103"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        if not prompt.chat_template:
            return
        for index, segment in enumerate(prompt.segments):
            behind = list(prompt.behind(index))
            history = any(other.cadence is Cadence.APPEND for other in behind)
            if segment.origin is not Origin.CLOCK or segment.cadence is None or not history:
                continue
            stable = "".join(other.text or "" for other in behind)
            violation = Violation(segment, tokens.count(stable), history_behind=True)
            how_often = f"is the server's clock {segment.detail}" if segment.detail else "is a date of the server"
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` in the chat template {how_often}, ahead of {violation.behind}",
                advice="leave the date out of the template and let the application send it behind the stable text",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.pairs:
            if not self._collapsed(pair, traffic.utc_offset_s):
                continue
            before, after = pair.earlier.hit_tokens or 0, pair.later.hit_tokens or 0
            yield wire_finding(
                type(self),
                f"no difference on the wire, but the reported reuse fell from {before:,} to {after:,} tokens at the "
                "change of day: a date added by the server's chat template is likely",
                (pair.earlier.index, pair.later.index),
                tokens_behind=before - after,
            )

    def _collapsed(self, pair: Pair, offset_s: int) -> bool:
        earlier, later = pair.earlier, pair.later
        if pair.relation is Relation.HOP or later.failed or later.request.provider not in LOCAL_ENGINES:
            return False
        before, after = earlier.hit_tokens, later.hit_tokens
        days = [int((seen.at + offset_s) // _DAY_S) for seen in (earlier, later)]
        if before is None or after is None or days[0] == days[1] or pair.gap_s > _MOST_GAP_S or not pair.same_cache:
            return False
        alike = pair.append_only or pair.comparison.shared_prefix_share >= _EQUAL_SHARE
        return (
            alike
            and pair.shared_tokens >= _MIN_SHARED_TOKENS
            and before >= _WARM_SHARE * earlier.prompt_tokens
            and after <= _COLD_SHARE * pair.shared_tokens
        )
