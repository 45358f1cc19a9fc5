"""What the evaluator came across: texts that were put together, lists of messages, and calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from promptlint_linter.calls.shapes import CallShape
from promptlint_linter.evaluate.values import Arguments, Listing, Site, Text, Value


@dataclass(frozen=True, slots=True)
class Composed:
    """A text that was put together of several parts."""

    text: Text
    site: Site
    function: str
    is_template: bool = False
    """Made by a class for prompt templates: it is a prompt whatever it says."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of chat messages."""

    listing: Listing
    site: Site
    function: str


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the table."""

    shape: CallShape
    callee: str
    arguments: Arguments
    site: Site
    function: str
    in_loop: bool
    owner: Value | None = None
    """The model or agent object that the method belongs to."""


Key = tuple[ast.AST, ast.AST | None]
"""A node, and the call for whose arguments its function was run."""


@dataclass(slots=True)
class Records:
    """By node, so that the second pass over a loop replaces the first."""

    composed: dict[Key, Composed] = field(default_factory=dict)
    listed: dict[Key, Listed] = field(default_factory=dict)
    called: dict[Key, Called] = field(default_factory=dict)
    rebound: set[ast.AST] = field(default_factory=set)
    """Constructors of models on whose object a bound is set afterwards."""
    names: dict[int, tuple[Text, str]] = field(default_factory=dict)
    """Names of the variables that hold a text, by its identity."""
