"""How strings are put together: f-strings, adjacency, `+`, `%`, format, join, replace, Template, dedent."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from promptlint_core.cadence import Cadence
from promptlint_linter.evaluate import fragments
from promptlint_linter.evaluate.fragments import Fragments
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import text_of
from promptlint_linter.evaluate.values import (
    UNKNOWN_PIECE,
    Arguments,
    Either,
    Fork,
    Listing,
    Mapping,
    Opaque,
    Piece,
    Repeat,
    Site,
    Text,
    Value,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine

Lookup = Callable[[str], "Value | None"]

PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_0-9]*)(?P<path>[^{}!:]*)(?:![rsa])?(?::(?P<spec>[^{}]*))?\}")
_PERCENT = re.compile(r"%%|%(?:\((?P<name>[^)]*)\))?[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]")
DOLLAR = re.compile(r"\$\$|\$(?P<name>[A-Za-z_]\w*)|\$\{(?P<braced>[A-Za-z_]\w*)\}")
JINJA = re.compile(r"\{\{-?\s*(?P<expr>.*?)\s*-?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)

SAME_TEXT = frozenset(
    [
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "title",
        "capitalize",
        "swapcase",
        "casefold",
        "expandtabs",
        "encode",
        "decode",
        "removeprefix",
        "removesuffix",
        "center",
        "ljust",
        "rjust",
        "zfill",
        "translate",
    ]
)
"""Methods after which a text changes as often as before."""
TEXT_FUNCTIONS = frozenset(
    {
        "textwrap.dedent", "textwrap.indent", "textwrap.fill", "textwrap.shorten", "inspect.cleandoc", "str", "repr",
        "html.escape", "html.unescape", "markupsafe.escape",
    }
)  # fmt: skip


def text_value(node: ast.Constant) -> str:
    """The text of a string literal; bytes are taken for UTF-8."""
    value = node.value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def is_text(node: ast.expr | None) -> TypeGuard[ast.Constant]:
    """Whether an expression is a string literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def f_string(node: ast.JoinedStr, frame: Frame) -> Value:
    """An f-string, with the strings that stand beside it."""
    run: list[Piece | Fork] = []
    for part in node.values:
        if is_text(part):
            frame.source.note_part(part, node)
            run.append(Piece(text_value(part), Cadence.FIXED, site=frame.site(part)))
        elif isinstance(part, ast.FormattedValue):
            value = frame.lazy(part.value)
            run += text_of(frame.machine, value, frame.site(part.value), spelled(part.value), _spec(part))
    return Text(merged(tuple(run)))


def _spec(part: ast.FormattedValue) -> str:
    """The constant text of a format specification."""
    inner = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else ()
    return "".join(text_value(text) for text in inner if is_text(text))


