"""How the known tools mark who speaks in a Markdown file: one `Dialect` a tool, and the cutting of a file at its marks.

A mark counts only at the start of a line and outside fenced code; none of the tools escapes what people wrote, so a
fence that never closes is taken to end where the next mark stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from obsidian_import.formats import dates
from obsidian_import.formats.dates import When
from obsidian_import.model import Origin, Role

MessageKind = Literal["talk", "tool_use", "tool_result", "system", "thinking", "section"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What one line says about the message that follows it."""

    role: Role
    kind: MessageKind = "talk"
    when: When | None = None
    speaker: str = ""
    model: str = ""
    sidechain: bool = False
    rest: str = ""
    """Words of the message on the line of the mark itself."""


@dataclass(slots=True)
class Message:
    """One marked piece of a file: its mark, its lines without the mark, and where it began (from 1)."""

    mark: Mark
    lines: list[str] = field(default_factory=list)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Dialect:
    """One tool's way of writing a talk down."""

    name: str
    sniff: Callable[[Sequence[str]], bool]
    """Whether the first lines of a file (at most `SNIFFED`) are of this tool."""
    mark: Callable[[str], Mark | None]
    origin: Origin | None
    assistant: str = "Claude"
    ruled: bool = False
    """Each message ends in a `---` that is the tool's."""
    code: bool = False
    """The words of Claude Code's client (`<command-name>` …) stand among the messages."""
    generic_titles: tuple[str, ...] = ()
    """First headings that are the same in every file."""


SNIFFED: Final = 80
_LONGEST_HEADING: Final = 400
USER_WORDS: Final = frozenset({"user", "you", "human", "me", "prompt", "question"})
ASSISTANT_WORDS: Final = {
    "assistant": "Assistant",
    "claude": "Claude",
    "chatgpt": "ChatGPT",
    "gpt": "ChatGPT",
    "gpt-4": "ChatGPT",
    "gemini": "Gemini",
    "copilot": "Copilot",
    "github copilot": "Copilot",
    "grok": "Grok",
    "cursor": "Cursor",
    "codex": "Codex",
    "deepseek": "DeepSeek",
    "perplexity": "Perplexity",
    "le chat": "Le Chat",
    "ai": "AI",
    "agent": "Agent",
    "bot": "Assistant",
    "response": "Assistant",
    "model": "Assistant",
}


def _heads(*needles: str) -> Callable[[Sequence[str]], bool]:
    patterns = [re.compile(needle) for needle in needles]
    return lambda head: all(any(p.search(line) for line in head) for p in patterns)


def _table(pattern: str, roles: dict[str, tuple[Role, MessageKind]]) -> Callable[[str], Mark | None]:
    compiled = re.compile(pattern)

    def mark(line: str) -> Mark | None:
        found = compiled.fullmatch(line.rstrip()) if line.startswith("#") else None
        if not found:
            return None
        role, kind = roles[found[1]]
        return Mark(role, kind)

    return mark


_EXTRACTOR = _table(
    r"#{2,3} (👤 User|🤖 Claude|🔧 Tool Use|📤 Tool Result|ℹ️? System)",
    {
        "👤 User": ("user", "talk"),
        "🤖 Claude": ("assistant", "talk"),
        "🔧 Tool Use": ("assistant", "tool_use"),
        "📤 Tool Result": ("assistant", "tool_result"),
        "ℹ️ System": ("assistant", "system"),
        "ℹ System": ("assistant", "system"),
    },
)

_SPECSTORY_MARK: Final = re.compile(
    r"_\*\*(?:(User|Agent|Assistant)( - sidechain)?(?: \(([^()]*(?:\([^()]*\)[^()]*)*)\))?)?\*\*_"
)


