"""Google Takeout, "My Activity", Gemini Apps: `MyActivity.json`, and as far as it goes `MyActivity.html`.

The export is a flat list of prompts, newest first, mostly without a conversation id. Where an entry names its chat
(`…gemini.google.com/app/<id>`), the entries of one chat are one talk; all others of one day (UTC) are one talk: a note
for each prompt would be thousands. Read twice, entry by entry: first who belongs together, then talk by talk.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import ijson

from obsidian_import.formats import dates
from obsidian_import.formats.htmlmd import to_markdown
from obsidian_import.formats.naming import one_line, prompt_title
from obsidian_import.model import Aside, Block, Conversation, File, Found, Group, Media, Memo, Problem, Skip, Text, Turn

NAME: Final = "gemini"
MAX_HTML: Final = 128 * 1024 * 1024
"""Bytes of a MyActivity.html that we are ready to hold; the JSON variant has no limit."""

_HEADER: Final = re.compile(rb'"(?:header|products)"\s*:\s*\[?\s*"[^"\n]{0,40}(?:Gemini|Bard)')
_CHAT: Final = re.compile(r"https://gemini\.google\.com/(?:u/\d/)?(?:app|gem/[\w-]+)/([0-9a-f]{8,32})")
_PROMPTED: Final = re.compile(r"(?:Prompted|Asked Gemini|Asked|Said|Branched|Answered)[:\s\u00a0]+", re.IGNORECASE)
_OTHER: Final = re.compile(
    r"(?:Created|Used|Gave|Added|Selected|Visited|Viewed|Removed|Deleted|Shared|Turned|Changed)\b"
)
_CELL: Final = re.compile(r'<div class="[^"]{0,300}outer-cell')
_BODY: Final = re.compile(
    r'<div class="[^"]{0,300}content-cell[^"]{0,300}mdl-typography--body-1[^"]{0,300}">(.*?)</div>\s{0,20}<div class="[^"]{0,300}content-cell',
    re.DOTALL,
)
_BREAK: Final = re.compile(r"<br\s*/?>")
_JSON_HINT: Final = "In Google Takeout choose My Activity → Gemini Apps and, under “multiple formats”, JSON."


def claims(file: File) -> bool:
    """By the first bytes: a list of activity of Gemini (or Bard), or Takeout's HTML page of it. May raise OSError."""
    head = file.head()
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"["):
        return b'"time"' in head and bool(_HEADER.search(head[:16384]))
    if start[:200].lower().startswith((b"<html", b"<!doctype html")) and b"mdl-" in head:
        return _is_activity_page(file.head(1 << 20))
    return False


def _is_activity_page(head: bytes) -> bool:
    return b"outer-cell" in head and re.search(rb"mdl-typography--title\">[^<]{0,40}(?:Gemini|Bard)", head) is not None


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:  # noqa: ARG001 -- the common signature
    """Each file by itself."""
    for file in files:
        yield Group(NAME, (file,))


@dataclass(slots=True)
class _Entry:
    at: datetime | None
    stamp: str
    chat: str
    prompt: str
    answers: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def key(self) -> str:
        if self.chat:
            return self.chat
        return f"{self.at:%Y-%m-%d}" if self.at else "undated"


