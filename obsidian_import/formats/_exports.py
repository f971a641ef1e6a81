"""What the account exports have in common: shards and batches are one export, of each talk the newest copy is read.

An export may come as one file, as shards or as several archives, and a person may have several exports of the same
account. Files that share a talk, or lie in the same archive or folder, are one unit of reading; an index of them
(kept in the memo) says which copy of each talk is the newest, so that one pass can give each talk once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from obsidian_import.formats import dates
from obsidian_import.formats._jsonstream import Broken, Record, Stream
from obsidian_import.model import File, Group, Memo, Problem, Skip

MAX_DAMAGES: Final = 50
MAX_MESSAGES: Final = 200_000
"""Of one talk: more was made to be in the way, not said."""
_AGAIN: Final = "Download the export again; what could be read was read."


@dataclass(frozen=True, slots=True)
class Known:
    """One object of an export, as the index knows it."""

    key: str
    """Identity; empty for what is no talk."""
    stamp: float
    """When it was last changed: seconds since the epoch, 0 where unknown."""
    name: str = ""
    """For projects: what talks that belong to one need to know."""


@dataclass(slots=True)
class Damages:
    """What was broken in one file, said in a bounded number of Problems."""

    file: File
    hint: str = _AGAIN
    count: int = 0
    read: int = 0

    def problem(self, broken: Broken) -> Problem | None:
        """The Problem for one broken piece; None where enough was said already."""
        self.count += 1
        if self.count > MAX_DAMAGES:
            return None
        of = f" (of “{broken.label}”)" if broken.label else ""
        return Problem(self.file.where, f"a piece left out: {broken.what}{of}", self.hint)

    def rest(self, *, replaced: bool) -> Iterator[Problem]:
        """What is left to say at the end of the file."""
        if self.count > MAX_DAMAGES:
            yield Problem(self.file.where, f"{self.count - MAX_DAMAGES:,} more damaged pieces", self.hint)
        if replaced:
            yield Problem(self.file.where, "bytes that are no UTF-8 were replaced by �; the talks were kept", self.hint)
        if self.count and not self.read:
            yield Problem(self.file.where, "nothing could be read of this file", self.hint, fatal=True)


def records(file: File, accept: Callable[[Record], bool]) -> Iterator[tuple[int, Record] | Problem]:
    """(ordinal, object) for every object of the file, and a Problem for what is broken. Never raises on any bytes."""
    damages = Damages(file)
    try:
        with file.open() as raw:
            stream = Stream(raw, accept)
            for one in stream:
                if isinstance(one, Broken):
                    if problem := damages.problem(one):
                        yield problem
                    continue
                yield damages.read, one
                damages.read += 1
        yield from damages.rest(replaced=stream.replaced)
    except OSError as error:
        yield Problem(
            file.where,
            f"could not be read{' to its end' if damages.read else ''}: {error.strerror or error}",
            _AGAIN,
            fatal=not damages.read,
        )


def too_many(file: File, title: str, count: int) -> Problem:
    """A talk that is none."""
    return Problem(file.where, f"a talk of {count:,} messages left out (“{line(title, 80)}”): no person had it")


def index(
    file: File, memo: Memo, kind: str, accept: Callable[[Record], bool], known: Callable[[Record], Known]
) -> list[Known]:
    """What each object of a file is, by ordinal; from the memo where the file has not changed."""
    stored = memo.get(file, kind)
    if isinstance(stored, list):
        try:
            return [Known(str(key), float(stamp), str(name)) for key, stamp, name in stored]
        except (TypeError, ValueError):
            pass
    found = [known(one[1]) for one in records(file, accept) if not isinstance(one, Problem)]
    memo.put(file, kind, [[one.key, one.stamp, one.name] for one in found])
    return found


def units(
    name: str,
    files: Sequence[File],
    indexes: Sequence[Sequence[Known]],
    *,
    assets: Sequence[File] = (),
    hint: dict[str, object] | None = None,
) -> Iterator[Group]:
    """Groups: files of one box or with a talk in common together, in order; behind them the assets of their boxes.

    `hint["exports"]` is how many of the files hold talks; `hint["again"]` lists [file, ordinal, file of the newer copy].
    """
    home = list(range(len(files)))

    def root(one: int) -> int:
        while home[one] != one:
            home[one] = home[home[one]]
            one = home[one]
        return one

    first: dict[str, int] = {}
    for position, (file, known) in enumerate(zip(files, indexes, strict=True)):
        marks = [f"box {box(file)}", *(f"key {one.key}" for one in known if one.key)]
        for mark in marks:
            other = first.setdefault(mark, position)
            low, high = sorted((root(other), root(position)))
            home[high] = low
    parts: dict[int, list[int]] = {}
    for position in range(len(files)):
        parts.setdefault(root(position), []).append(position)
    around: dict[str, list[File]] = {}
    for asset in assets:
        around.setdefault(box(asset), []).append(asset)
    for members in parts.values():
        boxes = dict.fromkeys(box(files[position]) for position in members)
        beside = [asset for one in boxes for asset in around.get(one, [])]
        yield Group(
            name,
            (*(files[position] for position in members), *beside),
            {**(hint or {}), "exports": len(members), "again": _losers([indexes[p] for p in members], members, files)},
        )


def _losers(indexes: Sequence[Sequence[Known]], members: Sequence[int], files: Sequence[File]) -> list[list[int]]:
    best: dict[str, tuple[float, float, int, int]] = {}
    for number, known in enumerate(indexes):
        for ordinal, one in enumerate(known):
            if one.key:
                rank = (one.stamp, files[members[number]].mtime or 0.0, number, ordinal)
                best[one.key] = max(best.get(one.key, rank), rank)
    lost = []
    for number, known in enumerate(indexes):
        for ordinal, one in enumerate(known):
            if one.key and best[one.key][2:] != (number, ordinal):
                lost.append([number, ordinal, best[one.key][2]])
    return lost


def again(group: Group, number: int) -> tuple[frozenset[int], Iterator[Skip]]:
    """Which ordinals of one file have a newer copy elsewhere, and the one line that says so."""
    lost: dict[int, int] = {}
    listed = group.hint.get("again")
    for entry in listed if isinstance(listed, list) else []:
        if entry[0] == number:
            lost[entry[1]] = entry[2]
    return frozenset(lost), _said(group, number, lost)


def _said(group: Group, number: int, lost: dict[int, int]) -> Iterator[Skip]:
    if not lost:
        return
    others = sorted({group.files[other].where for other in lost.values() if other != number})
    count = f"{len(lost):,} {'entries' if len(lost) > 1 else 'entry'}"
    place = f"also in {', '.join(others[:3])}{' …' if len(others) > 3 else ''}" if others else "in it more than once"
    yield Skip(group.files[number].where, f"{count} {place}: the newest copy counts")


def exports(group: Group) -> int:
    """How many of the group's files hold talks."""
    return int(str(group.hint.get("exports", len(group.files))))


