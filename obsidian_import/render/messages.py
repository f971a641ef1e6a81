"""The messages of a talk as Markdown: each block redacted, made inert, folded where it is no plain word.

The middle of `render`: it knows turns and blocks, not notes. One `Writer` for each talk; texts go through it in order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal, Protocol

from obsidian_import import inert, paths
from obsidian_import.model import Aside, Block, Conversation, Media, Text, ToolCall, ToolResult, Turn
from obsidian_import.render import dialect
from obsidian_import.render.note_text import (
    BREAK,
    CODE_LINE,
    PROSE_LINE,
    callout,
    fence,
    long_line,
    one_line,
    sane,
    wrap_code,
    wrap_prose,
)

Detail = Literal["prompts", "talk", "tools", "full"]
PART_BYTES = 800_000
"""Of a note as rendered: what is left up to 1 MiB is for links and for what people add."""


class Redactor(Protocol):
    """What render needs of `redact.Redactor`: one for each talk, told its texts in order."""

    counts: dict[str, int]
    """Values taken out so far, by kind."""

    def redact(self, text: str) -> str:
        """`text` with marks where secrets stood."""
        ...


@dataclass(frozen=True, slots=True)
class Rendering:
    """A person's choices (from the configuration)."""

    chats: str = "chats"
    detail: Detail = "tools"
    zone: tzinfo = UTC
    part_bytes: int = PART_BYTES


@dataclass(frozen=True, slots=True)
class Asset:
    """A file beside the chats, once for each content."""

    path: str
    """Relative to the vault, with `/`."""
    data: bytes
    media_type: str
    name: str
    """What the source called it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as it will stand in the note."""

    head: str
    """The heading line, empty for text that belongs to no message."""
    again: str
    """The heading of its continuation in a next part."""
    body: str
    at: datetime | None

    @property
    def text(self) -> str:
        """Heading and body."""
        return f"{self.head}\n\n{self.body}" if self.head else self.body


_LEVELS: dict[str, int] = {"prompts": 0, "talk": 1, "tools": 2, "full": 3}
_ASIDE_LEVEL = {"agent": 2, "branch": 2, "client": 2, "compaction": 3, "command": 3, "context": 3}
_ASIDE_CALLOUT = {"context": "client"}
_ASIDE_TITLE = {
    "agent": "Sub-agent",
    "branch": "Abandoned branch",
    "client": "Client",
    "compaction": "Compaction summary",
    "command": "Command",
    "context": "Context",
}
_DEEPEST = 6
_TITLE_LENGTH = 300
_SHORT_TITLE = 160
_LANGUAGE_NAMES = (
    "bash sh shell zsh console powershell python py json json5 jsonl yaml toml ini xml html css scss javascript js jsx "
    "typescript ts tsx go rust java kotlin scala swift c cpp csharp cs ruby php perl lua r sql diff patch markdown md "
    "text plaintext dockerfile makefile graphql protobuf elixir erlang haskell clojure dart vue svelte tex latex "
    "csv log http nginx zig nix hcl terraform groovy ocaml fsharp julia matlab objectivec solidity wasm"
)
_LANGUAGES = frozenset(_LANGUAGE_NAMES.split())


