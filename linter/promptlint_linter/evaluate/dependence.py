"""Does a value hold something of a parameter of the function that gave it?"""

from __future__ import annotations

from promptlint_core.cadence import Evidence
from promptlint_linter.evaluate import fragments
from promptlint_linter.evaluate.values import (
    PARAMETER,
    Arguments,
    Deferred,
    Either,
    External,
    Function,
    Instance,
    Listing,
    Mapping,
    Message,
    Opaque,
    Piece,
    Repeat,
    Spread,
    Template,
    Text,
    Value,
)

_DEEPEST = 12


def depends(value: Value, depth: int = 0) -> bool:
    """Whether a call with known arguments may give another value."""
    if depth > _DEEPEST:
        return False
    deeper = depth + 1
    if isinstance(value, Opaque):
        return value.piece.label == PARAMETER
    if isinstance(value, Text):
        return any(piece.label == PARAMETER and piece.text is None for piece in fragments.pieces(value.fragments))
    if isinstance(value, Deferred):
        if value.result is not None:
            return depends(value.result, deeper)
        return arguments_depend(value.arguments, deeper) or depends(value.function, deeper)
    if isinstance(value, Listing):
        return any(depends(item, deeper) for item in value.items)
    if isinstance(value, Mapping):
        return any(depends(entry, deeper) for _, entry in value.entries)
    if isinstance(value, Repeat | Spread):
        return depends(value.value, deeper)
    if isinstance(value, Message):
        return depends(value.content, deeper)
    if isinstance(value, Either):
        return any(depends(option, deeper) for option in value.options)
    if isinstance(value, Template):
        return depends(value.body, deeper) or any(depends(entry, deeper) for _, entry in value.bound)
    if isinstance(value, Instance | External):
        return value.arguments is not None and arguments_depend(value.arguments, deeper)
    return isinstance(value, Function) and value.closure is not None


def arguments_depend(arguments: Arguments, depth: int = 0) -> bool:
    values = (*arguments.positional, *(value for _, value in arguments.keywords.entries))
    return any(depends(value, depth) for value in values)


def tells(value: Value, chars: int, depth: int = 0) -> bool:
    """Whether a value holds text of that many characters, or something that is known to change."""
    if depth > _DEEPEST:
        return False
    deeper = depth + 1
    if isinstance(value, Text):
        pieces = list(fragments.pieces(value.fragments))
        return sum(len(p.text or "") for p in pieces) >= chars or any(_is_followed(p) for p in pieces)
    if isinstance(value, Opaque):
        return _is_followed(value.piece)
    if isinstance(value, Listing):
        return value.order is not None or any(tells(item, chars, deeper) for item in value.items)
    if isinstance(value, Mapping):
        return any(tells(entry, chars, deeper) for _, entry in value.entries)
    if isinstance(value, Repeat | Spread):
        return tells(value.value, chars, deeper)
    if isinstance(value, Either):
        return any(tells(option, chars, deeper) for option in value.options)
    if isinstance(value, Message):
        return tells(value.content, chars, deeper)
    if isinstance(value, Deferred):
        return value.result is not None and tells(value.result, chars, deeper)
    if isinstance(value, Instance):
        return value.arguments is not None
    return isinstance(value, Template | Function)


def _is_followed(piece: Piece) -> bool:
    return piece.text is None and piece.cadence is not None and piece.evidence is Evidence.PROVED
