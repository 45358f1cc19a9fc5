"""The predictor: which model stands for a request, what it gives back, what stays unknown, and that memory is bounded."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest
from factories import pieces, request, response, usage

from promptlint_core.exchange import Piece, PieceKind, Request, Response, WireMarker
from promptlint_core.prompt import Part
from promptlint_proxy.predict import Prediction, Predictor, PredictorSettings
from promptlint_proxy.predict.calibration import Calibration
from promptlint_proxy.predict.choice import cache_kind
from promptlint_proxy.predict.hosted import StepModel
from promptlint_proxy.predict.render import IMAGE_TOKENS, PieceEncoder
from promptlint_proxy.predict.replayed_answers import Answered, ReplayedAnswers

RULES = "Rule: name the shelf and the depot in every answer. " * 400
ANSWER = "It is on its way. "

KINDS = {
    ("openai", "gpt-5.4"): "openai-intervals",
    ("openai", "gpt-5.6-terra"): "openai-breakpoints",
    ("azure", "gpt-4o"): "openai-intervals",
    ("anthropic", "claude-sonnet-4-6"): "anthropic",
    ("bedrock", "eu.anthropic.claude-opus-4-7-v1:0"): "bedrock-claude",
    ("bedrock", "amazon.nova-pro-v1:0"): "bedrock-nova",
    ("gemini", "gemini-2.5-flash"): "gemini",
    ("deepseek", "deepseek-flash"): "deepseek",
    ("mistral", "mistral-large-latest"): "mistral",
    ("openrouter", "anthropic/claude-sonnet-4-6"): "anthropic",
    ("openrouter", "openai/gpt-5.4"): "openai-intervals",
    ("openrouter", "openai/gpt-oss-120b"): "vllm",
    ("unknown", "meta-llama/Llama-3.1-8B"): "vllm",
    ("vllm", "Qwen/Qwen3-8B"): "vllm",
    ("sglang", "Qwen/Qwen3-8B"): "sglang",
    ("llamacpp", "any"): "llamacpp",
    ("ollama", "llama3.1"): "llamacpp",
    ("tgi", "any"): "vllm",
}


@pytest.mark.parametrize(("asked", "expected"), KINDS.items(), ids=str)
def test_the_model_follows_provider_and_model(asked: tuple[str, str], expected: str) -> None:
    provider, model = asked

    assert expected == cache_kind(request(provider=provider, model=model), PredictorSettings())


def test_the_engine_of_the_settings_wins() -> None:
    assert cache_kind(request(provider="unknown"), PredictorSettings(engine="sglang")) == "sglang"


def turn(provider: str, model: str, *turns: str, **fields: Any) -> Request:
    return request(RULES, turns or ("Where is it?",), provider=provider, model=model, **fields)


def second(
    provider: str, model: str, settings: PredictorSettings | None = None, *, output: int | None = 6, **fields: Any
) -> tuple[Prediction, Prediction]:
    """First turn, answered; second turn that replays the answer."""
    predictor = Predictor(settings)
    first = turn(provider, model, **fields)
    before = predictor.predict(first, 0.0)
    predictor.answered(first, response(usage=usage(None, None, output)), 1.0)
    later = turn(provider, model, "Where is it?", ANSWER, "And the other one?", **fields)
    return before, predictor.predict(later, 10.0)


def test_vllm_reads_whole_blocks_of_prompt_and_answer() -> None:
    before, after = second("vllm", "gpt-4o", output=7)
    tokens = before.prompt_tokens
    assert tokens is not None
    assert (before.hit_tokens, before.block_size, len(before.block_hashes)) == (0, 16, tokens // 16)
    assert after.hit_tokens == (tokens + 7 - 1) // 16 * 16
    assert after.block_hashes[: tokens // 16] == before.block_hashes
    assert before.tokens_source == "tiktoken o200k_base (exact for text)"


def test_an_answer_of_another_length_was_not_replayed() -> None:
    before, after = second("vllm", "gpt-4o", output=500)
    assert before.prompt_tokens is not None
    assert after.hit_tokens == before.prompt_tokens // 16 * 16


REPLAYED = {
    "the answer that was seen": (response(content_chars=len(ANSWER), content_tail=ANSWER), True),
    "another answer of the same length": (response(content_chars=len(ANSWER), content_tail="x" * len(ANSWER)), False),
    "an answer of another length": (response(content_chars=400, content_tail=None), False),
    "reasoning that was not sent back": (response(content_chars=len(ANSWER), reasoning=True), False),
}


@pytest.mark.parametrize(("answer", "expected"), REPLAYED.values(), ids=REPLAYED.keys())
def test_generated_tokens_are_read_when_their_text_comes_back(answer: Response, expected: bool) -> None:
    predictor = Predictor(PredictorSettings(engine="sglang"))
    first = turn("sglang", "m")
    later = turn("sglang", "m", "Where is it?", ANSWER, "And the other one?")
    before = predictor.predict(first, 0.0)
    predictor.answered(first, replace(answer, usage=usage(None, None, 500)), 1.0)
    found = predictor.predict(later, 10.0)
    assert before.prompt_tokens is not None
    assert found.hit_tokens is not None

    assert (found.hit_tokens > before.prompt_tokens + 3) == expected


RESPONSES_RUNS = {
    "reasoning and text": ((PieceKind.REASONING, "Which depot? "), (PieceKind.TEXT, ANSWER)),
    "text alone": ((PieceKind.TEXT, ANSWER),),
    "two texts": ((PieceKind.TEXT, ANSWER), (PieceKind.TEXT, "Both of them. ")),
}


@pytest.mark.parametrize("parts", RESPONSES_RUNS.values(), ids=RESPONSES_RUNS.keys())
def test_items_of_one_answer_that_responses_sends_apart_are_one_answer(
    parts: tuple[tuple[PieceKind, str], ...],
) -> None:
    predictor = Predictor(PredictorSettings(engine="sglang"))
    first = turn("sglang", "m", api="responses")
    sent = [
        Piece(f"input[{2 + at}]", text, kind, Part.MESSAGES, 2 + at, "assistant")
        for at, (kind, text) in enumerate(parts)
    ]
    question = Piece("input[9]", "And the other one?", PieceKind.TEXT, Part.MESSAGES, 9, "user")
    later = replace(first, pieces=(*first.pieces, *sent, question))
    chars, tail = sum(len(text) for _, text in parts), "".join(t for k, t in parts if k is PieceKind.TEXT)
    predictor.predict(first, 0.0)
    answer = response(content_chars=chars, content_tail=tail, reasoning=parts[0][0] is PieceKind.REASONING)
    predictor.answered(first, replace(answer, usage=usage(None, None, 8)), 1.0)
    prompt_tokens = len(predictor.render(first).ids)

    assert predictor.predict(later, 10.0).hit_tokens == prompt_tokens + 8 - 1


def test_replayed_answers_are_bounded_in_number_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptlint_proxy.predict.replayed_answers._MOST_ANSWERS", 5)
    monkeypatch.setattr("promptlint_proxy.predict.replayed_answers._MOST_TOKENS", 150)
    answers = ReplayedAnswers(16)
    for number in range(50):
        prompt = array("I", [number] * 40)
        answers.add(Answered(number, "m", prompt, 1, 100, 5, reasoned=False), (number // 2, number // 2))

    assert (len(answers), answers.kept_tokens) == (3, 120)


def test_sglang_reads_any_token() -> None:
    before, after = second("sglang", "gpt-4o", output=None)

    assert after.hit_tokens == before.prompt_tokens


def test_llamacpp_reads_prompt_and_answer_of_its_slot() -> None:
    before, after = second("llamacpp", "gpt-4o", output=6)
    assert before.prompt_tokens is not None
    assert after.hit_tokens == before.prompt_tokens + 5


def test_openai_reads_in_steps_of_128() -> None:
    before, after = second("openai", "gpt-5.4")
    assert before.prompt_tokens is not None
    assert after.hit_tokens == (before.prompt_tokens - 3) // 64 * 64 // 128 * 128
    assert before.written_tokens is None


def test_anthropic_reads_and_writes_at_markers() -> None:
    marker = WireMarker("messages[0]", 1, 300)
    before, after = second("anthropic", "claude-sonnet-4-6", markers=(marker,))

    assert before.written_tokens == after.hit_tokens
    assert after.written_tokens == 0


def test_gpt_5_6_writes_at_the_last_message() -> None:
    before, after = second("openai", "gpt-5.6-terra")

    assert before.written_tokens == before.prompt_tokens
    assert after.hit_tokens is not None
    assert before.prompt_tokens is not None
    assert 0 < after.hit_tokens <= before.prompt_tokens


UNKNOWN = {
    "part of the prompt is on the server": {"hidden_prefix": True},
    "embeddings have no prompt cache": {"api": "embeddings"},
    "nothing can be read": {"pieces": ()},
}


@pytest.mark.parametrize("fields", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown_is_none_and_never_0(fields: dict[str, Any]) -> None:
    found = Predictor().predict(request(**fields), 0.0)

    assert (found.prompt_tokens, found.hit_tokens, found.written_tokens, found.block_hashes) == (None, None, None, ())
    assert found.reason


FAILED = {"status 529": Response(529, "overloaded_error"), "cut": Response(200, "cut")}


@pytest.mark.parametrize("answer", FAILED.values(), ids=FAILED.keys())
def test_a_failed_request_leaves_nothing_at_a_host(answer: Response) -> None:
    predictor = Predictor()
    first, again = turn("openai", "gpt-5.4"), turn("openai", "gpt-5.4")
    predictor.predict(first, 0.0)
    predictor.answered(first, answer, 1.0)

    assert predictor.predict(again, 5.0).hit_tokens == 0


def test_two_first_requests_at_once_both_miss() -> None:
    predictor = Predictor()
    asked = [turn("openai", "gpt-5.4") for _ in range(3)]
    predictor.predict(asked[0], 0.0)
    predictor.answered(asked[0], response(), 2.0)  # the answer begins at 2 s

    assert predictor.predict(asked[1], 1.0).hit_tokens == 0
    assert predictor.predict(asked[2], 3.0).hit_tokens


SEPARATE = {
    "salt": {"salt": "a"},
    "model": {"model": "Qwen3-8B"},
    "template settings": {"parameters": (("chat_template_kwargs", '{"enable_thinking":false}'),)},
}


@pytest.mark.parametrize("fields", SEPARATE.values(), ids=SEPARATE.keys())
def test_what_separates_caches_separates_predictions(fields: dict[str, Any]) -> None:
    predictor = Predictor()
    first = turn("vllm", "Llama-3.1-8B")
    predictor.predict(first, 0.0)
    predictor.answered(first, response(), 1.0)

    assert predictor.predict(replace(turn("vllm", "Llama-3.1-8B"), **fields), 2.0).hit_tokens == 0
    assert predictor.predict(turn("vllm", "Llama-3.1-8B"), 3.0).hit_tokens


def test_a_small_pool_forgets_the_tail_first() -> None:
    predictor = Predictor(PredictorSettings(capacity_tokens=6000))
    shoes, coats = turn("vllm", "m"), request("Coats. " * 1200, provider="vllm", model="m")
    for index, asked in enumerate((shoes, coats)):
        predictor.predict(asked, float(index))
        predictor.answered(asked, response(), index + 0.5)
    again = turn("vllm", "m")

    assert 1500 < (predictor.predict(again, 5.0).hit_tokens or 0) < 3500


def test_reported_usage_calibrates_counts_of_models_without_a_tokenizer() -> None:
    predictor = Predictor()
    first, later = turn("anthropic", "claude-opus-4-8"), turn("anthropic", "claude-opus-4-8")
    estimate = predictor.predict(first, 0.0).prompt_tokens
    assert estimate is not None
    predictor.answered(first, response(usage=usage(round(estimate * 1.1), 0)), 1.0)

    assert predictor.predict(later, 2.0).prompt_tokens == pytest.approx(estimate * 1.1, abs=2)


def test_an_implausibly_short_report_calibrates_nothing() -> None:
    calibration = Calibration()
    calibration.learn(request(model="m"), 1000, 12, exact=False, head=1)
    calibration.learn(request(model="m"), 20, 60, exact=False, head=1)

    assert calibration.scale(request(model="m"), exact=False) == 1.0
    assert calibration.unseen_tokens(request(model="m"), 1) == 0


UNSEEN = {
    # (provider, model, fields): what is read of a prompt of 4,816 tokens that is reported with 16,000 more
    ("openai", "gpt-5.4", ""): (4816 + 16_000) // 128 * 128,
    ("vllm", "Llama-3.1-8B", ""): (4815 // 16 * 16 + 16_000) // 16 * 16,
    ("sglang", "Qwen3-8B", ""): 4815 + 16_000,
    ("anthropic", "claude-sonnet-4-6", "marked"): None,
}


@pytest.mark.parametrize(("asked", "expected"), UNSEEN.items(), ids=str)
def test_tokens_that_the_wire_does_not_show_are_read_with_the_head(
    asked: tuple[str, str, str], expected: int | None
) -> None:
    provider, model, marked = asked
    markers = (WireMarker("messages[0]", 1, 300),) if marked else ()
    predictor = Predictor()
    first, again = (turn(provider, model, markers=markers) for _ in range(2))
    other = replace(request("Coats only. " * 2000, provider=provider, model=model), markers=markers)
    before = predictor.predict(first, 0.0)
    assert before.prompt_tokens is not None
    reported = before.prompt_tokens + 16_000
    predictor.answered(first, response(usage=usage(reported)), 1.0)
    found = predictor.predict(again, 10.0)

    assert found.prompt_tokens == reported
    assert found.hit_tokens == (expected if expected is not None else (before.written_tokens or 0) + 16_000)
    assert (predictor.predict(other, 20.0).hit_tokens or 0) < 16  # a role at most


def test_the_size_of_an_image_is_not_taken_for_hidden_text() -> None:
    image = replace(pieces()[-1], kind=PieceKind.IMAGE, text="https://example.org/a.png")
    asked = request(pieces=(*pieces(), image))
    calibration = Calibration()
    calibration.learn(asked, 300, 3000, exact=True, head=1)

    assert calibration.unseen_tokens(asked, 1) == 0


def test_equal_keys_make_equal_hashes_and_others_do_not() -> None:
    def hashes(key: bytes) -> tuple[int, ...]:
        return Predictor(PredictorSettings(hash_key=key)).predict(turn("vllm", "m"), 0.0).block_hashes

    assert hashes(b"one") == hashes(b"one")
    assert not set(hashes(b"one")) & set(hashes(b"two"))


def test_images_count_alike_and_differ_by_content() -> None:
    image = replace(pieces()[-1], kind=PieceKind.IMAGE, text="https://example.org/a.png")
    one = request(pieces=(*pieces(), image))
    other = request(pieces=(*pieces(), replace(image, text="https://example.org/b.png")))
    predictor = Predictor()
    plain = predictor.render(request(pieces=pieces()))

    assert len(predictor.render(one).ids) == len(plain.ids) + IMAGE_TOKENS
    assert predictor.render(one).ids != predictor.render(other).ids


def test_pieces_share_out_the_whole_prompt() -> None:
    rendered = Predictor().render(turn("openai", "gpt-4o", "a", "b", "c"))

    assert sum(rendered.piece_tokens) == len(rendered.ids)


def test_encoded_pieces_are_bounded() -> None:
    encoder = PieceEncoder(lambda text: [ord(character) for character in text], most_bytes=10_000)
    for index in range(200):
        encoder.encode(f"piece {index}")

    assert encoder.kept_bytes <= 10_000
    assert 1 < len(encoder) < 40
    assert list(encoder.encode("piece 1")) == [ord(character) for character in "piece 1"]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
def test_answered_prompts_of_an_engine_are_bounded_by_their_tokens(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("promptlint_proxy.predict.replayed_answers._MOST_TOKENS", 500)
    predictor = Predictor(PredictorSettings(engine=engine))
    for index in range(30):
        asked = request(f"Answer in the words of guide {index}. " * 5, (f"question {index}",), provider=engine)
        predictor.predict(asked, float(index))
        predictor.answered(asked, response(usage=usage(output=7)), index + 0.1)
    answers = [model._answers for model in predictor._models.values() if hasattr(model, "_answers")]

    assert [1, 2] == [len(answers), min(2, len(answers[0]))]
    assert answers[0].kept_tokens <= 500
    assert answers[0].kept_tokens == sum(
        len(known.prompt) for tails in answers[0]._by_hash.values() for known in tails.values()
    )


@pytest.mark.parametrize("provider", ["vllm", "sglang", "llamacpp", "openai", "anthropic", "deepseek", "mistral"])
def test_the_caches_of_many_models_share_one_bound(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptlint_proxy.predict._MOST_BYTES", 60_000)
    predictor = Predictor()
    for index in range(60):
        asked = request(
            f"Guide {index}. {RULES[:4000]}", (f"question {index}",), provider=provider, model=f"model-{index}"
        )
        predictor.predict(asked, float(index))
        predictor.answered(asked, response(usage=usage(output=7)), index + 0.1)
    others = list(predictor._models)[:-1]

    assert predictor._models
    assert set(predictor._models) == set(predictor._bytes_of)
    assert sum(predictor._bytes_of[key] for key in others) <= 60_000
    assert predictor.kept_bytes == sum(predictor._bytes_of.values())


def test_pending_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptlint_proxy.predict._MOST_PENDING", 5)
    predictor = Predictor()
    for index in range(50):
        predictor.predict(request(turns=(f"question {index}",), provider="vllm", model="m"), float(index))

    assert len(predictor._pending) == 5


def test_mistral_needs_a_key() -> None:
    _, without = second("mistral", "mistral-large")
    _, with_key = second("mistral", "mistral-large", routing_key="desk")

    assert without.hit_tokens == 0
    assert "prompt_cache_key" in without.reason
    assert with_key.hit_tokens
    assert with_key.hit_tokens % 64 == 0


def test_step_models_say_what_is_missing() -> None:
    assert isinstance(StepModel(lambda _asked: None), StepModel)
    _, old = second("openai", "gpt-4-0613")

    assert (old.hit_tokens, old.reason) == (0, "this model caches nothing")
