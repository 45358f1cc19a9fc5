"""OpenAI batch files: requests with a custom id, one a line; answers of the same ids may follow in the same file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from promptlint_proxy.replay.readers.json_records import Object, as_json, read_records
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable

_NO_REQUEST = "an answer without its request: put the batch's input file before its output file (cat input output)"


def read_openai_batch(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The requests of a batch in the order of the file, one second apart: a batch tells no times.

    An output file holds no prompts: its lines are matched to requests of the same file by `custom_id`.
    """
    requests: list[tuple[str, Object]] = []
    answers: dict[str, tuple[str, Object]] = {}
    for record in read_records(path):
        if isinstance(record, Unreadable):
            yield record
            continue
        place, entry = record
        if isinstance(entry.get("body"), dict):
            requests.append((place, entry))
        elif isinstance(entry.get("response"), dict) or isinstance(entry.get("error"), dict):
            answers[str(entry.get("custom_id"))] = (place, entry)
        else:
            yield Unreadable(place, "`body` is missing; a request of a batch is expected")
    for index, (place, entry) in enumerate(requests):
        _, answer = answers.pop(str(entry.get("custom_id")), ("", {}))
        yield _read(index, place, entry, answer)
    for place, _ in answers.values():
        yield Unreadable(place, _NO_REQUEST)


def _read(index: int, place: str, entry: Object, answer: Object) -> RecordedExchange:
    response = answer.get("response")
    response = response if isinstance(response, dict) else {}
    error = answer.get("error")
    status = response.get("status_code")
    body = response.get("body")
    return RecordedExchange(
        at=float(index),
        path=str(entry.get("url") or "/v1/chat/completions"),
        body=as_json(entry["body"]),
        host="api.openai.com",
        status=status if isinstance(status, int) else None,
        response_headers={"content-type": "application/json"},
        response_body=as_json(body) if isinstance(body, dict) else None,
        told={"error": str(error.get("code") or "error")} if isinstance(error, dict) else None,
        place=place,
    )
