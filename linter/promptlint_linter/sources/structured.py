"""Prompts in YAML, TOML and JSON: strings under telling keys, message lists, chat templates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import yaml

from promptlint_core.names import words_of
from promptlint_core.prompt import Place, Prompt, Segment
from promptlint_linter.sources import jinja
from promptlint_linter.sources.kinds import CHAT_TEMPLATES, PROMPT_WORDS, is_named_prompt
from promptlint_linter.sources.lines import Lines
from promptlint_linter.sources.prompt_files import JINJA_SIGNS, segments_of
from promptlint_linter.sources.prompt_text import INSTRUCTION, role_of_name
from promptlint_linter.sources.unit import Problem, SourceFile, SourceUnit

MOST_BYTES = 2_000_000
LEAST_PROMPT_CHARS = 60
CERTAIN_KEYS = PROMPT_WORDS | {"system", "backstory", "persona"}
"""A long string under a key with one of these words is a prompt in a file that the user names."""
TELLING_KEYS = CERTAIN_KEYS | {"template", "content", "message", "user", "human"}
"""A long string under a key with one of these words is taken for a prompt in a file that is clearly one of prompts."""
PROGRAM_KEYS = frozenset({"run", "script", "scripts", "command", "commands", "entrypoint", "shell"})
"""A string under one of these keys is a program, whatever the file is called."""
PIPELINE_FOLDERS = frozenset({".github", ".gitlab", ".circleci", ".buildkite"})
"""Files in here describe jobs, even ones named after the prompts they work on: only a key tells a prompt."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string of a structured file."""

    key: str
    text: str
    start: int
    """Offsets of the written form in the file, first character and end."""
    end: int


Tree = Text | dict[str, "Tree"] | list["Tree"] | None


def read(source: SourceFile, *, explicit: bool = False) -> SourceUnit:
    """The prompts of one file; a file that is not clearly one of prompts must say so at the key as well."""
    path = PurePosixPath(source.path)
    named = not PIPELINE_FOLDERS.intersection(path.parts) and (is_named_prompt(path) or path.name in CHAT_TEMPLATES)
    if len(source.text) > MOST_BYTES or not (named or explicit or INSTRUCTION.search(source.text)):
        return SourceUnit(source.path)
    try:
        tree = _tree(source)
    except _NotReadable as error:
        problem = Problem(Place(source.path, error.line), str(error))
        return SourceUnit(source.path, problems=(problem,) if named or explicit else ())
    lines = Lines(source.path, source.text)
    finder = _Finder(source.text, lines, named=named, explicit=explicit, chat=path.name in CHAT_TEMPLATES)
    return SourceUnit(source.path, tuple(finder.prompts(tree, "")))


