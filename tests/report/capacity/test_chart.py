"""Memory over context, in the terminal and as a picture."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import geometry_of, kv_bytes, state_bytes
from promptlint_report.capacity.chart import curves, terminal_chart, write_chart
from promptlint_report.capacity.question import Question

MODELS = ("Llama-3.1-8B", "Gemma-3-27b-it", "Qwen3.5-27B")
QUESTIONS = [Question(geometry_of(model)) for model in MODELS]


def test_a_curve_is_what_the_formula_says() -> None:
    found = curves(QUESTIONS)

    assert [curve.name for curve in found] == list(MODELS)
    for curve in found:
        geometry = geometry_of(curve.name)
        expected = [kv_bytes(geometry, tokens) + state_bytes(geometry) for tokens in curve.tokens]
        assert expected == list(curve.sizes_bytes)


def test_the_terminal_chart_has_a_bar_for_every_model_at_every_length() -> None:
    found = curves(QUESTIONS)
    lines = terminal_chart(found).splitlines()

    assert len(lines) == 1 + len(found[0].tokens) * (1 + len(MODELS))
    assert "64.0 GiB" not in lines[-1]
    assert all("█" in line for line in lines if line.startswith("  "))


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="charts in files need matplotlib")
@pytest.mark.parametrize("name", ["chart.png", "chart.svg"])
def test_a_picture_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_chart(curves(QUESTIONS), path, gpu_pool_bytes=40 << 30)

    if name.endswith(".svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    else:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_another_suffix_gives_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match=r"\.png or \.svg"):
        write_chart(curves(QUESTIONS), tmp_path / "chart.pdf")


def test_a_place_that_cannot_be_written_gives_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match=r"cannot be written|matplotlib"):
        write_chart(curves(QUESTIONS), tmp_path / "nowhere" / "chart.png")


def test_without_matplotlib_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(PromptlintError, match=r"promptlint-prefix\[report\]"):
        write_chart(curves(QUESTIONS), tmp_path / "chart.png")
