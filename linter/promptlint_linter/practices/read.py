"""The practices of one module, around the calls of models that the evaluator found in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from promptlint_core.practice import Practice
from promptlint_core.prompt import Call, Prompt
from promptlint_linter.practices import fan_out, histories, markers, parameters, rendering, tools, windows
from promptlint_linter.practices.sent import Sent
from promptlint_linter.practices.tree import ModuleTree

Reader = Callable[[Sent], Iterator[Practice]]
_READERS: tuple[Reader, ...] = (
    windows.read,
    histories.read,
    rendering.read,
    tools.read,
    markers.read,
    parameters.read,
    fan_out.read,
)


def practices_of(text: str, shown: str, calls: Sequence[Call], prompts: Sequence[Prompt]) -> tuple[Practice, ...]:
    """What the code around the calls of a module does; nothing where the module calls no model."""
    sending = [call for call in calls if call.kind == "model"]
    if not sending:
        return ()
    tree = ModuleTree(text, shown)
    by_place = {
        (tree.place(node).line, tree.place(node).end_line, tree.place(node).end_column): node for node in tree.calls
    }
    found: dict[tuple[object, ...], Practice] = {}
    for call in sending:
        node = by_place.get((call.place.line, call.place.end_line, call.place.end_column))
        if node is None:
            continue
        sent = Sent(tree, call, node, tuple(prompts))
        for reader in _READERS:
            for practice in reader(sent):
                found.setdefault((practice.kind, practice.place), practice)
    return tuple(found.values())
