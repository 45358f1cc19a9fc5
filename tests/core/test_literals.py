"""Typed values in literal text, and look-alikes that are none."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core import literals
from promptlint_core.cadence import Cadence, Origin
from promptlint_core.literals import LiteralIndex, find_literals


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
        ("17h42", "time", "minute"),
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
    "text",
    [
        "a plain sentence",
        "v-model and re-use",
        "deadbeef",
        "ratio a/b",
        "HelloWorld",
        "e.g. so",
        "lasts 17h",
        "17h42m long",
        "1h30",
    ],
)
def test_look_alikes(text: str) -> None:
    assert [] == list(find_literals(text))


def test_the_value_at_a_place_is_told_in_the_whole_text() -> None:
    text = "x " * 500 + "17:42:08" + " y" * 500
    found = LiteralIndex(text).at(1003)

    assert found is not None
    assert text[found.start : found.end] == "17:42:08"
    assert found.origin is Origin.CLOCK
    assert found.cadence is Cadence.CALL


def test_a_date_changes_once_a_day() -> None:
    (found,) = find_literals("on 2026-09-09 we open")

    assert found.cadence is Cadence.DAY


@pytest.mark.parametrize("ahead", [0, 820, 1015, 1016, 1020, 1023, 1024, 1025, 1223, 2040, 5000])
@pytest.mark.parametrize("value", ["2026-09-09T17:42:08.123456+00:00", "018f3c6e-8b1c-7c3a-9d1e-0123456789ab", "42"])
def test_an_index_finds_a_value_wherever_it_stands(value: str, ahead: int) -> None:
    text = "x" * ahead + " " + value + " behind"
    index = LiteralIndex(text)

    for offset in range(ahead + 1, ahead + 1 + len(value)):
        found = index.at(offset)
        assert found is not None
        assert value == text[found.start : found.end]
        assert [found] == index.overlapping(offset, offset + 1)


@given(st.text(alphabet="ab-f 01289:./@=_", max_size=300))
def test_values_are_in_order_and_none_is_inside_another(text: str) -> None:
    found = list(find_literals(text))

    assert all(first.end <= second.start for first, second in pairwise(found))
    assert found == LiteralIndex(text).overlapping(0, len(text))


def test_a_stretch_is_searched_once_however_often_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(literals, "find_literals", lambda text: searched.append(text) or iter(()))
    index = LiteralIndex("step 12 of 30, " * 1000)
    for offset in range(0, 15_000, 3):
        index.at(offset)

    assert len(searched) == 15
    assert max(map(len, searched)) <= 1024 + 400
