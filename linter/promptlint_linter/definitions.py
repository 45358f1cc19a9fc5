"""Which classes of the project define a method, and which are made from a class: by name, without parsing a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

_DEFINED = re.compile(
    rb"^(?:class[ \t]+(?P<class>\w+)[ \t]*\((?P<bases>[^()]*)\)"
    rb"|[ \t]+(?:async[ \t]+)?def[ \t]+(?P<method>\w+)[ \t]*\()",
    re.MULTILINE,
)
_LEAST_WORDS = 2
_LEAST_CHARS = 8
_MOST_SUBCLASSES = 40


class Definitions:
    """An index over the text of files, made when somebody first asks."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    def definers(self, method: str) -> list[str]:
        """Paths of the files that define a method of this name, once for each definition.

        Empty for names so plain that objects of libraries have methods of the same name.
        """
        words = [word for word in method.split("_") if word]
        if method.startswith("__") or len(words) < _LEAST_WORDS or len(method) < _LEAST_CHARS:
            return []
        return self._index[0].get(method, [])

    def subclasses(self, name: str) -> list[tuple[str, str]]:
        """Path and name of the classes that name a class of this name among their bases."""
        return self._index[1].get(name, [])[:_MOST_SUBCLASSES]

    @cached_property
    def _index(self) -> tuple[dict[str, list[str]], dict[str, list[tuple[str, str]]]]:
        methods: dict[str, list[str]] = {}
        subclasses: dict[str, list[tuple[str, str]]] = {}
        for path in self._files:
            try:
                text = Path(path).read_bytes()
            except OSError:
                continue
            for match in _DEFINED.finditer(text):
                if match["method"]:
                    methods.setdefault(match["method"].decode(), []).append(path)
                    continue
                for base in match["bases"].split(b","):
                    last = base.split(b"[", 1)[0].strip().rpartition(b".")[2].decode("ascii", "ignore")
                    if last.isidentifier():
                        subclasses.setdefault(last, []).append((path, match["class"].decode()))
        return methods, subclasses
