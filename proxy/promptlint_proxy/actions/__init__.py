"""What the proxy may change in a request when it is told to. All off by default; each is counted; none is done on a
signed request. One file an action."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptlint_proxy.actions import bound, markers, tools, usage
from promptlint_proxy.actions.api import Api, api_of
from promptlint_proxy.actions.usage import StreamFilter

if TYPE_CHECKING:
    from promptlint_proxy.settings import ActionSettings

__all__ = ["Outcome", "StreamFilter", "apply"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done to a request."""

    done: tuple[str, ...] = ()
    body: bytes | None = None
    """The changed body; None: as it came."""
    refusal: str | None = None
    """A sentence for the client: the request is not sent on."""
    stream_filter: StreamFilter | None = None
    """Takes out of the answer what the client did not ask for."""


def apply(settings: ActionSettings, path: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
    """Do what the settings order to a request; one that is no JSON object of a known API stays as it is."""
    api = api_of(path)
    if api is None or headers.get("content-encoding"):
        return Outcome()
    try:
        document = json.loads(body)
    except ValueError:
        return Outcome()
    if not isinstance(document, dict):
        return Outcome()

    if settings.refuse_unbounded and bound.is_unbounded(api, document):
        return Outcome(("refuse_unbounded",), refusal=bound.REFUSAL.format(field=bound.field_of(api, document)))
    done = [name for name, change in _changes(settings) if change(api, document)]
    if not done:
        return Outcome()
    changed = _written(document)
    if changed is None:
        return Outcome()
    return Outcome(tuple(done), changed, stream_filter=StreamFilter() if "ask_usage" in done else None)


def _written(document: dict[str, Any]) -> bytes | None:
    """The document as JSON that every server takes; None where there is none (numbers beyond all bounds)."""
    try:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair is JSON only as an escape.
        return json.dumps(document, separators=(",", ":")).encode()


Change = Callable[[Api, dict[str, Any]], bool]


def _changes(settings: ActionSettings) -> list[tuple[str, Change]]:
    changes: list[tuple[str, Change]] = []
    if limit := settings.cap_output_tokens:
        changes.append(("cap_output_tokens", lambda api, document: bound.cap(api, document, limit)))
    if settings.ask_usage:
        changes.append(("ask_usage", usage.ask))
    if settings.sort_tools:
        changes.append(("sort_tools", tools.sort))
    if settings.add_markers:
        changes.append(("add_markers", markers.add))
    return changes
