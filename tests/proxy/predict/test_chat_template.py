"""Prompts by the model's own tokenizer and chat template, rendered in a sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from factories import request

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Piece, PieceKind
from promptlint_core.prompt import Part
from promptlint_proxy.predict import Predictor, PredictorSettings
from promptlint_proxy.predict.chat_template import ChatTemplate, messages_of, tools_of

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("jinja2")

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<{{ message.role }}>{{ message.content }}</end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tokenizer with one token per byte, a template and a configuration."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: index for index, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "chat_template": TEMPLATE}))
    return tmp_path


def test_the_template_renders_what_the_engine_sees(model: Path) -> None:
    rendered = ChatTemplate(model).render(request("Rules.", ("Hi", "Hello", "Where?")))

    assert rendered is not None
    expected = "<s><system>Rules.</end><user>Hi</end><assistant>Hello</end><user>Where?</end><assistant>"
    assert len(rendered.ids) == len(expected)
    assert rendered.exact
    assert sum(rendered.piece_tokens) == len(rendered.ids)


def test_the_prediction_says_what_counted(model: Path) -> None:
    found = Predictor(PredictorSettings(tokenizer=model)).predict(request(provider="vllm"), 0.0)

    assert found.tokens_source == "tokenizer.json with its chat template"


def test_a_file_of_ones_own_wins(model: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jinja"
    own.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    rendered = ChatTemplate(model / "tokenizer.json", own).render(request("ab", ("cd",)))

    assert rendered is not None
    assert len(rendered.ids) == 4


def test_without_a_template_pieces_are_counted(model: Path) -> None:
    (model / "tokenizer_config.json").unlink()
    found = Predictor(PredictorSettings(tokenizer=model)).predict(request(provider="vllm"), 0.0)

    assert found.tokens_source == "tokenizer.json without a chat template (estimate)"
    assert found.prompt_tokens


UNSAFE = (
    "{{ ''.__class__.__mro__ }}",
    "{{ messages.append(1) }}",
)


@pytest.mark.parametrize("source", UNSAFE)
def test_a_template_cannot_leave_the_sandbox(model: Path, source: str) -> None:
    (model / "chat_template.jinja").write_text(source)

    with pytest.raises(PromptlintError, match="chat template"):
        ChatTemplate(model).render(request())


BROKEN = {
    "no tokenizer": ("tokenizer.json", "{", "tokenizer"),
    "configuration": ("tokenizer_config.json", "{", "cannot be read"),
    "template": ("chat_template.jinja", "{% for", "not valid Jinja"),
}


@pytest.mark.parametrize(("name", "text", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_files_that_cannot_be_read_are_named(model: Path, name: str, text: str, sentence: str) -> None:
    (model / name).write_text(text)

    with pytest.raises(PromptlintError, match=sentence):
        ChatTemplate(model)


def test_messages_and_tools_are_put_together_from_pieces() -> None:
    asked = request(
        pieces=(
            Piece("tools[0].name", "find", PieceKind.NAME, Part.TOOLS),
            Piece("tools[0].description", "Find it.", PieceKind.DESCRIPTION, Part.TOOLS),
            Piece("tools[0].schema", '{"type":"object"}', PieceKind.SCHEMA, Part.TOOLS),
            Piece("messages[0].content", "Find it", PieceKind.TEXT, Part.MESSAGES, 0, "user"),
            Piece("messages[1].tool_calls[0].id", "c1", PieceKind.ID, Part.MESSAGES, 1, "assistant"),
            Piece("messages[1].tool_calls[0].name", "find", PieceKind.NAME, Part.MESSAGES, 1, "assistant"),
            Piece("messages[1].tool_calls[0].arguments", '{"a":1}', PieceKind.ARGUMENTS, Part.MESSAGES, 1, "assistant"),
            Piece("messages[2].tool_call_id", "c1", PieceKind.ID, Part.MESSAGES, 2, "tool"),
            Piece("messages[2].content", "found", PieceKind.TEXT, Part.MESSAGES, 2, "tool"),
        )
    )
    user, call, result = messages_of(asked, arguments_as_data=True)

    assert user == {"role": "user", "content": "Find it"}
    assert call["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": "find", "arguments": {"a": 1}},
    }
    assert (result["tool_call_id"], result["content"]) == ("c1", "found")
    assert tools_of(asked)[0]["function"]["parameters"] == {"type": "object"}
