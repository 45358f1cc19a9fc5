"""Values as text: what `str()` or an f-string makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.clock import Precision, datetime_spec_precision
from promptlint_core.names import origin_of_name
from promptlint_linter.evaluate import fragments
from promptlint_linter.evaluate.fragments import Fragments
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Constant,
    Either,
    External,
    Fork,
    Instance,
    Listing,
    Mapping,
    Message,
    Opaque,
    Piece,
    Repeat,
    Site,
    Spread,
    Template,
    Text,
    Value,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine

ENTERS = "enters the prompt"
_MOST_ITEMS = 200
_DEEPEST_LAYOUT = 12
"""Lists in lists: schemas of tools are not half as deep, and each level may double what is written."""


def text_of(machine: Machine, value: Value, site: Site | None, spelled: str = "", spec: str = "") -> Fragments:
    """The fragments of a value in a string. `spelled` is the name that the source uses for it, weak evidence."""
    value = machine.force(value)
    if isinstance(value, Text):
        return fragments.stepped(value.fragments, site, ENTERS) if site else value.fragments
    if isinstance(value, Constant):
        return (Piece(str(value.value), Cadence.FIXED, site=site),)
    if isinstance(value, Opaque):
        return (opaque_piece(value, site, spelled, spec),)
    if isinstance(value, Either):
        options = tuple(text_of(machine, option, site, spelled, spec) for option in value.options)
        return options[0] if len(options) == 1 else (Fork(options),)
    if isinstance(value, Listing | Mapping):
        return layout_of(machine, value, site)
    if isinstance(value, Repeat | Spread):
        return fragments.repeated(text_of(machine, value.value, site, spelled))
    if isinstance(value, Message):
        return text_of(machine, value.content, site)
    if isinstance(value, Template):
        return text_of(machine, value.body, site)
    if isinstance(value, Instance):
        shown = machine.shown_instance(value)
        if shown is not None:
            return text_of(machine, shown, site)
    if isinstance(value, External) and value.arguments is not None:
        return (UNKNOWN_PIECE if site is None else replace(UNKNOWN_PIECE, site=site),)
    return (opaque_piece(UNKNOWN, site, spelled, spec),)


def layout_of(machine: Machine, value: Listing | Mapping, site: Site | None) -> Fragments:
    """A list or dict as JSON would write it: the braces and keys count as text too."""
    if isinstance(value, Listing) and value.order is not None:
        return (value.order.step(site, ENTERS) if site else value.order,)
    if machine.layouts >= _DEEPEST_LAYOUT:
        return (UNKNOWN_PIECE,)
    machine.layouts += 1
    try:
        return _laid_out(machine, value, site)
    finally:
        machine.layouts -= 1


def _laid_out(machine: Machine, value: Listing | Mapping, site: Site | None) -> Fragments:
    parts: list[Piece | Fork] = []
    if isinstance(value, Listing):
        parts.append(Piece("[", Cadence.FIXED))
        for number, item in enumerate(value.items[:_MOST_ITEMS]):
            parts += [Piece(", ", Cadence.FIXED)] if number else []
            parts += fragments.change(text_of(machine, item, site), _in_structure)
        parts.append(Piece("]", Cadence.FIXED))
        return tuple(parts)
    parts.append(Piece("{", Cadence.FIXED))
    for number, (key, item) in enumerate(value.entries[:_MOST_ITEMS]):
        comma = ", " if number else ""
        parts.append(Piece(f'{comma}"{key}": ' if key is not None else comma, Cadence.FIXED))
        parts += fragments.change(text_of(machine, item, site), _in_structure)
    parts.append(Piece("}", Cadence.FIXED))
    return tuple(parts)


def _in_structure(piece: Piece) -> Piece:
    """Ids in blocks and schemas are of the protocol (`tool_use_id`): their names do not say that they change."""
    if piece.evidence is Evidence.NAMED and piece.origin is Origin.RANDOM:
        return replace(piece, cadence=None, origin=Origin.UNKNOWN)
    return piece


def opaque_piece(value: Opaque, site: Site | None, spelled: str = "", spec: str = "") -> Piece:
    """The piece that a value of known or unknown source leaves in a text."""
    piece = value.piece
    if value.instant is not None:
        shown = instant_piece(value, datetime_spec_precision(spec))
        return shown.step(site, ENTERS) if site else shown
    if piece.cadence is None or (piece.evidence is Evidence.NAMED and piece.site is None):
        return named_piece(piece, site, spelled or value.name)
    if piece.site is None:
        return replace(piece, site=site)
    return piece.step(site, ENTERS) if site else piece


def instant_piece(value: Opaque, shown: Precision) -> Piece:
    """A clock reading as text of a given precision; a reading that is coarse already stays so."""
    held = value.instant or shown
    coarser = shown if shown.cadence <= held.cadence else held
    piece = value.piece
    most = piece.cadence if piece.cadence is not None else Cadence.CALL
    detail = f"to the {coarser.unit}" if coarser.unit != "none" else ""
    note = piece.detail if piece.detail.startswith("frozen") else ""
    return replace(
        piece,
        cadence=min(most, coarser.cadence),
        detail=", ".join(part for part in (detail, note) if part),
    )


STORED = Piece(None, None, Origin.UNKNOWN, detail="stored message")
"""A part of a message that was stored: whatever its name says, it is the same in each later request."""


def is_stored(piece: Piece) -> bool:
    return piece.cadence is None and piece.detail == STORED.detail


def named_piece(piece: Piece, site: Site | None, name: str) -> Piece:
    """What only the name of a value says of it. The place is where it enters the prompt."""
    meaning = origin_of_name(name) if name and not is_stored(piece) else None
    if meaning is None:
        if piece.cadence is None:
            return replace(piece, site=piece.site or site, spelled=piece.spelled or name)
        return replace(piece, site=site, spelled=name)
    origin, cadence = meaning
    return Piece(None, cadence, origin, Evidence.NAMED, site, detail=piece.detail, spelled=name, label=piece.label)


def derived(value: Value, name: str = "") -> Value:
    """What a method, an attribute or an unknown function makes of a value: text that changes when the value does."""
    if isinstance(value, Opaque):
        return Opaque(value.piece, name=name if value.piece.cadence is None else name or value.name)
    if isinstance(value, Text):
        fastest = fastest_piece(value.fragments)
        return Opaque(fastest, name=name) if fastest is not None else Opaque(UNKNOWN_PIECE, name=name)
    if isinstance(value, Listing) and value.order is not None:
        return Opaque(value.order)
    return Opaque(UNKNOWN_PIECE, name=name)


def fastest_piece(parts: Fragments) -> Piece | None:
    """The piece of a run that changes most often, literals apart."""
    moving = [p for p in fragments.pieces(parts) if p.text is None]
    return max(moving, key=lambda piece: piece.cadence or 0, default=None)
