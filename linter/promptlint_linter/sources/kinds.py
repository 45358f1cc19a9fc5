"""Which reader a file gets, told by its name and, for plain text, by the folder it lies in."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath


class Kind(StrEnum):
    PYTHON = "python"
    NOTEBOOK = "notebook"
    TEMPLATE = "template"
    PROMPT = "prompt"
    """Text, Markdown, YAML, TOML or JSON that holds prompts; YAML and JSON may configure an engine as well."""
    SERVING = "serving"
    """A script or Dockerfile that may start an engine."""


STDIN_WITHOUT_NAME = "<stdin>"
"""What standard input is called that was given no name; it is read as Python."""
PYTHON = frozenset((".py", ".pyw"))
TEMPLATE = frozenset((".j2", ".jinja", ".jinja2"))
ALWAYS_PROMPT = frozenset((".prompt", ".prompty"))
STRUCTURED = frozenset((".yaml", ".yml", ".toml", ".json"))
PLAIN = frozenset((".md", ".markdown", ".txt", ".text", ".xml", ".mustache", ".hbs", ".tmpl", ".tpl"))

SCRIPTS = frozenset((".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".dockerfile", ".containerfile"))

PROMPT_WORDS = frozenset(("prompt", "prompts", "instruction", "instructions", "systemprompt", "promptfile"))
"""A file or folder named with one of these words holds prompts."""
NOT_PROMPTS = frozenset(
    ("readme", "changelog", "contributing", "license", "index", "requirements", "package", "pyproject")
)
CHAT_TEMPLATES = frozenset(("tokenizer_config.json", "chat_template.json"))
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def suffixes_wanted() -> frozenset[str]:
    """Suffixes of files that may have a reader: the rest is never looked at."""
    return PYTHON | TEMPLATE | ALWAYS_PROMPT | STRUCTURED | PLAIN | SCRIPTS | {".ipynb"}


def is_serving_name(name: str) -> bool:
    """A file name without a suffix of its own that means a container's recipe."""
    return name.lower().startswith(("dockerfile", "containerfile"))


def kind_of(path: PurePosixPath, *, explicit: bool = False) -> Kind | None:
    """The kind of a file, None when no reader fits.

    `explicit`: the user named the file itself, so that text is taken for a prompt whatever its name.
    """
    suffix = path.suffix.lower()
    if suffix in PYTHON:
        return Kind.PYTHON
    if suffix == ".ipynb":
        return Kind.NOTEBOOK
    if suffix in TEMPLATE:
        return Kind.TEMPLATE
    if suffix in ALWAYS_PROMPT or path.name in CHAT_TEMPLATES:
        return Kind.PROMPT
    if suffix in SCRIPTS or is_serving_name(path.name):
        return Kind.SERVING
    if suffix in PLAIN and (explicit or is_named_prompt(path)):
        return Kind.PROMPT
    if suffix in STRUCTURED and (explicit or suffix != ".json" or is_named_prompt(path)):
        return Kind.PROMPT
    return None


def is_named_prompt(path: PurePosixPath) -> bool:
    """Does the name of the file or of a folder it lies in say that it is a prompt?"""
    stem = path.stem.lower()
    if stem in NOT_PROMPTS:
        return False
    if _says_prompt(path.stem):
        return True
    return any(_says_prompt(folder) for folder in path.parts[:-1][-3:])


def _says_prompt(name: str) -> bool:
    return any(word.lower() in PROMPT_WORDS for word in WORDS.findall(name))
