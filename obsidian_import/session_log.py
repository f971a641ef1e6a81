"""A session's facts → its auto-log. Pure: talk in, note text out, redacted and inert like everything else.

An auto-log is short on purpose: what was asked first, what was edited and run, what was decided or left open, and
the way to the whole talk. The rich log is the one that /save writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo

from obsidian_import import inert, properties
from obsidian_import.model import Conversation, ToolCall, Turn

PROMPT = 300  # characters of the first prompt
EDITED = 20  # paths
COMMANDS = 10
ITEMS = 12  # decisions, open items: each
ITEM = 240  # characters of one
READ = 20_000  # characters of a text that is shortened to one of these
KEY = "session-log:"

_EDITORS = {"Edit", "MultiEdit", "Write", "NotebookEdit"}
_DECISION = re.compile(
    r"^[\s>*_#-]*(?:\*\*)?(?:decision|decided|we (?:have )?decided|let'?s go with|entscheidung|décision|decisión)\b(?:\*\*)?\s*[:–—-]?\s*(?P<what>.{8,})$",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^[\s>*_#-]*(?:\*\*)?(?:to-?do|open(?: (?:item|question|point)s?)?|next(?: steps?)?|still (?:open|to do)|follow-?up|offen)(?:\*\*)?\s*[:–—]\s*(?:\*\*)?\s*(?P<what>.{8,})$"
    r"|^\s*[-*+] \[ \] (?P<task>.{3,})$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What an auto-log says."""

    session_id: str
    prompt: str
    prompts: int
    """Real messages of the person."""
    edited: tuple[str, ...]
    commands: tuple[str, ...]
    decisions: tuple[str, ...]
    open_items: tuple[str, ...]
    branch: str
    started: datetime | None
    ended: datetime | None

    @property
    def key(self) -> str:
        """Its identity: one log a session, however often it ends."""
        return KEY + self.session_id


def facts(talk: Conversation, *roots: str, redact: Callable[[str], str] = str) -> Facts:
    """The facts of a session; paths below one of `roots` (the project, a worktree of it) are told relative to it."""
    prompts = [t for t in talk.turns if t.role == "user" and t.text.strip()]
    edited: dict[str, None] = {}
    commands: dict[str, None] = {}
    for call in _calls(talk.turns):
        if call.name in _EDITORS and call.title:
            edited.setdefault(_relative(call.title, roots or (talk.cwd,)))
        elif call.name in ("Bash", "PowerShell"):
            commands.setdefault(_first_line(redact(call.input[:READ])))
    # Redacted before anything is cut: half a token, or one without the words around it, looks like none.
    lines = [line for t in talk.turns for line in _prose_lines(redact(t.text))]
    return Facts(
        session_id=talk.session_id,
        prompt=_cut(" ".join(redact(prompts[0].text[:READ]).split()), PROMPT) if prompts else "",
        prompts=len(prompts),
        edited=tuple(edited)[:EDITED],
        commands=tuple(c for c in commands if c)[:COMMANDS],
        decisions=tuple(dict.fromkeys(_matches(lines, _DECISION)))[-ITEMS:],
        open_items=tuple(dict.fromkeys(_matches(lines, _OPEN)))[-ITEMS:],
        branch=talk.branch,
        started=talk.created or talk.updated,
        ended=talk.updated or talk.created,
    )


def _calls(turns: Iterable[Turn]) -> Iterator[ToolCall]:
    for turn in turns:
        for block in turn.blocks:
            if isinstance(block, ToolCall):
                yield block


def _prose_lines(text: str) -> Iterator[str]:
    """Lines outside fences: code is full of TODOs that are nobody's open items."""
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        mark = re.match(r"(`{3,}|~{3,})", bare)
        if fence:
            if mark and mark[1].startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield line


def _matches(lines: Iterable[str], pattern: re.Pattern[str]) -> Iterator[str]:
    for line in lines:
        found = pattern.match(line) if len(line) < 2000 else None
        if found:
            what = next(v for v in found.groupdict().values() if v)
            yield _cut(what.strip().strip("*_ "), ITEM)


_WORKTREE = re.compile(r"\.claude[/\\]worktrees[/\\][^/\\]+[/\\]")


