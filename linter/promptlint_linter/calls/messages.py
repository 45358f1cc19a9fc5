"""Message classes and prompt templates of frameworks, by package and name."""

from __future__ import annotations

ROLES = {"system", "developer", "user", "human", "assistant", "ai", "tool", "function", "model", "placeholder"}

_ROLE_OF_CLASS = {
    "SystemMessage": "system", "HumanMessage": "user", "UserMessage": "user", "AIMessage": "assistant",
    "AssistantMessage": "assistant", "ToolMessage": "tool", "FunctionMessage": "tool", "SystemPromptPart": "system",
    "UserPromptPart": "user", "ChatCompletionSystemMessageParam": "system", "ChatCompletionUserMessageParam": "user",
    "ChatCompletionDeveloperMessageParam": "developer", "ChatCompletionAssistantMessageParam": "assistant",
    "SystemMessagePromptTemplate": "system", "HumanMessagePromptTemplate": "user",
    "AIMessagePromptTemplate": "assistant", "system": "system", "user": "user", "assistant": "assistant",
    "from_system": "system", "from_user": "user", "from_assistant": "assistant",
}  # fmt: skip

_PACKAGES = frozenset(
    [
        "langchain",
        "langchain_core",
        "langchain_community",
        "langgraph",
        "autogen_core",
        "autogen_ext",
        "autogen",
        "mistralai",
        "openai",
        "xai_sdk",
        "pydantic_ai",
        "haystack",
        "llama_index",
        "semantic_kernel",
        "magentic",
        "azure",
        "litellm",
        "agno",
        "smolagents",
        "mirascope",
        "anthropic",
        "google",
    ]
)

_ROLE_IN_ARGUMENTS = frozenset({"ChatMessage", "Message", "ChatMessageContent", "MessageParam"})

CLASS_NAMES = frozenset(name for name in (*_ROLE_OF_CLASS, *_ROLE_IN_ARGUMENTS) if name[0].isupper()) | {
    "from_system",
    "from_user",
    "from_assistant",
    "System",
}
"""Names of classes and factories whose calls make messages."""

TEMPLATE_CLASSES = frozenset({"PromptTemplate", "ChatPromptTemplate", "FewShotPromptTemplate", "RichPromptTemplate"})
PLACEHOLDER_CLASSES = frozenset({"MessagesPlaceholder"})


def role_of_class(name: str) -> str | None:
    """The role of a message class or factory of a known package; `""` when the role is an argument."""
    package = name.split(".", 1)[0]
    if package not in _PACKAGES:
        return None
    last = name.rsplit(".", 1)[-1]
    if name.endswith(("Messages.System", "Messages.User", "Messages.Assistant")):
        return last.lower()
    if last in ("system", "user", "assistant") and not name.startswith("xai_sdk."):
        return None
    if last.startswith("from_") and name.split(".")[-2:][0] != "ChatMessage":
        return None
    if last in _ROLE_OF_CLASS:
        return _ROLE_OF_CLASS[last]
    return "" if last in _ROLE_IN_ARGUMENTS else None


def normal_role(role: str) -> str:
    """`human` and `ai` are other words for `user` and `assistant`."""
    lowered = role.rsplit(".", 1)[-1].lower()
    return {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}.get(lowered, lowered)


def is_template_class(name: str) -> bool:
    parts = name.replace("()", "").split(".")
    return parts[0] in _PACKAGES and any(part in TEMPLATE_CLASSES for part in parts)
