"""The bound on output tokens that a call sends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from promptlint_core.prompt import Bound, BoundKind, Place
from promptlint_linter.calls.shapes import CallShape
from promptlint_linter.evaluate.values import Arguments, Constant, External, Listing, Mapping, Text, Value

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine

_UNKNOWN = Bound(BoundKind.UNKNOWN)
_MODALITIES = ("response_modalities", "responseModalities")
_NO_TEXT = frozenset({"image", "audio", "video"})


def bound_of(machine: Machine, shape: CallShape, arguments: Arguments) -> Bound:
    """Limited, absent, unlimited, or unknown where it may be set out of sight."""
    for name in shape.bounds:
        found = arguments.keywords.get(name)
        if found is not None:
            return _read(machine, name, found)
    is_hidden = arguments.is_open or arguments.keywords.is_open
    for name in shape.nested:
        holder = arguments.keywords.get(name)
        if holder is None:
            continue
        inner = _inside(machine, shape, holder)
        if inner is not None:
            return inner
        is_hidden = True
    if is_hidden or shape.default != "absent" or not shape.bounds:
        return _UNKNOWN
    return Bound(BoundKind.ABSENT, parameter=shape.bounds[0])


def _inside(machine: Machine, shape: CallShape, holder: Value) -> Bound | None:
    """The bound in a dict or configuration object; absent when all of it is known and holds none."""
    known = machine.force(holder)
    if isinstance(known, External) and known.arguments is not None and _is_class(known.name):
        known = Mapping((*known.arguments.keywords.entries, *(((None, known),) if known.arguments.is_open else ())))
    if isinstance(known, Text) and known.written is not None:
        known = known.written
    if not isinstance(known, Mapping):
        return None
    for name in shape.bounds:
        found = known.get(name)
        if found is not None:
            return _read(machine, name, found)
    if _asks_for_more_than_text(machine, known):
        return _UNKNOWN
    return None if known.is_open else Bound(BoundKind.ABSENT, parameter=shape.bounds[0])


def _asks_for_more_than_text(machine: Machine, configuration: Mapping) -> bool:
    """A picture or a recording: its size is the model's, no bound on tokens makes it shorter."""
    for name in _MODALITIES:
        asked = configuration.get(name)
        known = machine.force(asked) if asked is not None else None
        if isinstance(known, Listing):
            said = {(machine.literal_text(item) or "").lower() for item in known.items}
            return bool(said & _NO_TEXT)
    return False


def _read(machine: Machine, name: str, value: Value) -> Bound:
    known = machine.force(value)
    if not isinstance(known, Constant):
        return Bound(BoundKind.UNKNOWN, parameter=name)
    place: Place | None = known.site.source.place(known.site.node) if known.site is not None else None
    if known.value is None or known.value == -1 or (isinstance(known.value, float) and math.isinf(known.value)):
        return Bound(BoundKind.UNLIMITED, place=place, parameter=name)
    return Bound(BoundKind.LIMITED, int(known.value), place, name)


def _is_class(name: str) -> bool:
    """`types.GenerateContentConfig()` holds what it is given; what a function of a library gives is not known."""
    last = name.removesuffix("()").rpartition(".")[2]
    return last[:1].isupper() or last == "dict"
