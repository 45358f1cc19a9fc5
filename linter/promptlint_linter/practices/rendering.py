"""What is done to each stored message when the history is rendered, and to text on its way into a prompt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.evaluate.origins import CALLS
from promptlint_linter.practices.sent import Sent
from promptlint_linter.practices.slices import Flow, Level, Slicer
from promptlint_linter.practices.tree import constant_text, keyword, path_of

_SIGNED = frozenset(
    [
        "generate_presigned_url",
        "generate_signed_url",
        "create_presigned_url",
        "get_signed_url",
        "generate_blob_sas",
        "presigned_get_object",
        "get_presigned_url",
        "create_signed_url",
    ]
)
_STORES = frozenset(
    [
        "fetchall",
        "fetchone",
        "fetchmany",
        "fetch",
        "fetchrow",
        "execute",
        "scalars",
        "find",
        "find_one",
        "hgetall",
        "lrange",
        "query",
        "mappings",
        "scan",
    ]
)
_REASONING_KEYS = frozenset({"reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks"})
_REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_ID_KEYS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
_WHOLE_FILES = re.compile(r"\.(?:log|out|csv|tsv|jsonl|sql|xml)$")
_CUT = re.compile(
    r"(?i)[\w)\]]\[[^\]\n]*:[^\]\n]*\]|trunc|clip|shorten|chunk|split|max_?(?:chars|bytes|len|tokens?\b(?! *=))|tail"
)


def read(sent: Sent) -> Iterator[Practice]:
    for flow in sent.messages:
        if flow.each is not None:
            yield from _of_stored(sent, flow)
    yield from _of_mutations(sent)
    for flow in (*sent.system, *sent.messages):
        if flow.level is Level.CONTENT or flow.role or not isinstance(flow.node, ast.Dict | ast.List):
            yield from _of_text(sent, flow)


def _of_stored(sent: Sent, flow: Flow) -> Iterator[Practice]:
    node = flow.node
    if isinstance(node, ast.Call):
        name = sent.tree.library_name(node.func)
        source = CALLS.get(name)
        if _strips_thinking(sent, node):
            yield sent.practice(PracticeKind.STRIPPED_REASONING, node)
        elif source is not None and source.origin is Origin.CLOCK:
            if _is_seen_as_clock(sent, node):
                yield sent.practice(PracticeKind.RESTAMPED_HISTORY, node)
        elif source is not None and source.origin is Origin.RANDOM and name != "id":  # an object keeps its address
            if _is_fallback_or_id(sent, node):
                yield sent.practice(PracticeKind.REGENERATED_ID, node)
        elif name.rsplit(".", 1)[-1] in _SIGNED or (name == "base64.b64encode" and _encodes_anew(sent, node)):
            yield sent.practice(PracticeKind.CHANGING_IMAGE, node)
        elif name == "json.dumps" and _is_stored_mapping(sent, flow, node):
            yield sent.practice(PracticeKind.STORED_JSON, node)
    elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp) and _filters_reasoning(node):
        yield sent.practice(PracticeKind.STRIPPED_REASONING, node)


def _encodes_anew(sent: Sent, node: ast.Call) -> bool:
    """A picture is written with loss by an image library and its bytes are put into the message."""
    function = sent.tree.function_of(node)
    uses_library = any(name.split(".", 1)[0] in ("PIL", "cv2") for name in sent.tree.imports.values())
    saves = function is not None and any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("save", "imencode")
        and not _is_lossless(n)
        for n in ast.walk(function)
    )
    return uses_library and saves


def _is_lossless(saves: ast.Call) -> bool:
    """PNG gives the same pixels back each time, so that it gives the same bytes the next time."""
    written = [*saves.args, *(k.value for k in saves.keywords if k.arg == "format")]
    return any((constant_text(value) or "").lower().lstrip(".") == "png" for value in written)


def _of_mutations(sent: Sent) -> Iterator[Practice]:
    """`message.pop("reasoning_content")` in the function that renders the history."""
    functions = {flow.scope.function for flow in sent.messages if flow.each is not None} - {None}
    for function in functions:
        for node in ast.walk(function) if function is not None else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "pop":
                continue
            is_reasoning = bool(node.args) and constant_text(node.args[0]) in _REASONING_KEYS
            if is_reasoning and (list(sent.tree.loops_around(node)) or function is not sent.function):
                yield sent.practice(PracticeKind.STRIPPED_REASONING, node)


def _strips_thinking(sent: Sent, node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr == "sub":
        pattern = node.args[0] if path_of(node.func.value) == "re" and node.args else node.func.value
        return any("think" in text for text in _texts(sent, pattern))
    return node.func.attr == "split" and bool(node.args) and "</think>" in (constant_text(node.args[0]) or "")


def _texts(sent: Sent, node: ast.expr) -> Iterator[str]:
    """The constant strings that a pattern is made of, through one name of the module."""
    if isinstance(node, ast.Name):
        for change in sent.tree.changes_of(sent.tree.root, node.id):
            yield from (n.value for n in ast.walk(change) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    elif (text := constant_text(node)) is not None:
        yield text


def _filters_reasoning(node: ast.ListComp | ast.DictComp | ast.GeneratorExp) -> bool:
    for generator in node.generators:
        for test in generator.ifs:
            names = {n.value for n in ast.walk(test) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
            wanted = _REASONING_KEYS if isinstance(node, ast.DictComp) else _REASONING_TYPES
            leaves_out = any(isinstance(n, ast.NotEq | ast.NotIn | ast.Not) for n in ast.walk(test))
            if names & wanted and leaves_out:
                return True
    return False


def _is_seen_as_clock(sent: Sent, node: ast.Call) -> bool:
    """Whether the evaluator, which knows formats, saw this reading change within a day."""
    at = sent.tree.place(node)
    return any(
        segment.origin is Origin.CLOCK
        and segment.cadence is not None
        and segment.cadence > Cadence.DAY
        and segment.place is not None
        and (segment.place.line, segment.place.end_line) == (at.line, at.end_line)
        for prompt in sent.prompts
        for segment in prompt.segments
    )


def _is_fallback_or_id(sent: Sent, node: ast.Call) -> bool:
    """A new id in the place of a stored one, or under the key of an id."""
    below: ast.AST = node
    for above in sent.tree.ancestors(node):
        if isinstance(above, ast.BoolOp) and isinstance(above.op, ast.Or) and below is above.values[-1]:
            return True
        if isinstance(above, ast.Dict):
            keys = [constant_text(k) for k, v in zip(above.keys, above.values, strict=True) if v is below]
            return bool(set(keys) & _ID_KEYS)
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr == "get":
            return len(above.args) == 2 and below is above.args[1]
        if isinstance(above, ast.Assign):
            return path_of(above.targets[0]).rsplit(".", 1)[-1] in _ID_KEYS
        if isinstance(above, ast.stmt):
            return False
        below = above
    return False


def _is_stored_mapping(sent: Sent, flow: Flow, node: ast.Call) -> bool:
    """`json.dumps(row["args"])` of a mapping that comes from a store, which keeps no order of keys."""
    if keyword(node, "sort_keys") is not None or not node.args:
        return False
    if not isinstance(node.args[0], ast.Subscript | ast.Attribute):
        return False
    origins = Slicer(sent.tree, sent.node).flows(node.args[0], flow.scope)
    each = flow.each
    loops = [each.iter] if isinstance(each, ast.For) else []
    if isinstance(each, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        loops = [generator.iter for generator in each.generators]
    scope = Slicer(sent.tree, sent.node)
    for loop in loops:
        origins = [*origins, *scope.flows(loop, type(flow.scope)(sent.tree.function_of(loop)))]
    return any(
        isinstance(o.node, ast.Call) and isinstance(o.node.func, ast.Attribute) and o.node.func.attr in _STORES
        for o in origins
    )


def _of_text(sent: Sent, flow: Flow) -> Iterator[Practice]:
    node = flow.node
    if not isinstance(node, ast.Call):
        return
    name = sent.tree.library_name(node.func)
    if name == "json.dumps" and flow.role in ("system", "developer") and _is_stored_mapping(sent, flow, node):
        yield sent.practice(PracticeKind.STORED_JSON, node)
    if name == "json.dumps" and isinstance(keyword(node, "indent"), ast.Constant) and flow.role != "tool":
        yield sent.practice(PracticeKind.INDENTED_JSON, node, is_sure=False)
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("read_text", "read"):
        return
    if flow.scope.function is None or sent.tree.function_of(node) is None or node.args:
        return
    function = sent.tree.function_of(node)
    if function is not None and _CUT.search(ast.get_source_segment(sent.tree.text, function) or ""):
        return
    read_from = node.func.value
    if isinstance(read_from, ast.Name) and function is not None:
        opened = [c.context_expr for c in sent.tree.changes_of(function, read_from.id) if isinstance(c, ast.withitem)]
        read_from = opened[0] if opened else read_from
    if _reads_a_record(read_from) or _is_joined_listing(sent, node):
        yield sent.practice(PracticeKind.WHOLE_FILES, node)


def _reads_a_record(node: ast.expr) -> bool:
    """`Path("service.log")`, `open("service.log")`: a file that grows, read whole."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    return _WHOLE_FILES.search(constant_text(node.args[0]) or "") is not None


def _is_joined_listing(sent: Sent, node: ast.AST) -> bool:
    """`"\\n".join(p.read_text() for p in folder.rglob("*.py"))`."""
    for above in sent.tree.ancestors(node):
        if isinstance(above, ast.GeneratorExp | ast.ListComp):
            parent = sent.tree.parents.get(above)
            joins = (
                isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "join"
            )
            names = {path_of(n.func).rsplit(".", 1)[-1] or getattr(n.func, "attr", "")
                     for g in above.generators for n in ast.walk(g.iter) if isinstance(n, ast.Call)}  # fmt: skip
            return joins and bool(names & {"glob", "rglob", "iterdir", "walk", "iglob"})
        if isinstance(above, ast.stmt):
            return False
    return False
