"""Dates: every way of writing one that the formats use, and no silent guess."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_import.formats import dates


def _utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T10:11:12Z", _utc(2026, 3, 1, 10, 11, 12)),
        ("2026-03-01T10:11:12.123456+02:00", _utc(2026, 3, 1, 8, 11, 12, 123456)),
        ("2026-03-01 10:11:12", datetime(2026, 3, 1, 10, 11, 12)),
        ("2026-01-28 13:10:29Z", _utc(2026, 1, 28, 13, 10, 29)),
        ("2025-10-01 23:30Z", _utc(2025, 10, 1, 23, 30)),
        ("2026-06-30 15:24:48-0700", _utc(2026, 6, 30, 22, 24, 48)),
        ("2026-03-20T00-57-52+0800", _utc(2026, 3, 19, 16, 57, 52)),
        ("2025-04-24 13:10:01", datetime(2025, 4, 24, 13, 10, 1)),
        ("13/3/2026, 8:11:06 PM", datetime(2026, 3, 13, 20, 11, 6)),
        ("3/13/2026, 12:36:46 AM", datetime(2026, 3, 13, 0, 36, 46)),
        ("7/7/2025 at 19:03:40 PDT", _utc(2025, 7, 8, 2, 3, 40)),
        ("11.8.2025, 23:03:39", datetime(2025, 8, 11, 23, 3, 39)),
        ("March 11, 2025 at 8:11 PM", datetime(2025, 3, 11, 20, 11)),
        ("11 March 2025", datetime(2025, 3, 11)),
        ("Feb 2, 2026, 7:24:02\u202fAM UTC", _utc(2026, 2, 2, 7, 24, 2)),
        ("1700000000", _utc(2023, 11, 14, 22, 13, 20)),
        ("1700000000000", _utc(2023, 11, 14, 22, 13, 20)),
    ],
)
def test_read(text: str, expected: datetime) -> None:
    when = dates.parse(text)
    assert when is not None
    assert not when.two_ways
    assert when.read(day_first=True) == when.read(day_first=False) == expected


@pytest.mark.parametrize(
    "text", ["", "no date", "2026-13-45", "99/99/2026", "1.2.3", "version 2.1.119", "12345", "0000-00-00", "2026-02-30"]
)
def test_no_date(text: str) -> None:
    assert dates.parse(text) is None


@pytest.mark.parametrize(
    ("others", "name", "mtime", "day_first", "by"),
    [
        ([], "2026-04-03 chat.md", None, True, "name"),
        ([], "2026-03-04 chat.md", None, False, "name"),
        (["13/4/2026"], "2026-03-04 chat.md", None, True, "dates"),
        (["4/13/2026"], "x.md", None, False, "dates"),
        ([], "x.md", _utc(2026, 3, 20).timestamp(), False, "mtime"),
        ([], "x.md", _utc(2026, 12, 1).timestamp(), True, "mtime"),
        ([], "x.md", None, False, "nothing"),
    ],
)
def test_two_ways_are_settled_and_said(
    others: list[str], name: str, mtime: float | None, day_first: bool, by: str
) -> None:
    found = [dates.parse(text) for text in ["3/4/2026", *others]]
    assert found[0] is not None
    assert found[0].two_ways
    settled = dates.order([one for one in found if one], name, mtime)
    assert (settled.day_first, settled.by) == (day_first, by)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/2026-03-20-slug.txt", date(2026, 3, 20)),
        ("chat 20260320.md", date(2026, 3, 20)),
        ("2026-13-20.md", None),
        ("x-1234567890123.md", None),
        ("v2026.md", None),
    ],
)
def test_in_name(name: str, expected: date | None) -> None:
    assert dates.in_name(name) == expected


@given(
    st.text(max_size=60) | st.from_regex(r"[0-9/.:\-T ]{0,40}", fullmatch=True), st.floats() | st.integers() | st.none()
)
def test_never_raises(text: str, number: float | None) -> None:
    dates.parse(text)
    dates.only_date(text)
    dates.in_name(text)
    dates.value(number)
    dates.from_mtime(float(number) if isinstance(number, float) else None)
    when = dates.parse(text)
    if when is not None:
        dates.order([when], text, 0.0)


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2090, 1, 1)))
def test_iso_round_trip(moment: datetime) -> None:
    when = dates.parse(moment.isoformat())
    assert when is not None
    assert when.read(day_first=False) == moment
