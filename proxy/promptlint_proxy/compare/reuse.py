"""How much of a later request the provider can really read back after an earlier one."""

from __future__ import annotations

from promptlint_core.exchange import Request
from promptlint_core.prompt import Part
from promptlint_proxy.compare.align import Head
from promptlint_proxy.compare.policy import is_self_hosted, policy_of
from promptlint_rules.caching.lookback import chars_until, found
from promptlint_rules.traffic import Policy, Seen

_WHOLE_KEY = ("speed",)
"""Anthropic: a change loses system and messages, the tools stay (the vendor's invalidation table)."""
_ROUNDING = 0.02
"""Token counts by share of characters are this exact; a prompt this close to the minimum counts as reaching it."""


def reusable_chars(earlier: Seen, later: Seen, head: Head) -> int | None:
    """Code points at the head of the later request that can be read back; None: nothing can be said.

    Explicit caches read the longest marked end in the common part that a later marker finds; automatic ones read all
    of the common part. Nothing below the minimum, after the life, after another model, provider or key, or while the
    earlier answer has not begun.
    """
    old, new = earlier.request, later.request
    if old.hidden_prefix or new.hidden_prefix or old.api != new.api:
        return None
    policy = policy_of(new)
    if _never_written(earlier, later, policy):
        return 0
    life_s = policy.life_s
    if policy.explicit:
        lost = _lost_parts(old, new)
        marker = found(_kept(old, lost), new, head.pieces, policy.lookback)
        if marker is None:
            return 0
        chars = chars_until(new, marker)
        life_s = float(marker.life_s)
    else:
        chars = head.chars
        if not is_self_hosted(new) and old.parameters != new.parameters:
            return 0
    if life_s is not None and later.at - earlier.at > life_s:
        return 0
    if later.tokens_of_chars(chars) < policy.minimum_tokens * (1 - _ROUNDING):
        return 0
    if policy.breakpoints_only:
        return _at_breakpoint(old, new, head, chars)
    return chars


def _never_written(earlier: Seen, later: Seen, policy: Policy) -> bool:
    old, new = earlier.request, later.request
    if earlier.failed or old.model != new.model or old.salt != new.salt or old.provider != new.provider:
        return True
    if new.provider == "mistral" and new.routing_key is None:
        return True
    if _moved(earlier.response.served_by, later.response.served_by):
        return True
    if policy.breakpoints_only and old.routing_key != new.routing_key:
        return True  # from GPT-5.6 on the key separates entries; before it only routes
    return earlier.begun_at is not None and later.at < earlier.begun_at


def _moved(old: str | None, new: str | None) -> bool:
    return old is not None and new is not None and old != new


def _lost_parts(old: Request, new: Request) -> frozenset[Part]:
    changed = {name for name, _ in set(old.parameters) ^ set(new.parameters)}
    if not changed:
        return frozenset()
    if changed & set(_WHOLE_KEY):
        return frozenset({Part.SYSTEM, Part.MESSAGES})
    return frozenset({Part.MESSAGES})


def _kept(request: Request, lost: frozenset[Part]) -> Request:
    """The request with only those markers that stand in parts that are kept."""
    if not lost:
        return request
    kept = tuple(m for m in request.markers if m.piece < 0 or request.pieces[m.piece].part not in lost)
    return Request(provider=request.provider, api=request.api, model=request.model, pieces=request.pieces, markers=kept)


def _at_breakpoint(old: Request, new: Request, head: Head, chars: int) -> int:
    """OpenAI from GPT-5.6 on: only the ends of messages and breakpoints that the earlier request wrote."""
    written = [marker.piece for marker in old.markers]
    ends = [i for i, piece in enumerate(old.pieces) if piece.ends_block and piece.role in ("user", "tool")]
    written += ends[-1:]
    developer = [i for i, p in enumerate(old.pieces) if p.part is Part.SYSTEM]
    if developer and (not ends or developer[-1] > ends[-1]):
        written.append(developer[-1])
    inside = [piece for piece in written if piece < head.pieces]
    if not inside:
        return 0
    return min(chars, sum(len(piece.text) for piece in new.pieces[: max(inside) + 1]))