@lru_cache(maxsize=4096)
def _specstory(line: str) -> Mark | None:
    line = line.rstrip()
    if not line.startswith("_**"):
        return None
    if line == "_****_":
        return Mark("assistant", "section")
    found = _SPECSTORY_MARK.fullmatch(line)
    if not found or not found[1]:
        return None
    inside = found[3] or ""
    model = re.sub(r"\d{4}-\d\d-\d\d .*$", "", inside).strip().removeprefix("model ").partition(",")[0].strip()
    role: Role = "user" if found[1] == "User" else "assistant"
    return Mark(role, when=dates.parse(inside), model=model, sidechain=bool(found[2]))


def _prompt_response(line: str) -> Mark | None:
    found = re.fullmatch(r"#{2,3} (Prompt|Response):?", line.rstrip())
    if not found:
        return None
    return Mark("user" if found[1] == "Prompt" else "assistant")


def _pionxzh(line: str) -> Mark | None:
    found = re.fullmatch(r"#### (You|ChatGPT|Plugin(?: \((.{0,80})\))?):", line.rstrip())
    if not found:
        return None
    if found[1].startswith("Plugin"):
        return Mark("assistant", "tool_result", speaker=found[2] or "Plugin")
    return Mark("user" if found[1] == "You" else "assistant")


def _human_claude(line: str) -> Mark | None:
    found = re.fullmatch(r"## (Human|Claude):", line.rstrip()) if line.startswith("## ") else None
    return Mark("user" if found[1] == "Human" else "assistant") if found else None


def _revivalstack(line: str) -> Mark | None:
    return Mark("user", "section") if re.fullmatch(r"#{2,3} chat-\d+", line.rstrip()) else None


_LOG_HEADING: Final = re.compile(
    r"#{1,6} (?:\W{1,4} )?(User|Assistant|Thinking|Sub-assistant|Sub-agent|System|Slash Command|Command)\b(.*)"
)
_LOG_TOOL: Final = re.compile(
    r"#{1,6} (?:🛠️?|🔧|💻|📝|📖|🔍|📋|✅|❌|🧰|🌐|📄|✏️?|🤖|🔎|👀|🗂️?|📊)\W? ?\*{0,2}`?([A-Z][A-Za-z_]{1,40})`?\b(.*)"
)


def _code_log(line: str) -> Mark | None:
    if not line.startswith("#") or len(line) > _LONGEST_HEADING:
        return None
    line = line.rstrip()
    found = _LOG_HEADING.fullmatch(line)
    if found:
        word = found[1]
        if word == "User":
            return Mark("user")
        if word == "Thinking":
            return Mark("assistant", "thinking")
        if word in {"Assistant", "Sub-assistant", "Sub-agent"}:
            return Mark("assistant", sidechain=word != "Assistant")
        return Mark("assistant", "system")
    tool = _LOG_TOOL.fullmatch(line)
    if tool and tool[1] != "Session" and not line.startswith("# "):
        return Mark("assistant", "tool_use", speaker=tool[1], rest="")
    return None


def _cctrace(line: str) -> Mark | None:
    found = re.fullmatch(r"### (?:👤 |🤖 )?(User|Assistant)(?: \((.{0,80})\))?", line.rstrip())
    return Mark("user" if found[1] == "User" else "assistant", model=found[2] or "") if found else None


def _cursor(line: str) -> Mark | None:
    found = re.fullmatch(r"\*\*(User|Cursor)\*\*", line.rstrip())
    return Mark("user" if found[1] == "User" else "assistant") if found else None


_PLAIN_HEADING: Final = re.compile(
    r"#{1,6} +(?:[^\w\s#*`]{1,3} ?)?\**([A-Za-z][A-Za-z0-9 .-]{1,20}?)\**:?\**(?: \([^()]{0,60}\))?"
)
_PLAIN_BOLD: Final = re.compile(r"\*\*([A-Za-z][A-Za-z0-9 .-]{1,20}?)(?::\*\*|\*\*:)(?: +(.*))?")


