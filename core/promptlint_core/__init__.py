"""The words and laws of promptlint: prompts, cadences, exchanges, tokens, prefix caches, KV memory.

Nothing in here reads a file of the user, opens a connection or knows a parser: pure functions on frozen data.
"""

__version__ = "0.1.0"
