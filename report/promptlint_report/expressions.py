"""Ibis and its expressions as type checkers shall see them.

Ibis ships no type information, and what a checker guesses from its source is wrong: columns have operators that only
exist at run time. So all of it is Any here; the names say what a value is.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

Table = Any
Value = Any
BooleanValue = Any
IntegerValue = Any
IntegerScalar = Any
NumericValue = Any
TimestampValue = Any


def load_ibis() -> Any:
    """The module `ibis`; takes half a second the first time, so nothing loads it before a report is asked for."""
    return import_module("ibis")