@lru_cache(maxsize=4096)
def _plain(line: str) -> Mark | None:
    """Role words as headings (`## User`, `### 🤖 Assistant:`) or in bold (`**You:** …`), by no tool we know."""
    if line.startswith("#"):
        if len(line) > _LONGEST_HEADING:
            return None
        found, rest = _PLAIN_HEADING.fullmatch(line.rstrip()), ""
    elif line.startswith("**"):
        found = _PLAIN_BOLD.fullmatch(line.rstrip())
        rest = (found[2] or "") if found else ""
    else:
        return None
    if not found:
        return None
    word = found[1].strip().lower()
    if word in USER_WORDS:
        return Mark("user", rest=rest)
    if word in ASSISTANT_WORDS:
        return Mark("assistant", speaker=ASSISTANT_WORDS[word], rest=rest)
    return None


def _plain_sniff(head: Sequence[str]) -> bool:
    marks = [mark for line in head if (mark := _plain(line)) is not None]
    roles = {mark.role for mark in marks}
    return len(roles) == 2 and marks[0].role == "user"


DIALECTS: Final = (
    Dialect("claude-conversation-extractor", _heads(r"^# Claude Conversation Log", r"^Session ID: "), _EXTRACTOR, "code", ruled=True, code=True,
            generic_titles=("Claude Conversation Log",)),
    Dialect("SpecStory", _heads(r"^<!-- Generated by SpecStory|^<!-- .{1,60} Session [0-9a-fA-F-]{8,64} \(|^## SpecStory"), _specstory, "code", ruled=True, code=True,
            generic_titles=("SpecStory", "Untitled")),
    Dialect("SpecStory", _heads(r"^_\*\*User(?: \(.*\))?\*\*_\s*$"), _specstory, "code", ruled=True, code=True),
    Dialect("claude-code-log", _heads(r"^<!-- Generated by claude-code-log"), _code_log, "code", code=True,
            generic_titles=("Claude Transcripts", "Claude Code Transcripts")),
    Dialect("cctrace", _heads(r"^# Claude Code Session Export|^# Claude Session Export", r"^### (?:👤 )?User"), _cctrace, "code", ruled=True, code=True,
            generic_titles=("Claude Code Session Export", "Claude Session Export")),
    Dialect("agarwalvishal", _heads(r"^## Human:\s*$"), _human_claude, "web", ruled=True, generic_titles=("Conversation with Claude",)),
    Dialect("pionxzh", _heads(r"^#### (?:You|ChatGPT):\s*$"), _pionxzh, "web", assistant="ChatGPT"),
    Dialect("revivalstack", _heads(r"^#{2,3} chat-1\s*$"), _revivalstack, "web", assistant="Assistant"),
    Dialect("Claude Exporter", _heads(r"^#{2,3} (?:Prompt|Response):?\s*$"), _prompt_response, "web", ruled=True),
    Dialect("Cursor", _heads(r"^_Exported on .{1,80} from Cursor|^\*\*Cursor\*\*\s*$"), _cursor, "code", assistant="Cursor", ruled=True),
    Dialect("plain", _plain_sniff, _plain, None, assistant="Assistant", ruled=False),
)  # fmt: skip
"""In order of how unmistakable they are; the first that sniffs true and finds a mark is taken."""

_FENCE: Final = re.compile(r" {0,3}(?:[-*+>] ?|\d{1,3}[.)] ?)*(`{3,}|~{3,})(.*)")


def sniff(lines: Sequence[str]) -> Dialect | None:
    """The dialect of a file by its first lines, or None. Only lines outside fences are looked at."""
    head = [
        line
        for line, inside in zip(lines[:SNIFFED], fenced(lines[:SNIFFED], lambda _: False), strict=True)
        if not inside
    ]
    return next((dialect for dialect in DIALECTS if dialect.sniff(head)), None)