def spelled(node: ast.expr) -> str:
    """The dotted name of a name or attribute, `row["user_name"]` as its key; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = spelled(node.value)
        return f"{base}.{node.attr}" if base else node.attr
    if isinstance(node, ast.Subscript) and is_text(node.slice):
        base, key = spelled(node.value), text_value(node.slice)
        return f"{base}.{key}" if base else key
    if isinstance(node, ast.Call):
        inner, first = node.func, node.args[0] if node.args else None
        if isinstance(inner, ast.Name) and inner.id in ("str", "repr", "format") and first is not None:
            return spelled(first)
        if isinstance(inner, ast.Attribute) and inner.attr in SAME_TEXT:
            return spelled(inner.value)
        if isinstance(inner, ast.Attribute) and inner.attr == "get" and is_text(first):
            return f"{spelled(inner.value)}.{text_value(first)}"
    return ""


_MOST_PARTS = 4_000
_MOST_CHARS = 4_000_000
"""Of a text, as of a file: nobody writes more, but a loop over a text that doubles does."""


def merged(run: Iterable[Piece | Fork]) -> Fragments:
    """The run with neighbouring literals of one source made one, so that placeholders are not cut."""
    out: list[Piece | Fork] = []
    for part in run:
        last = out[-1] if out else None
        if len(out) > _MOST_PARTS or (isinstance(last, Piece) and len(last.text or "") > _MOST_CHARS):
            return (*out[:_MOST_PARTS], UNKNOWN_PIECE)  # put together of itself, again and again
        if (
            isinstance(part, Piece)
            and isinstance(last, Piece)
            and part.text is not None
            and last.text is not None
            and part.repeated == last.repeated
            and part.marker is None
            and last.marker is None
            and part.label == last.label
        ):
            out[-1] = replace(last, text=last.text + part.text)
        else:
            out.append(part)
    return tuple(out)


def concatenated(machine: Machine, values: list[tuple[Value, Site, str]]) -> Text:
    """`a + b + c` where at least one is text."""
    run: list[Piece | Fork] = []
    for value, site, name in values:
        run += text_of(machine, value, site, name)
    return Text(tuple(run))


def joined(machine: Machine, separator: Text, items: Value, site: Site) -> Text:
    """`separator.join(items)`."""
    items = machine.force(items)
    if isinstance(items, Either):
        runs = [joined(machine, separator, option, site).fragments for option in items.options]
        chosen = runs[0]
        for other in runs[1:]:
            chosen = fragments.choose(chosen, other)
        return Text(chosen)
    if not isinstance(items, Listing):
        return Text(fragments.change(text_of(machine, items, site), lambda piece: replace(piece, repeated=True)))
    run: list[Piece | Fork] = []
    if items.order is not None:
        run.append(items.order.step(site, "joined here"))
        return Text(tuple(run))
    for number, item in enumerate(machine.flat_items(items)):
        if len(run) > _MOST_PARTS:
            return Text((*run[:_MOST_PARTS], UNKNOWN_PIECE))
        if isinstance(item, Either) and any(isinstance(option, Listing) for option in item.options):
            run.append(_optional_items(machine, separator, item, site, is_first=number == 0))
            continue
        if number:
            run += separator.fragments
        if isinstance(item, Repeat):
            copy = (*text_of(machine, item.value, site), *separator.fragments)
            run += fragments.repeated(copy)
        else:
            run += text_of(machine, item, site)
    return Text(tuple(run))


def _optional_items(machine: Machine, separator: Text, item: Either, site: Site, *, is_first: bool) -> Fork:
    """Items that a list holds on one way and not on another."""
    runs: list[Fragments] = []
    for option in item.options:
        text = joined(machine, separator, option, site).fragments
        runs.append((*separator.fragments, *text) if text and not is_first else text)
    return Fork(tuple(runs))


def formatted(machine: Machine, template: Text, arguments: Arguments, site: Site) -> Text:
    """`template.format(…)`."""
    numbers = iter(range(10_000))

    def find(name: str) -> Value | None:
        if not name:
            name = str(next(numbers))
        if name.isdigit():
            index = int(name)
            return arguments.positional[index] if index < len(arguments.positional) else None
        return arguments.keywords.get(name)

    return filled(machine, template, find, PLACEHOLDER, site)


def percent(machine: Machine, template: Text, operand: Value, site: Site) -> Text:
    """`template % operand`."""
    operand = machine.force(operand)
    items = operand.items if isinstance(operand, Listing) and operand.kind == "tuple" else (operand,)
    numbers = iter(range(10_000))

    def find(name: str) -> Value | None:
        if name:
            return operand.get(name) if isinstance(operand, Mapping) else None
        index = next(numbers)
        return items[index] if index < len(items) else None

    return filled(machine, template, find, _PERCENT, site)


def dollar(machine: Machine, template: Text, values: Mapping, site: Site) -> Text:
    """`string.Template(template).substitute(values)`."""
    return filled(machine, template, values.get, DOLLAR, site)


def filled(machine: Machine, template: Text, find: Lookup, pattern: re.Pattern[str], site: Site) -> Text:
    """The template with each placeholder replaced; one that has no value is known by its name alone."""

    def fill(piece: Piece) -> Iterator[Piece | Fork]:
        text = piece.text or ""
        at = 0
        for match in pattern.finditer(text):
            before = text[at : match.start()]
            at = match.end()
            whole = match[0]
            if whole in ("{{", "}}", "%%", "$$"):
                before += whole[0]
            if before:
                yield replace(piece, text=before)
            if whole in ("{{", "}}", "%%", "$$"):
                continue
            groups = match.groupdict()
            name = groups.get("name") or groups.get("braced") or ""
            value = find(name)
            if value is None:
                yield from text_of(machine, Opaque(Piece(None, None)), site, name)
            else:
                spec = groups.get("spec") or ""
                known = machine.force(value)
                fallback = known.name if isinstance(known, Opaque) and known.name else name
                yield from text_of(machine, known, site, fallback, spec)
        if text[at:]:
            yield replace(piece, text=text[at:])

    return Text(merged(_filled_run(template.fragments, fill)))


def replaced(machine: Machine, text: Text, old: str, new: Value, site: Site, name: str) -> Text:
    """`text.replace(old, new)`."""
    new_run = text_of(machine, new, site, name or re.sub(r"\W", "", old))

    def fill(piece: Piece) -> Iterator[Piece | Fork]:
        first, *others = (piece.text or "").split(old) if old else [piece.text or ""]
        if first:
            yield replace(piece, text=first)
        for part in others:
            yield from new_run
            if part:
                yield replace(piece, text=part)

    return Text(merged(_filled_run(text.fragments, fill)))


def _filled_run(run: Fragments, fill: Callable[[Piece], Iterator[Piece | Fork]]) -> Iterator[Piece | Fork]:
    for part in run:
        if isinstance(part, Fork):
            yield Fork(tuple(tuple(_filled_run(option, fill)) for option in part.options))
        elif part.text is None:
            yield part
        else:
            yield from fill(part)
