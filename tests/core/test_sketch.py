"""Sketches say how much of a template is in a prompt, and nothing of the text."""

from __future__ import annotations

import pytest

from promptlint_core.sketch import GAP, SKETCH_SIZE, contained_share, shingle_hashes, sketch

KEY = b"0123456789abcdef0123456789abcdef"
TEMPLATE = (
    "You are the support agent of a shop. Answer in two sentences, cite the order number and never promise a date."
)
LONG = " ".join(f"rule {n}: the agent must not do thing number {n * n}." for n in range(400))

SHARES = [
    ("a template is wholly in the prompt it made", TEMPLATE, f"Now 10:00. {TEMPLATE} Mario asks.", 1.0),
    ("case, punctuation and white space do not count", TEMPLATE.upper(), TEMPLATE.replace(" ", "\n  "), 1.0),
    ("another template is not in it", "Translate the following text into formal French and keep names.", TEMPLATE, 0.0),
    ("a long template is found in its own full sketch", LONG, LONG + " and then the question of today", 1.0),
]


@pytest.mark.parametrize(("template", "prompt", "share"), [row[1:] for row in SHARES], ids=[row[0] for row in SHARES])
def test_the_share_of_a_template_that_a_prompt_holds(template: str, prompt: str, share: float) -> None:
    found = contained_share(shingle_hashes(template, KEY), sketch(prompt, KEY))

    assert share == found


def test_half_a_template_is_told_as_about_half() -> None:
    words = LONG.split()
    half = " ".join(words[: len(words) // 2])

    share = contained_share(shingle_hashes(LONG, KEY), sketch(half, KEY))

    assert share is not None
    assert abs(share - 0.5) < 0.12


def test_shingles_do_not_cross_a_gap() -> None:
    assert shingle_hashes("a b c d", KEY) | shingle_hashes("e f g h", KEY) == shingle_hashes(
        f"a b c d{GAP}e f g h", KEY
    )


def test_without_the_key_nothing_matches() -> None:
    assert contained_share(shingle_hashes(TEMPLATE, b"other key"), sketch(TEMPLATE, KEY)) == 0.0


def test_hashes_fit_a_signed_64_bit_column_and_are_bounded_in_number() -> None:
    values = sketch(LONG, KEY)

    assert len(values) == SKETCH_SIZE
    assert list(values) == sorted(values)
    assert all(-(2**63) <= value < 2**63 for value in values)


@pytest.mark.parametrize("text", ["", "  ", "!?", GAP])
def test_a_text_without_words_has_no_sketch_and_no_share(text: str) -> None:
    assert sketch(text, KEY) == ()
    assert contained_share(shingle_hashes("a b c d", KEY), sketch(text, KEY)) is None
