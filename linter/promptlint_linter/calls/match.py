"""Which row of the table a call belongs to."""

from __future__ import annotations

from functools import cache

from promptlint_core.names import words_of
from promptlint_linter.calls import engines, frameworks, retrieval, vendors
from promptlint_linter.calls.shapes import CallShape
from promptlint_linter.evaluate.origins import RETRIEVAL_METHODS, RETRIEVER_METHODS, RETRIEVER_WORDS


def shape_of_call(name: str, keywords: frozenset[str], *, is_import: bool) -> CallShape | None:
    """The row for a dotted name (`openai.OpenAI().chat.completions.create`).

    `is_import` tells that the name starts at an imported package; on any other object the arguments must be those of
    a prompt, since `messages.create` also sends short messages and `completions.create` fills a shell's line.
    """
    if is_import:
        exact = _functions().get(name) or _classes().get(_package_and_last(name))
        if exact is not None and not name.endswith("()"):
            return exact
    package = name.split(".", 1)[0]
    proved = is_import and package.removesuffix("()") in vendors.CLIENT_PACKAGES
    parts = name.split(".")
    for size in (3, 2, 1):
        shape = vendors.CLIENT_METHODS.get(".".join(parts[-size:])) if len(parts) > size else None
        if shape is None:
            continue
        if proved or (not _is_foreign(package, is_import=is_import) and keywords & frozenset(shape.required)):
            return shape
    return _retrieval(name, parts)


def _is_foreign(package: str, *, is_import: bool) -> bool:
    """An object of a package that is no client of models."""
    return is_import and package.removesuffix("()") not in vendors.CLIENT_PACKAGES


def _retrieval(name: str, parts: list[str]) -> CallShape | None:
    method = parts[-1]
    found = retrieval.METHODS.get(method)
    if found is not None and len(parts) > 1:
        return found
    return retrieval.PROVED if is_retrieval(name) and method not in ("invoke", "ainvoke") else None


def is_retrieval(name: str) -> bool:
    """Whether a dotted call gives passages: a method that only stores have, or a search on an object named like one."""
    owner, _, method = name.rpartition(".")
    if method in RETRIEVAL_METHODS:
        return bool(owner)
    if method not in RETRIEVER_METHODS or not owner:
        return False
    if ".as_retriever()" in owner + ".":
        return True
    return bool(RETRIEVER_WORDS & {word for part in owner.split(".")[-2:] for word in words_of(part)})


@cache
def _functions() -> dict[str, CallShape]:
    return {**vendors.FUNCTIONS, **retrieval.CLASSES}


@cache
def _classes() -> dict[tuple[str, str], CallShape]:
    """By package and last name, since packages re-export their classes at several depths."""
    table = {**frameworks.MODELS, **frameworks.AGENTS, **retrieval.CLASSES, **engines.ENGINES}
    return {_package_and_last(name): shape for name, shape in table.items()}


def _package_and_last(name: str) -> tuple[str, str]:
    return name.split(".", 1)[0], name.rsplit(".", 1)[-1]
