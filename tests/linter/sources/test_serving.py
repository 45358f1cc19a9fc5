"""Engine settings in the files that start engines, and the same words where nothing is started."""

from __future__ import annotations

import pytest

from promptlint_linter.sources.serving import calls_of
from promptlint_linter.sources.unit import SourceFile

FOUND = {
    "a compose file with a folded command": (
        "compose.yaml",
        ("services:\n  vllm:\n    image: vllm/vllm-openai\n    command: >-\n      --model org/m\n"
        "      --gpu-memory-utilization 0.98\n      --no-enable-prefix-caching\n"),
        [("gpu_memory_utilization", "0.98", 6), ("no_enable_prefix_caching", "true", 7)],
    ),
    "a compose file with a list": (
        "compose.yaml",
        'services:\n  a:\n    command: ["--model", "m", "--gpu-memory-utilization", "0.6"]\n',
        [("gpu_memory_utilization", "0.6", 3)],
    ),
    "a manifest with one word an item": (
        "deploy.yaml",
        ("spec:\n  containers:\n  - args:\n    - --max-num-seqs\n    - '256'\n    - --max-model-len=4096\n"
        "  nodeSelector:\n    nvidia.com/gpu.product: NVIDIA-L4\n"),
        [("max_num_seqs", "256", 4), ("max_model_len", "4096", 6), ("gpu", "L4", 4)],
    ),
    "Helm values in camel case": (
        "values.yaml",
        ("servingEngineSpec:\n  modelSpec:\n  - name: a\n    modelURL: org/m\n    requestGPUType: NVIDIA-H100-80GB-HBM3\n"
        "    vllmConfig:\n      enablePrefixCaching: false\n      gpuMemoryUtilization: 0.55\n"),
        [("enable_prefix_caching", "false", 7), ("gpu_memory_utilization", "0.55", 8), ("gpu", "H100", 7)],
    ),
    "an engine's own configuration": (
        "vllm.yaml",
        "model: org/m\ngpu-memory-utilization: 0.99\nno-enable-prefix-caching: true\n",
        [("gpu_memory_utilization", "0.99", 2), ("no_enable_prefix_caching", "true", 3)],
    ),
    "an older word for the switch beside another setting": (
        "vllm.yaml",
        "model: org/m\nmax_num_seqs: 8\ndisable_prefix_caching: true\n",
        [("max_num_seqs", "8", 2), ("no_enable_prefix_caching", "true", 3)],
    ),
    "TensorRT-LLM": ("trt.yml", "kv_cache_config:\n  enable_block_reuse: false\n", [("enable_block_reuse", "false", 2)]),
    "a Helm template that is no YAML": (
        "templates/vllm.yaml",
        "args:\n  {{- if .Values.x }}\n  - --gpu-memory-utilization\n  - '0.98'\n  {{- end }}\n",
        [("gpu_memory_utilization", "0.98", 3)],
    ),
    "a script over several lines": (
        "run.sh",
        "#!/bin/sh\nvllm serve org/m \\\n  --max-model-len 4096 \\\n  # why not\n  --gpu-memory-utilization=0.98 && echo up\n",
        [("max_model_len", "4096", 3), ("gpu_memory_utilization", "0.98", 5)],
    ),
    "a command inside quotes": (
        "run.sh",
        'docker run img bash -c "vllm serve m --no-enable-prefix-caching"\n',
        [("no_enable_prefix_caching", "true", 1)],
    ),
    "SGLang": (
        "run.sh",
        "python -m sglang.launch_server --model-path m --disable-radix-cache --port 1\n",
        [("disable_radix_cache", "true", 1)],
    ),
    "a Dockerfile": (
        "docker/Dockerfile.gpu",
        'FROM vllm/vllm-openai\nENV GPU_MEMORY_UTILIZATION=0.98\nCMD ["--no-enable-prefix-caching"]\n',
        [("gpu_memory_utilization", "0.98", 2), ("no_enable_prefix_caching", "true", 3)],
    ),
    "a batch job's GPU": (
        "job.slurm",
        "#SBATCH --gres=gpu:h100:1\nvllm serve m --max-num-seqs 8\n",
        [("max_num_seqs", "8", 2), ("gpu", "H100", 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "expected"), FOUND.values(), ids=FOUND)
def test_settings_are_found_with_their_places(path: str, text: str, expected: list[tuple[str, str, int]]) -> None:
    calls = calls_of(SourceFile(path, text))

    assert expected == [(name, value, place.line) for call in calls for name, value, place in call.switches]
    assert all(call.kind == "serving" for call in calls)


SILENT = {
    "a comment": ("run.sh", "# vllm serve m --gpu-memory-utilization 0.98\n"),
    "advice to the user": ("run.sh", 'echo "try --gpu-memory-utilization 0.98"\n'),
    "a variable": ("run.sh", 'vllm serve m --gpu-memory-utilization "$SHARE" --max-num-seqs ${N:-8}\n'),
    "a template's hole": ("values.yaml", "gpuMemoryUtilization: '{{ .Values.share }}'\n"),
    "a switch of another program": ("agent.yaml", "model: m\nagent:\n  disable_prefix_caching: 1\n"),
    "a YAML comment": ("a.yaml", "# gpu-memory-utilization: 0.98\nname: x\n"),
    "no engine at all": ("compose.yaml", "services:\n  web:\n    image: nginx\n    command: --max-model-len 5\n"),
    "broken YAML without settings": ("a.yaml", "max_num_seqs: [\n"),
    "prose": ("a.yaml", "description: set gpu_memory_utilization with care\n"),
    "an empty file": ("a.yaml", ""),
}


@pytest.mark.parametrize(("path", "text"), SILENT.values(), ids=SILENT)
def test_the_same_words_elsewhere_are_silent(path: str, text: str) -> None:
    assert calls_of(SourceFile(path, text)) == ()


SHARED = {
    "two engines in one file": (
        "compose.yaml",
        "services:\n  a:\n    command: --gpu-memory-utilization 0.4\n  b:\n    command: --gpu-memory-utilization 0.5\n",
    ),
    "training beside it": ("rl.yaml", "actor:\n  rollout:\n    gpu_memory_utilization: 0.4\n"),
    "an embedding model": ("run.sh", "vllm serve BAAI/bge-m3 --gpu-memory-utilization 0.3\n"),
    "a slice of a GPU": (
        "deploy.yaml",
        "limits:\n  nvidia.com/mig-3g.40gb: 1\nargs: [--gpu-memory-utilization, '0.5']\n",
    ),
}


@pytest.mark.parametrize(("path", "text"), SHARED.values(), ids=SHARED)
def test_a_shared_gpu_is_seen(path: str, text: str) -> None:
    calls = calls_of(SourceFile(path, text))

    assert calls
    assert all("shared_gpu" in {name for name, _, _ in call.switches} for call in calls)


def test_services_of_a_compose_file_are_engines_of_their_own() -> None:
    text = "services:\n  a:\n    command: --model x --max-num-seqs 4\n  b:\n    command: --model y --max-num-seqs 8\n"

    assert [call.model for call in calls_of(SourceFile("compose.yaml", text))] == ["x", "y"]


def test_a_recursive_document_ends() -> None:
    assert calls_of(SourceFile("a.yaml", "a: &a\n  max_num_seqs: 4\n  again: *a\n"))
