"""One file a command. `COMMANDS` is the table of contents of the tool, in the order that `--help` shows."""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    "check": "Find prompts that break the prefix cache in source (the default command).",
    "replay": "Analyse recorded traffic: what the cache could and did give back, and what stopped it.",
    "docs": "Write the generated pages of the documentation.",
}
"""Name of a command to its one-line help. The command is the object `command` in the module of that name."""
