"""Bounds on output tokens: where requests carry them, and what the server does without one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from promptlint_core.prompt import Bound, BoundKind
from promptlint_proxy.protocols.json_text import Object, as_int

_HIT = frozenset({"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "max_length", "limit"})


def read_bound(holder: Object, names: Sequence[str], prefix: str = "", server_tokens: int | None = None) -> Bound:
    """The first of the named fields that is set; one that is null counts only when no other is set.

    `server_tokens` is the server's own small bound where a request sends none (16 for legacy completions): the result
    is then ABSENT and carries it, so that nobody takes the output for unbounded.
    """
    for name in sorted((name for name in names if name in holder), key=lambda name: holder[name] is None):
        value = holder[name]
        tokens = as_int(value)
        parameter = prefix + name
        if value is None or (tokens is not None and tokens < 0) or (isinstance(value, float) and math.isinf(value)):
            return Bound(BoundKind.UNLIMITED, None, parameter=parameter)
        if tokens is not None:
            return Bound(BoundKind.LIMITED, tokens, parameter=parameter)
        return Bound(BoundKind.UNKNOWN, parameter=parameter)
    return Bound(BoundKind.ABSENT, server_tokens)


def is_bound_hit(finish_reason: str | None) -> bool:
    """Whether an answer ended because its bound was reached, in the words of any of the APIs.

    >>> is_bound_hit("MAX_TOKENS"), is_bound_hit("end_turn")
    (True, False)
    """
    return (finish_reason or "").lower() in _HIT
