"""The words every room speaks: frozen values, closed unions.

A talk flows through them in one direction: `File` → `Conversation` (or `Problem`, or `Skip`) → `Note` →
`Change`s of a `Plan`. Nothing here reads a clock, a disk or an environment variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Literal, Protocol

Role = Literal["user", "assistant"]
Origin = Literal["code", "web"]

# ------------------------------------------------------------------ what a reader is given


class File(Protocol):
    """One input: a file on disk or a member of an archive. Opening it twice gives the same bytes."""

    name: str
    """Path inside what was named on the command line, with `/`: `projects/-srv-app/5c03….jsonl`."""
    where: str
    """What a person would call it: a path, or `export.zip!conversations.json`."""
    size: int
    """Bytes (decompressed, for a member of an archive)."""
    mtime: float | None
    """Seconds since the epoch, where the file system or the archive knows it."""

    def open(self) -> BinaryIO:
        """A fresh binary stream at byte 0. May raise OSError: the caller reports it."""
        ...

    def head(self, size: int = 65536) -> bytes:
        """The first `size` bytes (fewer at the end of the file)."""
        ...


class Memo(Protocol):
    """A cache kept outside the vault, keyed by a file's place, size and time. Losing it costs time only."""

    def get(self, file: File, kind: str) -> object | None:
        """The JSON value that `put` stored for this very state of the file, else None."""
        ...

    def put(self, file: File, kind: str, value: object) -> None:
        """Remember a JSON value for this state of the file."""
        ...


@dataclass(frozen=True, slots=True)
class Group:
    """The files that make up one unit of reading: a session with its forks and sub-agents, or one export."""

    format: str
    files: tuple[File, ...]
    hint: Mapping[str, object] = field(default_factory=dict)
    """What grouping learned and reading needs (JSON values; the reader's own business)."""


# ------------------------------------------------------------------ what a reader gives


@dataclass(frozen=True, slots=True)
class Text:
    """Words somebody said, in Markdown, exactly as the source has them (LF line ends)."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning the client showed or kept; empty where only a signature was stored."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The assistant asks a tool. `input` is text for people: a command, or indented JSON."""

    id: str
    name: str
    input: str
    title: str = ""
    """A few words: the file edited, the description of a command. May be empty."""
    language: str = ""
    """Fence language of `input` (`bash`, `json`, `diff`, …); empty for plain text."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool answered. `call` is the id of its ToolCall, empty where unknown."""

    call: str
    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, PDF, attachment or artifact. With `data` (or `text`) it becomes a file beside the chats."""

    name: str
    """File name for people; may be empty, may be hostile: only `paths` makes names of it."""
    media_type: str
    data: bytes | None = None
    text: str | None = None
    """Extracted text of a document, or the source text of an artifact."""
    why: str = ""
    """Where there is nothing to save: "not in the export", "could not be read: …"."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Talk beside the talk, shown folded: a sub-agent, a compaction summary, an abandoned branch, client words."""

    kind: Literal["agent", "compaction", "branch", "client", "command", "context"]
    title: str
    turns: tuple[Turn, ...] = ()
    text: str = ""
    """For kinds that are one text (`client`: errors and interrupts; `command`: echo and output)."""


Block = Text | Thinking | ToolCall | ToolResult | Media | Aside


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. Lines of one API message are already merged; tool results sit in the turn that called."""

    id: str
    """Stable across re-exports: the source's own uuid or node id, else made from the place in the talk."""
    role: Role
    blocks: tuple[Block, ...]
    at: datetime | None = None
    """When it was said: aware (UTC) where the source has a zone, naive where it has none."""
    speaker: str = ""
    """Name for the heading where it is not the talk's assistant (`You`, `Claude`, `ChatGPT`, …)."""

    @property
    def text(self) -> str:
        """Only what was said: Text blocks, joined by a blank line."""
        return "\n\n".join(b.text for b in self.blocks if isinstance(b, Text))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole talk as its source tells it. `key` (source + native id) is its identity for ever."""

    key: str
    """`claude-code:<session id>`, `claude.ai:<uuid>`, `chatgpt:<id>`, `markdown:<id or digest>`, …"""
    source: str
    """`claude-code`, `claude.ai`, `chatgpt`, `claude-export`, `markdown`, `codex`, `gemini`."""
    session_id: str
    """The native id alone (empty for a Markdown file without any)."""
    title: str
    """Full title: one line, no control characters, any length; never empty."""
    turns: tuple[Turn, ...]
    assistant: str = "Claude"
    """Name in the headings of assistant turns."""
    origin: Origin | None = None
    """`code` or `web` where the data says it; None: the caller decides by the path."""
    project: str = ""
    """Base name of the first `cwd`, or the web project's name; empty where unknown."""
    cwd: str = ""
    branch: str = ""
    """Git branch of the first record that names one."""
    created: datetime | None = None
    updated: datetime | None = None
    """First and last time in the data (not of the file)."""
    asides: tuple[Aside, ...] = ()
    """Folded at the end: sub-agents without a known call, abandoned branches without a known fork."""
    parent: str = ""
    """Key of the talk this one continues or was forked from, if known."""
    aka: tuple[str, ...] = ()
    """Other keys under which this same talk was or will be met (forked copies, resumed files)."""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, object] = field(default_factory=dict)
    """Harmless properties of an exported Markdown file to carry over."""
    body: str | None = None
    """For a Markdown file without any role marks: its one body (then `turns` is empty)."""
    kind: str = "chat"
    """`chat`, or `project` / `memory` for the notes of a claude.ai export."""
    files: tuple[str, ...] = ()
    """`File.where` of every input it was read from; the first is the one `--move` is about."""


POORER = ("markdown", "claude-export")
"""Sources that hold less of a talk than the transcript or account export of the same talk."""


def richness(source: str) -> int:
    """How much of a talk a source holds: a poorer copy never replaces what a richer one gave."""
    return 1 if source in POORER else 3


@dataclass(frozen=True, slots=True)
class Problem:
    """Expected trouble, as a value. Readers never raise on any bytes."""

    source: str
    """`File.where`."""
    what: str
    hint: str = ""
    line: int | None = None
    """Physical line from 1, where the source has lines."""
    fatal: bool = False
    """True: nothing at all could be read of this input."""


@dataclass(frozen=True, slots=True)
class Skip:
    """An input, understood, that is no chat (empty session, warm-up, title helper): said, not hidden."""

    source: str
    why: str
    key: str = ""
    title: str = ""


Found = Conversation | Problem | Skip

# ------------------------------------------------------------------ what the linker gives


@dataclass(frozen=True, slots=True)
class Edit:
    """`text[start:end] == old` becomes `new`. Offsets count code points of the text before any edit."""

    start: int
    end: int
    old: str
    new: str
    why: str


@dataclass(frozen=True, slots=True)
class Link:
    """An `Edit` that makes a wikilink, with the evidence for it."""

    edit: Edit
    target: str
    """Path of the note linked to, relative to the vault, with `/`."""
    text: str
    """The words as they stood in the note."""
    tier: Literal["own", "exact", "alias", "derived"]
    score: float
    terms: Mapping[str, float] = field(default_factory=dict)
    """Each term of the score, by name."""
    line: int = 0
    """From 1, in the whole file."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A place where a link was thought of and declined, or is only suggested."""

    text: str
    target: str
    reason: str
    score: float = 0.0
    tier: str = ""
    line: int = 0
    suggested: bool = False
