"""What a replay is told of the engine: tokenizer, cache, KV memory; on the command line or by the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from replay_command import run, told
from wire_cases import OPENAI, chat, rules, system, usage, user

from promptlint_core.errors import PromptlintError

R = rules()
TURNS = [chat(60.0 * n, [system(R), user("Where is it?")]) for n in range(2)]
BYTES_PER_TOKEN = 2 * 32 * 8 * 128 * 2  # keys and values, layers, heads, head size, bytes of bfloat16
MODEL = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "torch_dtype": "bfloat16",
    "vocab_size": 128_256, "intermediate_size": 14_336, "max_position_embeddings": 8192,
}  # fmt: skip


@pytest.fixture
def record(folder: Path) -> Any:
    def write(lines: list[dict[str, Any]]) -> Path:
        path = folder / "traffic.jsonl"
        path.write_text("\n".join(json.dumps(line) for line in lines))
        (folder / "config.json").write_text(json.dumps(MODEL))
        return path

    return write


def write_tokenizer(folder: Path) -> Path:
    """One token a byte."""
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("jinja2")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE({letter: at for at, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def test_the_model_s_own_tokenizer_and_template_count_and_are_named(record: Any, folder: Path) -> None:
    path, tokenizer = record(TURNS), write_tokenizer(folder)
    template = folder / "template.jinja"
    template.write_text("{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}")

    report = told(path, "--isolated", "--engine", "sglang", "--tokenizer", tokenizer, "--chat-template", template)
    first, second = report["exchanges"]
    assert first["prompt_tokens"] == len(f"<system>{R}<user>Where is it?".encode())
    assert second["predicted_hit_tokens"] == first["prompt_tokens"] - 1
    assert report["totals"]["tokens_source"] == "tokenizer.json with its chat template"


def test_memory_of_each_request_is_prompt_and_bound_in_whole_blocks(record: Any) -> None:
    lines = [chat(60.0 * n, [system(R), user("Hi")], usage=usage(1500), max_tokens=300) for n in range(2)]

    report = told(record(lines), "--isolated", "--kv-model", "config.json", "--kv-pool-bytes", "10GiB")
    # 1,500 + 300 - 1 tokens in blocks of 16; the token sampled last is never written
    assert [e["kv_bytes"] for e in report["exchanges"]] == [113 * 16 * BYTES_PER_TOKEN] * 2
    assert report["totals"]["kv_in_flight_bytes_max"] == 113 * 16 * BYTES_PER_TOKEN
    assert report["totals"]["kv_pool_bytes"] == 10 << 30


def test_requests_at_once_hold_their_common_blocks_once(record: Any) -> None:
    lines = [
        chat(float(n), [system(R), user("Hi")], usage=usage(1500), max_tokens=300, response={"duration_s": 30})
        for n in range(2)
    ]
    report = told(record(lines), "--isolated", "--kv-model", "config.json")

    one = report["exchanges"][0]["kv_bytes"]
    assert one < report["totals"]["kv_in_flight_bytes_max"] < 2 * one


def test_a_pool_that_is_too_small_is_a_finding(record: Any) -> None:
    lines = [
        chat(float(n), [system(f"Shop {n}. {R}"), user("Hi")], usage=usage(1500), response={"duration_s": 30})
        for n in range(4)
    ]

    def found(pool: str) -> set[str]:
        report = told(record(lines), "--isolated", "--kv-model", "config.json", "--kv-pool-bytes", pool)
        return {finding["name"] for finding in report["findings"]}

    assert "overcommitted-kv" in found("500MiB")
    assert "overcommitted-kv" not in found("10GiB")


def test_the_engine_and_its_capacity_are_chosen(record: Any) -> None:
    path = record(TURNS)

    def hits(*args: str) -> int:
        hit: int = told(path, "--isolated", *args)["exchanges"][1]["predicted_hit_tokens"]
        return hit

    assert hits("--engine", "sglang") % 16 != 0
    assert hits("--engine", "vllm") % 16 == 0
    assert hits("--engine", "vllm", "--block-size", "64") % 64 == 0
    assert hits("--engine", "sglang", "--page-size", "32") % 32 == 0
    assert hits("--engine", "vllm", "--capacity", "400") == 0
    assert hits("--engine", "vllm", "--capacity", "10k") > 1000


def test_cost_is_told_where_usage_and_price_are_known(record: Any) -> None:
    hit = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    lines = [
        chat(1_790_000_000.0, [system(R), user("Hi")], OPENAI, model="gpt-4o", usage=hit),
        chat(1_790_000_060.0, [system(R), user("Hi")], OPENAI, model="gpt-4o"),
        chat(1_790_000_120.0, [system(R), user("Hi")], usage=hit),
    ]
    report = told(record(lines), "--isolated")

    # 600 × 2.5 + 400 × 1.25 + 100 × 10 USD per million; no usage; an engine of one's own
    assert [e["cost_usd"] for e in report["exchanges"]] == [pytest.approx(0.003), None, None]
    assert (report["totals"]["cost_usd"], report["totals"]["exchanges_priced"]) == (pytest.approx(0.003), 1)
    assert report["totals"]["price_sources"]


def test_the_proxy_s_table_tells_of_the_engine_unless_isolated(record: Any, folder: Path) -> None:
    path = record(TURNS)
    (folder / "promptlint.toml").write_text('[proxy]\nkv-model = "config.json"\nblock-size = 64\n')

    assert told(path)["exchanges"][0]["kv_bytes"] % (64 * BYTES_PER_TOKEN) == 0
    assert told(path, "--isolated")["exchanges"][0]["kv_bytes"] is None
    assert told(path, "--block-size", "16")["exchanges"][0]["kv_bytes"] % (64 * BYTES_PER_TOKEN) != 0


REFUSED = {
    "a pool without a model": (("--kv-pool-bytes", "1GiB"), "need the model"),
    "a template without a tokenizer": (("--chat-template", "x.jinja"), "needs the model's tokenizer"),
    "several capacities": (("--capacity", "10k,20k"), "several sizes with --rewrite"),
    "a model that nobody knows": (("--kv-model", "no-such-model"), "unknown model"),
    "a tokenizer that is not there": (("--tokenizer", "nowhere.json"), "cannot be read as a tokenizer"),
}


@pytest.mark.parametrize(("args", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_meant_is_a_sentence(args: tuple[str, ...], sentence: str, record: Any) -> None:
    error = run(record(TURNS), "--isolated", *args).exception

    assert isinstance(error, PromptlintError)
    assert sentence in str(error)


def test_the_text_for_a_person_stays_one_screen(record: Any) -> None:
    result = run(record(TURNS), "--isolated", "--kv-model", "config.json", "--kv-pool-bytes", "10GiB", "--rewrite")

    assert len(result.stdout.splitlines()) < 25
    assert "KV memory: at most 0." in result.stdout
