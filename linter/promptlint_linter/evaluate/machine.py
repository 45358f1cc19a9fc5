"""The interpreter: finds the rule for each kind of expression, runs project functions, keeps what was found."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from promptlint_linter.calls.frameworks import AGENTS, MODELS
from promptlint_linter.calls.match import shape_of_call
from promptlint_linter.calls.shapes import CallShape
from promptlint_linter.evaluate import changes, classes, expressions, functions, imports
from promptlint_linter.evaluate.dependence import arguments_depend, depends
from promptlint_linter.evaluate.fragments import pieces
from promptlint_linter.evaluate.messages import is_message
from promptlint_linter.evaluate.outline import Imported
from promptlint_linter.evaluate.records import Called, Composed, Listed, Records
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.values import (
    MOST_ITEMS,
    NONE,
    UNKNOWN,
    Arguments,
    Deferred,
    Either,
    External,
    Fork,
    Function,
    Instance,
    Listing,
    Repeat,
    Site,
    Spread,
    Text,
    Value,
    literal,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.modules import Definition, Module
    from promptlint_linter.project import Project

_STEPS_PER_ENTRY = 40_000
"""Expressions evaluated on behalf of one function of the linted file; a longer way is given up as unknown."""


@dataclass(eq=False)
class Machine:
    """Evaluates the definitions of one project; what does not depend on who asks is kept."""

    project: Project
    summaries: dict[object, object] = field(default_factory=dict)
    steps: int = 0
    layouts: int = 0
    """Lists and dicts that are being written one inside the other."""
    current: functions.Summary | None = None
    """What is being computed."""
    running: list[object] = field(default_factory=list)
    """Functions, classes and constants under way: what asks for itself is unknown."""
    nested: list[tuple[Frame, ast.FunctionDef | ast.AsyncFunctionDef]] = field(default_factory=list)
    """Functions that were defined inside those that were run."""
    _records: dict[Module, Records] = field(default_factory=dict)
    records: Records = field(default_factory=Records)
    failures: list[Exception] = field(default_factory=list)
    """Faults of the evaluator itself: the definition is unknown, the run goes on."""

    # What an entry is

    def start(self) -> None:
        """A new function of the linted file: the budget is full again."""
        self.steps = 0
        self.running.clear()

    def records_of(self, module: Module) -> Records:
        return self._records.setdefault(module, Records())

    @contextmanager
    def within(self, module: Module) -> Iterator[None]:
        """What is found belongs to that module, whoever asked for it first."""
        kept, self.records = self.records, self.records_of(module)
        try:
            yield
        finally:
            self.records = kept

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is found is not kept: it is found again when the function is run for itself."""
        kept, self.records = self.records, Records()
        try:
            yield
        finally:
            self.records = kept

    def sends(self, definition: Definition) -> bool:
        """Whether a function that was run puts its parameters into a prompt."""
        key = (definition.function, definition.owner, None)
        known = self.summaries.get(key)
        return isinstance(known, functions.Summary) and known.sends

    # Values

    def value(self, node: ast.expr, frame: Frame) -> Value:
        self.steps += 1
        if self.steps > _STEPS_PER_ENTRY:
            raise functions.TooFarError
        rule: Callable[[ast.expr, Frame], Value] | None = expressions.RULES.get(type(node))
        return rule(node, frame) if rule else UNKNOWN

    def force(self, value: Value) -> Value:
        """The value itself where a call was left for later."""
        while isinstance(value, Deferred):
            if value.result is None:
                value.result = UNKNOWN  # what asks for itself is unknown
                value.result = functions.run(self, value)
            value = value.result
        return value

    def asked(self, function: Function, site: Site) -> Value:
        """What a function gives a framework that calls it, with arguments of the framework's, for each prompt."""
        return self.force(Deferred(function, Arguments(), site, Frame(self, site.source, site.source.module)))

    def settle(self, value: Value, frame: Frame) -> None:
        """Run a call whose result nobody may ask for, if its arguments reach a prompt."""
        if not isinstance(value, Deferred) or value.result is not None or not isinstance(value.function, Function):
            return
        if value.function.definition.lines.is_seeded:
            found = functions.summary(self, value.function, frame.depth + 1)
            if found.sends and functions.is_worth_a_run(self, found, value):
                value.result = UNKNOWN
                value.result = functions.run_for(self, value)

    def is_generic(self, arguments: Arguments) -> bool:
        """Whether a function is run for itself."""
        return not arguments.positional and not arguments.keywords.entries

    def preferred(self, value: Either) -> Value:
        """The option that says most."""
        options = [self.force(option) for option in value.options]
        told = [o for o in options if o is not UNKNOWN and o is not NONE and o != NONE]
        return next((o for o in told if isinstance(o, Text | Listing | External | Function)), (told or options)[0])

    def flat_items(self, listing: Listing) -> Iterator[Value]:
        """The items of a listing with spreads laid out; of one that is laid into itself again and again, the first."""
        return islice(self._flat_items(listing), MOST_ITEMS)

    def _flat_items(self, listing: Listing) -> Iterator[Value]:
        for item in listing.items:
            if isinstance(item, Spread):
                inner = self.force(item.value)
                if isinstance(inner, Listing):
                    yield from self._flat_items(inner)
                elif isinstance(inner, Either):
                    yield inner
                else:
                    yield Repeat(inner)
            else:
                yield item

    def literal_text(self, value: Value | None) -> str | None:
        """The text of a value when it is a constant string."""
        if value is None:
            return None
        value = self.force(value)
        return value.literal if isinstance(value, Text) else None

    def literal(self, text: str) -> Text:
        return literal(text)

    # Names

    def bind(self, frame: Frame, target: ast.expr, value: Value) -> None:
        changes.assign(frame, target, value)

    def imported(self, module: Module, what: Imported) -> Value:
        return imports.imported(self, module, what)

    def module_value(self, module: Module, name: str) -> Value | None:
        return imports.module_value(self, module, name)

    def module_attribute(self, module: Module, path: str) -> Value | None:
        return imports.module_attribute(self, module, path)

    def shown_instance(self, value: Instance) -> Value | None:
        return classes.shown(self, value)

    def parent_of(self, frame: Frame) -> Value:
        """`super()`: the first base class that belongs to the project."""
        inner: Frame | None = frame
        while inner is not None and inner.owner is None:
            inner = inner.outer
        if inner is None or inner.owner is None:
            return UNKNOWN
        bases = classes.bases_of(self, inner.owner)
        return Instance(bases[1]) if len(bases) > 1 else UNKNOWN

    def is_seeded(self, module: Module) -> bool:
        """Whether a module fixes the seed of the shared random source."""
        return re.search(r"^\s*(?:np\.|numpy\.)?random\.seed\(", module.text, re.MULTILINE) is not None

    # What is found

    def compose(self, frame: Frame, node: ast.AST, text: Text, *, is_template: bool = False) -> None:
        if len(text.fragments) > 1 or any(isinstance(part, Fork) for part in text.fragments):
            self.records.composed[node, frame.via] = Composed(text, frame.site(node), frame.function, is_template)
            if is_template and self.current is not None and depends(text):
                self.current.sends = True

    def instruct(self, frame: Frame, node: ast.AST, value: Value) -> None:
        """What a function gives is the instructions of an agent, whatever it is named."""
        known = self.force(value)
        if isinstance(known, Text):
            self.compose(frame, node, known, is_template=True)

    def name_text(self, text: Text, path: str) -> None:
        """A variable holds the text: its name is evidence."""
        self.records.names[id(text)] = (text, path)

    def list_messages(self, frame: Frame, node: ast.AST, listing: Listing) -> None:
        if any(is_message(self, item) for item in listing.items):
            self.records.listed[node, frame.via] = Listed(listing, frame.site(node), frame.function)

    def forget(self, node: ast.AST) -> None:
        """The same prompt is found again with more of it known."""
        for kept in (self.records.composed, self.records.listed):
            for key in [key for key in kept if key[0] is node]:
                del kept[key]

    def forget_text(self, text: Text) -> None:
        """A text turns out not to be sent to a model as it is."""
        parts = [(piece.text, piece.site) for piece in pieces(text.fragments)]  # a variable has added its label
        for key, composed in list(self.records.composed.items()):
            if parts == [(piece.text, piece.site) for piece in pieces(composed.text.fragments)]:
                del self.records.composed[key]

    def record_call(self, frame: Frame, node: ast.Call, called: Called) -> None:
        self.records.called[node, frame.via] = called
        if self.current is not None and arguments_depend(called.arguments):
            self.current.sends = True

    def rebound(self, receiver: Value, arguments: Arguments) -> None:
        """`model.bind(max_tokens=…)`: the bound of the constructor is not the last word."""
        if isinstance(receiver, External) and receiver.site is not None and arguments.keywords.entries:
            self.records.rebound.add(receiver.site.node)

    def model_method(self, callee: External) -> CallShape | None:
        """The row for a method of a framework's model or agent: its first argument is the prompt."""
        receiver = callee.receiver
        if not isinstance(receiver, External) or receiver.arguments is None:
            return None
        owner = shape_of_call(receiver.name.removesuffix("()"), frozenset(), is_import=True)
        if owner is None or (owner.callee not in MODELS and owner.callee not in AGENTS):
            return None
        name = f"{owner.callee}.{callee.name.rsplit('.', 1)[-1]}"
        parameter = ("input", "messages", "prompt", "user_prompt", "task", "message")
        return CallShape(name, owner.provider, messages=parameter, positional=("input",), default="unknown")

    def return_site(self, frame: Frame) -> Site | None:
        return frame.ends
