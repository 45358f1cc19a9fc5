"""Chat messages: dicts with a role and a content, message classes, content blocks and their cache breakpoints."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from promptlint_linter.calls.messages import ROLES, normal_role
from promptlint_linter.evaluate.values import (
    Constant,
    Deferred,
    Either,
    Listing,
    Mapping,
    Mark,
    Message,
    Repeat,
    Site,
    Spread,
    Value,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine

_CONTENT_KEYS = ("content", "parts", "text")
_DEEPEST_MESSAGE = 8
"""Branches within lists within branches; a list of a list of lists holds no messages."""
_LIVES_S = {"5m": 300, "1h": 3600}


def is_message(machine: Machine, value: Value, depth: int = 0) -> bool:
    """Whether an item of a list is a chat message, without running anything for it."""
    if depth > _DEEPEST_MESSAGE:
        return False
    if isinstance(value, Repeat | Spread):
        value = value.value
    if isinstance(value, Deferred):
        value = value.result or value
    if isinstance(value, Either):
        return any(is_message(machine, option, depth + 1) for option in value.options)
    if isinstance(value, Listing):
        return any(is_message(machine, item, depth + 1) for item in value.items)
    return isinstance(value, Message) or (isinstance(value, Mapping) and as_message(machine, value) is not None)


def as_message(machine: Machine, value: Value) -> Message | None:
    """A message class or a `{"role": …, "content": …}` dict as a message."""
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        return None
    role = value.get("role")
    content = next((found for key in _CONTENT_KEYS if (found := value.get(key)) is not None), None)
    if role is None or content is None:
        return None
    name = machine.literal_text(role)
    if name is not None and name.lower() not in ROLES:
        return None
    mark = mark_of(machine, value)
    return Message(normal_role(name) if name is not None else "", content, value.site, mark)


def first_of_batch(machine: Machine, value: Value) -> Value:
    """The first of several prompts that are sent together: each is a prompt of its own."""
    known = machine.force(value)
    first = known.items[0] if isinstance(known, Listing) and known.items else known
    return first.value if isinstance(first, Repeat) else first


def mark_of(machine: Machine, block: Mapping) -> Mark | None:
    """The cache breakpoint of a message or content block."""
    control = block.get("cache_control") or block.get("cachePoint")
    if control is None:
        return None
    known = machine.force(control)
    if isinstance(known, Constant) and known.value is None:
        return None
    life = machine.literal_text(known.get("ttl")) if isinstance(known, Mapping) else None
    return Mark(_LIVES_S.get(life) if life else None, _site_of(known, block))


def _site_of(control: Value, block: Mapping) -> Site | None:
    """Where the breakpoint is written: in the block itself, or a constant that the block names."""
    values = block.site.node.values if block.site and isinstance(block.site.node, ast.Dict) else ()
    site = control.site if isinstance(control, Mapping) else None
    is_inside = site is not None and any(value is site.node for value in values)
    return site if is_inside else block.site


def block_text(machine: Machine, block: Mapping) -> Value | None:
    """The text of a content block."""
    for key in ("text", "content", "input_text"):
        found = block.get(key)
        if found is not None:
            return found
    del machine
    return None
