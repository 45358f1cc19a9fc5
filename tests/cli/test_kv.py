"""`promptlint kv` as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def document(ran: Any) -> dict[str, Any]:
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


def test_seven_billion_parameters_over_a_long_context(run: Run) -> None:
    found = document(run("kv", "7B", "--tokens", "131072", "--batch", "8", "--output-format", "json"))

    assert (found["kv_bytes"], found["weights_bytes"]) == (512 << 30, 14_000_000_000)


def test_a_config_file_and_its_folder_say_the_same(run: Run, folder: Path) -> None:
    config = {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32}
    (folder / "config.json").write_text(json.dumps(config))
    by_file = document(run("kv", "config.json", "--tokens", "4096", "--output-format", "json"))
    by_folder = document(run("kv", ".", "--tokens", "4096", "--output-format", "json"))

    assert by_file["kv_bytes"] == by_folder["kv_bytes"] == 2 << 30
    assert by_file["weights_bytes"] is None


def test_what_fits_is_told_with_the_gpu(run: Run) -> None:
    ran = run("kv", "Llama-3.1-8B", "--gpu", "A100-40GB", "--gpu-memory-utilization", "0.9", "--prompt", "2000",
              "--output", "200", "--shared-prefix", "1500")  # fmt: skip

    assert ran.status == 0
    for word in ("per token", "128.0 KiB", "KV pool", "max concurrency", "stored once", "prompt twice as long", "0.97"):
        assert word in ran.out


def test_an_extreme_share_is_warned_of(run: Run) -> None:
    high = run("kv", "Llama-3.1-8B", "--gpu", "H100", "--gpu-memory-utilization", "0.98").out
    low = run("kv", "Llama-3.1-8B", "--gpu", "H100", "--gpu-memory-utilization", "0.6").out

    assert "warning: 0.98 leaves no room" in high
    assert "warning: 0.6 leaves 40%" in low


def test_without_a_length_a_request_is_prompt_and_output(run: Run) -> None:
    found = document(run("kv", "Llama-3.1-8B", "--prompt", "3000", "--output", "96", "--output-format", "json"))

    assert found["kv_bytes"] == 3096 * 131_072


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("Lama-3.1-8",), "Llama-3.1-8B"),
        (("nowhere/config.json",), "no such file"),
        (("Llama-3.1-8B", "--kv-dtype", "fp7"), "did you mean fp8"),
        (("Llama-3.1-8B", "--gpu", "H10"), "H100"),
        (("Llama-3.1-8B", "--gpu", "H100", "--gpu-memory-utilization", "92"), "between 0 and 1"),
        (("Llama-3.1-8B", "--tp", "3"), "tensor parallel 3"),
        (("Llama-3.1-8B", "--tokens", "0"), "--tokens"),
        (("Llama-3.1-8B", "--chart", "chart.gif"), ".png or .svg"),
        (("Llama-3.1-8B", "--gpu", "H100", "--weights", "nan"), "'nan' is not a finite number"),
        (("Llama-3.1-8B", "--gpu", "H100", "--gpu-memory-utilization", "inf"), "'inf' is not a finite number"),
        (("Llama-3.1-8B", "--weights", "1e300"), "--weights"),
        ((), "Missing argument"),
    ],
)
def test_a_mistake_gives_a_sentence_and_status_2(run: Run, args: tuple[str, ...], said: str) -> None:
    ran = run("kv", *args)

    assert (ran.status, "Traceback" in ran.err) == (2, False)
    assert said in ran.err


def test_several_models_in_one_chart_in_the_terminal(run: Run) -> None:
    ran = run("kv", "Llama-3.1-8B", "DeepSeek-V3", "--chart", "-")

    assert ran.status == 0
    assert ran.out.count("128.0 KiB") == 1
    assert "131,072 tokens" in ran.out


def test_json_stays_clean_beside_a_chart(run: Run) -> None:
    ran = run("kv", "Llama-3.1-8B", "DeepSeek-V3", "--chart", "-", "--output-format", "json")

    assert [model["model"] for model in document(ran)["models"]] == ["Llama-3.1-8B", "DeepSeek-V3"]
    assert "█" in ran.err
