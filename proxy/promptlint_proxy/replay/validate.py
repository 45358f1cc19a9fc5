"""Recorded requests sent to a live engine: what was predicted of each, and what the engine reports."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Response
from promptlint_proxy.predict import Predictor, PredictorSettings
from promptlint_proxy.protocols import find
from promptlint_proxy.protocols.base import RequestHead, ResponseHead
from promptlint_proxy.replay.recorded import RecordedExchange

_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where the requests go."""

    url: str
    model: str | None = None
    """Name of the model at the engine; None: as recorded."""
    key: str | None = None
    """Bearer token; never stored or shown."""
    provider: str | None = None


@dataclass(frozen=True, slots=True)
class Validated:
    """One request; absent is None."""

    index: int
    status: int | None
    error: str | None
    prompt_tokens: int | None
    predicted_hit_tokens: int | None
    reported_hit_tokens: int | None
    reason: str

    @property
    def equal(self) -> bool | None:
        if self.predicted_hit_tokens is None or self.reported_hit_tokens is None:
            return None
        return self.predicted_hit_tokens == self.reported_hit_tokens


def validate(
    recorded: Sequence[RecordedExchange], target: Target, settings: PredictorSettings | None = None
) -> Iterator[Validated]:
    """Send the requests one after the other, in the order of their start, as fast as the engine answers.

    Raises PromptlintError when the engine cannot be reached at all.
    """
    parts = urlsplit(target.url if "//" in target.url else f"http://{target.url}")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise PromptlintError(f"--validate needs an address like http://127.0.0.1:8000, not {target.url}")
    known = settings or PredictorSettings()
    predictor = Predictor(replace(known, engine=known.engine or target.provider))
    in_order = sorted(enumerate(recorded), key=lambda item: (item[1].at, item[0]))
    for index, entry in in_order:
        yield _send(index, entry, target, f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", predictor)


def _send(index: int, entry: RecordedExchange, target: Target, base: str, predictor: Predictor) -> Validated:
    body = json.loads(entry.body)
    if target.model:
        body["model"] = target.model
    body.pop("stream", None)
    body.pop("stream_options", None)
    raw = json.dumps(body, ensure_ascii=False).encode()
    host, path = urlsplit(base).netloc, entry.path.partition("?")[0]
    protocol = find("POST", host, path, {}, raw)
    if protocol is None:
        return Validated(index, None, "asks no model", None, None, None, "")
    if target.provider:
        protocol.provider = target.provider
    request = protocol.read_request(raw, RequestHead("POST", host, path))
    at = time.time()
    prediction = predictor.predict(request, at)
    status, headers, answer = _post(base + path, raw, target.key)
    response = protocol.read_response(answer, ResponseHead(status, headers))
    predictor.answered(request, response, time.time())
    return Validated(
        index=index,
        status=status,
        error=response.error,
        prompt_tokens=_prompt_tokens(response),
        predicted_hit_tokens=prediction.hit_tokens,
        reported_hit_tokens=response.usage.hit_tokens if response.usage else None,
        reason=prediction.reason,
    )


def _prompt_tokens(response: Response) -> int | None:
    return response.usage.prompt_tokens if response.usage else None


def _post(url: str, body: bytes, key: str | None) -> tuple[int, dict[str, str], bytes]:
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310 - scheme was checked
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise PromptlintError(f"the engine at {url} cannot be reached: {reason}") from None


def render_rows(rows: Sequence[Validated]) -> dict[str, Any]:
    """The outcome as JSON."""
    compared = [row for row in rows if row.equal is not None]
    return {
        "requests": [
            {
                "index": row.index,
                "status": row.status,
                "error": row.error,
                "prompt_tokens": row.prompt_tokens,
                "predicted_hit_tokens": row.predicted_hit_tokens,
                "reported_hit_tokens": row.reported_hit_tokens,
                "reason": row.reason,
            }
            for row in rows
        ],
        "compared": len(compared),
        "equal": sum(bool(row.equal) for row in compared),
    }


def render_text(rows: Sequence[Validated]) -> str:
    """The outcome as a table; `?` is unknown."""
    lines = [f"{'#':>4}  {'status':>6}  {'prompt':>8}  {'predicted':>9}  {'reported':>8}  difference"]
    for row in rows:
        cells = [_count(n) for n in (row.prompt_tokens, row.predicted_hit_tokens, row.reported_hit_tokens)]
        difference = ""
        if row.predicted_hit_tokens is not None and row.reported_hit_tokens is not None:
            difference = f"{row.reported_hit_tokens - row.predicted_hit_tokens:+,}"
        told = row.error or difference
        lines.append(f"{row.index:>4}  {row.status or '?':>6}  {cells[0]:>8}  {cells[1]:>9}  {cells[2]:>8}  {told}")
    compared = [row for row in rows if row.equal is not None]
    lines.append(f"predicted as reported in {sum(bool(row.equal) for row in compared)} of {len(compared)} requests")
    return "\n".join(lines)


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"
