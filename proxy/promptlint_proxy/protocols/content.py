"""Content of messages: a string, or a list of parts of text, images, files, audio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from promptlint_core.exchange import PieceKind
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.prompt_builder import Entry

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})
_MARKER_NAMES = frozenset({"cache_control", "prompt_cache_breakpoint"})


@dataclass(frozen=True, slots=True)
class Content:
    """One content block: its pieces, and the object at `path` that may carry a marker."""

    entries: list[Entry]
    holder: Object | None
    path: str


def read_content(content: Any, path: str) -> Iterator[Content]:
    """A string reads as one block; so does a list with exactly one text part, under the path of the list."""
    if isinstance(content, str):
        yield Content([(PieceKind.TEXT, path, content)], None, path)
        return
    if isinstance(content, dict):
        content = [content]
    parts = as_list(content)
    for index, part in enumerate(parts):
        place = f"{path}[{index}]"
        if isinstance(part, str):
            text_path = path if len(parts) == 1 else place
            yield Content([(PieceKind.TEXT, text_path, part)], None, place)
        elif isinstance(part, dict):
            yield Content(_part_entries(part, place, path if len(parts) == 1 else None), part, place)


def read_images(images: Any, path: str) -> Iterator[Content]:
    """Ollama's list of base64 images beside the content."""
    for index, image in enumerate(as_list(images)):
        yield Content([(PieceKind.IMAGE, f"{path}[{index}]", as_text(image))], None, path)


def without_markers(holder: Object) -> Object:
    return {name: value for name, value in holder.items() if name not in _MARKER_NAMES}


def _part_entries(part: Object, place: str, list_path: str | None) -> list[Entry]:
    kind = part.get("type")
    if kind in TEXT_TYPES or (kind is None and isinstance(part.get("text"), str)):
        return [(PieceKind.TEXT, list_path or f"{place}.text", as_text(part.get("text")))]
    if kind == "refusal":
        return [(PieceKind.TEXT, f"{place}.refusal", as_text(part.get("refusal")))]
    if kind == "thinking":
        thinking = part.get("thinking")
        text = thinking if isinstance(thinking, str) else compact(thinking)
        return [(PieceKind.REASONING, f"{place}.thinking", text)]
    media = _media_entry(part, place)
    return [media] if media else [(PieceKind.TEXT, place, compact(without_markers(part)))]


def _media_entry(part: Object, place: str) -> Entry | None:
    """Address, data or id of an image, file or audio part."""
    for name in ("image_url", "video_url", "audio_url", "input_audio", "file", "document_url"):
        value = part.get(name)
        if isinstance(value, str) and value:
            return (PieceKind.IMAGE, f"{place}.{name}", value)
        for key in ("url", "data", "file_data", "file_id"):
            inner = as_object(value).get(key)
            if isinstance(inner, str) and inner:
                return (PieceKind.IMAGE, f"{place}.{name}.{key}", inner)
    for key in ("file_data", "file_url", "file_id", "data"):  # input_image and input_file of the Responses API
        value = part.get(key)
        if isinstance(value, str) and value:
            return (PieceKind.IMAGE, f"{place}.{key}", value)
    return None
