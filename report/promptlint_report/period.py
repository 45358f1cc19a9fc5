"""The weeks a report looks at, in a time zone, with clock changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from promptlint_core.errors import PromptlintError

WEEKS_BEFORE = 3
"""Weeks ahead of the reported one that trends and anomalies compare with."""

_WEEK = re.compile(r"(\d{4})-?W(\d{1,2})")
_EPOCH = date(1970, 1, 1)
FIRST_YEAR, LAST_YEAR = 1971, 9990
"""Outside of them the weeks around a week have no date."""


@dataclass(frozen=True, slots=True)
class Period:
    """An ISO week from Monday to Monday, midnight to midnight of its time zone."""

    year: int
    week: int
    timezone: ZoneInfo

    @property
    def name(self) -> str:
        return f"{self.year}-W{self.week:02d}"

    @property
    def monday(self) -> date:
        return date.fromisocalendar(self.year, self.week, 1)

    @property
    def start(self) -> datetime:
        return self._midnight(self.monday)

    @property
    def end(self) -> datetime:
        return self._midnight(self.monday + timedelta(days=7))

    @property
    def history_start(self) -> datetime:
        return self._midnight(self.monday - timedelta(days=7 * WEEKS_BEFORE))

    def bounds(self, week: int) -> tuple[datetime, datetime]:
        """Start and end of the week `week` weeks from this one: 0 this one, -1 the one before."""
        monday = self.monday + timedelta(days=7 * week)
        return self._midnight(monday), self._midnight(monday + timedelta(days=7))

    @property
    def first_day(self) -> int:
        """The Monday as days since 1970-01-01 of the local calendar."""
        return (self.monday - _EPOCH).days

    def offsets(self) -> list[tuple[int, int]]:
        """The zone's distance to UTC over history and week: (until, offset), both in seconds, in order.

        A local day is `(seconds since 1970 UTC + offset) // 86400`, also in weeks with a clock change.
        """
        start, end = int(self.history_start.timestamp()), int(self.end.timestamp())
        pieces: list[tuple[int, int]] = []
        moment, offset = start, self._offset_s(start)
        while moment < end:
            ahead = min(moment + 3600, end)
            if self._offset_s(ahead) != offset:
                change = self._change_between(moment, ahead)
                pieces.append((change, offset))
                offset = self._offset_s(ahead)
            moment = ahead
        return [*pieces, (end, offset)]

    def date_of(self, day: int) -> date:
        """The date of a local day number."""
        return _EPOCH + timedelta(days=day)

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.timezone)

    def _offset_s(self, moment_s: int) -> int:
        offset = datetime.fromtimestamp(moment_s, self.timezone).utcoffset()
        return int(offset.total_seconds()) if offset is not None else 0

    def _change_between(self, low: int, high: int) -> int:
        before = self._offset_s(low)
        while high - low > 1:
            middle = (low + high) // 2
            if self._offset_s(middle) == before:
                low = middle
            else:
                high = middle
        return high


def zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name.

    Raises PromptlintError for a name that is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, IsADirectoryError, PermissionError) as error:
        raise PromptlintError(f"--timezone {name!r} is no time zone; use a name like Europe/Rome or UTC") from error


def find_period(text: str | None, timezone: ZoneInfo, now: datetime) -> Period:
    """The week that a user names: `2026-W48`, `last` (the default), `this`, or a date of it as `2026-11-25`.

    Raises PromptlintError for a text that names no week.
    """
    period = _find_period(text, timezone, now)
    if not FIRST_YEAR <= period.year <= LAST_YEAR:
        raise PromptlintError(f"--week {text}: the year is none from {FIRST_YEAR} to {LAST_YEAR}")
    return period


def _find_period(text: str | None, timezone: ZoneInfo, now: datetime) -> Period:
    today = now.astimezone(timezone).date()
    if text in {None, "last"}:
        return _week_of(today - timedelta(days=7), timezone)
    if text == "this":
        return _week_of(today, timezone)
    assert text is not None
    if match := _WEEK.fullmatch(text):
        year, week = int(match[1]), int(match[2])
        try:
            date.fromisocalendar(year, week, 1)
        except ValueError as error:
            raise PromptlintError(f"--week {text}: the year {year} has no week {week}") from error
        return Period(year, week, timezone)
    try:
        return _week_of(date.fromisoformat(text), timezone)
    except ValueError as error:
        raise PromptlintError(
            f"--week {text!r} is no week: write it as 2026-W48, last, this or a date of it"
        ) from error


def elapsed_share(period: Period, now: datetime) -> float:
    """How much of the week is over at a moment, 0 to 1."""
    whole_s = (period.end.astimezone(UTC) - period.start.astimezone(UTC)).total_seconds()
    past_s = (now.astimezone(UTC) - period.start.astimezone(UTC)).total_seconds()
    return min(1.0, max(0.0, past_s / whole_s))


def _week_of(day: date, timezone: ZoneInfo) -> Period:
    year, week, _ = day.isocalendar()
    return Period(year, week, timezone)