def box(file: File) -> str:
    """The archive or folder that a file came in."""
    boxes: tuple[str, ...] = getattr(file, "boxes", (file.where,))
    return boxes[-1] if boxes else file.where


# ------------------------------------------------------------------ values of any shape


def text(value: object) -> str:
    """A string with LF line ends and without NULs; empty for anything else."""
    if not isinstance(value, str):
        return ""
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return value.replace("\0", "")


def line(value: object, limit: int = 160) -> str:
    """The first words of a string, on one line."""
    words = " ".join(text(value)[: 4 * limit].split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def items(value: object) -> list[Any]:
    """A list; empty for anything else."""
    return value if isinstance(value, list) else []


def record(value: object) -> dict[str, Any]:
    """An object; empty for anything else."""
    return value if isinstance(value, dict) else {}


_NUMBER: Final = re.compile(r"\s*\d{9,13}(?:\.\d+)?\s*")


def moment(value: object) -> datetime | None:
    """A time as exports have it: ISO text (aware ones as UTC, naive ones as written) or seconds since the epoch."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            try:
                when = datetime.fromisoformat(value.strip())
                return when.astimezone(UTC) if when.tzinfo else when
            except (ValueError, OverflowError):
                pass
        read = dates.parse(value)
        return read.read(day_first=False) if read else None
    if isinstance(value, int | float):
        read = dates.value(value)
        return read.read(day_first=False) if read else None
    return None


def stamp(value: datetime | None) -> float:
    """A time as a number to compare by; naive times count as UTC."""
    if value is None:
        return 0.0
    try:
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def digest(*parts: str) -> str:
    """An id for what has none, from what it says."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def first(values: Iterable[str]) -> str:
    """The first that is not empty."""
    return next((value for value in values if value), "")


_MEDIA_TYPES: Final = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "svg": "image/svg+xml", "bmp": "image/bmp", "heic": "image/heic", "avif": "image/avif", "pdf": "application/pdf",
    "txt": "text/plain", "md": "text/markdown", "csv": "text/csv", "html": "text/html", "json": "application/json",
    "wav": "audio/wav", "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "webm": "video/webm",
    "mp4": "video/mp4", "zip": "application/zip", "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}  # fmt: skip


def media_type(name: str, given: str = "") -> str:
    """The type of an upload, from what the export calls it (`txt`, `text/csv`, `pdf`) or from its name; else empty.

    A table of our own: the system's differs from machine to machine.
    """
    if "/" in given:
        return given
    return _MEDIA_TYPES.get(name.rpartition(".")[2].lower(), "") or _MEDIA_TYPES.get(given.lower(), "")


def link(title: str, url: str) -> str:
    """A Markdown link that its title cannot break."""
    for sign, safe in (("(", "%28"), (")", "%29"), ("<", "%3C"), (">", "%3E"), ("\\", "%5C")):
        url = url.replace(sign, safe)
    return f"[{title.replace('[', '(').replace(']', ')').replace(chr(92), '')}]({url})"
