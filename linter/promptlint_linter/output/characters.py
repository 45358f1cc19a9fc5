"""Characters that must not reach a terminal or an XML file as they are."""

from __future__ import annotations

import re

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def without_control(text: str) -> str:
    """The text with control characters, escapes to the terminal among them, written as codes."""
    return CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def on_one_line(text: str) -> str:
    """The same with line ends and tabs as codes too: names of files may hold them."""
    return without_control(text).replace("\n", "\\n").replace("\t", "\\t")
