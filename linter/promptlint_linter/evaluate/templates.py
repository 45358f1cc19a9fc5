"""Prompt templates of frameworks, Jinja and the standard library: what fills their placeholders, and when."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_linter.calls.messages import PLACEHOLDER_CLASSES, ROLES, normal_role
from promptlint_linter.evaluate import strings
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import text_of
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    Arguments,
    Deferred,
    External,
    Fork,
    Function,
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

_JINJA = frozenset(
    {"jinja2.Template", "jinja2.Environment().from_string", "jinja2.sandbox.SandboxedEnvironment().from_string"}
)
_FILLING = frozenset(
    [
        "format",
        "invoke",
        "ainvoke",
        "render",
        "render_async",
        "substitute",
        "safe_substitute",
        "format_messages",
        "aformat_messages",
        "format_prompt",
        "aformat_prompt",
        "aformat",
        "stream",
        "astream",
        "batch",
        "run",
        "arun",
    ]
)
_JINJA_NAME = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*(?:\.\w+)*)(?P<called>\(\s*\))?")


def is_template(name: str) -> bool:
    """Whether a library call makes a Jinja template."""
    return name in _JINJA or name.rsplit(".", 1)[-1] in PLACEHOLDER_CLASSES


def template(frame: Frame, callee: External, arguments: Arguments, node: ast.Call) -> Value | None:
    """The template that a class or a factory of a library makes."""
    name = callee.name
    last = name.rsplit(".", 1)[-1]
    site = frame.site(node)
    if last in PLACEHOLDER_CLASSES:
        return Repeat(_history(site, frame.machine.literal_text(arguments.get("variable_name", 0)) or ""))
    if name in _JINJA:
        body = arguments.get("source", 0)
        return Template("jinja", body, _jinja_globals(frame, node), site) if body is not None else None
    if last in ("from_messages", "from_template") or last.endswith("Template"):
        body = arguments.get("messages", 0)
        for keyword in ("template", "template_str", "message_templates"):
            body = arguments.get(keyword) if body is None else body
        if body is None:
            return None
        body = frame.machine.force(body)
        kind = "jinja" if frame.machine.literal_text(arguments.get("template_format")) == "jinja2" else "format"
        bound = arguments.get("partial_variables")
        made = Template(kind, _as_messages(frame, body, site), _entries(frame, bound), site)
        _record(frame, made, node)
        return made
    return None


def _as_messages(frame: Frame, body: Value, site: Site) -> Value:
    """A list of `(role, text)` tuples, messages and placeholders as messages."""
    if not isinstance(body, Listing):
        return body
    messages: list[Value] = []
    for item in frame.machine.flat_items(body):
        known = frame.machine.force(item)
        if isinstance(known, Listing) and len(known.items) == 2:
            role = frame.machine.literal_text(known.items[0]) or ""
            if role in ("placeholder", "messages_placeholder"):
                messages.append(Repeat(_history(site, frame.machine.literal_text(known.items[1]) or "")))
                continue
            messages.append(
                Message(normal_role(role) if role in ROLES else "user", known.items[1], site, is_template=True)
            )
        elif isinstance(known, Text):
            messages.append(Message("user", known, site, is_template=True))
        else:
            messages.append(known)
    return Listing(tuple(messages))


def _history(site: Site, name: str) -> Opaque:
    piece = Piece(None, Cadence.APPEND, Origin.HISTORY, Evidence.PROVED, site, repeated=True)
    return Opaque(piece, name=name)


def _jinja_globals(frame: Frame, node: ast.Call) -> tuple[tuple[str, Value], ...]:
    """`env.globals["now"] = …`."""
    if not isinstance(node.func, ast.Attribute):
        return ()
    name = strings.spelled(node.func.value)
    known = frame.lookup_dotted(f"{name}.globals") if name else None
    return _entries(frame, known)


def _entries(frame: Frame, value: Value | None) -> tuple[tuple[str, Value], ...]:
    known = frame.machine.force(value) if value is not None else None
    if not isinstance(known, Mapping):
        return ()
    return tuple((key, entry) for key, entry in known.entries if key is not None)


def message(frame: Frame, role: str, arguments: Arguments, node: ast.Call) -> Value:
    """`SystemMessage(content)`, `ChatMessage(role=…, content=…)`, `SystemMessagePromptTemplate.from_template(text)`."""
    machine, site = frame.machine, frame.site(node)
    is_template = isinstance(node.func, ast.Attribute) and node.func.attr == "from_template"
    if role:
        content = next(
            (found for key in ("content", "template", "prompt", "text") if (found := arguments.keywords.get(key))),
            arguments.positional[0] if arguments.positional else None,
        )
    else:
        given = arguments.get("role", 0 if len(arguments.positional) > 1 else None)
        known = machine.force(given) if given is not None else UNKNOWN
        role = machine.literal_text(known) or (known.name.rsplit(".", 1)[-1] if isinstance(known, External) else "user")
        content = next(
            (found for key in ("content", "parts", "blocks", "text") if (found := arguments.keywords.get(key))),
            arguments.positional[-1] if arguments.positional else None,
        )
    if content is not None:
        content = machine.force(content)
        if isinstance(content, Template):
            content, is_template = content.body, True
    return Message(normal_role(role), content if content is not None else UNKNOWN, site, is_template=is_template)


def method_of(frame: Frame, receiver: Template, name: str, arguments: Arguments, node: ast.Call) -> Value | None:
    """`partial`, `format`, `render`, `invoke` and their kin."""
    if name in ("partial", "partial_format"):
        given = tuple((key, value) for key, value in arguments.keywords.entries if key is not None)
        made = replace(receiver, bound=(*receiver.bound, *given))
        if receiver.site is not None:
            frame.machine.forget(receiver.site.node)
        _record(frame, made, node)
        return made
    if name in _FILLING:
        prompt = filled_by_call(frame, receiver, arguments, node)
        return UNKNOWN if receiver.in_chain else prompt
    return receiver if name in ("with_config", "bind", "with_retry", "append", "extend", "copy") else None


def filled_by_call(frame: Frame, receiver: Template, arguments: Arguments, node: ast.Call) -> Value:
    """The template with the values of a call."""
    given: list[tuple[str | None, Value]] = list(arguments.keywords.entries)
    if arguments.positional:
        known = frame.machine.force(arguments.positional[0])
        given = [*(known.entries if isinstance(known, Mapping) else ()), *given]
    whole = replace(receiver, bound=(*receiver.bound, *((k, v) for k, v in given if k is not None)))
    result = filled(frame, whole, frame.site(node))
    if receiver.site is not None:
        frame.machine.forget(receiver.site.node)
    if isinstance(result, Text):
        frame.machine.compose(frame, node, result, is_template=receiver.kind == "format")
    elif isinstance(result, Listing):
        frame.machine.list_messages(frame, node, result)
    return result


def _record(frame: Frame, made: Template, node: ast.Call) -> None:
    """A template that is filled out of sight is a prompt already, with placeholders known by their names."""
    result = filled(frame, made, frame.site(node))
    if isinstance(result, Text):
        frame.machine.compose(frame, node, result, is_template=made.kind == "format")
    elif isinstance(result, Listing):
        frame.machine.list_messages(frame, node, result)


def filled(frame: Frame, made: Template, site: Site) -> Value:
    body = frame.machine.force(made.body)
    if isinstance(body, Text):
        return filled_text(frame, made, body, site)
    if isinstance(body, Listing):
        return Listing(tuple(_filled_item(frame, made, item, site) for item in body.items), body.kind)
    if isinstance(body, Message):
        return Listing((_filled_item(frame, made, body, site),))
    return body


def _filled_item(frame: Frame, made: Template, item: Value, site: Site) -> Value:
    if isinstance(item, Repeat | Spread):
        inner = item.value
        bound = dict(made.bound).get(inner.name) if isinstance(inner, Opaque) else None
        if bound is not None and isinstance(known := frame.machine.force(bound), Listing):
            return Spread(known)
        return item
    if isinstance(item, Message) and item.is_template:
        content = frame.machine.force(item.content)
        if isinstance(content, Text):
            return replace(item, content=filled_text(frame, made, content, site))
    return item


def filled_text(frame: Frame, made: Template, body: Text, site: Site) -> Text:
    values = dict(made.bound)
    machine = frame.machine

    def find(name: str) -> Value | None:
        value = values.get(name)
        known = machine.force(value) if value is not None else None
        if isinstance(known, Function):  # evaluated at each format, however early it was bound
            return Deferred(known, Arguments(), site, unfrozen(frame))
        return known

    if made.kind == "dollar":
        return strings.filled(machine, body, find, strings.DOLLAR, site)
    if made.kind == "jinja":
        return _jinja(frame, body, find, site)
    return strings.filled(machine, body, find, strings.PLACEHOLDER, site)


def unfrozen(frame: Frame) -> Frame:
    """The frame of a call that happens later, whatever happens once here."""
    return Frame(frame.machine, frame.source, frame.module, outer=frame, depth=frame.depth)


def _jinja(frame: Frame, body: Text, find: strings.Lookup, site: Site) -> Text:
    """A Jinja template, not rendered: its expressions become segments, its tags are left out."""

    def value_of(expression: str) -> Value | None:
        match = _JINJA_NAME.match(expression)
        return find(match["name"]) if match else None

    run: list[Piece | Fork] = []
    for part in body.fragments:
        if not isinstance(part, Piece) or part.text is None:
            run.append(part)
            continue
        at = 0
        for match in strings.JINJA.finditer(part.text):
            if before := part.text[at : match.start()]:
                run.append(replace(part, text=before))
            at = match.end()
            expression = match["expr"]
            if expression is None:
                continue
            name = _JINJA_NAME.match(expression)
            value = value_of(expression)
            known: Value = Opaque(Piece(None, None)) if value is None else value
            run += text_of(frame.machine, known, site, name["name"] if name else "")
        if rest := part.text[at:]:
            run.append(replace(part, text=rest))
    return Text(strings.merged(tuple(run)))
