"""How many random examples a property is tried on: few and always the same ones, or many new ones.

The test suite must say the same thing twice, so it draws from a fixed seed. `make test-explore` looks for what nobody
thought of: many times as many examples, new ones each time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("PROMPTLINT_TEST_EXPLORE") or 0)
"""Explore with so many times as many examples; 0: the fixed ones."""


def load_profile() -> None:
    """Make the chosen way the default of every property in the run."""
    settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
    settings.register_profile(
        "explore",
        max_examples=100 * TIMES or 1,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("explore" if TIMES else "fixed")


def examples(count: int) -> settings:
    """Try a property on `count` examples instead of 100 (slow ones), or on so many times as many when exploring."""
    return settings(max_examples=count * (TIMES or 1))
