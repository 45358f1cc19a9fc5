"""Prompt tokens and cache hits that llama.cpp's server reports, against those that are predicted from the wire alone."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

pytestmark = pytest.mark.engine
pytest.importorskip("xllamacpp", exc_type=ImportError)
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

from engines.llama_cpp_process import llama_cpp_server  # noqa: E402
from engines.tiny_gguf import BYTE_TOKENS, TinyModel, write_tiny_gguf  # noqa: E402

from promptlint_proxy.predict import Predictor, PredictorSettings  # noqa: E402
from promptlint_proxy.protocols import find  # noqa: E402
from promptlint_proxy.protocols.base import RequestHead, ResponseHead  # noqa: E402

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
# What llama.cpp renders when a model brings no template of its own, behind the token that begins every prompt.
CHATML = (
    "<s>{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}{{ '<|im_start|>assistant\\n' }}"
)
RULES = "Be brief. Name your source. Never guess. " * 4


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write_tiny_gguf(model, TinyModel())
    with llama_cpp_server(model, 4096) as address:
        yield address


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer of the tiny model: bytes, with the word separator of its kind put ahead of the text."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

    size = TinyModel().vocabulary
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(BYTE_TOKENS))]
    names += [f"t{word}" for word in range(size - len(names))]
    vocabulary = {name: index for index, name in enumerate(names)}
    made = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.ByteFallback()
    made.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in ("<s>", "</s>")])
    folder = tmp_path_factory.mktemp("tokenizer")
    made.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(CHATML)
    return folder / "tokenizer.json"


def asked(path: str, system: str, turns: list[tuple[str, str]]) -> dict[str, Any]:
    messages = [{"role": role, "content": text} for role, text in turns]
    if path == CHAT:
        return {"model": "tiny", "max_tokens": 5, "messages": [{"role": "system", "content": system}, *messages]}
    if path == MESSAGES:
        return {"model": "tiny", "max_tokens": 5, "system": system, "messages": messages}
    items = [
        {
            "type": "message",
            "role": role,
            "content": [{"type": f"{'in' if role == 'user' else 'out'}put_text", "text": text}],
        }
        for role, text in turns
    ]
    return {"model": "tiny", "max_output_tokens": 5, "instructions": system, "input": items}


def other_answer(begun: set[str]) -> str:
    """What the client sends back instead of what was generated; a model without training may begin with any letter."""
    return next(letter for letter in ascii_uppercase if letter not in begun) + "erns and hostas."


def post(address: str, path: str, body: bytes) -> bytes:
    request = urllib.request.Request(f"{address}{path}", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def test_predicted_and_reported_tokens_are_equal(server: str, tokenizer: Path) -> None:
    """Over all three APIs, which share one slot: a growing conversation, a changed head, the same prompt again."""
    predictor = Predictor(PredictorSettings(engine="llamacpp", tokenizer=tokenizer))
    told: list[tuple[str, int | None, int | None, int | None, int | None]] = []
    begun: set[str] = set()
    at = 0.0
    for path in (CHAT, MESSAGES, RESPONSES):
        history = [("user", "Which plants like shade?")]
        for system in (RULES, RULES, f"It is 10:0{len(told)}. {RULES}", RULES):
            body = json.dumps(asked(path, system, history)).encode()
            protocol = find("POST", "127.0.0.1:8080", path, {})
            assert protocol is not None
            request = protocol.read_request(body, RequestHead("POST", "127.0.0.1:8080", path, {}))
            prediction = predictor.predict(request, at)
            response = protocol.read_response(post(server, path, body), ResponseHead(200, {}))
            predictor.answered(request, response, at)
            usage = response.usage
            assert usage is not None
            told.append((path, prediction.prompt_tokens, usage.prompt_tokens, prediction.hit_tokens, usage.hit_tokens))
            begun.add((response.content_tail or "")[:1])
            history += [("assistant", other_answer(begun)), ("user", f"And what of moss, in bed {len(told)}?")]
            at += 1.0
    assert [(row[0], row[1], row[3]) for row in told] == [(row[0], row[2], row[4]) for row in told]
    assert sum(row[4] or 0 for row in told) > 1000
