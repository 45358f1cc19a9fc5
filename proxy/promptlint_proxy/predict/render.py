"""A request as token ids: by the model's own tokenizer and chat template where given, by tiktoken otherwise."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

from promptlint_core import tokens
from promptlint_core.exchange import Piece, PieceKind, Request
from promptlint_core.prompt import Part

MESSAGE_START, ROLE_END, MESSAGE_END = 200_264, 200_266, 200_265
"""Stand for the markup around a message; the ids that o200k_harmony's neighbours use, beyond any text token."""
IMAGE_TOKENS = 256
"""Estimate: the size of an image is not on the wire."""
RAW_APIS = ("completions", "ollama_generate", "generate", "tgi_generate")
_MOST_CACHED_BYTES = 24_000_000
_BYTES_PER_PIECE = 300
"""Key, array and table entry of a piece, beside four bytes a token."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The token ids of a prompt."""

    ids: array[int]
    piece_tokens: tuple[int, ...]
    """Tokens of each piece, its share of the message markup included; they add up to the prompt."""
    source: str
    exact: bool
    """False: the counts are an estimate that reported usage can calibrate."""


class PieceEncoder:
    """Encodes pieces one by one and remembers them: a replayed history is not encoded again. Memory is bounded."""

    def __init__(self, encode: Callable[[str], list[int]], most_bytes: int = _MOST_CACHED_BYTES) -> None:
        self._encode = encode
        self._most_bytes = most_bytes
        self._known: OrderedDict[bytes, array[int]] = OrderedDict()
        self.kept_bytes = 0

    def encode(self, text: str) -> array[int]:
        """Token ids of a text."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        ids = self._known.get(key)
        if ids is not None:
            self._known.move_to_end(key)
            return ids
        ids = array("I", self._encode(text))
        self._known[key] = ids
        self.kept_bytes += _bytes_of(ids)
        while self.kept_bytes > self._most_bytes and len(self._known) > 1:
            self.kept_bytes -= _bytes_of(self._known.popitem(last=False)[1])
        return ids

    def __len__(self) -> int:
        return len(self._known)


def _bytes_of(ids: array[int]) -> int:
    return _BYTES_PER_PIECE + len(ids) * ids.itemsize


def image_ids(text: str) -> array[int]:
    """Ids that stand for an image: equal bytes or address, equal ids."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return array("I", [int.from_bytes(digest, "little")] * IMAGE_TOKENS)


def render_pieces(request: Request, encoder: PieceEncoder, encoding: tokens.Encoding) -> Rendered:
    """Count a request as OpenAI's chat format does: start, role, separator, content, end for every message, and the
    start of the answer (source: OpenAI cookbook, exact for text messages of gpt-4o). Tools have no published format.
    """
    ids: array[int] = array("I")
    counts = [0] * len(request.pieces)
    raw = request.api in RAW_APIS
    numbered = list(enumerate(request.pieces))
    for (part, _message), group in groupby(numbered, key=lambda item: (item[1].part, item[1].message)):
        members = list(group)
        before = len(ids)
        framed = not raw and part is not Part.TOOLS
        if framed:
            ids.extend((MESSAGE_START, *encoder.encode(members[0][1].role or str(part)), ROLE_END))
        for index, piece in members:
            start = before if index == members[0][0] else len(ids)
            ids.extend(_piece_ids(piece, encoder))
            counts[index] = len(ids) - start
        if framed:
            ids.append(MESSAGE_END)
            counts[members[-1][0]] += 1
    if counts and not raw:
        ids.extend((MESSAGE_START, *encoder.encode("assistant"), ROLE_END))
        counts[-1] += 3
    quality = "exact for text" if encoding.exact else "estimate"
    return Rendered(ids, tuple(counts), f"{encoding.name} ({quality})", encoding.exact)


def _piece_ids(piece: Piece, encoder: PieceEncoder) -> array[int]:
    if piece.kind is PieceKind.ROLE:
        return array("I")  # told by the frame around the message
    return image_ids(piece.text) if piece.kind is PieceKind.IMAGE else encoder.encode(piece.text)
