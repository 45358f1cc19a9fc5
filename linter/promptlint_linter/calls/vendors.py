"""Calls of vendor SDKs. Read from the packages: openai 2, anthropic 0.9x, google-genai, mistralai 3, cohere 5, ollama,
litellm, huggingface_hub, boto3 (bedrock), xai-sdk, openrouter, groq, together, fireworks, vllm, sglang.
"""

from __future__ import annotations

from promptlint_linter.calls.shapes import CallShape

_CHAT_BOUNDS = ("max_completion_tokens", "max_tokens")


def _chat(callee: str, provider: str, **more: tuple[str, ...]) -> CallShape:
    return CallShape(callee, provider, messages=("messages",), bounds=_CHAT_BOUNDS, **more)  # type: ignore[arg-type]


_RESPONSES = CallShape(
    "openai.responses.create",
    "openai",
    system=("instructions",),
    messages=("input",),
    bounds=("max_output_tokens",),
    required=("input", "instructions"),
)
_ANTHROPIC = CallShape(
    "anthropic.messages.create",
    "anthropic",
    system=("system",),
    messages=("messages",),
    bounds=("max_tokens",),
    default="unknown",
    required=("messages",),
)
_GENAI = CallShape(
    "google.genai.models.generate_content",
    "google",
    system=("config.system_instruction", "system_instruction"),
    messages=("contents",),
    tools=("tools", "config.tools"),
    positional=("contents",),
    bounds=("max_output_tokens",),
    nested=("config", "generation_config"),
    required=("contents", "model"),
)
_BEDROCK = CallShape(
    "bedrock.converse",
    "bedrock",
    system=("system",),
    messages=("messages",),
    tools=("toolConfig",),
    bounds=("maxTokens",),
    nested=("inferenceConfig",),
    required=("messages", "modelId"),
)
_INVOKE_MODEL = CallShape(
    "bedrock.invoke_model",
    "bedrock",
    tools=("body.tools", "body.toolConfig"),
    system=("body.system",),
    messages=("body.messages", "body.prompt", "body.inputText", "body.inputs"),
    bounds=("max_tokens", "max_gen_len", "maxTokenCount", "max_tokens_to_sample", "max_new_tokens"),
    nested=("body",),
    default="unknown",
    required=("body",),
)
_LITELLM = CallShape(
    "litellm.completion",
    "litellm",
    messages=("messages",),
    positional=("model", "messages"),
    bounds=_CHAT_BOUNDS,
)
_OLLAMA_CHAT = CallShape(
    "ollama.chat",
    "ollama",
    messages=("messages",),
    positional=("model", "messages"),
    bounds=("num_predict",),
    nested=("options",),
)
_OLLAMA_GENERATE = CallShape(
    "ollama.generate",
    "ollama",
    system=("system",),
    messages=("prompt",),
    positional=("model", "prompt"),
    bounds=("num_predict",),
    nested=("options",),
)

CLIENT_METHODS: dict[str, CallShape] = {
    "chat.completions.create": _chat("openai.chat.completions.create", "openai", required=("messages",)),
    "chat.completions.parse": _chat("openai.chat.completions.parse", "openai", required=("messages",)),
    "chat.completions.stream": _chat("openai.chat.completions.stream", "openai", required=("messages",)),
    "completions.create": CallShape(
        "openai.completions.create", "openai", messages=("prompt",), bounds=("max_tokens",), default="unknown",
        required=("prompt",),
    ),
    "responses.create": _RESPONSES,
    "responses.parse": _RESPONSES,
    "responses.stream": _RESPONSES,
    "messages.create": _ANTHROPIC,
    "messages.stream": _ANTHROPIC,
    "messages.parse": _ANTHROPIC,
    "models.generate_content": _GENAI,
    "models.generate_content_stream": _GENAI,
    "converse": _BEDROCK,
    "converse_stream": _BEDROCK,
    "invoke_model": _INVOKE_MODEL,
    "invoke_model_with_response_stream": _INVOKE_MODEL,
    "chat.complete": _chat("mistralai.chat.complete", "mistral", required=("messages",)),
    "chat.complete_async": _chat("mistralai.chat.complete", "mistral", required=("messages",)),
    "chat.send": _chat("openrouter.chat.send", "openrouter", required=("messages",)),
    "chat_completion": _chat("huggingface_hub.chat_completion", "huggingface", required=("messages",)),
}  # fmt: skip
"""By the end of the dotted name; on an unknown object one of the required arguments must be there."""

