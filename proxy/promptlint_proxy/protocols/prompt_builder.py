"""Collects the pieces of a request in render order, numbers its content blocks and places its cache markers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptlint_core.exchange import Piece, PieceKind, WireMarker
from promptlint_core.prompt import Part
from promptlint_proxy.protocols.json_text import Object, as_object, as_text, compact

Entry = tuple[PieceKind, str, str]
"""Kind, path and text of a piece to be."""

ANTHROPIC_LIFE_S = 300
OPENAI_LIFE_S = 1800

_LIFE = re.compile(r"(\d+)\s*([smhd])")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def life_s(ttl: object, default_s: int) -> int:
    """`5m`, `1h`, `30m`, `12h` in seconds."""
    match = _LIFE.fullmatch(ttl) if isinstance(ttl, str) else None
    return int(match[1]) * _UNIT_S[match[2]] if match else default_s


def marker_life_s(holder: Object, default_s: int = OPENAI_LIFE_S) -> int | None:
    """Life of the explicit cache breakpoint that a tool, block or message carries; None without one."""
    control = holder.get("cache_control")
    if isinstance(control, dict):
        return life_s(control.get("ttl"), ANTHROPIC_LIFE_S)
    breakpoint_ = holder.get("prompt_cache_breakpoint")
    if isinstance(breakpoint_, dict):
        return life_s(breakpoint_.get("ttl"), default_s)
    return None


class PromptBuilder:
    def __init__(self, breakpoint_life_s: int = OPENAI_LIFE_S) -> None:
        self.pieces: list[Piece] = []
        self.markers: list[WireMarker] = []
        self.tool_names: list[str] = []
        self._blocks = 0
        self._inner_markers: list[tuple[str, int]] = []
        self._breakpoint_life_s = breakpoint_life_s

    def add_head(self, entry: Entry, part: Part, message: int, role: str) -> None:
        """A role or a participant's name: read by the model, but no content block."""
        kind, path, text = entry
        if text:
            self.pieces.append(Piece(path, text, kind, part, message, role))

    def add_block(
        self,
        entries: Sequence[Entry],
        part: Part,
        message: int | None = None,
        role: str = "",
        holder: Object | None = None,
        path: str = "",
    ) -> None:
        """One content block of one or more pieces; `holder` is the JSON object at `path` that may carry a marker.

        Empty strings are no pieces: `content: ""` and `content: null` beside tool calls read alike.
        """
        filled = [entry for entry in entries if entry[2]]
        if filled:
            last = len(filled) - 1
            for index, (kind, place, text) in enumerate(filled):
                self.pieces.append(
                    Piece(
                        place,
                        text,
                        kind,
                        part,
                        message,
                        role,
                        self._blocks,
                        ends_block=index == last,
                        listed=path == f"{place}[0]",
                    )
                )
            self._blocks += 1
        for place, life in self._inner_markers:
            self.add_marker(place, life)
        self._inner_markers.clear()
        if holder:
            self.mark(holder, path)

    def mark_at_end(self, inner: Object, path: str) -> None:
        """A marker on content inside the block that is added next: it stands at that block's end."""
        life = marker_life_s(inner, self._breakpoint_life_s)
        if life is not None:
            self._inner_markers.append((path, life))

    def mark(self, holder: Object, path: str) -> None:
        """Place the marker that `holder` carries, if any, behind all that was added so far."""
        life = marker_life_s(holder, self._breakpoint_life_s)
        if life is not None:
            self.add_marker(path, life)

    def add_marker(self, path: str, life: int) -> None:
        self.markers.append(WireMarker(path, len(self.pieces) - 1, life))

    def add_tool(self, path: str, tool: Object, definition: Object, schema: object) -> None:
        """A function tool: `definition` holds name and description (it may be `tool` itself)."""
        if tool.get("defer_loading") is True:
            return  # found by search when needed: not part of the prefix
        name = as_text(definition.get("name"))
        if name:
            self.tool_names.append(name)
        self.add_block(
            [
                (PieceKind.NAME, f"{path}.name", name),
                (PieceKind.DESCRIPTION, f"{path}.description", as_text(definition.get("description"))),
                (PieceKind.SCHEMA, f"{path}.schema", "" if schema is None else compact(schema)),
            ],
            Part.TOOLS,
            holder=tool if "function" not in tool else {**as_object(tool.get("function")), **tool},
            path=path,
        )

    def add_other_tool(self, path: str, tool: Object) -> None:
        """A tool that the server runs (search, code, MCP): its type or name, and its configuration without secrets."""
        if tool.get("defer_loading") is True:
            return
        key = "name" if tool.get("name") else "server_label" if tool.get("server_label") else "type"
        name = as_text(tool.get(key))
        if name:
            self.tool_names.append(name)
        rest = {k: v for k, v in tool.items() if k not in _NOT_RENDERED and k != key}
        self.add_block(
            [
                (PieceKind.NAME, f"{path}.{key}", name),
                (PieceKind.DESCRIPTION, f"{path}.description", as_text(tool.get("description"))),
                (PieceKind.SCHEMA, f"{path}.schema", compact(rest) if rest else ""),
            ],
            Part.TOOLS,
            holder=tool,
            path=path,
        )

    def mark_last_block(self, path: str, control: Object) -> None:
        """A request-level marker: it stands on the last block that can be cached."""
        for index in range(len(self.pieces) - 1, -1, -1):
            piece = self.pieces[index]
            if piece.ends_block and piece.kind is not PieceKind.REASONING:
                self.markers.append(WireMarker(path, index, life_s(control.get("ttl"), ANTHROPIC_LIFE_S)))
                return


_NOT_RENDERED = frozenset(
    {
        "description",
        "cache_control",
        "prompt_cache_breakpoint",
        "authorization",
        "authorization_token",
        "headers",
        "server_url",
    }
)
