"""Differing runs are widened to the value that changed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptlint_core.cadence import Origin
from promptlint_proxy.compare.spans import spans_of

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


@settings(deadline=None)
@given(st.text(alphabet="ab 1:-", max_size=40), st.text(alphabet="ab 1:-", max_size=40))
def test_spans_lie_in_the_later_text_and_none_is_empty_on_both_sides(a: str, b: str) -> None:
    for span in spans_of(a, b):
        assert b[span.offset : span.offset + len(span.later)] == span.later
        assert span.earlier != span.later


def test_equal_texts_have_no_spans() -> None:
    assert () == spans_of("a", "a")
