"""How a text begins tells where in a conversation it stands."""

from __future__ import annotations

import re

from promptlint_core.prompt import Prompt

_INTRODUCES = re.compile(
    r"(?i)\b(?:you are (?:an?|the|our|now|acting|going to)\b|you will (?:be|get|receive|see)\b"
    r"|your (?:task|job|role|goal)\b"
    r"|you (?:help|write|answer|review|act|work|assist)\b|act as\b|as an? (?:ai|expert|assistant)\b)"
)
_ANSWERS = re.compile(
    r"(?i)^\W*(?:reminder\b|you (?:forgot|did ?n[o'’]t|have not|haven[’']t|may have|might have|seem to)\b"
    r"|your (?:last|previous|earlier) (?:answer|response|reply|message|attempt|output|call)\b"
    r"|(?:please )?try again\b|(?:invalid|wrong|malformed|unexpected) \w+\b|there (?:is|was) an error\b)"
)
_LOOKS_BACK = re.compile(
    r"(?i)\b(?:the (?:above|preceding) (?:messages|conversation|exchange|transcript|turns)\b"
    r"|(?:messages|conversation|exchange|transcript|turns) above\b|as a reminder\b"
    r"|recall (?:that )?(?:we|you) (?:are|were)\b"
    r"|earlier you (?:were|asked|said)\b|on this last run\b)"
)


def introduces(prompt: Prompt) -> bool:
    """Whether a text tells the model who it is or what its work is: it stands at the head of a conversation."""
    return any(segment.text is not None and _INTRODUCES.search(segment.text) for segment in prompt.segments)


def is_later_turn(prompt: Prompt) -> bool:
    """Whether a text speaks to what was said before: it stands in the newest turn of a conversation.

    Only where no call was seen that sends it by itself, and where it is not said to be the system text.
    """
    first = prompt.segments[0] if prompt.segments else None
    if first is None or prompt.complete or first.role in ("system", "developer"):
        return False
    if first.text is not None and _ANSWERS.search(first.text):
        return True
    return any(segment.text is not None and _LOOKS_BACK.search(segment.text) for segment in prompt.segments)
