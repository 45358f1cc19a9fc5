"""One question about KV memory, its numbers, and how they are told."""

from __future__ import annotations

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import geometry_of
from promptlint_report.capacity.answer import answer
from promptlint_report.capacity.as_json import answer_document, answers_document
from promptlint_report.capacity.as_text import answer_text, size
from promptlint_report.capacity.question import Question

LLAMA = geometry_of("Llama-3.1-8B")
ON_H100 = Question(LLAMA, tokens=8192, gpu="H100", prompt_tokens=6000, output_tokens=500, shared_prefix_tokens=4000)


def test_the_json_keeps_its_contract() -> None:
    document = answer_document(answer(Question(geometry_of("7B"), tokens=4096, batch=8)))

    assert {
        "version": 1,
        "model": "7B",
        "kv_bytes": 16 << 30,
        "kv_bytes_per_token": 524_288,
        "state_bytes": 0,
        "weights_bytes": 14_000_000_000,
        "capacity": None,
    }.items() <= document.items()


def test_the_capacity_is_that_of_the_gpu() -> None:
    document = answer_document(answer(ON_H100))
    capacity = document["capacity"]

    assert isinstance(capacity, dict)
    assert capacity["blocks"] * 16 == capacity["tokens"]
    assert capacity["max_concurrency"] == pytest.approx(capacity["tokens"] / 8192, abs=0.001)
    assert capacity["kv_pool_bytes"] // (131_072 * 16) == capacity["blocks"]
    assert capacity["requests"]["with_sharing"] > capacity["requests"]["without_sharing"]


def test_bytes_are_rounded_to_blocks_only_when_a_block_size_is_given() -> None:
    plain, paged = answer(Question(LLAMA, tokens=1000)), answer(Question(LLAMA, tokens=1000, block_size=16))

    assert plain.kv_bytes == 1000 * 131_072
    assert paged.kv_bytes == 1008 * 131_072
    assert plain.last_block == paged.last_block
    assert (plain.last_block.unused_slots, plain.last_block.unused_bytes) == (8, 8 * 131_072)


def test_what_ifs_move_the_way_they_should() -> None:
    found = {what_if.name: what_if for what_if in answer(ON_H100).what_ifs}
    asked = found["as asked"]

    assert found["prompt twice as long"].requests < asked.requests
    assert found["shared prefix lost"].requests < asked.requests
    assert found["cache in fp8"].tokens == 2 * asked.tokens
    assert found["cache in nvfp4"].tokens > 3 * asked.tokens


def test_the_curve_warns_at_both_ends_and_only_there() -> None:
    curve = answer(ON_H100).curve
    warned = [step.utilization for step in curve if step.warning]

    assert warned == [0.50, 0.60, 0.70, 0.97, 0.98]
    assert [step.kv_pool_bytes for step in curve] == sorted(step.kv_pool_bytes for step in curve)


def test_a_hybrid_tells_both_meanings_of_the_cache_size() -> None:
    text = answer_text(answer(Question(geometry_of("Qwen3.5-27B"), tokens=32_768, gpu="H100", weights_bytes=27 << 30)))

    assert "GPU KV cache size since vLLM 0.21" in text
    assert "as printed before" in text


def test_unknown_weights_leave_the_sizes_and_say_so() -> None:
    found = answer(Question(geometry_of("Command-R+"), gpu="H100"))

    assert found.pool is None
    assert answer_document(found)["weights_bytes"] is None
    assert any("--weights" in note for note in found.notes)
    assert "not known" in answer_text(found)


def test_several_models_are_a_list() -> None:
    answers = [answer(Question(LLAMA)), answer(Question(geometry_of("7B")))]

    assert [model["model"] for model in answers_document(answers)["models"]] == ["Llama-3.1-8B", "7B"]  # type: ignore[index,union-attr]


@pytest.mark.parametrize(
    "question",
    [
        Question(LLAMA, kv_dtype="fp7"),
        Question(LLAMA, gpu="H1000"),
        Question(LLAMA, gpu="H100", utilization=1.5),
        Question(LLAMA, gpu="H100", prompt_tokens=100, shared_prefix_tokens=200),
        Question(LLAMA, gpu="H100", shared_prefix_tokens=200),
        Question(LLAMA, tp=3),
    ],
)
def test_what_no_engine_could_do_gives_a_sentence(question: Question) -> None:
    with pytest.raises(PromptlintError):
        answer(question)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
@pytest.mark.parametrize(
    "model", ["Llama-3.1-8B", "Gemma-3-4b-it", "Qwen3-Next-80B-A3B", "DeepSeek-V2-Lite", "Whisper-tiny"]
)
def test_every_kind_of_model_is_told_for_every_engine(engine: str, model: str) -> None:
    text = answer_text(answer(Question(geometry_of(model), gpu="H200", engine=engine, weights_bytes=10 << 30)))

    assert "KV pool" in text
    assert "nan" not in text.lower()


@pytest.mark.parametrize(
    ("number_bytes", "expected"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (70_272, "68.6 KiB"),
        (2 << 30, "2.00 GiB"),
        (512 << 30, "512.0 GiB"),
        (5 << 40, "5.00 TiB"),
    ],
)
def test_sizes_for_people(number_bytes: int, expected: str) -> None:
    assert expected == size(number_bytes)
