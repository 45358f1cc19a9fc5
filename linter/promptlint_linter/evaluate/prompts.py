"""What was found in a module as prompts and calls: segments in the order in which the model reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.prompt import Call, Marker, Part, Place, Prompt, Segment, Step
from promptlint_linter.calls import retrieval
from promptlint_linter.calls.bounds import bound_of
from promptlint_linter.calls.engines import ENGINE_SWITCHES
from promptlint_linter.calls.frameworks import SWITCHES
from promptlint_linter.evaluate import fragments
from promptlint_linter.evaluate.fragments import Fragments
from promptlint_linter.evaluate.likeness import is_prompt_text
from promptlint_linter.evaluate.messages import as_message, block_text, first_of_batch, mark_of
from promptlint_linter.evaluate.records import Called, Composed, Records
from promptlint_linter.evaluate.texts import ENTERS, layout_of, text_of
from promptlint_linter.evaluate.values import (
    Arguments,
    Constant,
    Either,
    External,
    Fork,
    Fragment,
    Function,
    Listing,
    Mapping,
    Mark,
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
    from promptlint_linter.evaluate.modules import Module

Parted = tuple[Part, str, Fragments]
"""A part of a prompt, the role of its message and its text."""

_SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Found:
    prompts: tuple[Prompt, ...]
    calls: tuple[Call, ...]


def collect(machine: Machine, module: Module, records: Records) -> Found:
    """The prompts and calls of a module; a prompt that is part of a larger one is not told twice."""
    told: list[set[tuple[int, int]]] = []
    prompts: list[Prompt] = []
    calls: list[Call] = []
    for (_, via), called in list(records.called.items()):
        parts = call_parts(machine, called)
        sent = list(_prompts(parts, called.site, called.function, complete=called.shape.kind == "model"))
        if called.shape.kind in ("model", "agent", "config") and _concerns(module, called.site, parts):
            prompts += [replace(prompt, multi_turn=prompt.multi_turn or called.in_loop) for prompt in sent]
            told.append(_keys(parts))
        if called.shape.kind != "config" and via is None:
            calls.append(_call(machine, called, sent[0] if sent else None, records))
    listed = [(list(message_parts(machine, found.listing, found.site)), found) for found in records.listed.values()]
    for parts, found in sorted(listed, key=lambda pair: _richness(pair[0])):
        keys = _keys(parts)
        if keys and not any(keys <= other for other in told) and _concerns(module, found.site, parts):
            prompts += _prompts(parts, found.site, found.function)
            told.append(keys)
    texts: list[tuple[list[Parted], Composed]]
    texts = [([(Part.SYSTEM, "", text.text.fragments)], text) for text in records.composed.values()]
    for parts, text in sorted(texts, key=lambda pair: _richness(pair[0])):
        keys = _keys(parts)
        is_new = keys and not any(keys <= other for other in told) and _concerns(module, text.site, parts)
        if is_new and _is_prompt(text, module, records):
            prompts += _prompts(parts, text.site, text.function)
            told.append(keys)
    reached = {segment.place for prompt in prompts for segment in prompt.segments if segment.place is not None}
    is_cut = any(c.kind == "retrieval" for c in calls) and retrieval.is_cut_down(module.text)
    kept = (
        c
        for c in calls
        if c.kind != "retrieval" or (not is_cut and retrieval.is_sent(c, reached, has_prompts=bool(prompts)))
    )
    return Found(tuple(prompts), tuple(kept))


def _concerns(module: Module, site: Site, parts: list[Parted]) -> bool:
    """A prompt that another module puts together is told there, unless something of it changes here."""
    if site.source.module is module:
        return True
    found = (piece for _, _, run in parts for piece in fragments.pieces(run))
    return any(p.cadence and p.text is None and p.site and p.site.source.module is module for p in found)


def _richness(parts: list[Parted]) -> tuple[int, int, int]:
    """Sorts those prompts first of which others are parts, or the same with less of it known."""
    length = sum(len(piece.text or "") for _, _, run in parts for piece in fragments.pieces(run))
    return -len(_keys(parts)), -len(parts), -length


def _keys(parts: Iterable[Parted]) -> set[tuple[int, int]]:
    """What tells one volatile part of a prompt from another: where it is read and where it enters."""
    keys = set()
    for _, _, run in parts:
        for piece in fragments.pieces(run):
            if piece.origin is Origin.HISTORY and piece.evidence is Evidence.NAMED:
                continue  # told by the place of the call or list, which differ
            if piece.text is None and piece.cadence is not None and piece.site is not None:
                followed = piece.evidence is Evidence.PROVED
                enters = next((site for site, note in piece.flow if followed and note == ENTERS), None)
                keys.add((id(piece.site.node), id(enters.node) if enters else 0))
    return keys


def _is_prompt(composed: Composed, module: Module, records: Records) -> bool:
    if composed.is_template:
        return True
    pieces = list(fragments.pieces(composed.text.fragments))
    text = "".join(piece.text for piece in pieces if piece.text)
    labels = {piece.label for piece in pieces if piece.label}
    held = records.names.get(id(composed.text))
    names = (*composed.function.split("."), *labels, held[1] if held else "", module.stem)
    source = composed.site.source.module.text
    return is_prompt_text(text, names, source)


# Parts


def call_parts(machine: Machine, called: Called) -> list[Parted]:
    """The parts of a prompt that a call sends, in render order: tools, system, messages."""
    shape, arguments = called.shape, called.arguments
    parts: list[Parted] = []
    for name in shape.tools:
        value = _argument(machine, arguments, name, shape.positional)
        known = machine.force(value) if value is not None else None
        if isinstance(known, Listing | Mapping):
            parts.append((Part.TOOLS, "", layout_of(machine, known, None)))
        elif isinstance(known, Opaque) and known.piece.cadence is not None:
            parts.append((Part.TOOLS, "", (known.piece,)))
    for name in shape.system:
        value = _argument(machine, arguments, name, shape.positional)
        if value is not None:
            parts.append((Part.SYSTEM, "system", content(machine, value, called.site)))
    for name in shape.messages:
        value = _argument(machine, arguments, name, shape.positional)
        if value is not None:
            parts += message_parts(machine, first_of_batch(machine, value) if name == "prompts" else value, called.site)
    return parts


def _argument(machine: Machine, arguments: Arguments, name: str, positional: tuple[str, ...]) -> Value | None:
    outer, _, inner = name.partition(".")
    found = arguments.get(outer, positional.index(outer) if outer in positional else None)
    if found is None or not inner:
        return found
    known = machine.force(found)
    if isinstance(known, External) and known.arguments is not None:
        known = known.arguments.keywords
    if isinstance(known, Text) and known.written is not None:
        known = known.written
    return known.get(inner) if isinstance(known, Mapping) else None


def message_parts(machine: Machine, value: Value, site: Site | None = None) -> Iterator[Parted]:
    """A list of messages, or text where an API takes it as the user's message."""
    value = machine.force(value)
    if isinstance(value, Template):
        value = machine.force(value.body)
    if not isinstance(value, Listing):
        if isinstance(value, Message | Mapping) and (one := as_message(machine, value)) is not None:
            yield _message_part(machine, one, is_head=True)
        elif isinstance(value, Opaque | Either):
            yield Part.MESSAGES, "", _history(machine, value, site)
        else:
            yield Part.MESSAGES, "user", content(machine, value, site)
        return
    is_head = True
    for item in machine.flat_items(value):
        for part in _item_parts(machine, item, site, is_head=is_head):
            yield part
            is_head = is_head and part[0] is Part.SYSTEM


