"""Bounds and retrieval sizes: what is not known is silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptlint_core.cadence import Cadence
from promptlint_core.prompt import Bound, BoundKind, Call, Place, Prompt, Segment
from promptlint_rules.size.oversized_output_bound import OversizedOutputBound
from promptlint_rules.size.oversized_retrieval import OversizedRetrieval
from promptlint_rules.size.unbounded_output import UnboundedOutput

PLACE = Place("app.py", 9)
YES_NO = Prompt((Segment("Is it spam? Answer yes or no.", Cadence.FIXED),))
ESSAY = Prompt((Segment("Write a long essay.", Cadence.FIXED),))


def call(bound: Bound, *, kind: str = "model", prompt: Prompt | None = None, retrieved: int | None = None) -> Call:
    return Call("openai.chat.completions.create", "openai", PLACE, bound, prompt=prompt, kind=kind, retrieved=retrieved)


@pytest.mark.parametrize(
    ("bound", "found"),
    [
        (Bound(BoundKind.ABSENT), 1),
        (Bound(BoundKind.UNLIMITED, parameter="max_tokens=None"), 1),
        (Bound(BoundKind.LIMITED, 300), 0),
        (Bound(BoundKind.UNKNOWN), 0),
    ],
)
def test_unbounded_output(bound: Bound, found: int) -> None:
    assert found == len(list(UnboundedOutput().check_call(call(bound))))


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("gemini-3-flash", 1),
        ("gpt-5.4-mini", 1),
        ("imagine-7b", 1),
        ("gemini-2.5-flash-image-preview", 0),
        ("imagen-4.0-generate-001", 0),
        ("google/gemini-2.5-flash-image", 0),
        ("gpt-4o-mini-tts", 0),
    ],
)
def test_a_picture_or_a_recording_has_no_bound_on_tokens(model: str, found: int) -> None:
    asked = replace(call(Bound(BoundKind.ABSENT)), model=model)

    assert found == len(list(UnboundedOutput().check_call(asked)))


def test_a_retrieval_has_no_output() -> None:
    assert [] == list(UnboundedOutput().check_call(call(Bound(BoundKind.ABSENT), kind="retrieval")))


@pytest.mark.parametrize(
    ("tokens", "prompt", "found"),
    [
        (65_536, YES_NO, 1),
        (131_072, ESSAY, 1),
        (131_072, None, 1),
        (65_536, ESSAY, 0),
        (16, YES_NO, 0),
        (None, YES_NO, 0),
    ],
)
def test_a_bound_far_above_need(tokens: int | None, prompt: Prompt | None, found: int) -> None:
    bound = Bound(BoundKind.LIMITED, tokens, parameter="max_tokens")

    assert found == len(list(OversizedOutputBound().check_call(call(bound, prompt=prompt))))


@pytest.mark.parametrize(("retrieved", "found"), [(80, 1), (26, 1), (25, 0), (4, 0), (None, 0)])
def test_many_passages(retrieved: int | None, found: int) -> None:
    retrieval = call(Bound(BoundKind.UNKNOWN), kind="retrieval", retrieved=retrieved)

    assert found == len(list(OversizedRetrieval().check_call(retrieval)))
