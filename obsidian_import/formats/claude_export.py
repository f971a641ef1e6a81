"""The text that Claude Code's `/export` writes (`.txt`, since 2.1.98 also `.md`): a picture of the screen, in words.

There is no id and no date in it, Markdown signs are gone, lines are broken at the terminal's width, and long output was
cut for ever. Read back: who spoke, tool calls with what is left of their results, thinking, compaction.
Identity is a digest of the project and of how the talk begins; it stays when the same session is exported again, later.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from obsidian_import.formats import client_words, dates, textfile
from obsidian_import.formats.naming import beginning, name_title, one_line, prompt_title
from obsidian_import.formats.terminal import screen_width, unwrap, width_of
from obsidian_import.model import (
    Aside,
    Block,
    Conversation,
    File,
    Found,
    Group,
    Memo,
    Role,
    Skip,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)

NAME: Final = "claude-export"

_LOGO: Final = re.compile(r"\s*▐▛███▜▌\s+Claude Code(?: v(\S+))?")
_BOX_TOP: Final = re.compile(r"\s*╭─.*")
_WELCOME: Final = re.compile(r"✻ Welcome to Claude Code|Claude Code v\d")
_PROMPT: Final = re.compile(r"[>❯](?:[ \u00a0](.*))?")
_SAID: Final = re.compile(r"[⏺●](?:[ \u00a0](.*))?")
_RESULT: Final = re.compile(r" {1,6}⎿[ \u00a0]*(.*)")
_GLUED: Final = re.compile(r"(.*\)) {2}⎿ {1,2}(.*)")
_CALL: Final = re.compile(r"(?:[A-Z][A-Za-z]{1,40}(?: [A-Z][A-Za-z]{1,30})?|mcp__[\w-]{1,80}|[\w:. -]{1,60} \(MCP\))\(")
_COLLAPSED: Final = re.compile(
    r" {2,4}((?:[A-Z][a-z]+(?:ed|t|d|n)?\b.{0,120})\(ctrl\+[a-z] to (?:expand|see all)\))\s*"
)
_EXPAND: Final = re.compile(r"\s*\(ctrl\+[a-z] to (?:expand|see all|run in background)\)")
_TURN_TIME: Final = re.compile(r"[✻✽✶✢✳∗*·] ?\w[\w\u00c0-\u024f'’-]* for (?:\d+h ?)?(?:\d+m ?)?(?:\d+(?:\.\d+)?s)?.*")
_COMPACTED: Final = re.compile(r"(?:[✻═─ ]+)(?:Previous )?[Cc]onversation [Cc]ompacted.*")
_THINKING: Final = re.compile(r"[✻∴] ?Thinking…?.*")
_NAME_TIME: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(\d\d)(\d\d)(\d\d)-")

_CALL_SLACK: Final = 8
"""Columns by which calls are broken earlier than prose."""

Kind = Literal["prompt", "bash", "said", "collapsed", "thinking", "compaction", "recap", "memory"]


def is_export(text: str) -> bool:
    """Whether a text (its first part is enough) is what `/export` writes."""
    lines = [line for line in text[:65536].split("\n")[:400] if line.strip()]
    for index, line in enumerate(lines[:4]):
        if _LOGO.match(line):
            return True
        if _BOX_TOP.match(line) and any(_WELCOME.search(near) for near in lines[index : index + 3]):
            return True
    if not lines or not _PROMPT.fullmatch(lines[0].rstrip("\r")):
        return False
    # Without its header: a prompt first, then the signs that only Claude Code writes, at the places where it does.
    marks = sum(1 for line in lines if line.startswith(("⏺ ", "● ", "  ⎿ ")))
    sure = any(
        line.startswith(("⏺ ", "  ⎿ "))
        or re.match(r"✻ \w+ for \d", line)
        or (line.startswith("● ") and _CALL.match(line[2:]))
        for line in lines
    )
    return marks >= 1 and sure


def claims(file: File) -> bool:
    """By its first bytes, whatever it is called. May raise OSError."""
    head = file.head()
    if head[:1] in {b"{", b"["}:
        return False
    if (
        "⎿".encode() not in head
        and "▐▛".encode() not in head
        and "╭─".encode() not in head
        and "⏺".encode() not in head
        and "●".encode() not in head
    ):
        return False
    return not textfile.is_binary(head) and is_export(head.decode("utf-8", "replace").lstrip("\ufeff"))


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:  # noqa: ARG001 -- the common signature
    """All files as one group, so that exports of one session are seen together."""
    if files:
        yield Group(NAME, tuple(files))


def read(group: Group) -> Iterator[Found]:
    """A talk for each file; of two exports of the same session the longer one, the other as a Skip."""
    talks: dict[str, Conversation] = {}
    for file in group.files:
        for found in _file(file):
            if not isinstance(found, Conversation):
                yield found
                continue
            earlier = talks.get(found.key)
            if earlier is None:
                talks[found.key] = found
                continue
            longer, shorter = (found, earlier) if len(found.turns) > len(earlier.turns) else (earlier, found)
            talks[found.key] = longer
            yield Skip(
                shorter.files[0],
                f"an export of the same talk as {longer.files[0]}, not longer",
                key=found.key,
                title=found.title,
            )
    yield from talks.values()


@dataclass(slots=True)
class _Entry:
    kind: Kind
    lines: list[str]
    line: int
    results: list[list[str]] = field(default_factory=list)


def _file(file: File) -> Iterator[Found]:
    text, problems = textfile.load(file)
    yield from problems
    if text is None:
        return
    lines = [client_words.plain(line) if "\x1b" in line else line for line in text.split("\n")]
    cwd, start = _header(lines)
    entries = _entries(lines, start)
    if len(entries) > textfile.MAX_MESSAGES:
        yield textfile.too_many(file, len(entries))
        return
    prose = [line for entry in entries for line in entry.lines if entry.kind in {"said", "thinking"}]
    padded = [line for entry in entries for line in entry.lines if entry.kind == "prompt"]
    width = screen_width(prose, padded)
    turns = tuple(_turns(entries, width))
    title = next((t for turn in turns if turn.role == "user" and (t := prompt_title((turn,)))), "")
    project = re.split(r"[\\/]", cwd.rstrip("\\/"))[-1] if cwd not in {"", "~", "/"} else ""
    key = f"{NAME}:{_key(project, turns)}"
    if not any(turn.text.strip() for turn in turns):
        yield Skip(file.where, "an export without a word from you or Claude", key=key)
        return
    yield Conversation(
        key=key,
        source=NAME,
        session_id="",
        title=one_line(title or name_title(file.name)),
        turns=turns,
        origin="code",
        project=project,
        cwd=cwd,
        created=_created(file),
        files=(file.where,),
    )


def _key(project: str, turns: Sequence[Turn]) -> str:
    return hashlib.sha256(f"{project}\0{beginning(turns)}".encode("utf-8", "replace")).hexdigest()[:24]


def _created(file: File) -> datetime | None:
    """The day in the file's name (that of the export; the text has none), else the file's time."""
    found = _NAME_TIME.match(file.name.rpartition("/")[2])
    if found:
        try:
            return datetime(*(int(part) for part in found.groups()))  # type: ignore[arg-type] # noqa: DTZ001 -- no zone was written
        except ValueError:
            pass
    day = dates.in_name(file.name)
    when = dates.value(day) if day else None
    return when.read(day_first=False) if when else dates.from_mtime(file.mtime)


def _header(lines: Sequence[str]) -> tuple[str, int]:
    """The folder the header names, and the index of the first line behind the header."""
    cwd, at = "", 0
    limit = min(len(lines), 60)
    while at < limit and not lines[at].strip():
        at += 1
    if at < limit and _LOGO.match(lines[at]):
        third = lines[at + 2] if at + 2 < len(lines) else ""
        found = re.match(r"\s*▘▘ ▝▝\s+(.*\S)", third)
        cwd = found[1] if found else ""
        at += 3
    elif at < limit and _BOX_TOP.match(lines[at]):
        while at < limit and not lines[at].lstrip().startswith("╰"):
            inside = lines[at].strip().strip("│").split("│")[0].strip()
            named = re.match(r"cwd: (.*\S)", inside)
            if named:
                cwd = named[1]
            elif not cwd and re.match(r"(?:~|/|[A-Za-z]:\\)\S", inside):
                cwd = inside
            at += 1
        at += 1
    # Tips and announcements, up to the first mark.
    while (
        at < len(lines)
        and at < limit
        and not (_PROMPT.fullmatch(lines[at]) or _SAID.fullmatch(lines[at]) or lines[at].startswith("! "))
    ):
        at += 1
    return cwd, at if at < limit else 0


def _entries(lines: Sequence[str], start: int) -> list[_Entry]:
    entries: list[_Entry] = []
    result: list[str] | None = None
    blank_before = True
    for number in range(start, len(lines)):
        line = lines[number]
        current = entries[-1] if entries else None
        blank = not line.strip()
        entry, opened = _opens(line, number, blank_before=blank_before)
        found = _RESULT.fullmatch(line)
        if entry is not None:
            entries.append(entry)
            result = opened
            if opened is not None:
                entry.results.append(opened)
        elif found and current is not None:
            result = [found[1]]
            current.results.append(result)
        elif current is None:
            pass
        elif result is not None and (blank or line.startswith("    ")):
            result.append(re.sub(r"^ {1,5}", "", line))
        elif result is not None:
            # Text at the usual indent behind a result: the one who spoke goes on.
            result = None
            kind: Kind = "said" if current.kind in {"said", "collapsed"} else current.kind
            entries.append(_Entry(kind, [line.removeprefix("  ")], number + 1))
        elif current.kind == "collapsed" and not blank:
            entries.append(_Entry("said", [line.removeprefix("  ")], number + 1))
        else:
            current.lines.append(line if blank else line.removeprefix("  "))
        blank_before = not line  # a blank line of a prompt is padded, an empty one is not of it
    return entries


def _opens(line: str, number: int, *, blank_before: bool) -> tuple[_Entry | None, list[str] | None]:
    """The entry that this line begins, if it does, and the result glued to it."""
    place = number + 1
    if prompt := _PROMPT.fullmatch(line):
        return _Entry("prompt", [prompt[1] or ""], place), None
    if said := _SAID.fullmatch(line):
        glued = _GLUED.fullmatch(said[1] or "")
        if glued and _CALL.match(glued[1]):
            return _Entry("said", [glued[1]], place), [glued[2]]
        return _Entry("said", [said[1] or ""], place), None
    if collapsed := _COLLAPSED.fullmatch(line):
        return _Entry("collapsed", [_EXPAND.sub("", collapsed[1])], place), None
    if _COMPACTED.fullmatch(line):
        return _Entry("compaction", [], place), None
    if _THINKING.fullmatch(line):
        return _Entry("thinking", [], place), None
    if _TURN_TIME.fullmatch(line):
        return _Entry("recap", [], place), None
    if line.startswith("※ "):
        return _Entry("recap", [line[2:]], place), None
    if blank_before and line.startswith("! "):
        return _Entry("bash", [line[2:]], place), None
    if blank_before and re.match(r"# \S", line):
        return _Entry("memory", [line], place), None
    return None, None


def _turns(entries: Sequence[_Entry], width: int) -> Iterator[Turn]:
    """Entries → turns: everything between two prompts is one answer."""
    blocks: list[Block] = []
    role: Role | None = None
    count = 0
    loose: list[Block] = []
    for index, entry in enumerate(entries):
        made, speaks = _blocks(entry, index, width)
        if speaks is None:
            (blocks if role == "assistant" else loose).extend(made)
            continue
        if speaks != role or (speaks == "user" and blocks):
            if role is not None and blocks:
                count += 1
                yield Turn(str(count), role, tuple(blocks))
            blocks, role = [*loose], speaks
            loose = []
        blocks += made
    if role is None and loose:
        role = "user"
    if role is not None and (blocks or loose):
        yield Turn(str(count + 1), role, (*blocks, *loose))


def _blocks(entry: _Entry, index: int, width: int) -> tuple[list[Block], Role | None]:
    """One entry as blocks, and who speaks in it (None: nobody, it goes with what is around)."""
    results = [_tidy(lines) for lines in entry.results]
    if entry.kind == "prompt":
        return _prompt(unwrap(_stripped(entry.lines), width), results)
    if entry.kind == "bash":
        return [Aside("command", f"! {one_line(' '.join(entry.lines))[:2000]}", text="\n\n".join(results))], None
    if entry.kind == "memory":
        return [Text(unwrap(_stripped(entry.lines), width))], "user"
    if entry.kind == "compaction":
        return [
            Aside("compaction", "Conversation compacted", text="The export does not hold what stood before this place.")
        ], None
    if entry.kind == "thinking":
        text = unwrap(_stripped(entry.lines), width)
        return ([Thinking(text)] if text else []), "assistant"
    if entry.kind == "recap":
        text = unwrap(entry.lines, width)
        return ([Aside("client", "Recap", text=text.removeprefix("recap: "))] if text else []), None
    call_id = str(index)
    if entry.kind == "collapsed":
        text = " ".join(entry.lines).strip()
        return [
            ToolCall(call_id, "Tools", "", title=text),
            *(ToolResult(call_id, one) for one in results),
        ], "assistant"
    return _said(entry, results, call_id, width), "assistant"


def _prompt(text: str, results: list[str]) -> tuple[list[Block], Role | None]:
    output = "\n\n".join(one for one in results if one)
    name = re.match(r"/([a-z][\w:-]*)(?: |$)", text)
    interrupted = output.startswith("Interrupted")
    if name and client_words.is_client_command(name[1]):
        return [Aside("command", one_line(text)[:2000], text=output)], None
    said: list[Block] = [Text(text)] if text.strip() else []
    if output:
        said.append(
            Aside("client" if interrupted else "command", "Interrupted" if interrupted else "Output", text=output)
        )
    return said, "user" if said else None


def _said(entry: _Entry, results: list[str], call_id: str, width: int) -> list[Block]:
    lines = _stripped(entry.lines)
    first = lines[0].rstrip() if lines else ""
    joined = "\n".join(line.rstrip() for line in lines).strip()
    direct = bool(results) and (len(lines) == 1 or bool(_CALL.match(first)))
    if (_CALL.match(first) and (results or joined.endswith(")"))) or (
        direct and len(first) < 60 and not first.endswith((".", "!", "?", ":", "…"))
    ):
        name, _, rest = joined.partition("(")
        if name.endswith(" (MCP)") or joined.startswith(name + "(MCP)("):
            name, _, rest = joined.partition(" (MCP)(")
        name = name.strip()
        given = _rejoined(rest.removesuffix(")"), width, len(joined) - len(rest)) if rest else ""
        if not _CALL.match(first):
            name, given = _EXPAND.sub("", joined), ""
        language = "bash" if name in {"Bash", "PowerShell"} else ""
        title = "" if language or "\n" in given else given[:2000]
        call = ToolCall(call_id, name, given, title=title, language=language)
        return [call, *(ToolResult(call_id, _EXPAND.sub("", one), error=one.startswith("Error")) for one in results)]
    text = unwrap(lines, width)
    blocks: list[Block] = [Text(text)] if text else []
    return blocks + [_behind_text(one) for one in results]


def _behind_text(result: str) -> Block:
    return Aside("client", "Interrupted", text=result) if result.startswith("Interrupted") else ToolResult("", result)


def _rejoined(text: str, width: int, before: int) -> str:
    """The arguments of a call (`before` columns stood in front of them): broken lines joined, a script's own lines kept."""
    lines = text.split("\n")
    out, columns = lines[0], before + width_of(lines[0])
    for line in lines[1:]:
        word = (line.split(maxsplit=1) or [""])[0]
        if not word:
            out += "\n"
        elif columns >= width and width_of((out.rsplit(maxsplit=1) or [""])[-1] + word) > width - _CALL_SLACK:
            out += line.strip()
        elif columns + 1 + width_of(word) > width - _CALL_SLACK:
            out += f" {line.strip()}"
        else:
            out += "\n" + line.removeprefix("    ")
        columns = width_of(line.rstrip())
    return out


def _stripped(lines: Sequence[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return list(lines[start:end])


def _tidy(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in _stripped(lines))