def _item_parts(machine: Machine, item: Value, site: Site | None, *, is_head: bool) -> Iterator[Parted]:
    known = machine.force(item)
    if isinstance(known, Repeat):
        inner = machine.force(known.value)
        copies = list(_item_parts(machine, inner, site, is_head=False))
        if not copies or isinstance(inner, Opaque):
            yield Part.MESSAGES, "", _history(machine, inner, site)
        for part, role, run in copies if not isinstance(inner, Opaque) else ():
            yield part, role, fragments.change(fragments.repeated(run), _remembered)
        return
    if isinstance(known, Spread):
        yield from _item_parts(machine, known.value, site, is_head=is_head)
        return
    if isinstance(known, Listing):
        for inner in machine.flat_items(known):
            yield from _item_parts(machine, inner, site, is_head=is_head)
        return
    if isinstance(known, Either):
        options = [list(_item_parts(machine, option, site, is_head=is_head)) for option in known.options]
        yield from max(options, key=lambda parts: sum(len(run) for _, _, run in parts), default=[])
        return
    one = as_message(machine, known)
    if one is not None:
        yield _message_part(machine, one, is_head=is_head)
    elif isinstance(known, Text):
        yield Part.MESSAGES, "user", known.fragments
    elif isinstance(known, Opaque):
        yield Part.MESSAGES, "", (known.piece,)