def fenced(lines: Sequence[str], is_mark: Callable[[str], bool]) -> list[bool]:
    """For each line whether it stands in a fence (fence lines included).

    A fence that is still open at the end, or in which another one with a language opens behind a mark, had lost its
    end: it is over at the first mark in it.
    """
    inside = [False] * len(lines)
    at = 0
    budget = 4 * len(lines) + 20_000  # lines to look at in all: a file of fences that never end must not cost a square
    while at < len(lines):
        opener = _FENCE.match(lines[at]) if "```" in lines[at] or "~~~" in lines[at] else None
        if not opener or (opener[1][0] == "`" and "`" in opener[2]):
            at += 1
            continue
        end, first_mark = _fence_end(lines, at, opener[1], is_mark, at + max(200, budget))
        budget -= end - at
        if first_mark is not None:
            end = first_mark - 1
        for index in range(at, min(end, len(lines) - 1) + 1):
            inside[index] = True
        at = end + 1
    return inside


def _fence_end(
    lines: Sequence[str], start: int, run: str, is_mark: Callable[[str], bool], limit: int
) -> tuple[int, int | None]:
    """The index of the last line of the fence (looked for up to `limit`), and that of a mark which ends an unclosed one."""
    first_mark: int | None = None
    for index in range(start + 1, min(len(lines), limit)):
        line = lines[index]
        if line.lstrip(" >")[:3] == run[:3]:
            other = _FENCE.match(line)
            if other and other[1][0] == run[0] and len(other[1]) >= len(run):
                if not other[2].strip():
                    return index, None
                if first_mark is not None and re.fullmatch(r"[\w+#.-]{1,20}", other[2].strip()):
                    return index, first_mark
        elif first_mark is None and is_mark(line):
            first_mark = index
    return min(len(lines), limit) - 1, first_mark


def cut(lines: Sequence[str], dialect: Dialect) -> tuple[list[str], list[Message]]:
    """The lines before the first mark, and the marked messages in order."""
    specstory = dialect.name == "SpecStory"
    in_tool = _tool_mask(lines) if specstory else None
    visible = ["" if inside else line for line, inside in zip(lines, in_tool, strict=True)] if in_tool else lines
    hidden = fenced(visible, lambda line: dialect.mark(line) is not None)
    before: list[str] = []
    messages: list[Message] = []
    for number, line in enumerate(lines):
        mark = None if hidden[number] or (in_tool and in_tool[number]) else dialect.mark(line)
        if mark is not None:
            messages.append(Message(mark, [mark.rest] if mark.rest else [], number + 1))
        elif messages:
            messages[-1].lines.append(line)
        else:
            before.append(line)
    return before, messages


def _tool_mask(lines: Sequence[str]) -> list[bool]:
    """Lines inside SpecStory's `<tool-use>` … `</tool-use>`: their fences and marks are a tool's."""
    mask = [False] * len(lines)
    for start, end in _tool_blocks(lines):
        for index in range(start, end + 1):
            mask[index] = True
    return mask


def _tool_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(first line, last line) of each tool block that is closed before the next dated mark or block."""
    start: int | None = None
    for index, line in enumerate(lines):
        if start is None:
            if line.startswith("<tool-use "):
                start = index
                if line.rstrip().endswith("</tool-use>"):
                    yield start, index
                    start = None
        elif line.rstrip().endswith("</tool-use>"):
            # The end is the tool's own unless text goes on on the next line.
            following = lines[index + 1].strip() if index + 1 < len(lines) else ""
            if not following or following.startswith(("<tool-use ", "_**", "---", "<think>")):
                yield start, index
                start = None
        elif (mark := _specstory(line)) is not None and mark.when is not None and _unclosed(lines, index):
            start = None


def _unclosed(lines: Sequence[str], mark: int) -> bool:
    """Whether a dated mark inside a tool block ends it: the block never closed if another one opens before any end."""
    for line in lines[mark : mark + 4000]:
        if line.startswith("<tool-use "):
            return True
        if line.rstrip().endswith("</tool-use>"):
            return False
    return True


def trim(lines: Sequence[str], *, ruled: bool) -> list[str]:
    """The lines without blank ones at both ends and, where the tool writes one, without its closing rule."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if ruled and end > start and lines[end - 1].strip() == "---":
        end -= 1
        while end > start and not lines[end - 1].strip():
            end -= 1
    return list(lines[start:end])
