"""Predicted against reported hits on llama.cpp's own server: chat, responses, messages, completions; exact to the token."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from promptlint_core.exchange import Response
from promptlint_proxy.predict import Prediction, Predictor, PredictorSettings
from promptlint_proxy.protocols.anthropic_messages import AnthropicMessages
from promptlint_proxy.protocols.base import Protocol, RequestHead, ResponseHead
from promptlint_proxy.protocols.openai_chat import OpenAIChat
from promptlint_proxy.protocols.openai_completions import OpenAICompletions
from promptlint_proxy.protocols.openai_responses import OpenAIResponses

pytestmark = pytest.mark.engine
pytest.importorskip("xllamacpp", exc_type=ImportError)
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

from engines.llama_cpp_process import llama_cpp_server  # noqa: E402
from engines.tiny_gguf import TinyModel, write_tiny_gguf  # noqa: E402

CHATML = (
    "<s>{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{{ '<|im_start|>assistant\n' }}"
)
ANSWER = "Yes,it-is."
RULES = "Name the shelf and the depot in every answer. " * 12

PROTOCOLS: dict[str, Protocol] = {
    "/v1/chat/completions": OpenAIChat("llamacpp"),
    "/v1/responses": OpenAIResponses("llamacpp"),
    "/v1/messages": AnthropicMessages("llamacpp"),
    "/v1/completions": OpenAICompletions("llamacpp"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random GGUF with a byte vocabulary, and the same vocabulary as `tokenizer.json` with the server's template."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, processors

    folder = tmp_path_factory.mktemp("tiny")
    write_tiny_gguf(folder / "tiny.gguf", TinyModel(context_tokens=16_384))
    words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], byte_fallback=True, unk_token="<unk>"))
    tokenizer.add_special_tokens([AddedToken("<s>", special=True)])
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(CHATML)
    return folder


@dataclass
class Server:
    """The server with a predictor beside it."""

    address: str
    predictor: Predictor
    at: float = 0.0

    def ask(self, path: str, **body: Any) -> tuple[Prediction, int]:
        """Predict, send, tell the predictor; returns what was predicted and the reported hit."""
        protocol = PROTOCOLS[path]
        data = json.dumps({"model": "tiny", "temperature": 0, **body}).encode()
        request = protocol.read_request(data, RequestHead("POST", "localhost", path, {}))
        self.at += 10.0
        predicted = self.predictor.predict(request, self.at)
        sent = urllib.request.Request(self.address + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(sent, timeout=120) as answer:
            reported: Response = protocol.read_response(answer.read(), ResponseHead(answer.status, {}))
        usage = reported.usage
        assert usage is not None
        assert usage.prompt_tokens == predicted.prompt_tokens
        self.predictor.answered(request, reported, self.at + 1.0)
        assert usage.hit_tokens is not None
        return predicted, usage.hit_tokens


@pytest.fixture
def server(model: Path) -> Iterator[Server]:
    with llama_cpp_server(model / "tiny.gguf", 16_384) as address:
        yield Server(address, Predictor(PredictorSettings(engine="llamacpp", tokenizer=model)))


def conversation(turns: int, system: str = RULES) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": system}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Question {turn}: where is it?"})
        messages.append({"role": "assistant", "content": ANSWER})
    return messages[:-1]


def asked(path: str, turns: int, system: str = RULES) -> dict[str, Any]:
    messages = conversation(turns, system)
    grammar = f'root ::= "{ANSWER}"'
    if path == "/v1/completions":
        return {"prompt": "".join(m["content"] for m in messages), "max_tokens": 40, "grammar": grammar}
    if path == "/v1/responses":
        items = [{"type": "message", **_as_item(message)} for message in messages[1:]]
        return {"instructions": system, "input": items, "max_output_tokens": 40, "grammar": grammar}
    if path == "/v1/messages":
        return {"system": system, "messages": messages[1:], "max_tokens": 40, "grammar": grammar}
    return {"messages": messages, "max_tokens": 40, "grammar": grammar}


def _as_item(message: dict[str, str]) -> dict[str, Any]:
    if message["role"] != "assistant":
        return dict(message)
    return {"role": "assistant", "content": [{"type": "output_text", "text": message["content"]}]}


SEQUENCES = {
    "append-only turns": [(1, RULES), (2, RULES), (3, RULES), (4, RULES)],
    "the same again": [(1, RULES), (1, RULES), (1, RULES)],
    "a clock in front": [(1, f"It is 10:0{minute}. {RULES}") for minute in range(4)],
    "another conversation in between": [(1, RULES), (2, RULES), (1, "Coats only. " * 40), (3, RULES)],
}


@pytest.mark.parametrize("path", PROTOCOLS)
@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_predicted_is_reported(server: Server, path: str, sequence: list[tuple[int, str]]) -> None:
    found = [server.ask(path, **asked(path, turns, system)) for turns, system in sequence]

    assert [predicted.hit_tokens for predicted, _ in found] == [reported for _, reported in found]
    assert any(reported for _, reported in found)