def _remembered(piece: Piece) -> Piece:
    """In a message that stands for many, what is not known is the history itself."""
    if piece.text is None and piece.cadence is None:
        return replace(piece, cadence=Cadence.APPEND, origin=Origin.HISTORY)
    return piece


def _history(machine: Machine, value: Value, site: Site | None) -> Fragments:
    """Messages of which only the name is known: a history that grows."""
    options = value.options if isinstance(value, Either) else (value,)
    known = next((o for o in map(machine.force, options) if isinstance(o, Opaque)), None)
    if known is not None and known.piece.evidence is Evidence.PROVED and known.piece.cadence is not None:
        return (known.piece,)
    return (Piece(None, Cadence.APPEND, Origin.HISTORY, Evidence.NAMED, site, repeated=True),)


def _message_part(machine: Machine, one: Message, *, is_head: bool) -> Parted:
    is_system = one.role in _SYSTEM_ROLES and is_head
    run = content(machine, one.content, one.site)
    return (Part.SYSTEM if is_system else Part.MESSAGES), one.role, _marked(run, one.mark)


def content(machine: Machine, value: Value, site: Site | None) -> Fragments:
    """The text of a message: a string, or blocks of which each may carry a breakpoint."""
    known = machine.force(value)
    if isinstance(known, Template):
        return content(machine, known.body, site)
    if isinstance(known, Function) and site is not None:
        return content(machine, machine.asked(known, site), site)
    if isinstance(known, Listing):
        run: list[Fragment] = []
        for item in machine.flat_items(known):
            block = machine.force(item.value if isinstance(item, Repeat) else item)
            if isinstance(block, Mapping):
                inner = block_text(machine, block)
                text = content(machine, inner, block.site) if inner is not None else layout_of(machine, block, None)
                run += _marked(text, mark_of(machine, block))
            else:
                run += content(machine, block, site)
        return tuple(run)
    if isinstance(known, Mapping):
        inner = block_text(machine, known)
        return content(machine, inner, known.site) if inner is not None else layout_of(machine, known, site)
    return text_of(machine, known, site)


def _marked(run: Fragments, mark: Mark | None) -> Fragments:
    if mark is None:
        return run
    last = run[-1] if run else None
    if isinstance(last, Piece):
        return (*run[:-1], replace(last, marker=mark))
    return (*run, Piece("", Cadence.FIXED, marker=mark))


# Results


def _prompts(parts: list[Parted], site: Site, function: str, *, complete: bool = False) -> Iterator[Prompt]:
    """One prompt for each way in which the conditions inside it may go."""
    tagged: list[Fragment] = []
    owners: list[tuple[Part, str]] = []
    for part, role, run in parts:
        for fragment in run:
            tagged.append(fragment)
            owners.append((part, role))
    if not any(isinstance(f, Fork) or f.text is None for f in tagged) and not complete:
        return
    count = max((len(list(fragments.variants((f,)))) for f in tagged), default=0)
    place = site.source.place(site.node)
    seen: list[tuple[Segment, ...]] = []
    for number in range(count):
        segments: list[Segment] = []
        for fragment, (part, role) in zip(tagged, owners, strict=True):
            ways = list(fragments.variants((fragment,)))
            segments += [_segment(piece, part, role) for piece in ways[min(number, len(ways) - 1)]]
        whole = tuple(_merged(segments))
        if whole and whole not in seen:
            seen.append(whole)
            grows = any(segment.origin is Origin.HISTORY for segment in whole)
            yield Prompt(whole, place, function, complete, grows)


