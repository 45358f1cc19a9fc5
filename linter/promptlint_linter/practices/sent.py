"""A call of a model as it stands in the tree, with what its arguments are made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from promptlint_core.practice import Practice, PracticeKind
from promptlint_core.prompt import Call, Prompt
from promptlint_linter.practices.slices import Flow, Level, Scope, Slicer
from promptlint_linter.practices.tree import FunctionNode, ModuleTree, inside, keyword, parameters, path_of

MESSAGES = ("messages", "input", "contents", "prompt")
SYSTEM = ("system", "instructions", "system_prompt", "system_instruction")
_SIZE = re.compile(r"(?i)len\(|token|size|budget|limit|compact|exceed|too_long|overflow|full|context")


@dataclass(eq=False)
class Sent:
    """One call of a model. The evaluator recognised it; `node` is the same call in the tree."""

    tree: ModuleTree
    call: Call
    node: ast.Call
    prompts: tuple[Prompt, ...] = ()
    """All prompts of the module, as the evaluator sees them."""
    found: dict[tuple[str, ...], list[Flow]] = field(default_factory=dict)

    @cached_property
    def function(self) -> FunctionNode | None:
        return self.tree.function_of(self.node)

    def argument(self, *names: str) -> ast.expr | None:
        """A keyword argument, also one of a literal dict that is spread into the call."""
        given = keyword(self.node, *names)
        if given is not None:
            return given
        if names == MESSAGES and self.node.args and re.search(r"\.(?:a?invoke|a?stream)$", self.call.callee):
            return self.node.args[0]
        return None

    def flows(self, *names: str) -> list[Flow]:
        known = self.found.get(names)
        if known is None:
            value = self.argument(*names)
            scope = Scope(self.function)
            known = Slicer(self.tree, self.node).flows(value, scope) if value is not None else []
            self.found[names] = known
        return known

    @property
    def messages(self) -> list[Flow]:
        return self.flows(*MESSAGES)

    @property
    def system(self) -> list[Flow]:
        """What the system text is made of: its own argument, and messages of that role."""
        own = self.flows(*SYSTEM)
        return own + [flow for flow in self.messages if flow.role in ("system", "developer")]

    @cached_property
    def histories(self) -> dict[str, Flow]:
        """Lists that the messages come from, by name: parameters, attributes, lists that are appended to."""
        found: dict[str, Flow] = {}
        for flow in self.messages:
            path = path_of(flow.node) if flow.level is Level.LIST else ""
            if not path:
                continue
            function = flow.scope.function
            is_given = function is not None and path in parameters(function)
            if is_given or "." in path or "[" in path or any(isinstance(c, ast.Call) for c in self.changes(flow, path)):
                found.setdefault(path, flow)
        return found

    @cached_property
    def lists(self) -> dict[str, Flow]:
        """All names that the list of messages has on its way, the outermost first."""
        found: dict[str, Flow] = {}
        for flow in self.messages:
            if flow.level is Level.LIST and (path := path_of(flow.node)):
                found.setdefault(path, flow)
        return found

    @cached_property
    def step_names(self) -> frozenset[str]:
        """Variables that count the rounds of the loop in which the call stands."""
        names: set[str] = set()
        for loop in self.tree.loops_around(self.node):
            if isinstance(loop, ast.While):
                names |= {path_of(n.target) for n in ast.walk(loop) if isinstance(n, ast.AugAssign)}
            elif isinstance(loop.iter, ast.Call) and path_of(loop.iter.func) in (
                "range",
                "enumerate",
                "itertools.count",
                "count",
            ):
                names |= {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        return frozenset(names - {""})

    def changes(self, flow: Flow, path: str) -> list[ast.AST]:
        """What binds or grows a name: in its function, of `self` in its class, else in the module."""
        if path.startswith("self."):
            owner = self.tree.class_of(flow.node)
            return self.tree.changes_of(owner, path) if owner is not None else []
        if flow.scope.function is not None:
            return self.tree.changes_of(flow.scope.function, path)
        return self.tree.changes_of(self.tree.root, path)

    @cached_property
    def turn_names(self) -> frozenset[str]:
        """Parameters of the calling function that are text of the newest message."""
        if self.function is None:
            return frozenset()
        names = set(parameters(self.function))
        return frozenset(
            flow.node.id
            for flow in self.messages
            if isinstance(flow.node, ast.Name)
            and flow.level is Level.CONTENT
            and flow.each is None
            and flow.role == "user"
            and flow.scope.function is self.function
            and flow.node.id in names
        )

    def depends(self, node: ast.AST, names: Iterable[str], depth: int = 0) -> bool:
        """Whether an expression of the calling function is chosen by one of these names."""
        for inner in ast.walk(node):
            if not isinstance(inner, ast.Name):
                continue
            if inner.id in names:
                return True
            if depth < 3 and self.function is not None:
                for change in self.tree.changes_of(self.function, inner.id):
                    tests = [condition.test for condition in self.tree.conditions_around(change)]
                    value = getattr(change, "value", None)
                    if any(self.depends(part, names, depth + 1) for part in (*tests, value) if part is not None):
                        return True
        return False

    def practice(self, kind: PracticeKind, node: ast.AST, detail: str = "", *, is_sure: bool = True) -> Practice:
        return Practice(kind, self.tree.place(node), self.tree.code(node), detail, is_sure)

    def is_rare(self, node: ast.AST) -> bool:
        """Whether something happens only when a size is exceeded, so that it pays off over many requests."""
        if any(_SIZE.search(ast.unparse(condition.test)) for condition in self.tree.conditions_around(node)):
            return True
        function = self.tree.function_of(node)
        if function is None or function is self.function:
            return False
        callers = list(self.tree.callers(function))
        return bool(callers) and all(
            any(_SIZE.search(ast.unparse(condition.test)) for condition in self.tree.conditions_around(call))
            for call in callers
        )


def scope_nodes(sent: Sent, flow: Flow, path: str) -> Iterator[ast.AST]:
    """The nodes among which a list of this name is handled."""
    if path.startswith("self."):
        owner = sent.tree.class_of(flow.node)
        yield from inside(owner) if owner is not None else ()
    elif flow.scope.function is not None:
        yield from inside(flow.scope.function)
