"""The model's own tokenizer and chat template: prompts as the engine renders them. Needs the extra `hf`.

The template runs in Jinja's immutable sandbox, only because the user named it.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Piece, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.predict.render import RAW_APIS, Rendered

_ARGUMENTS_AS_DATA = ("tool_call.arguments", "arguments | tojson", "arguments|tojson", "arguments.items")


class ChatTemplate:
    """Renders and encodes requests for one model."""

    def __init__(self, tokenizer: Path, chat_template: Path | None = None) -> None:
        """`tokenizer` is a `tokenizer.json` or its folder. Raises PromptlintError when a file cannot be read."""
        folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
        file = tokenizer / "tokenizer.json" if tokenizer.is_dir() else tokenizer
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - only with the extra `hf`
        except ImportError as error:
            raise PromptlintError("a tokenizer file needs the extra hf: pip install 'promptlint-prefix[hf]'") from error
        try:
            self._tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # tokenizers raises plain Exception
            raise PromptlintError(f"{file} cannot be read as a tokenizer: {error}") from error
        self._config = _read_config(folder / "tokenizer_config.json")
        source = _template_source(folder, chat_template, self._config)
        self._render = _compile(source, self._config) if source is not None else None
        self._arguments_as_data = any(hint in (source or "") for hint in _ARGUMENTS_AS_DATA)
        self.name = file.name

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, no special tokens added."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def render(self, request: Request) -> Rendered | None:
        """Token ids of a request; None where only the pieces can be encoded (no template).

        Raises PromptlintError when the template refuses the request.
        """
        if request.api in RAW_APIS:
            ids = self._tokenizer.encode(request.text, add_special_tokens=True).ids
        elif self._render is None:
            return None
        else:
            text = self._render(self._variables(request))
            ids = self.encode(text)
        return Rendered(array("I", ids), _shares(request, len(ids)), f"{self.name} with its chat template", exact=True)

    def _variables(self, request: Request) -> dict[str, Any]:
        parameters = dict(request.parameters)
        extra = _json(parameters.get("chat_template_kwargs"), {})
        tools = tools_of(request)
        return {
            "messages": messages_of(request, arguments_as_data=self._arguments_as_data),
            "tools": tools or None,
            "add_generation_prompt": True,
            **(extra if isinstance(extra, dict) else {}),
        }


def _read_config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PromptlintError(f"{path} cannot be read: {error}") from error
    return config if isinstance(config, dict) else {}


def _template_source(folder: Path, given: Path | None, config: dict[str, Any]) -> str | None:
    path = given or folder / "chat_template.jinja"
    if given is not None or path.is_file():
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PromptlintError(f"{path} cannot be read: {error}") from error
    template = config.get("chat_template")
    if isinstance(template, list):  # several named templates: `default` is the one for chats
        template = next((item.get("template") for item in template if item.get("name") == "default"), None)
    return template if isinstance(template, str) else None


def _compile(source: str, config: dict[str, Any]) -> Callable[[dict[str, Any]], str]:
    from jinja2 import TemplateError  # noqa: PLC0415 - only with the extra `hf`
    from jinja2.ext import LoopControlExtension  # noqa: PLC0415
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def tojson(value: object, indent: int | None = None, **_: object) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)  # Jinja's own escapes HTML

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[LoopControlExtension])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda pattern: datetime.now().astimezone().strftime(pattern)
    for name in ("bos_token", "eos_token", "unk_token", "pad_token"):
        token = config.get(name)
        environment.globals[name] = token.get("content", "") if isinstance(token, dict) else token or ""
    try:
        template = environment.from_string(source)
    except TemplateError as error:
        raise PromptlintError(f"the chat template is not valid Jinja: {error}") from error

    def render(variables: dict[str, Any]) -> str:
        try:
            return template.render(**variables)
        except Exception as error:  # a template may raise anything: TemplateError, TypeError, ZeroDivisionError …
            raise PromptlintError(f"the chat template refuses this request: {error}") from error

    return render


def _json(text: str | None, default: object) -> Any:
    try:
        return json.loads(text) if text else default
    except ValueError:
        return default


def messages_of(request: Request, *, arguments_as_data: bool = False) -> list[dict[str, Any]]:
    """The messages of a request in the shape that chat templates read, put together from its pieces."""
    groups: dict[tuple[Part, int | None], list[Piece]] = {}
    for piece in request.pieces:
        if piece.part is not Part.TOOLS:
            groups.setdefault((piece.part, piece.message), []).append(piece)
    return [_message(pieces, arguments_as_data=arguments_as_data) for pieces in groups.values()]


def _message(pieces: list[Piece], *, arguments_as_data: bool) -> dict[str, Any]:
    role = next((piece.role for piece in pieces if piece.role), "") or str(pieces[0].part)
    message: dict[str, Any] = {"role": role}
    text = [piece.text for piece in pieces if piece.kind is PieceKind.TEXT]
    reasoning = [piece.text for piece in pieces if piece.kind is PieceKind.REASONING]
    names = [piece.text for piece in pieces if piece.kind is PieceKind.NAME]
    arguments = [piece.text for piece in pieces if piece.kind is PieceKind.ARGUMENTS]
    ids = [piece.text for piece in pieces if piece.kind is PieceKind.ID]
    message["content"] = "".join(text)
    if reasoning:
        message["reasoning_content"] = "".join(reasoning)
    if arguments:
        message["tool_calls"] = [
            {
                "id": ids[index] if index < len(ids) else "",
                "type": "function",
                "function": {
                    "name": names[index] if index < len(names) else "",
                    "arguments": _json(argument, argument) if arguments_as_data else argument,
                },
            }
            for index, argument in enumerate(arguments)
        ]
    elif ids:
        message["tool_call_id"] = ids[0]
        if names:
            message["name"] = names[0]
    return message


def tools_of(request: Request) -> list[dict[str, Any]]:
    """The tools of a request as function definitions."""
    tools: list[dict[str, Any]] = []
    for piece in request.pieces:
        if piece.part is not Part.TOOLS:
            continue
        if piece.kind is PieceKind.NAME:
            tools.append({"type": "function", "function": {"name": piece.text}})
        elif tools and piece.kind is PieceKind.DESCRIPTION:
            tools[-1]["function"]["description"] = piece.text
        elif tools and piece.kind is PieceKind.SCHEMA:
            tools[-1]["function"]["parameters"] = _json(piece.text, {})
    return tools


def _shares(request: Request, total: int) -> tuple[int, ...]:
    """Share a rendered prompt out over its pieces by length: only sizes of parts are told from it."""
    chars = [len(piece.text) for piece in request.pieces]
    whole = sum(chars) or 1
    shares, done, seen = [], 0, 0
    for length in chars:
        seen += length
        share = round(total * seen / whole) - done
        done += share
        shares.append(share)
    return tuple(shares)
