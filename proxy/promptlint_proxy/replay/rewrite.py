"""Recorded requests as the fixes would make them: volatile text behind, tools and keys sorted, history as it was first
sent, one marker placed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from promptlint_core.exchange import Exchange, Piece, PieceKind, Request, WireMarker
from promptlint_core.prompt import Part
from promptlint_proxy.analysis import Observation
from promptlint_proxy.compare.chunks import chunks
from promptlint_proxy.compare.classify_tools import tools_of
from promptlint_proxy.compare.policy import policy_of
from promptlint_proxy.replay.repair_history import SentBefore, repair

_STABLE_SHARE = 0.8
"""A line or sentence that stands in so many requests of its template is stable; the rest changes."""
_MARKER_LIFE_S = 300


@dataclass(frozen=True, slots=True)
class Template:
    """What the requests of one group have in common."""

    order: dict[str, int]
    """Stable lines and sentences of the system text, with their place in the first request that holds them."""
    goes_on: bool
    """Its conversations have more than one turn."""


def rewrite(observations: Sequence[Observation]) -> list[Exchange]:
    """The same exchanges with rewritten requests; what was answered and when stays as it was."""
    by_group: dict[str, list[Observation]] = {}
    for observation in observations:
        by_group.setdefault(observation.seen.group, []).append(observation)
    templates = {group: _template(members) for group, members in by_group.items()}
    repaired = _repaired(observations)
    return [
        replace(o.exchange, request=rewrite_request(repaired[o.seen.index], templates[o.seen.group]))
        for o in observations
    ]


def _repaired(observations: Sequence[Observation]) -> dict[int, Request]:
    """Requests by index, their history as the conversation first sent it where a rule names what changed in it."""
    named: dict[str, set[str]] = {}
    for observation in observations:
        named.setdefault(observation.seen.line, set()).update(finding.rule for finding in observation.findings)
    before: dict[str, SentBefore] = {}
    repaired = {}
    for observation in sorted(observations, key=lambda o: (o.seen.at, o.seen.index)):
        line = observation.seen.line
        sent = before.setdefault(line, SentBefore())
        repaired[observation.seen.index] = repair(observation.exchange.request, named[line], sent)
    return repaired


def _template(members: Sequence[Observation]) -> Template:
    counted: Counter[str] = Counter()
    order: dict[str, int] = {}
    for member in members:
        own = _system_chunks(member.exchange.request)
        counted.update(set(own))
        for chunk in own:
            order.setdefault(chunk, len(order))
    stable = {chunk: at for chunk, at in order.items() if counted[chunk] >= _STABLE_SHARE * len(members)}
    return Template(stable, any(member.seen.turn > 0 for member in members))


def _system_chunks(request: Request) -> list[str]:
    return [chunk for p in request.pieces if _is_system_text(p) for chunk in chunks(p.text)]


def _is_system_text(piece: Piece) -> bool:
    return piece.part is Part.SYSTEM and piece.kind is PieceKind.TEXT


def rewrite_request(request: Request, template: Template) -> Request:
    """One request after the fixes."""
    system, volatile = _system(request, template)
    tools = _sorted_tools(request)
    rest = [_sorted_json(piece) for piece in request.pieces if piece.part is Part.MESSAGES]
    heads = {Part.TOOLS: tools, Part.SYSTEM: system}
    first_parts = dict.fromkeys(p.part for p in request.pieces if p.part is not Part.MESSAGES)
    pieces = [piece for part in first_parts for piece in heads[part]]
    head_end = len(pieces) - 1
    pieces += rest
    if volatile:
        pieces = _appended(pieces, volatile)
    return replace(request, pieces=tuple(pieces), markers=_marker(request, template, head_end, len(pieces)))


def _system(request: Request, template: Template) -> tuple[list[Piece], str]:
    """The system pieces with stable text alone, in the template's order, and the text that was taken out."""
    texts = [piece for piece in request.pieces if _is_system_text(piece)]
    own = [chunk for piece in texts for chunk in chunks(piece.text)]
    stable = sorted((chunk for chunk in own if chunk in template.order), key=lambda chunk: template.order[chunk])
    volatile = "".join(chunk for chunk in own if chunk not in template.order)
    kept: list[Piece] = []
    for piece in request.pieces:
        if piece.part is not Part.SYSTEM:
            continue
        if piece is (texts[0] if texts else None):
            kept.append(replace(piece, text="".join(stable)))
        elif not _is_system_text(piece):
            kept.append(piece)
    return [piece for piece in kept if piece.text], volatile


def _sorted_tools(request: Request) -> list[Piece]:
    tools = sorted(tools_of(request), key=lambda tool: tool.name)
    return [_sorted_json(piece) for tool in tools for piece in tool.pieces]


def _sorted_json(piece: Piece) -> Piece:
    if piece.kind not in (PieceKind.SCHEMA, PieceKind.ARGUMENTS):
        return piece
    try:
        value = json.loads(piece.text)
    except (ValueError, RecursionError):
        return piece
    return replace(piece, text=json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def _appended(pieces: list[Piece], volatile: str) -> list[Piece]:
    """The text that changes as the last part of the newest message, where it costs only itself."""
    for index in range(len(pieces) - 1, -1, -1):
        if pieces[index].kind is PieceKind.TEXT and pieces[index].part is Part.MESSAGES:
            changed = replace(pieces[index], text=f"{pieces[index].text}\n{volatile}")
            return [*pieces[:index], changed, *pieces[index + 1 :]]
    return pieces


def _marker(request: Request, template: Template, head_end: int, length: int) -> tuple[WireMarker, ...]:
    """One marker, where the provider wants one: behind the newest message of a conversation, else behind the head."""
    if not policy_of(request).explicit:
        return request.markers
    at = length - 1 if template.goes_on or head_end < 0 else head_end
    return (WireMarker("placed", at, _MARKER_LIFE_S),)
