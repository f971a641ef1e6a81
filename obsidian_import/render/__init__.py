"""RENDER: a talk and its tags become notes: redacted, inert, safe to index. Values in, values out.

Per text the order is fixed: terminal codes out, secrets out, dialect, made inert, long lines broken. The redactor meets
the title first, then the turns in their order, so its marks are numbered the same on every machine. A talk longer than
a note may be goes on in linked parts, filled from the start: growth changes the last parts and the first one's properties.
`docs/note.md` shows the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice

from obsidian_import import inert, paths, properties, tags
from obsidian_import.model import Aside, Conversation, Text
from obsidian_import.render.messages import PART_BYTES, Asset, Detail, Message, Redactor, Rendering, Writer
from obsidian_import.render.note_text import PROSE_LINE, callout, one_line, pieces, sane, width

__all__ = ["PART_BYTES", "Asset", "Detail", "Note", "Redactor", "Rendered", "Rendering", "render", "safe_title", "said"]


@dataclass(frozen=True, slots=True)
class Note:
    """One file to be: `folder`/`stem` is where it would like to be, the planner says where it will."""

    folder: str
    stem: str
    properties: Mapping[str, object]
    body: str
    """Without the links to other parts; ends with one line break."""
    key: str
    title: str
    part: int = 1
    parts: int = 1
    created: datetime | None = None
    """Local, naive."""

    def text(self, places: Sequence[str] = ()) -> str:
        """The whole file. `places` are the final paths of all parts, in order; a talk of one part needs none."""
        nav = self._neighbours(places)
        body = f"{nav}\n\n{self.body}\n{nav}\n" if nav else self.body
        return f"{_block(self.properties)}\n{body}" if body else _block(self.properties)

    def _neighbours(self, places: Sequence[str]) -> str:
        if self.parts < 2:
            return ""
        links = []
        for number, word in ((self.part - 1, "before"), (self.part + 1, "after")):
            if 1 <= number <= self.parts:
                here = f"{self.folder}/{paths.part_stem(self.stem_of_talk, number)}"
                place = places[number - 1] if number <= len(places) else here
                links.append(f"{word}: [[{place.removesuffix('.md')}|Part {number}]]")
        return f"> [!part]- Part {self.part} of this talk · {' · '.join(links)}"

    @property
    def stem_of_talk(self) -> str:
        """The stem of the first part."""
        return re.sub(r" \(part \d+\)\Z", "", self.stem) if self.part > 1 else self.stem


@dataclass(frozen=True, slots=True)
class Rendered:
    """All that one talk becomes."""

    notes: tuple[Note, ...]
    assets: tuple[Asset, ...] = ()
    inert: Mapping[str, int] = field(default_factory=dict)
    """How many places were made harmless, by kind."""
    shown: int = 0
    """Messages with a heading."""

    def texts(self, places: Sequence[str] = ()) -> list[str]:
        """Each note's file text, given the final paths of all of them."""
        return [note.text(places) for note in self.notes]


_HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Turns the direction of writing or hides words; only an id can bring them here."""


def _block(values: Mapping[str, object]) -> str:
    """The property block. `[[`, `<%` and hidden signs can only stand in quoted strings: written so that nothing acts."""
    text = properties.emit(values)
    while "[[" in text:
        text = text.replace("[[", "[\\u005b")
    return _HIDDEN.sub(lambda hit: f"\\U{ord(hit[0]):08x}", text.replace("<%", "<\\u0025"))


def said(talk: Conversation) -> Iterator[str]:
    """What people and the assistant said, in order: no tools, no asides."""
    if talk.body is not None:
        yield talk.body
    for turn in talk.turns:
        for block in turn.blocks:
            if isinstance(block, Text):
                yield block.text


def render(
    talk: Conversation,
    tagged: Mapping[str, str],
    settings: Rendering,
    redactor: Redactor,
    options: inert.Options,
) -> Rendered:
    """The notes of a talk. Never raises for any text, title or block; the same input gives the same bytes."""
    writer = Writer(talk, settings, redactor, options)
    title = safe_title(talk, redactor) or "Untitled"
    project = redactor.redact(one_line(talk.project))
    head = _head(talk, tagged, writer, title, project)
    body = writer.body(talk.body) if talk.body is not None else ""
    messages = [Message("", "", body, None)] if body else []
    messages += writer.messages()
    rest = writer.asides()
    if rest:
        messages.append(Message("", "", rest, None))
    full_title = writer.line(title)
    if len(full_title) > PROSE_LINE:
        messages.insert(0, Message("", "", callout("client", "Full title", writer.wrapped_line(full_title)), None))

    created = head.get("created")
    day = date.fromisoformat(str(created)[:10]) if created else None
    stem = paths.stem(day, title)
    folder = paths.chat_folder(settings.chats, talk.origin or "web", project)
    parts = _parts(messages, settings.part_bytes)
    notes = []
    for number, part in enumerate(parts, 1):
        values = dict(head)
        if number > 1:
            values.pop("messages", None)  # of the whole talk: stands in its first part
            times = [message.at for message in part if message.at is not None]
            if times:
                values["updated"] = writer.stamp(max(times, key=writer.local))
        if len(parts) > 1:
            values = _with_part(values, number)
        notes.append(
            Note(
                folder=folder,
                stem=paths.part_stem(stem, number),
                properties=values,
                body="\n\n".join(message.text for message in part) + "\n" if part else "",
                key=talk.key,
                title=title,
                part=number,
                parts=len(parts),
                created=datetime.fromisoformat(str(created)) if created else None,
            )
        )
    shown = sum(1 for message in messages if message.head)
    return Rendered(tuple(notes), tuple(writer.assets.values()), dict(sorted(writer.counts.items())), shown)


_HEAD = 20_000  # characters of a text that a title can come from
_MARK = re.compile(r"\[REDACTED:([\w.-]+):\d+\]")
_HALF_MARK = re.compile(r"\[R?[A-Z]*(?::[\w.-]*)*\Z")


def safe_title(talk: Conversation, redactor: Redactor) -> str:
    """The title without secrets.

    A reader may have cut it out of a text: then half a token stands in it, or a whole one without the words behind it
    that say what it is. So it is cut anew out of that text, which is redacted as a whole.
    """
    title = one_line(talk.title)
    bare = title.removesuffix("…").rstrip()
    for text in islice(said(talk), 10):
        if not bare or bare not in one_line(text[:_HEAD]):
            continue
        counts = dict(redactor.counts)
        clean = one_line(redactor.redact(text[:_HEAD]))
        redactor.counts.clear()  # the text itself is still to come, and is counted there
        redactor.counts.update(counts)
        if bare in clean:
            break
        size = next(n for n in range(len(bare), -1, -1) if bare[:n] in clean)
        start = clean.find(bare[:size]) if size else max(clean.find("[REDACTED:"), 0)
        cut = clean[start : start + max(len(bare), 24)]
        if len(cut) < len(clean) - start:
            cut = _HALF_MARK.sub("", cut).rstrip() + "…"
        for kind in _MARK.findall(cut):
            redactor.counts[kind] = redactor.counts.get(kind, 0) + 1
        return cut
    return redactor.redact(title)


# ------------------------------------------------------------------ properties

_NAMES = (
    # what would make the note something else, or lead out of it, stands in the second half
    "title type status source origin project created updated tags aliases session_id import_id messages part parent "
    "publish permalink cssclass cssclasses banner position tag alias"
)
_OURS = frozenset(_NAMES.split())
_ACTIVE = re.compile(r"(?:kanban|excalidraw|dg|tasks?|templater|dataview|obsidianui|aliases?)[-_].*", re.IGNORECASE)


def _head(talk: Conversation, tagged: Mapping[str, str], writer: Writer, title: str, project: str) -> dict[str, object]:
    words = writer.property_text
    values: dict[str, object] = {
        "title": words(title),
        "type": talk.kind,
        "status": "imported",
        "source": talk.source,
        "origin": talk.origin or "web",
    }
    if project:
        values["project"] = words(project)
    times = [turn.at for turn in talk.turns if turn.at is not None]
    first = talk.created or min(times, key=writer.local, default=None)
    last = talk.updated or max(times, key=writer.local, default=first)
    if first is not None:
        values["created"] = writer.stamp(first)
    if last is not None:
        values["updated"] = writer.stamp(last)
    own = (tags.legal(writer.redact(one_line(tag))) for tag in talk.tags)
    values["tags"] = _distinct(["chat-import", *tagged, *own])
    aliases = _distinct(words(writer.redact(one_line(alias))) for alias in talk.aliases)
    if aliases:
        values["aliases"] = aliases
    if talk.session_id:
        values["session_id"] = sane(talk.session_id)
    values["import_id"] = sane(talk.key)
    if talk.body is None or talk.turns:
        values["messages"] = sum(1 for turn in talk.turns if any(not isinstance(b, Aside) for b in turn.blocks))
    if talk.parent:
        values["parent"] = words(sane(talk.parent))
    taken = {*_OURS, *values}
    for key, value in talk.properties.items():
        name = one_line(str(key))
        if name.casefold() in taken or not name or len(name) > 100 or _ACTIVE.fullmatch(name):
            continue
        if name != words(name) or name != writer.redact(name):
            continue
        carried = _carried(value, writer)
        if carried is not None:
            taken.add(name.casefold())
            values[name] = carried
    return values


def _with_part(values: Mapping[str, object], number: int) -> dict[str, object]:
    """`part` stands right behind the identity and the count of messages."""
    out: dict[str, object] = {}
    for key, value in values.items():
        out[key] = value
        if key == "messages" or (key == "import_id" and "messages" not in values):
            out["part"] = number
    return out


def _carried(value: object, writer: Writer) -> object:
    """A property of the exported file as we may write it: a scalar or a list of scalars; else None."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, str):
        return writer.property_text(writer.redact(one_line(value))) if len(value) <= PROSE_LINE // 2 else None
    if isinstance(value, (list, tuple)) and len(value) <= 100:
        items = [_carried(item, writer) for item in value if isinstance(item, (bool, int, float, str, date))]
        kept = [item for item in items if item is not None]
        return kept if sum(len(str(item)) + 4 for item in kept) <= PROSE_LINE else None
    return None