class Writer:
    """Turns the blocks of one talk into Markdown; gathers assets and counts on the way."""

    def __init__(self, talk: Conversation, settings: Rendering, redactor: Redactor, options: inert.Options) -> None:
        self.talk = talk
        self.level = _LEVELS[settings.detail]
        self.settings = settings
        self.redact = redactor.redact
        self.options = options
        self.counts: dict[str, int] = {}
        self.assets: dict[str, Asset] = {}
        self.wrapped = False
        self._names: dict[str, str] = {}
        self._tools: dict[str, str] = {}

    # -------------------------------------------------------------- times

    def local(self, at: datetime) -> datetime:
        """Wall clock in the vault's zone, naive; a time without a zone is taken as written."""
        if at.tzinfo is None:
            return at
        try:
            return at.astimezone(self.settings.zone).replace(tzinfo=None)
        except (OverflowError, ValueError):
            return at.replace(tzinfo=None)

    def stamp(self, at: datetime) -> str:
        """`2026-03-01T10:11:12`."""
        return self.local(at).replace(microsecond=0).isoformat(timespec="seconds")

    # -------------------------------------------------------------- one text

    def _count(self, made: inert.Inert) -> str:
        for kind, number in made.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number
        return made.text

    def line(self, text: str) -> str:
        """One line that is redacted already, harmless."""
        return self._count(inert.line(one_line(text)))

    def property_text(self, text: str) -> str:
        """A property's value that is redacted already: no link whatever the options say, no longer than a line."""
        out = self.line(text)
        while "[[" in out:
            out = out.replace("[[", "\\[\\[", 1)
        return out if len(out) <= PROSE_LINE else out[: PROSE_LINE - 1].rstrip("\\ ") + "…"

    def title(self, text: str, size: int = _TITLE_LENGTH) -> str:
        """A callout's title or the like: redacted, on one line, not long."""
        short = self.redact(one_line(text))
        if len(short) > size:
            short = paths.cut(short[:size], size * 4).rstrip() + " …"
        return self.line(short)

    def prose(self, text: str, *, headings: bool = True) -> str:
        """What somebody said. Empty where nothing is left."""
        clean = _trim(self.redact(dialect.terminal(sane(text))))
        if not clean:
            return ""
        out = self._count(inert.prose(dialect.convert(clean, headings=headings), self.options)).rstrip("\n")
        if long_line(out, PROSE_LINE):
            self.wrapped = True
            out = wrap_prose(out, dialect.fences(out))
        return out

    def wrapped_line(self, text: str) -> str:
        """One harmless line of any length, on as many lines as it takes."""
        return wrap_prose(text, ())

    def code(self, text: str, language: str = "") -> str:
        """Text for a fence, in it."""
        clean = self.redact(dialect.terminal(sane(text))).strip("\n")
        out = self._count(inert.code(clean, self.options))
        if long_line(out, CODE_LINE):
            self.wrapped = True
            out = wrap_code(out)
        kind = language.strip().lower()
        return fence(out, kind if kind in _LANGUAGES else "")

    def finish(self, chunks: Sequence[str]) -> str:
        """The chunks of one message, with a word on broken lines where there are any."""
        text = "\n\n".join(chunks)
        if self.wrapped:
            self.wrapped = False
            text += f"\n\n> [!client]- Long lines here are broken: one that ends in {BREAK} goes on in the next"
        return text

    # -------------------------------------------------------------- messages

    def messages(self) -> Iterator[Message]:
        """The turns that show anything, each with its heading."""
        ids = _short_ids(turn.id for turn in self.talk.turns)
        for turn, short in zip(self.talk.turns, ids, strict=True):
            if self.level == 0 and turn.role != "user":
                continue
            chunks = self.blocks(turn.blocks, self.level, 1)
            if not chunks:
                self.wrapped = False
                continue
            who = self._who(turn)
            when = f" · {_minute(self.local(turn.at))}" if turn.at is not None else ""
            yield Message(
                f"## {who}{when} · {short}",
                f"## {who} (continued){when} · {short}",
                self.finish(chunks),
                turn.at,
            )

    def _who(self, turn: Turn) -> str:
        word = turn.speaker or ("You" if turn.role == "user" else self.talk.assistant)
        known = self._names.get(word)
        if known is None:
            known = " ".join(self.title(word, 60).replace("·", "-").split())
            known = known or ("You" if turn.role == "user" else "Assistant")
            self._names[word] = known
        return known

    def body(self, text: str) -> str:
        """A Markdown file of one piece: its headings keep their levels."""
        return self.finish([self.prose(text, headings=False)])

    def asides(self) -> str:
        """What is folded at the end of the talk."""
        return self.finish(self.blocks(self.talk.asides, self.level, 1))

    def blocks(self, blocks: Sequence[Block], level: int, depth: int) -> list[str]:
        """Chunks of Markdown for the blocks of one turn at this level of detail."""
        results: dict[str, list[ToolResult]] = {}
        calls: set[str] = set()
        if level >= 2 and len(blocks) > 1:
            calls = {block.id for block in blocks if isinstance(block, ToolCall) and block.id}
            for block in blocks:
                if isinstance(block, ToolResult) and block.call in calls:
                    results.setdefault(block.call, []).append(block)
        chunks: list[str] = []
        for block in blocks:
            if isinstance(block, Text):
                chunks.append(self.prose(block.text))
            elif level < 2:
                continue
            elif isinstance(block, ToolCall):
                chunks.append(self._tool(block, results.pop(block.id, [])))
            elif isinstance(block, ToolResult):
                if block.call not in calls:
                    chunks.append(callout("tool", "Result", self._result(block, label=False)))
            elif isinstance(block, Media):
                chunks.append(self._media(block))
            elif isinstance(block, Aside):
                if level >= _ASIDE_LEVEL[block.kind]:
                    chunks.append(self._aside(block, level, depth))
            elif level >= 3:
                thought = self.prose(block.text)
                chunks.append(callout("thinking", "Thinking", thought) if thought else "")
        return [chunk for chunk in chunks if chunk]

    def _tool(self, call: ToolCall, answers: Sequence[ToolResult]) -> str:
        name = self._tools.get(call.name)
        if name is None:
            name = self._tools[call.name] = self.title(call.name, 80) or "Tool"
        title = self.title(call.title, _SHORT_TITLE) if call.title else ""
        parts = [self.code(call.input, call.language)] if call.input.strip() else []
        parts += [text for text in (self._result(answer) for answer in answers) if text]
        return callout("tool", f"{name}: {title}" if title else name, "\n".join(parts))

    def _result(self, answer: ToolResult, *, label: bool = True) -> str:
        text = self.code(answer.text) if answer.text.strip() else ""
        if not label and not answer.error:
            return text
        word = "Failed" if answer.error else "Result"
        return f"{word}:\n{text}" if text else f"{word}, without a word."

    def _aside(self, aside: Aside, level: int, depth: int) -> str:
        chunks: list[str] = []
        kind = _ASIDE_CALLOUT.get(aside.kind, aside.kind)
        title = self.title(aside.title, _SHORT_TITLE)
        word = _ASIDE_TITLE[aside.kind]
        if title and title != word and aside.kind in {"agent", "branch", "compaction"}:
            word = f"{word}: {title}"
        elif title:
            word = title
        if aside.text.strip() and one_line(aside.text) != one_line(aside.title):
            as_code = aside.kind in {"client", "command", "context"}
            chunks.append(self.code(aside.text) if as_code else self.prose(aside.text))
        inner = 1 if aside.kind == "agent" and level < 3 else level
        for turn in aside.turns:
            said_there = self.blocks(turn.blocks, inner, depth + 1)
            if said_there:
                when = f" · {_minute(self.local(turn.at))}" if turn.at is not None else ""
                asked = aside.kind == "agent" and turn.role == "user" and not turn.speaker
                chunks += [f"**{'Task' if asked else self._who(turn)}**{when}", *said_there]
        body = "\n\n".join(chunk for chunk in chunks if chunk)
        if depth > _DEEPEST:  # so deep, another `>` helps nobody
            return f"**{word}**\n\n{body}" if body else f"**{word}**"
        return callout(kind, word, body)

    # -------------------------------------------------------------- pictures, documents, artifacts

    def _media(self, media: Media) -> str:
        kind = media.media_type.partition(";")[0].strip().lower()
        word = "image" if kind.startswith("image/") else kind.partition("/")[0] if kind[:5] in _AV else "file"
        name = self.redact(one_line(media.name))
        label = paths.cut(paths.safe_name(name), 100) if name else word
        shown = self.title(name, 150)
        if media.data is None and media.text is None:
            why = self.title(media.why) or "not in the export"
            return callout("media", f"{word}: {shown} — {why}" if shown else f"{word} — {why}")
        lines = []
        if media.data is not None:
            suffix = paths.extension(kind, media.name)
            path = self._keep(media.data, suffix, kind, name)
            lines.append(f"![[{path}]]" if word == "image" else f"[[{path}|{label}]]")
        if media.text is not None and media.text.strip():
            body = self.code(media.text, _language(kind, media.name))
            if media.data is None and _is_artifact(kind):
                text = self.redact(dialect.terminal(sane(media.text)))
                path = self._keep(text.encode(), "txt", kind, name)
                body = f"[[{path}|{label}]]\n\n{body}"
            lines.append(callout("media", f"{word}: {shown}" if shown else word, body))
        elif media.data is None:
            lines.append(callout("media", f"{word}: {shown} — empty" if shown else f"{word} — empty"))
        return "\n\n".join(lines)

    def _keep(self, data: bytes, suffix: str, media_type: str, name: str) -> str:
        data = self._clean(data)
        path = paths.asset_path(self.settings.chats, data, suffix)
        self.assets.setdefault(path, Asset(path, data, media_type, name))
        return path

    def _clean(self, data: bytes) -> bytes:
        """A file that is text (a log, an `.env`, an SVG) without its secrets; any other as it is."""
        if b"\0" in data:
            return data
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return data
        clean = self.redact(text)
        return data if clean is text else clean.encode("utf-8", "replace")


