"""What-ifs: each changes one thing, and its figures move the way that thing must."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import geometry_of, gpu_of
from promptlint_report.simulate.as_json import document
from promptlint_report.simulate.as_text import text
from promptlint_report.simulate.chart import terminal_chart, write_chart
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.generate import Load, generated
from promptlint_report.simulate.what_if import CHANGES, Options, Variant, compare
from promptlint_report.simulate.workload import Workload

DEPLOYMENT = Deployment(geometry_of("Llama-3.1-8B"), gpu_of("L4"), tp=2, blocks=1200, max_num_seqs=64)


@cache
def workload() -> Workload:
    return generated(Load(150, 6.0, 900, 120, seed=1))


@cache
def variants() -> tuple[dict[str, Variant], tuple[str, ...]]:
    found, notes = compare(workload(), DEPLOYMENT, tuple(CHANGES), Options(shared_prefix_tokens=640, bound_tokens=60))
    return {variant.name: variant for variant in found}, notes


def figure(name: str, which: str) -> float:
    return getattr(variants()[0][name].outcome, which)  # type: ignore[no-any-return]


def test_every_change_serves_every_request() -> None:
    found, notes = variants()

    assert notes == ()
    assert list(found) == ["as it is", *CHANGES]
    assert {variant.outcome.finished for variant in found.values()} == {150}


def mean_ttft(name: str) -> float:
    latency = variants()[0][name].outcome.ttft
    assert latency is not None
    return latency.mean


@pytest.mark.parametrize("name", ["prefix-fixed", "prompt-halved", "bound-added", "kv-fp8", "gpu-more"])
def test_each_relief_brings_the_first_token_sooner(name: str) -> None:
    assert mean_ttft(name) < mean_ttft("as it is")


def test_only_what_is_changed_changes() -> None:
    shared = sum(min(640, job.prompt_tokens - 1) for job in workload().jobs[1:])

    assert figure("prefix-fixed", "hit_rate") == pytest.approx(shared / workload().prompt_tokens, rel=0.03)
    assert figure("as it is", "hit_rate") is None
    assert figure("prompt-halved", "prompt_tokens") == pytest.approx(workload().prompt_tokens / 2, rel=0.01)
    assert figure("bound-added", "output_tokens") == sum(min(60, job.output_tokens) for job in workload().jobs)
    assert figure("kv-fp8", "blocks") == 2400
    assert figure("gpu-more", "output_tokens") == figure("as it is", "output_tokens")
    assert [variants()[0][name].gpus for name in ("as it is", "gpu-more", "prefill-apart")] == [2, 4, 4]


def test_an_unknown_shared_prefix_is_said_and_the_rest_goes_on() -> None:
    found, notes = compare(workload().first(5), DEPLOYMENT, ("prefix-fixed", "kv-fp8"))

    assert [variant.name for variant in found] == ["as it is", "kv-fp8"]
    assert "--shared-prefix" in notes[0]


def test_text_names_version_and_keeps_latencies_apart() -> None:
    told = text(workload(), DEPLOYMENT, list(variants()[0].values()))

    for word in ("vLLM V1", "TTFT p99", "ITL (all gaps) p50", "queue p95", "end to end mean", "preemptions", "unknown"):
        assert word in told


def test_json_holds_every_run_and_a_time_line() -> None:
    told = json.loads(json.dumps(document(workload(), DEPLOYMENT, list(variants()[0].values()))))

    assert told["version"] == 1
    assert [run["name"] for run in told["runs"]] == list(variants()[0])
    assert told["runs"][0]["simulated_hit_rate"] is None
    assert {"count", "mean", "p50", "p95", "p99"} == set(told["runs"][0]["itl_s"])
    assert 0 < len(told["timeline"]) <= 200


def test_the_terminal_chart_has_three_lines_a_run() -> None:
    told = terminal_chart(list(variants()[0].values())).splitlines()

    assert len(told) == 1 + 4 * len(variants()[0])
    assert "█" in told[2]


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_chart_is_written(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"chart{suffix}"
    write_chart(list(variants()[0].values())[:2], path)

    assert path.stat().st_size > 5000


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match=r"\.png or \.svg"):
        write_chart([], tmp_path / "chart.pdf")


def test_what_a_deployment_leaves_out_is_said() -> None:
    gemma = Deployment(geometry_of("Gemma-3-27B"), gpu_of("H100"), blocks=500)

    assert "windowed layers" in text(workload(), gemma, [variants()[0]["as it is"]])
    assert DEPLOYMENT.notes == ()


def test_a_model_that_does_not_fit_is_said() -> None:
    too_large = Deployment(geometry_of("Llama-3.1-70B"), gpu_of("L4"))

    with pytest.raises(PromptlintError, match="nothing is left"):
        compare(workload(), too_large, ())
