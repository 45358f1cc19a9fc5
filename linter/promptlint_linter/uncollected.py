"""A run without the garbage collector: what is read is kept to the end, and each collection would walk all of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Memory is still freed by reference counts; trees and modules hold no cycles that come and go."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
