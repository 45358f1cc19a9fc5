"""Whether text is a prompt, and whose words it holds."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from promptlint_core.names import words_of
from promptlint_linter.sources.kinds import is_named_prompt
from promptlint_linter.sources.unit import SourceFile

INSTRUCTION = re.compile(
    r"(?im)^\W{0,8}(?:you are (?:an?|the|our|now|acting)\b|you will be (?:given|provided)|your (?:task|job|role|goal)\b"
    r"|act as (?:an?|the)\b|as an? (?:ai|expert|assistant)\b)"
    r"|<\|?(?:im_start|system|start_header_id|begin_of_text)\b"
)
"""Text that speaks to a model. `You are receiving this mail because` is none."""
CHAT_TEMPLATE = re.compile(r"\{%-?\s*for \w+ in (?:loop_)?messages\b")
FOREIGN = re.compile(
    r"(?i)<!doctype html|<html\b|<body\b|<div\b|<table\b|^\s*server\s*\{|^\s*FROM \S+|^#!/"
    r"|^\s*(?:import|package|#include) ",
    re.MULTILINE,
)
"""Pages, configurations and code that are made from templates too."""
FOREIGN_SUFFIXES = frozenset(
    (
        ".html",
        ".htm",
        ".css",
        ".js",
        ".ts",
        ".conf",
        ".cfg",
        ".ini",
        ".service",
        ".sh",
        ".py",
        ".sql",
        ".tf",
        ".go",
        ".c",
    )
)
USER_WORDS = frozenset(("user", "human", "query", "question", "task", "followup"))


def is_clearly_prompt(source: SourceFile, *, explicit: bool) -> bool:
    """Does the name or the text of a template file say that a model reads what it makes?"""
    path = PurePosixPath(source.path)
    if CHAT_TEMPLATE.search(source.text):
        return True
    if PurePosixPath(path.stem).suffix in FOREIGN_SUFFIXES:
        return False
    if INSTRUCTION.search(source.text) or is_named_prompt(path):
        return not FOREIGN.search(source.text[:2000]) or is_named_prompt(path)
    return explicit and not FOREIGN.search(source.text[:2000])


def role_of_name(name: str) -> str:
    """`user` where a file or key says so, else `system`."""
    words = words_of(name)
    if "system" in words:
        return "system"
    return "user" if USER_WORDS.intersection(words) or words[-2:] == ("post", "messages") else "system"
