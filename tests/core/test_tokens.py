"""Tokens are counted without a network, and an estimate says so."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from promptlint_core import tokens
from promptlint_core.errors import PromptlintError


@pytest.mark.parametrize(
    ("model", "encoding", "exact"),
    [
        ("gpt-4o", "o200k_base", True),
        ("gpt-5.4-mini", "o200k_base", True),
        ("openai/gpt-4.1", "o200k_base", True),
        ("gpt-4-0613", "cl100k_base", True),
        ("gpt-oss-120b", "o200k_harmony", True),
        ("ft:gpt-4o:acme", "o200k_base", True),
        ("gpt-6.1-sol", "o200k_base", False),
        ("claude-sonnet-4-6", "o200k_base", False),
        (None, "o200k_base", False),
    ],
)
def test_encoding_of_a_model(model: str | None, encoding: str, exact: bool) -> None:
    assert (encoding, exact) == (tokens.encoding_for(model).name, tokens.encoding_for(model).exact)


def test_counts_need_no_network_and_no_earlier_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import socket\n"
        "def refuse(*args, **kwargs): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "from promptlint_core import tokens\n"
        "print(tokens.count('Hello world'), tokens.count('Hello world', 'cl100k_base'))\n"
    )
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["2", "2"]
    assert {path.name for path in (tmp_path / "promptlint" / "vocabularies").iterdir()} == {
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "fb374d419588a4632f3f557e76b4b70aebbca790",
    }


def test_a_vocabulary_that_cannot_be_had_is_a_clear_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

    with pytest.raises(PromptlintError, match="TIKTOKEN_CACHE_DIR"):
        tokens.encode("text", "p50k_base")


def test_text_that_looks_like_a_special_token_is_text() -> None:
    assert tokens.count("<|endoftext|>") > 1


def test_text_that_is_no_valid_unicode_is_counted() -> None:
    assert tokens.count("\ud800") >= 1


@pytest.mark.parametrize(("text", "answer"), [("word " * 40, True), ("word " * 20, False), ("", False), ("x", False)])
def test_at_least(text: str, answer: bool) -> None:
    assert answer is tokens.at_least(text, 32)
