"""Block traces: the whole table of published replays of Mooncake's conversation trace, to four digits."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_proxy.replay.block_traces import (
    BlockRequest,
    Policy,
    hit_tables,
    is_block_trace,
    parse_capacities,
    read_block_trace,
    render_json,
    render_text,
    replay,
)

CONVERSATION = Path(__file__).parents[2] / "data" / "traces" / "mooncake-conversation.jsonl.gz"

LRU = {
    None: (0.3664, 0.3736, 0.3843),
    100_000: (0.3637, 0.3708, 0.3829),
    50_000: (0.3546, 0.3615, 0.3781),
    30_000: (0.3257, 0.3321, 0.3606),
    10_000: (0.2112, 0.2153, 0.2754),
    5_859: (0.1355, 0.1382, 0.2196),
    3_000: (0.0650, 0.0663, 0.1655),
    1_000: (0.0445, 0.0454, 0.1452),
}
OTHER_POLICIES = {
    None: (0.3664, 0.3664, 0.3664),
    100_000: (0.3637, 0.3631, 0.3345),
    50_000: (0.3546, 0.3438, 0.2602),
    30_000: (0.3257, 0.2755, 0.2028),
    10_000: (0.2116, 0.1315, 0.1123),
    1_000: (0.0445, 0.0481, 0.0504),
}


@cache
def conversation() -> tuple[BlockRequest, ...]:
    return tuple(read_block_trace(CONVERSATION))


def test_the_trace_is_the_published_one() -> None:
    requests = conversation()

    assert len(requests) == 12_031
    assert sum(len(request.blocks) for request in requests) == 288_500
    assert len({block for request in requests for block in request.blocks}) == 182_790
    assert sum(request.prompt_tokens for request in requests) == 144_793_823
    assert sum(request.output_tokens for request in requests) == 4_122_048


@pytest.mark.parametrize(("capacity", "expected"), LRU.items())
def test_least_recently_used(capacity: int | None, expected: tuple[float, float, float]) -> None:
    row = replay(conversation(), capacity, Policy.LRU)

    assert expected == (
        round(row.block_hit_rate, 4),
        round(row.token_hit_rate, 4),
        round(row.mean_request_hit_rate, 4),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("capacity", "expected"), OTHER_POLICIES.items())
def test_other_policies(capacity: int | None, expected: tuple[float, float, float]) -> None:
    policies = (Policy.TAIL_FIRST, Policy.LFU, Policy.LENGTH_AWARE)
    found = tuple(round(replay(conversation(), capacity, policy).block_hit_rate, 4) for policy in policies)

    assert expected == found


def line(at_ms: int, *blocks: int, length: int | None = None) -> str:
    return json.dumps(
        {
            "timestamp": at_ms,
            "input_length": 512 * len(blocks) if length is None else length,
            "output_length": 10,
            "hash_ids": blocks,
        }
    )


def test_capacity_counts_tokens_and_tables_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join([line(0, 1, 2, 3), line(1, 4, 5), line(2, 1, 2, 3, length=1100)]))
    tables = hit_tables(path, [None, 512 * 5, 512 * 4], [Policy.LRU])

    assert [row.hit_blocks for row in tables.rows] == [3, 3, 0]
    assert [row.hit_tokens for row in tables.rows] == [1100, 1100, 0]
    assert "infinite" in render_text(tables)
    assert json.loads(render_json(tables))["block_trace"]["rows"][1]["capacity_blocks"] == 5


IS_TRACE = {
    "hash ids": (line(0, 1, 2), True),
    "requests of the proxy": ('{"t": 0, "path": "/v1/messages", "request": {}}', False),
    "hash ids of something else": ('{"hash_ids": [1]}', False),
    "no JSON": ("hash_ids", False),
    "nothing": ("", False),
}


@pytest.mark.parametrize(("text", "expected"), IS_TRACE.values(), ids=IS_TRACE.keys())
@pytest.mark.parametrize("packed", [False, True])
def test_a_block_trace_is_told_by_its_first_line(tmp_path: Path, text: str, expected: bool, packed: bool) -> None:
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())

    assert expected == is_block_trace(path)


@pytest.mark.parametrize(
    "broken",
    [
        '{"timestamp": 1}',
        '{"timestamp": NaN, "input_length": 1, "hash_ids": [1]}',
        '{"timestamp": 1, "input_length": -1, "hash_ids": [1]}',
        '{"timestamp": 1, "input_length": 1e999, "hash_ids": [1]}',
        '{"timestamp": 1, "input_length": "x", "hash_ids": [1]}',
        '{"timestamp": 1, "input_length": 1, "hash_ids": [{}]}',
        '{"timestamp": 1, "input_length": 1, "hash_ids": "abc"}',
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(f"{line(0, 1)}\n{broken}\n")

    with pytest.raises(PromptlintError, match=r"trace\.jsonl:2"):
        hit_tables(path)


CAPACITIES = {
    "10k,100k,1M": [10_000, 100_000, 1_000_000],
    "512": [512],
    "1.5M, infinite": [1_500_000, None],
}


@pytest.mark.parametrize(("text", "expected"), CAPACITIES.items())
def test_capacities_are_read(text: str, expected: list[int | None]) -> None:
    assert expected == parse_capacities(text)


@pytest.mark.parametrize("text", ["", "10x", "-5", "0", "k"])
def test_other_capacities_are_refused(text: str) -> None:
    with pytest.raises(PromptlintError, match="capacity"):
        parse_capacities(text)


def test_a_capacity_below_a_block_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(line(0, 1))

    with pytest.raises(PromptlintError, match="less than one block"):
        hit_tables(path, [100])
