"""Server-sent events as the APIs write them."""

from __future__ import annotations

import json
from collections.abc import Mapping

DONE = b"data: [DONE]\n\n"


def data_event(document: Mapping[str, object]) -> bytes:
    return b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n"


def named_event(document: Mapping[str, object]) -> bytes:
    """With the `event:` line that repeats the document's type."""
    return f"event: {document['type']}\n".encode() + data_event(document)
