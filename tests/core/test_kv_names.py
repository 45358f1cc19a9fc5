"""Names of models and GPUs as people and traffic write them, and the tables they are looked up in."""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import find_geometry, find_gpu, geometry_of, gpu_of

NAMES = {
    "meta-llama/Llama-3.1-8B-Instruct": "Llama-3.1-8B",
    "Meta-Llama-3-8B": "Llama-3-8B",
    "llama3.1-8b": "Llama-3.1-8B",
    "Llama-2-7b-chat-hf": "Llama-2-7b",
    "deepseek-ai/DeepSeek-V3-0324": "DeepSeek-V3",
    "mistralai/Mistral-7B-Instruct-v0.3": "Mistral-7B-v0.3",
    "google/gemma-3-27b-it": "Gemma-3-27b-it",
    "Qwen/Qwen3-235B-A22B-FP8": "Qwen3-235B-A22B",
    "Qwen2.5-7B-Instruct-AWQ": "Qwen2.5-7B",
    "Mistral-Small-24B": "Mistral-Small-24B (3.x)",
    "gpt-4o": None,
    "claude-sonnet-4-5": None,
    "": None,
}


@pytest.mark.parametrize(("written", "expected"), NAMES.items())
def test_a_model_is_found_however_it_is_written(written: str, expected: str | None) -> None:
    found = find_geometry(written)

    assert expected == (found.name if found else None)


def test_a_quantisation_in_the_name_shrinks_the_weights_not_the_cache() -> None:
    plain, awq = geometry_of("Qwen2.5-7B"), geometry_of("Qwen2.5-7B-Instruct-AWQ")

    assert awq.layers == plain.layers
    assert awq.weights_bytes == pytest.approx(5.57e9, rel=0.01)  # the published files: 5.58 GB
    assert plain.weights_bytes == pytest.approx(15.23e9, rel=0.01)


def test_an_unknown_model_is_told_with_the_nearest() -> None:
    with pytest.raises(PromptlintError, match=r"unknown model 'Lama-3\.1-8'; the nearest known: Llama-3\.1-8B"):
        geometry_of("Lama-3.1-8")


def test_a_missing_file_is_told_as_one() -> None:
    with pytest.raises(PromptlintError, match="no such file"):
        geometry_of("./nowhere/config.json")


def rows() -> list[dict[str, str]]:
    text = resources.files("promptlint_core.kv").joinpath("models.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


COMPLETE = [row for row in rows() if row["layers"] and row["kv_layers"]]


@pytest.mark.parametrize("row", COMPLETE, ids=lambda row: row["model"])
def test_a_row_agrees_with_what_its_source_counted(row: dict[str, str]) -> None:
    geometry = geometry_of(row["model"])
    shares_cross = "encoder-decoder" in row["attention"]

    assert int(row["kv_layers"]) == sum(len(layer.attention) for layer in geometry.layers if shares_cross) or (
        int(row["kv_layers"]) == geometry.kv_layers
    )
    if row["params_total_B"] and "params computed from the shape" in row["notes"]:
        assert geometry.parameters is not None
        assert geometry.parameters.total / 1e9 == pytest.approx(float(row["params_total_B"]), abs=0.001)


@pytest.mark.parametrize(
    ("model", "total_b", "active_b"),
    [
        ("Mixtral-8x7B-v0.1", 46.7, 12.9),
        ("DeepSeek-V3", 671, 37.5),
        ("Qwen3-30B-A3B", 30.5, 3.35),
        ("gpt-oss-120b", 117, 5.1),
        ("Llama-4-Maverick-17B-128E", 400, 17.2),
        ("Nemotron-3-Nano-30B-A3B", 31.6, 3.6),
        ("Nemotron-3-Super-120B-A12B", 120.6, 12.7),
        ("Qwen3.5-397B-A17B", 396, 17.3),
    ],
)
def test_experts_are_counted_whole_and_as_one_token_uses_them(model: str, total_b: float, active_b: float) -> None:
    parameters = geometry_of(model).parameters

    assert parameters is not None
    assert parameters.total / 1e9 == pytest.approx(total_b, rel=0.01)
    assert parameters.active / 1e9 == pytest.approx(active_b, rel=0.13)  # makers differ on embeddings


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["model"])
def test_a_row_names_its_source(row: dict[str, str]) -> None:
    assert row["source"].strip()


GPUS = {
    "H100": "H100",
    "h100-sxm": "H100",
    "NVIDIA H100 80GB HBM3": "H100",
    "A100": "A100-80GB",
    "a100-40": "A100-40GB",
    "NVIDIA-L4": "L4",
    "GeForce RTX 4090": "RTX-4090",
    "rtx4090": "RTX-4090",
    "H1000": None,
}


@pytest.mark.parametrize(("written", "expected"), GPUS.items())
def test_a_gpu_is_found_however_it_is_written(written: str, expected: str | None) -> None:
    found = find_gpu(written)

    assert expected == (found.name if found else None)


def test_an_unknown_gpu_is_told_with_the_nearest() -> None:
    with pytest.raises(PromptlintError, match="unknown GPU 'H10'; the nearest known: H100"):
        gpu_of("H10")
