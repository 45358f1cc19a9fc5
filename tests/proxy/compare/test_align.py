"""The common head of two requests and the place where it ends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from wire_cases import assistant, chat, system, user

from promptlint_core.exchange import Request
from promptlint_proxy.compare.align import (
    align_messages,
    chars_behind,
    common_prefix,
    common_suffix,
    compare_heads,
    messages_of,
)
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import RecordedExchange, to_exchange

TEXT = st.text(alphabet="ab\n .1", max_size=30)


def request(*messages: dict[str, object]) -> Request:
    recorded = read_line(json.dumps(chat(0, list(messages))).encode(), "line")
    assert isinstance(recorded, RecordedExchange)
    exchange = to_exchange(recorded, 0)
    assert exchange is not None
    return exchange.request


@given(TEXT, TEXT)
def test_common_prefix_and_suffix_are_the_longest(a: str, b: str) -> None:
    prefix, suffix = common_prefix(a, b), common_suffix(a, b)

    assert a[:prefix] == b[:prefix]
    assert a[len(a) - suffix :] == b[len(b) - suffix :]
    assert prefix == min(len(a), len(b)) or a[prefix] != b[prefix]


CASES = {
    "equal": ((system("S"), user("A")), (system("S"), user("A")), None),
    "appended": ((user("A"),), (user("A"), assistant("B"), user("C")), None),
    "shorter": ((user("A"), assistant("B"), user("C")), (user("A"),), None),
    "the last text grew": ((user("A"),), (user("A and B"),), None),
    "in the system text": ((system("Say a."), user("A")), (system("Say b."), user("A")), ("messages[0].content", 4)),
    "an old text grew": ((user("A"), assistant("B")), (user("A!"), assistant("B")), ("messages[0].content", 1)),
    "an old text lost its end": ((user("A!"), assistant("B")), (user("A"), assistant("B")), ("messages[0].content", 1)),
    "beyond the basic plane": ((user("🙂a"),), (user("🙂b"),), ("messages[0].content", 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_difference_is_told_by_path_and_character(name: str) -> None:
    earlier, later, expected = CASES[name]
    head = compare_heads(request(*earlier), request(*later))

    told = None if head.divergence is None else (head.divergence.path, head.divergence.char_offset)
    assert expected == told


@examples(60)
@given(st.lists(TEXT.filter(bool), min_size=1, max_size=5), st.lists(TEXT.filter(bool), min_size=1, max_size=5))
def test_no_more_is_shared_than_the_texts_have_in_common(a: list[str], b: list[str]) -> None:
    earlier, later = request(*(user(text) for text in a)), request(*(user(text) for text in b))
    head = compare_heads(earlier, later)

    assert head.chars <= common_prefix(earlier.text, later.text)
    assert head.chars + chars_behind(earlier, later, head) <= len(later.text)


def test_what_only_moved_counts_as_behind() -> None:
    earlier = request(system("Now 1.\nRule one.\nRule two."), user("A"))
    later = request(system("Now 2.\nRule two.\nRule one."), user("A"))
    head = compare_heads(earlier, later)

    assert chars_behind(earlier, later, head) >= len("Rule one.\n")


def test_messages_are_aligned_over_dropped_and_changed_ones() -> None:
    earlier = messages_of(request(user("One?"), assistant("First answer."), user("Two?"), assistant("Second answer.")))
    later = messages_of(request(user("Two?"), assistant("Second answer, cut."), user("Three?")))
    pairs = [
        (m.earlier.index if m.earlier else None, m.later.index if m.later else None)
        for m in align_messages(earlier, later)
    ]

    assert [(0, None), (1, None), (2, 0), (3, 1), (None, 2)] == pairs
