"""Dates as tools and people write them → datetimes, and no guess where one can be read two ways.

Aware (UTC) where the text has a zone, naive where it has none. `3/4/2026` is March in one country and April in
another: `parse` then gives both readings and `Order` settles them, from the other dates, the file name or its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final, Literal

DayFirst = bool
"""True: D/M/Y, False: M/D/Y."""

_MONTHS: Final = {name: i for i, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}  # noqa: SIM905 -- a table
_ZONES: Final = {
    "z": 0,
    "utc": 0,
    "gmt": 0,
    "pst": -8,
    "pdt": -7,
    "mst": -7,
    "mdt": -6,
    "cst": -6,
    "cdt": -5,
    "est": -5,
    "edt": -4,
    "cet": 1,
    "cest": 2,
    "jst": 9,
}
_CLOCK: Final = (
    r"(?:(?:,|T|_|[ \u00a0\u202f]+at\b|,?[ \u00a0\u202f]+um\b)?[ \u00a0\u202f]*"
    r"(?P<h>\d{1,2})[:\-.](?P<mi>\d{2})(?:[:\-.](?P<s>\d{2}))?(?:[.,](?P<f>\d{1,9}))?"
    r"(?:[ \u00a0\u202f]*(?P<ap>[AaPp])\.?[Mm]\.?)?"
    r"(?:[ ]*(?P<z>Z\b|[+-]\d{2}:?\d{2}\b|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|[PMCE][SD]T\b|CES?T\b|JST\b))?)?"
)
_ISO: Final = re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)" + _CLOCK)
_SLASH: Final = re.compile(r"(?<![\d/])(?P<a>\d{1,2})(?P<sep>[/.\-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)" + _CLOCK)
_DAY_MONTH: Final = re.compile(
    r"(?<!\d)(?P<d>\d{1,2})\.?[ -](?P<mon>[A-Za-z]{3})[a-z]*\.?,?[ -](?P<y>\d{4})(?!\d)" + _CLOCK
)
_MONTH_DAY: Final = re.compile(
    r"\b(?P<mon>[A-Za-z]{3})[a-z]*\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>\d{4})(?!\d)" + _CLOCK
)
_UNIX: Final = re.compile(
    r"\b(?P<mon>[A-Za-z]{3}) +(?P<d>\d{1,2}) (?P<h>\d{2}):(?P<mi>\d{2}):(?P<s>\d{2})(?: [A-Z]{3,4})? (?P<y>\d{4})\b",
)
_EPOCH: Final = re.compile(r"\d{9,10}(?:\.\d+)?|\d{13}")
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class When:
    """One date as written. `day_first` and `month_first` differ where it can be read two ways."""

    month_first: datetime | None
    day_first: datetime | None

    @property
    def two_ways(self) -> bool:
        """Whether both readings are possible and differ."""
        return self.month_first is not None and self.day_first is not None and self.month_first != self.day_first

    def read(self, day_first: DayFirst) -> datetime | None:
        """The date, with the given order where it matters."""
        first, second = (self.day_first, self.month_first) if day_first else (self.month_first, self.day_first)
        return first if first is not None else second


@lru_cache(maxsize=4096)
def parse(text: str) -> When | None:
    """The first date in `text`, or None. Never raises."""
    text = text[:_LONGEST]
    for pattern in (_ISO, _SLASH, _DAY_MONTH, _MONTH_DAY, _UNIX):
        for found in pattern.finditer(text):
            when = _when(found)
            if when is not None:
                return when
    if _EPOCH.fullmatch(text.strip()):
        return _epoch(float(text.strip()))
    return None


def value(raw: object) -> When | None:
    """A date as a YAML or JSON value: text, a date, a datetime, seconds or milliseconds since the epoch."""
    if isinstance(raw, datetime):
        moment = raw.astimezone(UTC) if raw.tzinfo else raw
        return When(moment, moment)
    if isinstance(raw, date):
        moment = datetime(raw.year, raw.month, raw.day)  # noqa: DTZ001 -- no zone was written
        return When(moment, moment)
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float):
        return _epoch(float(raw)) if 1e8 < raw < 1e14 else None
    if isinstance(raw, str):
        return parse(raw)
    return None


def only_date(line: str) -> When | None:
    """The date of a line that holds nothing else (marks of emphasis and quotes aside)."""
    bare = line.strip().strip("*_>[]() `")
    if not 8 <= len(bare) <= 60 or not any(c.isdigit() for c in bare):
        return None
    bare = re.sub(r"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? ", "", bare)
    for pattern in (_ISO, _SLASH, _DAY_MONTH, _MONTH_DAY, _UNIX):
        found = pattern.fullmatch(bare)
        if found:
            return _when(found)
    return None


def in_name(name: str) -> date | None:
    """The day a file name carries (`2026-03-20-slug.txt`, `chat 20260320.md`), if any."""
    last = name.rpartition("/")[2]
    found = re.search(r"(?<!\d)(20\d\d|19\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)", last)
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def from_mtime(mtime: float | None) -> datetime | None:
    """A file's time as an aware datetime."""
    if mtime is None:
        return None
    try:
        return datetime.fromtimestamp(int(mtime), UTC)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class Order:
    """Whether D/M or M/D holds in one file, and what settled it."""

    day_first: DayFirst
    by: Literal["", "dates", "name", "mtime", "nothing"]
    """Empty: no date in the file can be read two ways."""


