"""KV307."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.exchange import Piece, PieceKind
from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.traffic import LOCAL_ENGINES, Pair, Traffic
from promptlint_rules.wire import wire_finding


class FlippingContentShape(Rule):
    """The content of an old message is a string in one turn and a list with one text block in the next.

    ## What it does
    Finds old messages whose text is equal while its shape on the wire changed, on an engine of one's own.

    ## Why it costs
    Hosted providers read both shapes alike. A chat template may not: some write a list as its Python form, so that the
    prefix ends at a message in which no word changed.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "Keep it short."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": [{"type": "text", "text": "Keep it short."}]},
      {"role": "assistant", "content": "Sure."},
      {"role": "user", "content": "Go."}]}}
    ```

    ## Limits
    Whether the engine's template tells the shapes apart is not known: this is a note, and the texts count as equal.
    """

    id = "KV307"
    severity = Severity.INFO

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        if traffic.current.request.provider not in LOCAL_ENGINES:
            return
        for pair in traffic.continuing():
            flipped = _flipped(pair)
            if flipped:
                yield wire_finding(
                    type(self),
                    f"the content of {len(flipped)} old messages changed between a string and a list with one text "
                    f"block, the first at `{flipped[0].path}`",
                    (pair.earlier.index, pair.later.index),
                    path=flipped[0].path,
                    messages=len(flipped),
                )


def _flipped(pair: Pair) -> list[Piece]:
    head = zip(pair.earlier.request.pieces, pair.later.request.pieces[: pair.shared_pieces], strict=False)
    return [new for old, new in head if new.kind is PieceKind.TEXT and old.listed != new.listed]