class _NotReadable(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def _tree(source: SourceFile) -> Tree:
    if source.path.endswith(".toml"):
        try:
            return _of_toml(tomllib.loads(source.text), source.text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            raise _NotReadable(f"no TOML: {error}", int(line[1]) if line else 1) from error
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        node = yaml.compose(_without_tabs(source), Loader=loader)
        return _of_yaml(node, "", set())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = "JSON" if source.path.endswith(".json") else "YAML"
        reason = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise _NotReadable(f"no {what}: {reason}", mark.line + 1 if mark else 1) from error
    except (RecursionError, ValueError) as error:
        raise _NotReadable(f"cannot be read: {error}", 1) from error


def _without_tabs(source: SourceFile) -> str:
    """JSON may be indented by tabs, which YAML refuses; the length stays the same."""
    if not source.path.endswith(".json"):
        return source.text
    return re.sub(r"^\t+", lambda match: " " * len(match[0]), source.text, flags=re.MULTILINE)


def _of_yaml(node: yaml.Node | None, key: str, seen: set[int]) -> Tree:
    if node is None or id(node) in seen:
        return None  # an alias: its text was met at the anchor, and following it could go on for ever
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return {
            str(name.value): _of_yaml(value, str(name.value), seen)
            for name, value in node.value
            if isinstance(name, yaml.ScalarNode)
        }
    if isinstance(node, yaml.SequenceNode):
        return [_of_yaml(item, key, seen) for item in node.value]
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str":
        return Text(key, node.value, node.start_mark.index, node.end_mark.index)
    return None


def _of_toml(value: Any, text: str, key: str = "") -> Tree:
    """TOML tells no places: strings are looked for by their first line, behind their key."""
    if isinstance(value, dict):
        return {name: _of_toml(item, text, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_of_toml(item, text, key) for item in value]
    if not isinstance(value, str):
        return None
    first = next((line for line in value.split("\n") if line.strip()), value)
    match = re.search(rf"(?m)^\s*[\"']?{re.escape(key)}[\"']?\s*=", text) if key else None
    start = max(text.find(first[:40], match.start() if match else 0), 0)
    return Text(key, value, start, min(start + 2 * len(value), len(text)))


class _Finder:
    def __init__(self, text: str, lines: Lines, *, named: bool, explicit: bool, chat: bool) -> None:
        self.text, self.lines, self.named, self.explicit, self.chat = text, lines, named, explicit, chat

    def prompts(self, tree: Tree, key: str) -> Iterator[Prompt]:
        if isinstance(tree, Text):
            if self._is_prompt(tree):
                yield from self._prompts_of(tree, role_of_name(tree.key))
        elif isinstance(tree, dict):
            for name, item in tree.items():
                yield from self.prompts(item, name)
        elif isinstance(tree, list):
            messages = _messages(tree)
            if messages:
                yield self._conversation(messages, key)
            else:
                for item in tree:
                    yield from self.prompts(item, key)

    def _is_prompt(self, text: Text) -> bool:
        if self.chat:
            return "chat_template" in text.key or text.key == "template"
        if len(text.text) < LEAST_PROMPT_CHARS or text.key in PROGRAM_KEYS:
            return False
        words = words_of(text.key)
        if self.named and (TELLING_KEYS.intersection(words) or "\n" in text.text):
            return True
        if self.explicit and CERTAIN_KEYS.intersection(words):
            return True
        return bool(TELLING_KEYS.intersection(words)) and bool(INSTRUCTION.search(text.text))

    def _prompts_of(self, text: Text, role: str) -> Iterator[Prompt]:
        if self.chat or JINJA_SIGNS.search(text.text):
            prompts, _ = jinja.prompts_of(text.text, _Within(self.lines, self.text, text), text.key)
            yield from prompts
            return
        segments = tuple(self._segments(text, role))
        if segments:
            yield Prompt(segments, self.lines.place(text.start, text.start), text.key)

    def _segments(self, text: Text, role: str) -> Iterator[Segment]:
        return segments_of(text.text, 0, _Within(self.lines, self.text, text), role)

    def _conversation(self, messages: list[tuple[str, Text]], key: str) -> Prompt:
        segments = [segment for role, text in messages for segment in self._segments(text, role)]
        start = messages[0][1].start
        return Prompt(tuple(segments), self.lines.place(start, start), key)


def _messages(items: list[Tree]) -> list[tuple[str, Text]]:
    """Role and text of each message, if the list is one of messages."""
    found = []
    for item in items:
        if not isinstance(item, dict):
            return []
        role, content = item.get("role"), item.get("content")
        if not isinstance(role, Text) or not isinstance(content, Text):
            return []
        found.append((role.text, content))
    return found


class _Within(Lines):
    """Offsets in a decoded string told as places in its file: escapes and indentation move them."""

    def __init__(self, lines: Lines, written: str, text: Text) -> None:
        self.path = lines.path
        self._lines, self._written, self._text = lines, written, text
        self._found: dict[tuple[int, int], Place] = {}

    def place(self, start: int, end: int) -> Place:
        """The place of a part of the string: looked for where it is written, else the start of the string."""
        if (start, end) not in self._found:
            self._found[start, end] = self._find(start, end)
        return self._found[start, end]

    def _find(self, start: int, end: int) -> Place:
        text = self._text
        part = text.text[start:end].strip().split("\n")[0]
        occurrence = text.text.count(part, 0, start) if part else 0
        at = text.start
        for _ in range(occurrence + 1 if part else 0):
            at = self._written.find(part, at, text.end + 1)
            if at < 0:
                return self._lines.place(text.start, text.start)
            at += len(part)
        return self._lines.place(max(at - len(part), text.start), at)