def _segment(piece: Piece, part: Part, role: str) -> Segment:
    marker = None
    if piece.marker is not None:
        at = piece.marker.site
        marker = Marker(piece.marker.life_s, at.source.place(at.node) if at is not None else None)
    if piece.text is not None:
        return Segment(piece.text, piece.cadence, Origin.LITERAL, part=part, role=role, marker=marker,
                       repeated=piece.repeated, detail=piece.detail)  # fmt: skip
    place: Place | None = None
    expression = ""
    flow: tuple[Step, ...] = ()
    if piece.site is not None:
        expression = piece.spelled or piece.site.source.code(piece.site.node)
    if piece.site is not None and piece.cadence is not None:
        place = piece.site.source.place(piece.site.node)
        first = "read here" if piece.evidence is Evidence.PROVED else ENTERS
        flow = (Step(place, first), *_later(piece, place))
    return Segment(None, piece.cadence, piece.origin, piece.evidence, part, role, place, expression, flow, marker,
                   piece.repeated, piece.detail)  # fmt: skip


def _later(piece: Piece, read: Place) -> Iterator[Step]:
    """The steps behind the first; of several texts that the value is put into, the last is the prompt."""
    steps = [Step(at.source.place(at.node), note) for at, note in piece.flow]
    last = max((number for number, step in enumerate(steps) if step.note == ENTERS), default=-1)
    told = {(read.path, read.line)}
    for number, step in enumerate(steps):
        where = (step.place.path, step.place.line)
        if where in told and number != last:
            continue
        told.add(where)
        yield replace(step, note="put into a text here") if step.note == ENTERS and number != last else step


def _merged(segments: list[Segment]) -> Iterator[Segment]:
    """Neighbouring literals as one."""
    last: Segment | None = None
    for segment in segments:
        joins = (
            last is not None
            and last.text is not None
            and segment.text is not None
            and last.marker is None
            and (last.part, last.role, last.repeated) == (segment.part, segment.role, segment.repeated)
        )
        if joins and last is not None:
            last = replace(last, text=(last.text or "") + (segment.text or ""), marker=segment.marker)
            continue
        if last is not None:
            yield last
        last = segment
    if last is not None:
        yield last


def _call(machine: Machine, called: Called, prompt: Prompt | None, records: Records) -> Call:
    shape, arguments = called.shape, called.arguments
    model = machine.literal_text(arguments.keywords.get("model") or arguments.keywords.get("modelId"))
    bound = bound_of(machine, shape, arguments)
    if called.site.node in records.rebound:
        bound = replace(bound, kind=type(bound.kind).UNKNOWN)
    markers = tuple(segment.marker for segment in prompt.segments if segment.marker) if prompt else ()
    return Call(
        shape.callee,
        shape.provider,
        called.site.source.place(called.site.node),
        bound,
        model,
        prompt,
        tuple(_switches(machine, arguments)),
        _passages(machine, called),
        shape.kind,
        called.in_loop,
        markers,
    )


def _switches(machine: Machine, arguments: Arguments) -> Iterator[tuple[str, str, Place]]:
    for name, value in arguments.keywords.entries:
        known = machine.force(value) if name in SWITCHES or name in ENGINE_SWITCHES else None
        if isinstance(known, Constant) and known.site is not None and name is not None:
            yield name, str(known.value), known.site.source.place(known.site.node)


def _passages(machine: Machine, called: Called) -> int | None:
    for name in called.shape.passages:
        value = _argument(machine, called.arguments, name, called.shape.positional)
        known = machine.force(value) if value is not None else None
        if isinstance(known, Constant) and isinstance(known.value, int):
            return known.value
    return None
