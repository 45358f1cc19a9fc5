"""Hosted caches: minimum, steps, markers, breakpoints, lives. Expected values follow the hosts' documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from promptlint_core.exchange import Piece, PieceKind, Request, WireMarker
from promptlint_core.prefix_caches import anthropic_markers, bedrock, gemini, openai_intervals
from promptlint_core.prefix_caches.anthropic_markers import MarkerCache, MarkerRead, marked_prompt
from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_core.prefix_caches.deepseek_units import UnitCache
from promptlint_core.prefix_caches.entries import Entries
from promptlint_core.prefix_caches.hosted_steps import StepCache, StepRule
from promptlint_core.prefix_caches.openai_breakpoints import BreakpointCache, breakpoint_prompt
from promptlint_core.prompt import Part

SYSTEM_TOKENS, TURN_TOKENS = 1500, 100


def chat(
    turns: int, markers: Sequence[int] = (), *, system: str = "rules", provider: str = "anthropic", **fields: object
) -> Request:
    """A system block and turns that alternate between user and assistant; markers by block number."""
    pieces = [Piece("system", system, PieceKind.TEXT, Part.SYSTEM, None, "system", 0, True)]
    for turn in range(turns):
        role = "assistant" if turn % 2 else "user"
        pieces.append(
            Piece(f"messages[{turn}]", f"turn {turn}", PieceKind.TEXT, Part.MESSAGES, turn, role, turn + 1, True)
        )
    found = tuple(WireMarker(f"block {block}", block, 300) for block in markers)
    fields.setdefault("model", "claude-sonnet-4-6")
    fields.setdefault("pieces", tuple(pieces))
    return Request(provider, "messages", markers=found, **fields)  # type: ignore[arg-type]


def counts(request: Request) -> list[int]:
    return [SYSTEM_TOKENS if piece.part is Part.SYSTEM else TURN_TOKENS for piece in request.pieces]


class Anthropic:
    def __init__(self) -> None:
        self.cache = MarkerCache()

    def ask(self, request: Request, at: float, *, began: float | None = None, answered: bool = True) -> MarkerRead:
        prompt = marked_prompt(request, counts(request))
        read = self.cache.read(prompt, at)
        if answered:
            self.cache.write(prompt, at, available_from=at if began is None else began)
        return read


def read(earlier: Request, later: Request, gap_s: float = 10.0, **options: object) -> tuple[int, int]:
    host = Anthropic()
    host.ask(earlier, 0.0, **options)  # type: ignore[arg-type]
    found = host.ask(later, gap_s)
    return found.hit_tokens, found.written_tokens


LONG = SYSTEM_TOKENS + TURN_TOKENS

ANTHROPIC = {
    "read up to the marked block, the rest is written": (chat(1, [1]), chat(3, [3]), 10, (LONG, 200)),
    "no marker, nothing": (chat(1), chat(3), 10, (0, 0)),
    "only marked ends are entries: an unmarked common block is not read": (
        chat(1, [1]),
        chat(3, [0, 1], pieces=(chat(1).pieces[0], chat(3).pieces[3])),
        10,
        (0, LONG),
    ),
    "a changed system text loses all": (chat(1, [0, 1]), chat(1, [0, 1], system="other"), 10, (0, LONG)),
    "gone after five minutes": (chat(1, [1]), chat(3, [3]), 301, (0, LONG + 200)),
    "still there at 299 s": (chat(1, [1]), chat(3, [3]), 299, (LONG, 200)),
    "19 blocks further on is found": (chat(1, [1]), chat(20, [20]), 10, (LONG, 1900)),
    "20 blocks further on is not": (chat(1, [1]), chat(21, [21]), 10, (0, LONG + 2000)),
    "a second marker close to the old end helps": (chat(1, [1]), chat(21, [10, 21]), 10, (LONG, 2000)),
    "five markers are refused": (chat(1, [1]), chat(5, [1, 2, 3, 4, 5]), 10, (0, 0)),
    "another model": (chat(1, [1]), chat(3, [3], model="claude-opus-4-8"), 10, (0, LONG + 200)),
    "tool_choice loses the messages, not the system": (
        chat(1, [0, 1]),
        chat(3, [0, 3], parameters=(("tool_choice", '{"type":"any"}'),)),
        10,
        (SYSTEM_TOKENS, 300),
    ),
    "thinking loses the messages, not the system": (
        chat(1, [0, 1]),
        chat(3, [0, 3], parameters=(("thinking", '{"type":"enabled"}'),)),
        10,
        (SYSTEM_TOKENS, 300),
    ),
    "speed loses the system too": (
        chat(1, [0, 1]),
        chat(3, [0, 3], parameters=(("speed", '"fast"'),)),
        10,
        (0, LONG + 200),
    ),
    "below the minimum of the model": (
        chat(1, [1], model="claude-opus-4-6"),
        chat(1, [1], model="claude-opus-4-6"),
        10,
        (0, 0),
    ),
}


@pytest.mark.parametrize(("earlier", "later", "gap_s", "expected"), ANTHROPIC.values(), ids=ANTHROPIC.keys())
def test_anthropic_reads(earlier: Request, later: Request, gap_s: float, expected: tuple[int, int]) -> None:
    assert expected == read(earlier, later, gap_s)


def test_an_entry_is_readable_once_the_first_answer_began() -> None:
    assert read(chat(1, [1]), chat(1, [1]), 2.0, began=3.0)[0] == 0
    assert read(chat(1, [1]), chat(1, [1]), 4.0, began=3.0)[0] == LONG


def test_a_failed_request_writes_nothing() -> None:
    assert read(chat(1, [1]), chat(1, [1]), answered=False) == (0, LONG)


def test_a_hit_starts_the_life_again() -> None:
    host = Anthropic()
    host.ask(chat(1, [1]), 0.0)
    host.ask(chat(1, [1]), 250.0)

    assert host.ask(chat(1, [1]), 500.0).hit_tokens == LONG


def test_an_image_anywhere_belongs_to_the_messages_level() -> None:
    plain = chat(1, [0, 1])
    image = Piece("messages[1]", "data", PieceKind.IMAGE, Part.MESSAGES, 1, "user", 2, True)
    with_image = replace(plain, pieces=(*plain.pieces, image))

    assert read(plain, with_image)[0] == SYSTEM_TOKENS


def test_runs_of_tool_blocks_count_once_when_asked() -> None:
    pieces = [*chat(1).pieces]
    for index in range(30):
        kind = PieceKind.ARGUMENTS
        pieces.append(Piece(f"c{index}", f"call {index}", kind, Part.MESSAGES, 1, "assistant", index + 2, True))
    later = Request(
        "anthropic",
        "messages",
        "claude-sonnet-4-6",
        pieces=tuple(pieces),
        markers=(WireMarker("m", len(pieces) - 1, 300),),
    )
    host = Anthropic()
    host.ask(chat(1, [1]), 0.0)
    once = marked_prompt(later, counts(later), runs_count_once=True)
    each = marked_prompt(later, counts(later))

    assert host.cache.read(each, 1.0).hit_tokens == 0
    assert host.cache.read(once, 1.0).hit_tokens == LONG


def openai(request: Request) -> Request:
    return Request(
        "openai",
        "chat",
        request.model if request.model != "claude-sonnet-4-6" else "gpt-5.6-terra",
        pieces=request.pieces,
        markers=request.markers,
        parameters=request.parameters,
        routing_key=request.routing_key,
    )


def breakpoints(earlier: Request, later: Request, gap_s: float = 10.0) -> tuple[int, int]:
    cache = BreakpointCache()
    prompt = breakpoint_prompt(openai(earlier), counts(earlier))
    cache.read(prompt, 0.0)
    cache.write(prompt, 0.0, available_from=1.0)
    hit, written, _ = cache.read(breakpoint_prompt(openai(later), counts(later)), gap_s)
    return hit, written


EXPLICIT = (("prompt_cache_options.mode", '"explicit"'),)

BREAKPOINTS = {
    "an appended turn reads up to the last user message": (chat(1), chat(3), 10, (LONG, 200)),
    "after 30 minutes it is gone": (chat(1), chat(3), 1801, (0, LONG + 200)),
    "a shared head with another question has no breakpoint of its own": (
        chat(1),
        Request("openai", "chat", None, pieces=(chat(1).pieces[0], chat(3).pieces[3])),
        10,
        (0, LONG),
    ),
    "an explicit breakpoint behind the shared head is read": (
        chat(1, [0]),
        Request(
            "openai",
            "chat",
            "claude-sonnet-4-6",
            pieces=(chat(1).pieces[0], chat(3).pieces[3]),
            markers=(WireMarker("m", 0, 1800),),
        ),
        10,
        (SYSTEM_TOKENS, 100),
    ),
    "explicit mode without a breakpoint caches nothing": (
        chat(1, parameters=EXPLICIT),
        chat(3, parameters=EXPLICIT),
        10,
        (0, 0),
    ),
    "moving between the modes misses": (chat(1, [1]), chat(3, [1], parameters=EXPLICIT), 10, (0, LONG)),
    "another key separates": (chat(1, routing_key="a"), chat(3, routing_key="b"), 10, (0, LONG + 200)),
    "tool_choice is no part of it": (chat(1), chat(3, parameters=(("tool_choice", '"none"'),)), 10, (LONG, 200)),
}


@pytest.mark.parametrize(("earlier", "later", "gap_s", "expected"), BREAKPOINTS.values(), ids=BREAKPOINTS.keys())
def test_openai_from_5_6_reads(earlier: Request, later: Request, gap_s: float, expected: tuple[int, int]) -> None:
    assert expected == breakpoints(earlier, later, gap_s)


def steps(tokens: int, shared: int, rule: StepRule, gap_s: float = 10.0) -> int:
    cache = StepCache(64)
    cache.write("model", chain(range(tokens), 64), 0.0, rule, available_from=1.0)
    later = [*range(shared), *range(10**6, 10**6 + tokens - shared)]
    return cache.lookup("model", chain(later, 64), gap_s, rule)


MEMORY, WIDE = openai_intervals.IN_MEMORY, openai_intervals.WIDE_STEPS

STEPS = {
    "1,023 shared tokens are none": (1023, MEMORY, 10, 0),
    "1,024 are 1,024": (1024, MEMORY, 10, 1024),
    "1,151 are 1,024": (1151, MEMORY, 10, 1024),
    "1,152 are 1,152": (1152, MEMORY, 10, 1152),
    "idle ten minutes": (1152, MEMORY, 601, 0),
    "before the answer began": (1152, MEMORY, 0.5, 0),
    "24 hours when asked for": (1152, openai_intervals.EXTENDED, 80_000, 1152),
    "GPT-5.5 steps by 2,048": (3000, WIDE, 10, 2048),
    "GPT-5.5 below a step": (2000, WIDE, 10, 0),
    "Mistral steps by 64": (200, StepRule(64, 64, 300), 10, 192),
}


@pytest.mark.parametrize(("shared", "rule", "gap_s", "expected"), STEPS.values(), ids=STEPS.keys())
def test_steps_give_back(shared: int, rule: StepRule, gap_s: float, expected: int) -> None:
    assert expected == steps(4000, shared, rule, gap_s)


def test_memory_caches_end_after_an_hour_whatever_the_use() -> None:
    cache = StepCache(64)
    hashes = chain(range(2048), 64)
    cache.write("model", hashes, 0.0, MEMORY, available_from=0.0)
    hits = [cache.lookup("model", hashes, at, MEMORY) for at in (*range(500, 3600, 500), 3700)]

    assert hits == [2048] * 7 + [0]


def test_deepseek_needs_a_whole_unit() -> None:
    """A+B then A+C misses; a third A+D reads A."""
    cache = UnitCache()
    head = list(range(640))
    hits = []
    for at, tail in enumerate(range(1000, 4000, 1000)):
        prompt = [*head, *range(tail, tail + 100)]
        hits.append(cache.read("model", prompt, float(at)))
        cache.write("model", prompt, float(at), available_from=at + 0.5)
    hits.append(cache.read("model", [*head, *range(1000, 1100), 5], 9.0))

    assert hits == [0, 0, 640, 740]


MINIMA = {
    "claude-opus-4-8": 1024,
    "claude-opus-4-7": 2048,
    "claude-haiku-4-5-20251001": 4096,
    "claude-opus-4-5": 4096,
    "claude-sonnet-5": 1024,
    "claude-sonnet-5-5": 512,
    "claude-fable-5-1": 512,
    "claude-mythos-preview": 2048,
    "claude-3-5-haiku-latest": 2048,
}


@pytest.mark.parametrize(("model", "tokens"), MINIMA.items())
def test_anthropic_minimum(model: str, tokens: int) -> None:
    assert tokens == anthropic_markers.minimum_tokens(model)


def test_bedrock_and_gemini_have_minima_of_their_own() -> None:
    rule = gemini.rule_for("gemini-3.5-flash")

    assert bedrock.minimum_tokens("us.anthropic.claude-opus-4-7-v1:0") == 4096
    assert rule is not None
    assert rule.minimum_tokens == 4096
    assert not rule.published


def test_entries_are_bounded() -> None:
    entries = Entries(most=10)
    for key in range(100):
        entries.write(key, 0.0, 300.0, available_from=0.0)

    assert len(entries) == 10
    assert entries.alive(99, 1.0)
    assert not entries.alive(0, 1.0)
