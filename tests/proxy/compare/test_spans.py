"""Differing runs are widened to the value that changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.cadence import Origin
from promptlint_proxy.compare import spans
from promptlint_proxy.compare.spans import middle_of, spans_of

VALUES = {
    "seconds": ("at 17:42:08.", "at 17:42:22.", Origin.CLOCK, "to the second"),
    "minutes": ("at 17:42, go", "at 17:51, go", Origin.CLOCK, "to the minute"),
    "date": ("on 2026-09-09", "on 2026-09-10", Origin.CLOCK, "to the day"),
    "milliseconds": ("2026-09-09T10:00:41.118Z", "2026-09-09T10:00:41.574Z", Origin.CLOCK, "to the millisecond"),
    "age": ("2 minutes ago", "3 minutes ago", Origin.CLOCK, "an age"),
    "uuid": (
        "7f3c1d9e-51b0-4d0e-9d0a-6a1c2f7e8b10",
        "b81e02aa-0c55-4f7d-8b46-90d1c33a7e52",
        Origin.RANDOM,
        "uuid",
    ),
    "suffix of a name": ("memory_c91e07b4d2", "memory_47fa3d10be", Origin.RANDOM, "hex"),
    "mail": ("ines@example.org", "pavel@example.org", Origin.IDENTITY, "email"),
    "number": ("Step 1 of 30", "Step 2 of 30", Origin.STATE, "number"),
    "words": ("a blue coat", "a red hat", Origin.UNKNOWN, ""),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_value_that_changed_is_recognised(name: str) -> None:
    earlier, later, origin, detail = VALUES[name]
    (span,) = spans_of(f"Head {earlier} tail", f"Head {later} tail")

    assert (origin, detail) == (span.origin, span.detail)


@given(st.text(alphabet="ab 1:-", max_size=40), st.text(alphabet="ab 1:-", max_size=40))
def test_spans_lie_in_the_later_text_and_none_is_empty_on_both_sides(a: str, b: str) -> None:
    for span in spans_of(a, b):
        assert b[span.offset : span.offset + len(span.later)] == span.later
        assert span.earlier != span.later


def test_equal_texts_have_no_spans() -> None:
    assert () == spans_of("a", "a")


def test_a_long_run_of_letters_is_not_widened_to_its_borders() -> None:
    middle = middle_of("a" * 100_000, "b" + "a" * 100_000)

    assert middle.end_later - middle.start <= 1000


class Counting:
    """A pattern that counts the code points it is asked to search."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.searched_chars = 0
        self._pattern = pattern

    def findall(self, text: str) -> list[str]:
        self.searched_chars += len(text)
        return self._pattern.findall(text)


LONG = {
    "one line without end": ("lorem 12 " * 100_000, "ipsum 13 " * 100_000),
    "many lines, all other ones": (
        "".join(f"row {n} has {n * 7 % 13}\n" for n in range(40_000)),
        "".join(f"row {n} has {n * 7 % 11}\n" for n in range(40_000)),
    ),
    "one word without end": ("a" * 500_000, "b" * 500_000),
}


@pytest.mark.parametrize("name", LONG)
def test_words_of_a_long_middle_are_not_compared_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(spans._WORD)
    monkeypatch.setattr(spans, "_WORD", counting)
    found = spans_of(*LONG[name])

    assert found
    assert counting.searched_chars <= 100_000