def order(dates: Iterable[When], name: str, mtime: float | None) -> Order:
    """One order for a whole file: from a date that fits only one way, else the file name's date, else the file's time."""
    doubtful: When | None = None
    for one in dates:
        if one.two_ways:
            doubtful = doubtful or one
        elif one.month_first is None and one.day_first is not None:
            return Order(day_first=True, by="dates")
        elif one.day_first is None and one.month_first is not None:
            return Order(day_first=False, by="dates")
    if doubtful is None:
        return Order(day_first=False, by="")
    month, day = doubtful.month_first, doubtful.day_first
    assert month is not None
    assert day is not None
    named = in_name(name)
    if named is not None and (day.date() == named) != (month.date() == named):
        return Order(day_first=day.date() == named, by="name")
    for reference, by in ((named, "name"), (from_mtime(mtime), "mtime")):
        if reference is None:
            continue
        last = (reference.date() if isinstance(reference, datetime) else reference) + timedelta(days=1)
        early = [one for one in (day, month) if one.date() <= last]
        # A talk is not younger than its file; of two that are not, the nearer one.
        best = max(early or [min(day, month)], key=lambda one: one.date())
        return Order(day_first=best == day, by="name" if by == "name" else "mtime")
    return Order(day_first=False, by="nothing")


def _epoch(seconds: float) -> When | None:
    try:
        moment = datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return When(moment, moment)


def _when(found: re.Match[str]) -> When | None:
    parts = found.groupdict()
    if "mon" in parts:
        month = _MONTHS.get(str(parts["mon"]).lower())
        made = _make(parts, int(parts["y"]), month, int(parts["d"])) if month else None
        return When(made, made) if made else None
    if "a" in parts:
        first, second, year = int(parts["a"]), int(parts["b"]), int(parts["y"])
        by_month, by_day = _make(parts, year, first, second), _make(parts, year, second, first)
        if parts["sep"] == ".":  # D.M.Y is the only order written with dots
            by_month = by_day
        return When(by_month, by_day) if by_month or by_day else None
    made = _make(parts, int(parts["y"]), int(parts["m"]), int(parts["d"]))
    return When(made, made) if made else None


def _make(parts: dict[str, str | None], year: int, month: int, day: int) -> datetime | None:
    hour, minute, second = int(parts.get("h") or 0), int(parts.get("mi") or 0), int(parts.get("s") or 0)
    half = (parts.get("ap") or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    micro = int((parts.get("f") or "0")[:6].ljust(6, "0"))
    try:
        made = datetime(year, month, day, hour, minute, second, micro)  # noqa: DTZ001 -- the zone comes next, if any
        zone = _zone(parts.get("z"))
        return made.replace(tzinfo=zone).astimezone(UTC) if zone else made
    except (ValueError, OverflowError):
        return None


def _zone(text: str | None) -> timezone | None:
    if not text:
        return None
    text = text.lower()
    if text in _ZONES:
        return timezone(timedelta(hours=_ZONES[text]))
    found = re.fullmatch(r"(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?", text)
    if not found:
        return None
    delta = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return timezone(-delta if found[1] == "-" else delta)
