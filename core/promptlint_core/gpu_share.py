"""How much of a GPU an engine may take: where the share turns into a fault."""

from __future__ import annotations

HIGHEST_SAFE_UTILIZATION = 0.97
"""At and above it the peak of a large batch finds no memory."""
LOWEST_USEFUL_UTILIZATION = 0.70
"""At and below it a dedicated GPU gives away room for the KV cache."""


def utilization_warning(utilization: float) -> str | None:
    """What is wrong with a gpu_memory_utilization at either end; None between them."""
    if utilization >= HIGHEST_SAFE_UTILIZATION:
        return f"{utilization:g} leaves no room above the profiled peak: out of memory under load"
    if utilization <= LOWEST_USEFUL_UTILIZATION:
        return f"{utilization:g} leaves {1 - utilization:.0%} of a dedicated GPU unused that the KV cache could have"
    return None