@dataclass(slots=True)
class _Source:
    """One export, to be read as often as needed; `problems` and `other` are of the last reading."""

    file: File
    problems: list[Problem]
    other: Counter[str]

    def entries(self) -> Iterator[_Entry]:
        self.problems, self.other = [], Counter()
        try:
            if self.file.head(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
                yield from self._json()
            else:
                yield from self._html()
        except OSError as error:
            self.problems.append(Problem(self.file.where, f"could not be read: {error.strerror or error}", fatal=True))

    def _json(self) -> Iterator[_Entry]:
        with self.file.open() as stream:
            if self.file.head(3) == b"\xef\xbb\xbf":
                stream.read(3)
            count = 0
            try:
                for raw in ijson.items(stream, "item", use_float=True):
                    count += 1
                    entry = _entry(raw) if isinstance(raw, dict) else None
                    if entry is not None:
                        yield entry
                    else:
                        self.other[_verb(raw)] += 1
            except (ijson.JSONError, ValueError, OverflowError, RecursionError) as error:
                what = f"broken JSON after {count:,} entries: {' '.join(str(error).split())[:120]}"
                self.problems.append(Problem(self.file.where, what, "Download the export again.", fatal=not count))

    def _html(self) -> Iterator[_Entry]:
        if self.file.size > MAX_HTML:
            self.problems.append(
                Problem(self.file.where, f"an HTML page of {self.file.size:,} bytes", _JSON_HINT, fatal=True)
            )
            return
        with self.file.open() as stream:
            text = stream.read(MAX_HTML).decode("utf-8", "replace")
        starts = [found.start() for found in _CELL.finditer(text)]
        undated = 0
        for start, end in pairwise([*starts, len(text)]):
            found = _BODY.search(text, start, end)
            parts = _BREAK.split(found[1]) if found else []
            at = next((i for i, part in enumerate(parts[:400]) if i and _page_date(part)), None)
            if at is None:
                undated += 1
                continue
            asked = to_markdown("<br>".join(parts[:at])).strip()
            answer = to_markdown("<br>".join(parts[at + 1 :]))
            prompt = _PROMPTED.match(asked)
            if not prompt and (not answer or _OTHER.match(asked)):
                self.other[asked.split(maxsplit=1)[0] if asked else "empty"] += 1
                continue
            moment = _page_date(parts[at])
            chat = _CHAT.search(text, start, end)
            yield _Entry(
                moment,
                moment.isoformat() if moment else "",
                chat[1] if chat else "",
                asked[prompt.end() :] if prompt else asked,
                (answer,) if answer else (),
                (),
            )
        if undated:
            what = f"{undated:,} of {len(starts):,} entries of the page could not be understood (its dates are in a language we cannot read?)"
            self.problems.append(Problem(self.file.where, what, _JSON_HINT, fatal=undated == len(starts)))


def read(group: Group) -> Iterator[Found]:
    """The talks of one export, in its own order."""
    source = _Source(group.files[0], [], Counter())
    left: Counter[str] = Counter(entry.key for entry in source.entries())
    yield from source.problems
    if source.other:
        kinds = ", ".join(f"{count} × {verb}" for verb, count in sorted(source.other.items())[:8])
        yield Skip(source.file.where, f"{source.other.total():,} × activity that is no prompt ({kinds})")
    if not left:
        if not source.problems:
            yield Skip(source.file.where, "no prompt in it")
        return
    waiting: dict[str, list[_Entry]] = {}
    for entry in source.entries():
        key = entry.key
        waiting.setdefault(key, []).append(entry)
        left[key] -= 1
        if left[key] <= 0:
            yield _talk(key, waiting.pop(key), source.file)
    for key, entries in waiting.items():  # the file became shorter between the two readings
        yield _talk(key, entries, source.file)


def _talk(key: str, entries: list[_Entry], file: File) -> Conversation:
    # Newest first in the file; two of one instant keep the file's order turned round.
    entries = [entry for _, entry in sorted(enumerate(entries), key=lambda item: (item[1].stamp, -item[0]))]
    turns: list[Turn] = []
    seen: Counter[str] = Counter()
    for entry in entries:
        turn_id = entry.stamp or hashlib.sha256(entry.prompt.encode("utf-8", "replace")).hexdigest()[:12]
        seen[turn_id] += 1
        if seen[turn_id] > 1:
            turn_id = f"{turn_id}.{seen[turn_id]}"
        asked: list[Block] = [Text(entry.prompt)] if entry.prompt.strip() else []
        asked += [Media(name, _media_type(name), why="not in the export") for name in entry.files]
        if asked:
            turns.append(Turn(f"{turn_id}:u", "user", tuple(asked), entry.at))
        if entry.answers:
            others = tuple(
                Aside("branch", f"Another answer ({n})", text=text) for n, text in enumerate(entry.answers[1:], 2)
            )
            turns.append(Turn(f"{turn_id}:a", "assistant", (Text(entry.answers[0]), *others), entry.at))
    chat = bool(entries and entries[0].chat)
    # The day's first prompt stays the first one, however many more the next export holds.
    title = prompt_title(turns)
    times = [entry.at for entry in entries if entry.at]
    return Conversation(
        key=f"{NAME}:{key}",
        source=NAME,
        session_id=key if chat else "",
        title=one_line(title or f"Gemini {key}"),
        turns=tuple(turns),
        assistant="Gemini",
        origin="web",
        created=times[0] if times else dates.from_mtime(file.mtime),
        updated=times[-1] if times else None,
        files=(file.where,),
    )


def _entry(raw: dict[str, Any]) -> _Entry | None:
    """An activity as a prompt with its answers, or None where it is none (feedback, a canvas, a setting)."""
    title = raw.get("title")
    title = title if isinstance(title, str) else ""
    text = raw.get("text")
    asked = _PROMPTED.match(title)
    answers = tuple(
        answer
        for one in _list(raw.get("safeHtmlItem"))
        if isinstance(one, dict) and isinstance(one.get("html"), str) and (answer := to_markdown(one["html"]))
    )
    if not asked and (_OTHER.match(title) or not (answers or isinstance(text, str))):
        return None
    prompt = text if isinstance(text, str) and text else title[asked.end() :] if asked else title
    stamp = raw.get("time")
    stamp = stamp if isinstance(stamp, str) else ""
    when = dates.parse(stamp)
    return _Entry(_aware(when), stamp, _chat(raw), _clean(prompt), tuple(dict.fromkeys(answers)), _attached(raw))


def _aware(when: dates.When | None) -> datetime | None:
    return when.read(day_first=False) if when else None


def _chat(raw: dict[str, Any]) -> str:
    places = [raw.get("titleUrl"), *(one.get("url") for one in _list(raw.get("details")) if isinstance(one, dict))]
    for place in places:
        found = _CHAT.search(place) if isinstance(place, str) else None
        if found:
            return found[1]
    return ""


def _attached(raw: dict[str, Any]) -> tuple[str, ...]:
    names: list[str] = []
    for key in ("attachedFiles", "imageFile"):
        value = raw.get(key)
        for one in value if isinstance(value, list) else [value]:
            name = one.get("name") or one.get("url") if isinstance(one, dict) else one
            if isinstance(name, str) and name:
                names.append(name)
    return tuple(dict.fromkeys(names))


def _page_date(part: str) -> datetime | None:
    """A segment of a page that is nothing but a date."""
    if len(part) > 80 or "<" in part:
        return None
    bare = part.replace("\u202f", " ").replace("\u00a0", " ").replace("&nbsp;", " ").strip()
    when = dates.only_date(bare)
    return when.read(day_first=False) if when and not when.two_ways else None


def _media_type(name: str) -> str:
    suffix = name.rpartition(".")[2].lower()
    return {
        "png": "image/png",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "webp": "image/webp",
        "gif": "image/gif",
        "pdf": "application/pdf",
    }.get(suffix, "application/octet-stream")


def _verb(raw: object) -> str:
    title = raw.get("title") if isinstance(raw, dict) else None
    return title.split(maxsplit=1)[0][:20] if isinstance(title, str) and title.strip() else "no title"


def _clean(text: str) -> str:
    """A prompt as a person wrote it, without control characters that JSON may carry."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "", text.replace("\r\n", "\n")).strip()


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
