"""What the table says of one call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallShape:
    """A call of a library: its arguments that are part of the prompt, and those that bound the output."""

    callee: str
    """Canonical name, as messages tell it."""
    provider: str
    kind: str = "model"
    """`model`, `agent`, `client` or `retrieval`."""
    system: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    tools: tuple[str, ...] = ("tools",)
    positional: tuple[str, ...] = ()
    """Names of the positional arguments, in order."""
    bounds: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    """Arguments whose dict or object may hold the bound (`config`, `options`)."""
    default: str = "absent"
    """What no bound means: `absent` (the server's or model's maximum) or `unknown` (the library has a default)."""
    passages: tuple[str, ...] = ()
    """Arguments that say how many passages are retrieved."""
    required: tuple[str, ...] = ()
    """Where the receiver is not known to be a client: keyword arguments of which one must be there."""
