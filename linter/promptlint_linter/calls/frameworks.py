"""Model classes, agents and programs of frameworks.

Read from langchain 1, llama-index-core 0.14, pydantic-ai 2, agno 3, crewai 1, openai-agents, autogen, semantic-kernel,
smolagents, haystack 3, google-adk, strands, dspy 3, marvin.
"""

from __future__ import annotations

from promptlint_linter.calls.shapes import CallShape

_OPENAI_LIKE = ("max_tokens", "max_completion_tokens")


def _models(names: str, provider: str, bounds: tuple[str, ...], default: str = "absent") -> dict[str, CallShape]:
    return {
        name: CallShape(
            name,
            provider,
            "client",
            tools=(),
            system=("system_prompt",) if name.startswith("llama_index") else (),
            bounds=bounds,
            nested=("model_kwargs", "additional_kwargs", "extra_body", "generation_kwargs"),
            default=default,
        )
        for name in names.split()
    }


def _agents(names: str, *system: str, messages: tuple[str, ...] = ()) -> dict[str, CallShape]:
    provider = names.split(maxsplit=1)[0].split(".", maxsplit=1)[0]
    return {
        name: CallShape(name, provider, "agent", system=system, messages=messages, default="unknown")
        for name in names.split()
    }


MODELS: dict[str, CallShape] = {
    **_models(
        "langchain_openai.ChatOpenAI langchain_openai.AzureChatOpenAI langchain_openai.OpenAI"
        " langchain.chat_models.ChatOpenAI langchain_community.chat_models.ChatOpenAI"
        " langchain.chat_models.init_chat_model langchain_groq.ChatGroq langchain_mistralai.ChatMistralAI"
        " langchain_deepseek.ChatDeepSeek langchain_xai.ChatXAI langchain_together.ChatTogether"
        " langchain_fireworks.ChatFireworks langchain_litellm.ChatLiteLLM",
        "langchain",
        _OPENAI_LIKE,
    ),
    **_models("langchain_ollama.ChatOllama langchain_community.chat_models.ChatOllama", "ollama", ("num_predict",)),
    **_models(
        "langchain_google_genai.ChatGoogleGenerativeAI langchain_google_vertexai.ChatVertexAI",
        "google",
        ("max_output_tokens", "max_tokens"),
    ),
    **_models(
        "langchain_anthropic.ChatAnthropic llama_index.llms.anthropic.Anthropic",
        "anthropic",
        ("max_tokens", "max_tokens_to_sample"),
        "unknown",
    ),
    **_models("llama_index.llms.openai.OpenAI llama_index.llms.azure_openai.AzureOpenAI", "llama_index", _OPENAI_LIKE),
    **_models("dspy.LM", "dspy", _OPENAI_LIKE),
}

AGENTS: dict[str, CallShape] = {
    **_agents("agents.Agent", "instructions"),
    **_agents("pydantic_ai.Agent", "instructions", "system_prompt"),
    **_agents(
        "agno.agent.Agent agno.agent.agent.Agent agno.team.Team phi.agent.Agent",
        "description",
        "instructions",
        "system_message",
        "expected_output",
        "additional_context",
    ),
    **_agents("crewai.Agent crewai.agent.Agent", "role", "goal", "backstory", "system_template"),
    **_agents("crewai.Task crewai.task.Task", messages=("description", "expected_output")),
    **_agents("langchain.agents.create_agent langgraph.prebuilt.create_react_agent", "system_prompt", "prompt"),
    **_agents(
        "autogen_agentchat.agents.AssistantAgent autogen.AssistantAgent autogen.ConversableAgent", "system_message"
    ),
    **_agents("semantic_kernel.agents.ChatCompletionAgent agent_framework.Agent", "instructions"),
    **_agents("smolagents.CodeAgent smolagents.ToolCallingAgent", "instructions"),
    **_agents(
        "google.adk.agents.LlmAgent google.adk.agents.Agent",
        "static_instruction",
        "global_instruction",
        "instruction",
    ),
    **_agents("strands.Agent haystack.components.agents.Agent", "system_prompt"),
    **_agents(
        "llama_index.core.agent.workflow.FunctionAgent llama_index.core.agent.workflow.ReActAgent"
        " llama_index.core.agent.FunctionAgent llama_index.core.agent.ReActAgent",
        "system_prompt",
    ),
    **_agents("marvin.Agent marvin.Task", "instructions", "prompt"),
    **_agents("claude_agent_sdk.ClaudeAgentOptions", "system_prompt"),
}

MODEL_METHODS = frozenset(
    [
        "invoke",
        "ainvoke",
        "stream",
        "astream",
        "batch",
        "abatch",
        "predict",
        "apredict",
        "complete",
        "acomplete",
        "chat",
        "achat",
        "stream_chat",
        "astream_chat",
        "stream_complete",
        "generate",
        "agenerate",
        "run",
        "arun",
        "run_sync",
        "run_stream",
        "print_response",
        "aprint_response",
        "__call__",
    ]
)
"""Methods of a model or agent of a framework whose first argument is the prompt."""

INSTRUCTION_DECORATORS = frozenset({"system_prompt", "instructions", "dynamic_prompt", "instruction"})
"""Decorators, by last name, whose function returns system text on each run."""

SWITCHES = frozenset(
    [
        "add_datetime_to_context",
        "add_datetime_to_instructions",
        "inject_date",
        "cache_system_prompt",
        "add_session_state_to_context",
        "add_location_to_context",
        "add_name_to_context",
        "add_history_to_context",
        "num_history_runs",
        "stream",
        "prompt_cache_key",
        "prompt_cache_retention",
        "stream_options",
        "tool_choice",
        "truncation",
    ]
)
"""Keyword arguments that change the prompt, its caching or what is reported."""
