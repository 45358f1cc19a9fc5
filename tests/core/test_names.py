"""What a name says, and what it does not say."""

from __future__ import annotations

import pytest

from promptlint_core.names import origin_of_name


@pytest.mark.parametrize(
    ("name", "origin", "cadence"),
    [
        ("request_id", "random", "call"),
        ("reqId", "random", "call"),
        ("correlation-id", "random", "call"),
        ("X_TRACE_ID", "random", "call"),
        ("traceparent", "random", "call"),
        ("user_name", "identity", "user"),
        ("current_user_name", "identity", "user"),
        ("userName", "identity", "user"),
        ("user.name", "identity", "user"),
        ("self.user.email", "identity", "user"),
        ("customer_id", "identity", "user"),
        ("session_id", "identity", "session"),
        ("session.user_id", "identity", "user"),
        ("user.session.id", "identity", "session"),
        ("thread.id", "identity", "session"),
        ("tenant_id", "identity", "tenant"),
        ("organization_name", "identity", "tenant"),
        ("current_time", "clock", "call"),
        ("now", "clock", "call"),
        ("today", "clock", "day"),
        ("current_date", "clock", "day"),
        ("context", "retrieval", "turn"),
        ("retrieved_docs", "retrieval", "turn"),
        ("document_context", "retrieval", "turn"),
        ("persona.context", "retrieval", "turn"),
        ("company_knowledge", "retrieval", "turn"),
        ("snippets", "retrieval", "turn"),
        ("search_snippet", "retrieval", "turn"),
        ("retrieved_context", "retrieval", "turn"),
        ("search_results", "retrieval", "turn"),
        ("memories", "retrieval", "turn"),
        ("question", "task", "turn"),
        ("user_query", "task", "turn"),
        ("goal", "task", "turn"),
        ("plan.goal", "task", "turn"),
        ("task", "task", "turn"),
        ("step", "state", "turn"),
        ("step_number", "state", "turn"),
        ("remaining_budget", "state", "turn"),
        ("chat_history", "history", "append"),
    ],
)
def test_names_that_say_something(name: str, origin: str, cadence: str) -> None:
    meaning = origin_of_name(name)

    assert meaning is not None
    assert (origin, cadence) == tuple(str(part) for part in meaning)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens", "model", "user", "client", "rules", "style_guide", "schema", "tools", "product_name", "x", "_", "i",
        "results", "text", "language", "name", "version", "examples", "timeout", "template", "tokens",
        "personality_context", "agent.personality_context", "system_context", "brandKnowledge",
        "agent.additional_context", "extra_context", "project_context",
        "ENVIRONMENT_CONTEXT", "skills_snippet", "code_snippet", "chunk.total_chunks",
        "num_passages", "files_per_context", "dialog.kb_ids", "role.goal", "agent_objective", "subagent.goal", "prev_customers",
    ],
)  # fmt: skip
def test_names_that_say_nothing(name: str) -> None:
    assert origin_of_name(name) is None
