"""What an expression is worth: the values that the evaluator computes with.

All are immutable; growth (`append`, `+=`) makes a new value and binds the name again.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.clock import Precision
from promptlint_linter.evaluate.syntax import FunctionNode

if TYPE_CHECKING:
    from promptlint_linter.evaluate.modules import ClassDefinition, Definition, Module
    from promptlint_linter.evaluate.scopes import Frame

_LONGEST_FLOW = 8


@dataclass(frozen=True, slots=True)
class Site:
    """A node of source; its line and column are computed when it is reported."""

    source: Definition
    node: ast.AST


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that changes as one: a segment in the making."""

    text: str | None
    cadence: Cadence | None
    origin: Origin = Origin.LITERAL
    evidence: Evidence = Evidence.PROVED
    site: Site | None = None
    """Where the value is read; None: not followed further than the name, so the place where it enters counts."""
    flow: tuple[tuple[Site, str], ...] = ()
    repeated: bool = False
    detail: str = ""
    spelled: str = ""
    """The name that says what it is, where that is all that is known."""
    label: str = ""
    """Of a literal: the constant that holds it. Of anything else: `PARAMETER`, where it depends on one."""
    marker: Mark | None = None

    def step(self, site: Site, note: str) -> Piece:
        """The piece after one more step of its way."""
        if self.text is not None or self.cadence is None or len(self.flow) >= _LONGEST_FLOW:
            return self
        if self.flow and self.flow[-1][0].node is site.node:
            return self
        return replace(self, flow=(*self.flow, (site, note)))


@dataclass(frozen=True, slots=True)
class Mark:
    """A cache breakpoint behind a piece."""

    life_s: int | None
    site: Site | None


@dataclass(frozen=True, slots=True)
class Fork:
    """Text that depends on a condition: one of several runs of pieces."""

    options: tuple[tuple[Fragment, ...], ...]


Fragment = Piece | Fork


class Value:
    """Base of all values."""

    __slots__ = ()


MOST_ITEMS = 4_000
"""Of one list: one that is put behind itself or laid into itself doubles each time."""


@dataclass(frozen=True, slots=True)
class Text(Value):
    """A string."""

    fragments: tuple[Fragment, ...] = ()
    written: Value | None = field(default=None, compare=False)
    """The dict or list that JSON wrote, where the text is nothing else: the body of a request."""

    @property
    def literal(self) -> str | None:
        """The whole text when it is a constant."""
        if len(self.fragments) == 1:
            only = self.fragments[0]
            return only.text if isinstance(only, Piece) else None
        if all(isinstance(f, Piece) and f.text is not None for f in self.fragments):
            return "".join(f.text or "" for f in self.fragments if isinstance(f, Piece))
        return None


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A number, a truth value or None."""

    value: int | float | bool | None
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Opaque(Value):
    """A value of which only the source is known, if that."""

    piece: Piece
    instant: Precision | None = None
    """Of a clock reading that is not yet text: the finest unit it holds."""
    name: str = ""
    """The expression as the source spells it, where it is a name or an attribute."""


@dataclass(frozen=True, slots=True)
class Repeat(Value):
    """Any number of items like this one, in a listing."""

    value: Value


@dataclass(frozen=True, slots=True)
class Spread(Value):
    """The items of another value, in a listing: `*items`."""

    value: Value


@dataclass(frozen=True, slots=True)
class Listing(Value):
    """A list, tuple, set, generator or deque."""

    items: tuple[Value, ...] = ()
    kind: str = "list"
    order: Piece | None = None
    """Set when the order of the items is not fixed: the piece that says so."""


@dataclass(frozen=True, slots=True)
class Mapping(Value):
    """A dict, or the keyword arguments of a call; later entries win. A key of None is an unknown `**` part."""

    entries: tuple[tuple[str | None, Value], ...] = ()
    site: Site | None = None

    def get(self, key: str) -> Value | None:
        return next((value for k, value in reversed(self.entries) if k == key), None)

    @property
    def is_open(self) -> bool:
        """True when it may hold keys that are not known."""
        return any(key is None for key, _ in self.entries)


@dataclass(frozen=True, slots=True)
class Either(Value):
    """One of several values, by a condition."""

    options: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    keywords: Mapping = field(default_factory=Mapping)
    is_open: bool = False
    """True when a `*` or `**` may bring more."""

    def get(self, name: str, position: int | None = None) -> Value | None:
        found = self.keywords.get(name)
        if found is None and position is not None and position < len(self.positional):
            return self.positional[position]
        return found


@dataclass(frozen=True, slots=True)
class External(Value):
    """A thing of a library, by its dotted name; `openai.OpenAI()` is what a call of `openai.OpenAI` gives."""

    name: str
    arguments: Arguments | None = None
    site: Site | None = None
    receiver: Value | None = None
    """The object whose attribute this is."""


@dataclass(frozen=True, slots=True, eq=False)
class Function(Value):
    """A function or lambda of the linted project, with what is bound already."""

    definition: Definition
    node: FunctionNode | None
    closure: Frame | None = None
    receiver: Value | None = None
    bound: Arguments = Arguments()


@dataclass(frozen=True, slots=True)
class Class(Value):
    definition: ClassDefinition


@dataclass(frozen=True, slots=True, eq=False)
class Instance(Value):
    """An object of a class of the project."""

    definition: ClassDefinition
    arguments: Arguments | None = None
    """None: not known how it was made."""
    name: str = ""
    """The parameter that holds it."""


@dataclass(frozen=True, slots=True)
class ModuleValue(Value):
    module: Module


@dataclass(frozen=True, slots=True)
class Message(Value):
    """A chat message."""

    role: str
    content: Value
    site: Site | None = None
    mark: Mark | None = None
    is_template: bool = False
    """Placeholders in its text are filled later."""


@dataclass(frozen=True, slots=True)
class Template(Value):
    """A template that is filled later: `kind` is `jinja`, `format`, `dollar` or `chat`."""

    kind: str
    body: Value
    bound: tuple[tuple[str, Value], ...] = ()
    site: Site | None = None
    in_chain: bool = False
    """A model or another step stands behind it: what the chain gives is no prompt any more."""


@dataclass(slots=True, eq=False)
class Deferred(Value):
    """A call of a project function that is run when its result is wanted."""

    function: Value
    arguments: Arguments
    site: Site
    frame: Frame
    result: Value | None = None


UNKNOWN_PIECE = Piece(None, None, Origin.UNKNOWN)
PARAMETER = "parameter"
"""Label of what comes from a parameter of the function under way: a call with known arguments may say more."""
PARAMETER_PIECE = Piece(None, None, Origin.UNKNOWN, label=PARAMETER)
UNKNOWN = Opaque(UNKNOWN_PIECE)
NONE = Constant(None)


def literal(text: str, site: Site | None = None, label: str = "") -> Text:
    """A constant string."""
    return Text((Piece(text, Cadence.FIXED, site=site, label=label),)) if text else Text()
