"""A practice: what code does with prompts, histories, tools and breakpoints that no segment of a prompt tells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from promptlint_core.prompt import Place


class PracticeKind(StrEnum):
    """One kind for each thing that a reader of source recognises; the rule of that kind judges it."""

    UNSTABLE_TOOL_ORDER = "tools listed in no fixed order"
    TOOLS_BY_MESSAGE = "tools chosen by the message"
    SCHEMA_FROM_SET = "schema listed from a set"
    STORED_JSON = "stored mapping written as JSON without sorted keys"
    COMPLETION_ORDER = "tool results in the order of completion"
    REGENERATED_ID = "new id on each rendering"
    SLIDING_WINDOW = "last messages only"
    EDITED_HISTORY = "old content replaced"
    ROLLING_SUMMARY = "summary written on each turn"
    STRIPPED_REASONING = "reasoning removed"
    UNREPLAYED_TAIL = "newest message sent otherwise than stored"
    RESTAMPED_HISTORY = "clock in a stored message"
    CHANGING_IMAGE = "signed address in a stored message"
    TOO_MANY_MARKERS = "more cache breakpoints than allowed"
    MARKER_ON_REQUEST = "only breakpoint on the part that differs with each request"
    MARKER_LIFE_ORDER = "long-lived breakpoint behind a short-lived one"
    MODEL_BY_MESSAGE = "model chosen by the message"
    PARAMETER_BY_MESSAGE = "parameter chosen by the message"
    CHANGING_KEY = "cache key that changes with each request"
    COLD_FAN_OUT = "requests with one head started at once"
    NO_MARKER = "constant head without a breakpoint"
    WHOLE_FILES = "whole files in the prompt"
    REPEATED_CONSTANT = "same constant appended on each turn"
    INDENTED_JSON = "indented JSON in the prompt"
    UNBOUNDED_HISTORY = "history that only grows"
    NO_STREAM_USAGE = "streamed answer without usage"


@dataclass(frozen=True, slots=True)
class Practice:
    kind: PracticeKind
    place: Place
    expression: str
    """The source text that shows it, one line."""
    detail: str = ""
    """What the message says of it: a parameter's name, a number …"""
    is_sure: bool = True
    """False where a reading is left open in which nothing is wrong."""