def _distinct(values: Iterable[str]) -> list[str]:
    """Each value once (compared case folded), in order; no more than a line can hold."""
    out: dict[str, str] = {}
    room = PROSE_LINE
    for value in values:
        if value and value.casefold() not in out and room > len(value) + 4:
            out[value.casefold()] = value
            room -= len(value) + 4
    return list(out.values())


# ------------------------------------------------------------------ parts


def _parts(messages: Sequence[Message], size: int) -> list[list[Message]]:
    """Messages in order, as many to a part as fit; one that fits into none is cut, each piece but its last alone."""
    if sum(len(message.body) + len(message.head) + 4 for message in messages) * 4 <= size:
        return [list(messages)]  # no character takes more than four bytes
    parts: list[list[Message]] = [[]]
    used = 0
    for message in messages:
        cost = width(message.head) + width(message.body) + 4
        if cost <= size:
            if used + cost > size and parts[-1]:
                parts.append([])
                used = 0
            parts[-1].append(message)
            used += cost
            continue
        if parts[-1]:
            parts.append([])
        for number, body in enumerate(cut := pieces(message.body, size - width(message.again) - 2)):
            head = message.again if number else message.head
            parts[-1].append(Message(head, message.again, body, message.at))
            used = width(parts[-1][-1].text) + 2
            if number < len(cut) - 1:
                parts.append([])
    return parts
