"""Typed values in literal text, and look-alikes that are none."""

from __future__ import annotations

import pytest

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.literals import find_literals, literal_at


@pytest.mark.parametrize(
    ("text", "kind", "unit"),
    [
        ("2026-09-09T17:42:08.123456+00:00", "datetime", "microsecond"),
        ("2026-09-09T17:42:08.123Z", "datetime", "millisecond"),
        ("2026-09-09 17:42:08", "datetime", "second"),
        ("2026-09-09 17:42", "datetime", "minute"),
        ("20260909T174208Z", "datetime", "second"),
        ("09/09/2026, 17:42:08", "datetime", "second"),
        ("Wednesday, September 9, 2026 at 5:42 PM", "datetime", "minute"),
        ("Wed, 9 Sep 2026 17:42:08 GMT", "datetime", "second"),
        ("17:42:08", "time", "second"),
        ("5:42 pm", "time", "minute"),
        ("5 PM", "time", "hour"),
        ("2026-09-09", "date", "day"),
        ("9 September 2026", "date", "day"),
        ("3 minutes ago", "age", "minute"),
        ("1.5 hours old", "age", "hour"),
        ("1788975728", "epoch", "second"),
        ("1788975728123", "epoch", "millisecond"),
        ("1788975728.51", "epoch", "microsecond"),
        ("018f3c6e-8b1c-7c3a-9d1e-0123456789ab", "uuid", ""),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid", ""),
        ("9f8c2a1b77de", "hex", ""),
        ("req_8fK2mZ19aLq", "token", ""),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN", "jwt", ""),
        ("ann@example.org", "email", ""),
        ("10.0.12.7", "address", ""),
        ("42", "number", ""),
        ("12.5%", "number", ""),
    ],
)
def test_kinds(text: str, kind: str, unit: str) -> None:
    (found,) = find_literals(f"before {text} behind")

    assert (kind, unit, text) == (found.kind, found.unit, f"before {text} behind"[found.start : found.end])


@pytest.mark.parametrize(
    "text", ["a plain sentence", "v-model and re-use", "deadbeef", "ratio a/b", "HelloWorld", "e.g. so"]
)
def test_look_alikes(text: str) -> None:
    assert [] == list(find_literals(text))


def test_the_value_at_a_place_is_told_in_the_whole_text() -> None:
    text = "x " * 500 + "17:42:08" + " y" * 500
    found = literal_at(text, 1003)

    assert found is not None
    assert text[found.start : found.end] == "17:42:08"
    assert found.origin is Origin.CLOCK
    assert found.cadence is Cadence.CALL


def test_a_date_changes_once_a_day() -> None:
    (found,) = find_literals("on 2026-09-09 we open")

    assert found.cadence is Cadence.DAY