def _relative(path: str, roots: Iterable[str]) -> str:
    for root in roots:
        bare = root.rstrip("/\\")
        for sep in ("/", "\\"):
            if bare and path.startswith(bare + sep):
                return _WORKTREE.sub("", path[len(bare) + 1 :], count=1)
    return path


def _first_line(text: str) -> str:
    return _cut(next((line.strip() for line in text.split("\n") if line.strip()), ""), ITEM)


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"


# ------------------------------------------------------------------ the note


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the note needs to know besides the session's facts."""

    project: str
    identity: str
    reason: str
    zone: tzinfo
    chat: str = ""
    """Path of the imported chat; empty where there is none."""
    named: tuple[str, ...] = ()
    """Names of notes that the talk speaks of, as they stood there."""


def stem(told: Facts, zone: tzinfo) -> str:
    """`YYYY-MM-DD-HHMM-auto-session-<4 of id>`: the session's start, in the vault's zone."""
    at = _local(told.started, zone)
    when = f"{at:%Y-%m-%d-%H%M}" if at else "undated"
    return f"{when}-auto-session-{re.sub(r'[^0-9A-Za-z]', '', told.session_id)[:4] or '0000'}"


def text(told: Facts, setting: Setting, redact: Callable[[str], str], options: inert.Options) -> str:
    """The whole note, unlinked. Deterministic: the same session gives the same bytes on every machine."""

    def line(value: str) -> str:
        return inert.line(redact(" ".join(value.split()))).text

    def prose(value: str) -> str:
        return inert.prose(redact(" ".join(value.split())), options).text.replace("\n", " ")

    started, ended = _local(told.started, setting.zone), _local(told.ended, setting.zone)
    title = f"Session of {started:%Y-%m-%d %H:%M}" if started else "Session"
    head: dict[str, object] = {
        "title": f"{title} in {line(setting.project)}" if setting.project else title,
        "type": "log",
        "status": "imported",
        "source": "claude-code",
    }
    if setting.project:
        head["project"] = line(setting.project)
    if started:
        head["created"] = started.isoformat(timespec="seconds")
    if ended:
        head["updated"] = ended.isoformat(timespec="seconds")
    head["tags"] = ["session-log", "auto-log", *([tag_of(setting.project)] if tag_of(setting.project) else [])]
    head["session_id"] = line(told.session_id)
    head["import_id"] = line(told.key)
    if setting.reason:
        head["end_reason"] = line(setting.reason)
    if told.branch:
        head["branch"] = line(told.branch)
    if setting.identity and not setting.identity.startswith(("/", "\\")) and ":" not in setting.identity:
        # A remote is the same everywhere; a local path would say where this machine keeps its code.
        head["repository"] = line(setting.identity)
    span = f"{started:%H:%M}–{ended:%H:%M}" if started and ended else ""
    said = f"{told.prompts} messages of yours" + (f", {span}" if span else "")
    body = [f"{said}.", "", "## First prompt", "", f"> {prose(told.prompt)}"]
    for name, items, code in (
        ("Edited", told.edited, True),
        ("Commands", told.commands, True),
        ("Decisions", told.decisions, False),
        ("Open items", told.open_items, False),
    ):
        if items:
            body += ["", f"## {name}", ""]
            body += [f"- {inert.prose(_span(redact(i)), options).text if code else prose(i)}" for i in items]
    links = [f"- Chat: [[{setting.chat.removesuffix('.md')}|the whole talk]]"] if setting.chat else []
    told_already = "\n".join(body)  # there the name becomes the link: one a note
    links += [f"- {line}" for line in map(prose, setting.named) if line not in told_already]
    if links:
        body += ["", "## Links", "", *links]
    return f"{properties.emit(head)}\n" + "\n".join(body) + "\n"


def tag_of(project: str) -> str:
    """The project's name as a tag: letters, digits, `-`, `_`, with at least one letter."""
    tag = re.sub(r"[^\w-]+", "-", project, flags=re.UNICODE).strip("-").lower()
    return tag if re.search(r"[^\d_-]", tag) else ""


def _span(code: str) -> str:
    """Inline code whose backticks no command can end."""
    run = max((len(m) for m in re.findall(r"`+", code)), default=0)
    ticks = "`" * (run + 1)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _local(at: datetime | None, zone: tzinfo) -> datetime | None:
    if at is None:
        return None
    return at.astimezone(zone).replace(tzinfo=None) if at.tzinfo else at
