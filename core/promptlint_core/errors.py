"""The one exception that a user can repair."""

from __future__ import annotations


class PromptlintError(Exception):
    """A sentence that says what is wrong and what to do about it; the command ends with exit status 2."""