CLIENT_PACKAGES = frozenset(
    [
        "openai",
        "anthropic",
        "google",
        "mistralai",
        "cohere",
        "ollama",
        "litellm",
        "huggingface_hub",
        "boto3",
        "aioboto3",
        "xai_sdk",
        "openrouter",
        "groq",
        "together",
        "fireworks",
        "instructor",
        "langfuse",
        "vllm",
        "sglang",
        "zhipuai",
        "dashscope",
        "cerebras",
        "llama_cpp",
        "portkey_ai",
    ]
)
"""Packages whose objects are clients of a model, so that the arguments need no further proof."""

FUNCTIONS: dict[str, CallShape] = {
    "litellm.completion": _LITELLM,
    "litellm.acompletion": _LITELLM,
    "litellm.main.completion": _LITELLM,
    "litellm.Router().completion": _LITELLM,
    "litellm.Router().acompletion": _LITELLM,
    "litellm.responses": _RESPONSES,
    "litellm.aresponses": _RESPONSES,
    "litellm.text_completion": CallShape(
        "litellm.text_completion", "litellm", messages=("prompt",), bounds=("max_tokens",), default="unknown"
    ),
    "openai.ChatCompletion.create": _chat("openai.ChatCompletion.create", "openai"),
    "openai.ChatCompletion.acreate": _chat("openai.ChatCompletion.create", "openai"),
    "ollama.chat": _OLLAMA_CHAT,
    "ollama.generate": _OLLAMA_GENERATE,
    "ollama.Client().chat": _OLLAMA_CHAT,
    "ollama.AsyncClient().chat": _OLLAMA_CHAT,
    "ollama.Client().generate": _OLLAMA_GENERATE,
    "ollama.AsyncClient().generate": _OLLAMA_GENERATE,
    "cohere.ClientV2().chat": CallShape(
        "cohere.chat", "cohere", messages=("messages",), bounds=("max_tokens",), tools=("tools", "documents")
    ),
    "cohere.Client().chat": CallShape(
        "cohere.chat", "cohere", system=("preamble",), messages=("chat_history", "message"), bounds=("max_tokens",)
    ),
    "huggingface_hub.InferenceClient().text_generation": CallShape(
        "huggingface_hub.text_generation", "huggingface", messages=("prompt",), positional=("prompt",),
        bounds=("max_new_tokens",),
    ),
    "xai_sdk.Client().chat.create": CallShape(
        "xai_sdk.chat.create", "xai", messages=("messages",), bounds=("max_tokens",)
    ),
    "claude_agent_sdk.query": CallShape(
        "claude_agent_sdk.query", "anthropic", "agent", system=("options.system_prompt",), messages=("prompt",),
        default="unknown",
    ),
    "vllm.SamplingParams": CallShape(
        "vllm.SamplingParams", "vllm", "client", bounds=("max_tokens",), default="unknown"
    ),
    "vllm.LLM().chat": CallShape(
        "vllm.LLM.chat", "vllm", messages=("messages",), positional=("messages", "sampling_params"),
        default="unknown",
    ),
    "vllm.LLM().generate": CallShape(
        "vllm.LLM.generate", "vllm", messages=("prompts",), positional=("prompts", "sampling_params"),
        default="unknown",
    ),
    "sglang.Engine().generate": CallShape(
        "sglang.Engine.generate", "sglang", messages=("prompt",), positional=("prompt",), default="unknown"
    ),
    "vertexai.generative_models.GenerativeModel": CallShape(
        "vertexai.GenerativeModel", "google", "agent", system=("system_instruction",), default="unknown"
    ),
    "google.generativeai.GenerativeModel": CallShape(
        "google.generativeai.GenerativeModel", "google", "agent", system=("system_instruction",), default="unknown"
    ),
    "vertexai.generative_models.GenerativeModel().generate_content": CallShape(
        "vertexai.GenerativeModel.generate_content", "google", messages=("contents",), positional=("contents",),
        bounds=("max_output_tokens",), nested=("generation_config",), default="unknown",
    ),
    "google.generativeai.GenerativeModel().generate_content": CallShape(
        "google.generativeai.GenerativeModel.generate_content", "google", messages=("contents",),
        positional=("contents",), bounds=("max_output_tokens",), nested=("generation_config",), default="unknown",
    ),
    "google.genai.types.GenerateContentConfig": CallShape(
        "google.genai.types.GenerateContentConfig", "google", "config", system=("system_instruction",),
        default="unknown",
    ),
    "google.genai.Client().chats.create": CallShape(
        "google.genai.chats.create", "google", "agent", system=("config.system_instruction",),
        messages=("history",), default="unknown",
    ),
}  # fmt: skip
