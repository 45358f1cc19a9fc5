"""The answer as JSON, version 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from promptlint_report.capacity.answer import Answer

VERSION = 1


def answer_document(answer: Answer) -> dict[str, object]:
    """`kv_bytes` is that of all sequences asked for on one GPU, rounded to blocks only when a block size was given."""
    return {
        "version": VERSION,
        "model": answer.geometry.name,
        "kv_bytes": answer.kv_bytes,
        "kv_bytes_per_token": answer.kv_bytes_per_token,
        "state_bytes": answer.state_bytes,
        "weights_bytes": answer.weights_bytes,
        "capacity": _capacity(answer),
        "details": _details(answer),
    }


def answers_document(answers: Sequence[Answer]) -> dict[str, object]:
    """One model: its document. Several: a list of them."""
    if len(answers) == 1:
        return answer_document(answers[0])
    return {"version": VERSION, "models": [answer_document(answer) for answer in answers]}


def _details(answer: Answer) -> dict[str, object]:
    question, geometry = answer.question, answer.geometry
    return {
        "attention": geometry.attention,
        "tokens": question.tokens,
        "batch": question.batch,
        "kv_dtype": question.kv_dtype,
        "tp": question.tp,
        "pp": question.pp,
        "dp": question.dp,
        "kv_bytes_per_token_beyond_windows": answer.marginal_bytes_per_token,
        "last_block": asdict(answer.last_block),
        "parameters": geometry.parameters.total if geometry.parameters else None,
        "active_parameters": geometry.parameters.active if geometry.parameters else None,
        "max_tokens": geometry.max_tokens,
        "source": geometry.source,
        "notes": list(answer.notes),
    }


def _capacity(answer: Answer) -> dict[str, object] | None:
    found = answer.pool
    if found is None:
        return None
    question = answer.question
    held = found.held
    return {
        "kv_pool_bytes": found.kv_pool_bytes,
        "tokens": held.tokens,
        "blocks": held.blocks,
        "max_concurrency": round(held.max_concurrency, 4),
        "max_concurrency_tokens": found.max_model_len,
        "blocks_per_request": held.blocks_per_request,
        "block_size": held.block_size,
        "tokens_before_0_21": held.tokens_before_0_21,
        "engine": found.engine,
        "gpu": found.gpu,
        "gpu_memory_bytes": found.memory_bytes,
        "gpu_memory_utilization": found.utilization,
        "weights_bytes": found.weights_bytes,
        "activation_bytes": found.activation_bytes,
        "other_bytes": found.other_bytes,
        "requests": None
        if answer.requests_alone is None
        else {
            "prompt_tokens": question.prompt_tokens,
            "output_tokens": question.output_tokens,
            "shared_prefix_tokens": question.shared_prefix_tokens,
            "without_sharing": answer.requests_alone,
            "with_sharing": answer.requests_sharing,
        },
        "what_if": [asdict(what_if) for what_if in answer.what_ifs],
        "utilization": [asdict(step) for step in answer.curve],
        "notes": list(found.notes),
    }