_AV = ("audio", "video")
_DOCUMENTS = re.compile(
    r"text/(?:plain|markdown|csv)|application/(?:pdf|msword|vnd\.(?!ant).*|octet-stream)|image/(?!svg).*|"
)


def _is_artifact(kind: str) -> bool:
    """Whether a text is something made (code, a page, a drawing) and worth a file, not the extract of a document."""
    return not _DOCUMENTS.fullmatch(kind)


def _language(kind: str, name: str) -> str:
    """The fence language for a text of this type or name; only what `_LANGUAGES` knows is ever used."""
    last = name.rpartition(".")[2].lower() if "." in name else ""
    return last if last in _LANGUAGES else kind.rpartition("/")[2].removeprefix("x-").partition("+")[0]


def _trim(text: str) -> str:
    """`text` without blank lines at both ends; the indentation of its first line is its own."""
    text = text.rstrip()
    if text[:1] in {"\n", " ", "\t"}:
        text = text[text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1 :]
    return text


def _minute(at: datetime) -> str:
    return f"{at.year:04d}-{at.month:02d}-{at.day:02d} {at.hour:02d}:{at.minute:02d}"


def _short_ids(ids: Iterable[str]) -> list[str]:
    """Four hex digits of each id's digest, more where an earlier turn has them: growth never renames a message."""
    out: list[str] = []
    seen: set[str] = set()
    for one in ids:
        text, number = one, 1
        while True:
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            short = next((digest[:size] for size in range(4, 17) if digest[:size] not in seen), "")
            if short:
                break
            number += 1
            text = f"{one}\n{number}"
        seen.add(short)
        out.append(short)
    return out
