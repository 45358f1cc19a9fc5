"""What the simulated model says: seeded words that are one token each, with the moment each event is due."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace

from promptlint_core.exchange import Usage
from promptlint_proxy.simulated.settings import SimulatedSettings

# Each is one token of o200k_base and of cl100k_base with its leading space, so that an answer's tokens can be counted.
WORDS = (
    " the", " answer", " is", " that", " a", " cache", " keeps", " what", " was", " read", " before", " and", " every",
    " request", " can", " use", " it", " again", " when", " its", " first", " words", " are", " same", " as", " those",
    " of", " an", " earlier", " one", " so", " order", " matters", " most", " in", " long", " text", " with", " many",
    " parts", " which", " change", " often", " at",
    " end", " only", " then", " time", " and", " money", " stay", " low",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """Content of one event."""

    at_s: float
    """Since the request came."""
    kind: str
    """`text`, `reasoning` or `tool`."""
    text: str
    tokens: int
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that the shapes of the APIs need."""

    id: str
    model: str
    created_at: int
    pieces: tuple[Piece, ...]
    first_byte_s: float
    end_s: float
    usage: Usage
    """The whole prompt with its hit, as our own words name it."""
    length_reached: bool
    """The bound on output ended the answer."""
    tool: str | None = None
    choices: int = 1

    def text(self, kind: str, choice: int = 0) -> str:
        return "".join(piece.text for piece in self.pieces if piece.kind == kind and piece.choice == choice)


def speak(
    settings: SimulatedSettings,
    seed: str,
    *,
    uncached_tokens: int,
    bound: int | None,
    tool: str | None,
    argument: str = "query",
    choices: int = 1,
) -> tuple[tuple[Piece, ...], bool]:
    """The pieces of an answer, in time; True when the bound cut it short."""
    draw = random.Random(seed)  # noqa: S311 a simulation
    first_s = settings.overhead_s + uncached_tokens * settings.prefill_s_per_token
    wanted = settings.reasoning_tokens + draw.randint(max(1, settings.output_tokens // 2), settings.output_tokens)
    allowed = wanted if bound is None else min(wanted, bound)
    pieces: list[Piece] = []
    for choice in range(choices):
        at_s = first_s
        said = 0
        spoken: list[Piece] = []
        while said < allowed:
            kind = "reasoning" if said < settings.reasoning_tokens else "tool" if tool else "text"
            left = min(allowed, settings.reasoning_tokens) - said if kind == "reasoning" else allowed - said
            count = min(left, draw.randint(1, settings.tokens_per_chunk))
            text = "".join(draw.choice(WORDS) for _ in range(count))
            spoken.append(Piece(at_s, kind, text, count, choice))
            said += count
            at_s += settings.itl_s * (1 + settings.itl_jitter * draw.uniform(-1, 1)) * count
        pieces += [piece for piece in spoken if piece.kind != "tool"]
        pieces += _as_arguments([piece for piece in spoken if piece.kind == "tool"], argument)
    return tuple(sorted(pieces, key=lambda piece: piece.at_s)), allowed < wanted


def _as_arguments(pieces: list[Piece], argument: str) -> list[Piece]:
    """Words of a tool call as JSON text that is complete with the last piece."""
    if not pieces:
        return pieces
    first = replace(pieces[0], text=f'{{{json.dumps(argument)}:"{pieces[0].text}')
    pieces = [first, *pieces[1:]]
    return [*pieces[:-1], replace(pieces[-1], text=f'{pieces[-1].text}"}}')]
