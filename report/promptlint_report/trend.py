"""Trend and change point of a short daily series. Pure arithmetic; days without enough samples are left out before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

MIN_DAYS = 4
"""Days with enough requests that a trend or a change needs."""


@dataclass(frozen=True, slots=True)
class Change:
    """The day from which on a series stands at another level."""

    day: int
    before: float
    after: float

    @property
    def share(self) -> float:
        """Change against the level before."""
        return (self.after - self.before) / self.before if self.before else 0.0


def slope_a_day(points: Sequence[tuple[int, float]]) -> float | None:
    """The median slope between all pairs of days (Theil 1950, Sen 1968): one odd day does not bend it.

    None with fewer than `MIN_DAYS` days.

    >>> slope_a_day([(0, 10.0), (1, 12.0), (2, 14.0), (3, 99.0), (4, 18.0)])
    2.0
    """
    if len(points) < MIN_DAYS:
        return None
    slopes = [
        (later - value) / (end - day) for index, (day, value) in enumerate(points) for end, later in points[index + 1 :]
    ]
    return median(slopes)


def change_point(points: Sequence[tuple[int, float]], least_share: float = 0.05) -> Change | None:
    """The split that explains a series best, when it explains it well: None for noise, and for steady growth.

    Least squares over all splits into two levels. A split counts when the step is at least `least_share` of the level
    before it and at least four times the spread that is left within both levels, and when a straight line does not
    explain the series as well.

    >>> change_point([(0, 10.0), (1, 10.2), (2, 9.9), (3, 15.0), (4, 15.1), (5, 14.9)])
    Change(day=3, before=10.033333333333333, after=15.0)
    >>> change_point([(0, 10.0), (1, 10.2), (2, 9.9), (3, 10.1)]) is None
    True
    """
    if len(points) < MIN_DAYS:
        return None
    values = [value for _, value in points]
    best: tuple[float, int] | None = None
    for cut in range(1, len(values)):
        error = _squares(values[:cut]) + _squares(values[cut:])
        if best is None or error < best[0]:
            best = (error, cut)
    assert best is not None
    error, cut = best
    before, after = sum(values[:cut]) / cut, sum(values[cut:]) / (len(values) - cut)
    spread = (error / max(1, len(values) - 2)) ** 0.5
    step = abs(after - before)
    if step < least_share * abs(before) or step < 4 * spread or _line_error(points) <= error:
        return None
    return Change(points[cut][0], before, after)


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def _line_error(points: Sequence[tuple[int, float]]) -> float:
    mean_day = sum(day for day, _ in points) / len(points)
    mean_value = sum(value for _, value in points) / len(points)
    spread = sum((day - mean_day) ** 2 for day, _ in points)
    slope = sum((day - mean_day) * (value - mean_value) for day, value in points) / spread if spread else 0.0
    return sum((value - mean_value - slope * (day - mean_day)) ** 2 for day, value in points)
