"""The inside of one message of an extractor's Markdown → blocks: text, thinking, tool calls and their results."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Final

from obsidian_import.model import Aside, Block, Text, Thinking, ToolCall, ToolResult

_USING: Final = re.compile(r"🔧 (?:Using tool|Tool): (.{1,120})")
_SUMMARY: Final = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_TOOL_OPEN: Final = re.compile(r'<tool-use data-tool-type="([^"]{0,40})" data-tool-name="([^"]{0,120})">')
_LANGUAGES: Final = {"Bash": "bash", "PowerShell": "powershell"}


def tool_call(call_id: str, name: str, raw: object) -> ToolCall:
    """A tool call from its input as JSON value: a command as such, anything else as indented JSON."""
    if isinstance(raw, dict):
        command = raw.get("command")
        if isinstance(command, str):
            return ToolCall(call_id, name, command, title=_title(raw), language=_LANGUAGES.get(name, ""))
        return ToolCall(
            call_id, name, json.dumps(raw, indent=2, ensure_ascii=False), title=_title(raw), language="json"
        )
    if isinstance(raw, str):
        return ToolCall(call_id, name, raw)
    return ToolCall(
        call_id, name, "" if raw is None else json.dumps(raw, indent=2, ensure_ascii=False), language="json"
    )


def _title(raw: dict[str, object]) -> str:
    for key in ("description", "file_path", "path", "pattern", "query", "url", "notebook_path"):
        found = raw.get(key)
        if isinstance(found, str) and found.strip():
            return " ".join(found.split())[:2000]
    return ""


# ------------------------------------------------------------------ claude-conversation-extractor


def extractor_text(text: str, turn: str) -> tuple[Block, ...]:
    """Assistant text of the detailed mode, in which tool calls stand as `🔧 Using tool: X` and `Input: {json}`."""
    if "🔧 " not in text:
        return (Text(text),) if text else ()
    blocks: list[Block] = []
    lines = text.split("\n")
    prose: list[str] = []
    at = 0
    while at < len(lines):
        found = _USING.fullmatch(lines[at].strip())
        follows = next((i for i in range(at + 1, min(at + 3, len(lines))) if lines[i].strip()), None)
        if found and follows is not None and lines[follows].startswith("Input: "):
            _flush(prose, blocks)
            raw, at = _json_from(lines, follows)
            blocks.append(tool_call(f"{turn}.{len(blocks)}", found[1].strip(), raw))
        else:
            prose.append(lines[at])
            at += 1
    _flush(prose, blocks)
    return tuple(blocks)


def extractor_result(text: str) -> tuple[Block, ...]:
    """A `### 📤 Tool Result` section."""
    return (ToolResult("", text.removeprefix("📤 Result:").strip("\n")),)


def _json_from(lines: Sequence[str], start: int) -> tuple[object, int]:
    """The JSON value after `Input: ` (indented by two: it ends at a bare bracket) and the line after it."""
    first = lines[start].removeprefix("Input: ")
    end = start
    if first.strip() in {"{", "["}:
        closing = "}" if first.strip() == "{" else "]"
        for index in range(start + 1, len(lines)):
            if lines[index] == closing:
                end = index
                break
            if lines[index] and lines[index][0] not in " \t]}":
                break  # what is indented by two never comes back to the first column before its end
    body = "\n".join([first, *lines[start + 1 : end + 1]])
    try:
        return json.loads(body), end + 1
    except (ValueError, RecursionError):
        return body, end + 1


def _flush(prose: list[str], blocks: list[Block]) -> None:
    text = "\n".join(prose).strip("\n")
    if text.strip():
        blocks.append(Text(text))
    prose.clear()


# ------------------------------------------------------------------ SpecStory


def specstory_blocks(lines: Sequence[str], turn: str) -> tuple[Block, ...]:
    """An agent's message: prose, `<think>` details and `<tool-use>` blocks, in order."""
    blocks: list[Block] = []
    prose: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        tool = _TOOL_OPEN.match(line)
        if tool:
            end = _closing(lines, at, "</tool-use>")
            _flush(prose, blocks)
            blocks += _tool_use(tool[2] or "tool", tool[1], "\n".join(lines[at : end + 1]), f"{turn}.{len(blocks)}")
            at = end + 1
        elif line.startswith("<think>"):
            end = _closing(lines, at, "</think>")
            _flush(prose, blocks)
            blocks.append(Thinking(_bare("\n".join(lines[at : end + 1]))))
            at = end + 1
        else:
            prose.append(line)
            at += 1
    _flush(prose, blocks)
    return tuple(blocks)


def specstory_section(text: str, turn: str) -> tuple[Block, ...]:
    """A nameless `_****_` section of the oldest dialect: what a tool did."""
    found = re.search(r"Tool use: \*\*(.{1,80}?)\*\*", text)
    return _tool_use(found[1] if found else "tool", "", text, f"{turn}.0") if text.strip() else ()


def _closing(lines: Sequence[str], start: int, tag: str) -> int:
    """The last line of a block: where its closing tag ends a line and text does not simply go on.

    Where there is no such place before the next block opens, the first closing tag counts; without any, all the rest.
    """
    first = -1
    for index in range(start, len(lines)):
        line = lines[index]
        if first >= 0 and line.startswith(("<tool-use ", "<think>")):
            return first
        if not line.rstrip().endswith(tag):
            continue
        following = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if not following or following.startswith(("<tool-use ", "<think>", "---")):
            return index
        first = index if first < 0 else first
    return first if first >= 0 else len(lines) - 1


def _bare(text: str) -> str:
    """A details block without its tags and its constant summary."""
    text = re.sub(r"^\s*<think>\s*(?:<details>)?\s*(?:<summary>.*?</summary>)?", "", text, flags=re.DOTALL)
    return text.rstrip().removesuffix("</think>").rstrip().removesuffix("</details>").strip("\n")


def _tool_use(name: str, kind: str, text: str, call_id: str) -> tuple[Block, ...]:
    summary = _SUMMARY.search(text[:4000])
    title = ""
    if summary:
        title = re.sub(r"^Tool use: \*\*.*?\*\*\s*•?\s*", "", " ".join(summary[1].split())).strip()
    inside = text[summary.end() :] if summary else re.sub(r"^<tool-use [^>]*>", "", text)
    inside = inside.rstrip().removesuffix("</tool-use>").rstrip().removesuffix("</details>").rstrip()
    inside = inside.strip("\n").replace("&#96;", "`")
    given, result = _split_result(inside)
    given, language = unfence(given.strip("\n"))
    given = given.rstrip() if language else given.strip()
    if len(given) > 2 and given[0] == given[-1] == "`" and "`" not in given[1:-1] and kind != "shell":
        given = given[1:-1]
    if kind == "shell" and not title:
        title, given, language = _shell(given)
    elif not title and not given.count("\n") and len(given) < 120:
        title = given.strip().replace("`", "")
    call: tuple[Block, ...] = (
        ToolCall(call_id, html.unescape(name), given, title=html.unescape(title)[:2000], language=language),
    )
    if result is None:
        return call
    return (
        *call,
        ToolResult(call_id, result, error=result.startswith("Exit code ") or "<tool_use_error>" in result[:200]),
    )


def _split_result(inside: str) -> tuple[str, str | None]:
    """A tool block's input and its output: the output is what the first ```text fence holds, to the very last fence.

    SpecStory does not lengthen its fences, so one inside the output would end it too early; only the last one counts.
    """
    start = inside.find("```text\n")
    if start < 0 or (start and inside[start - 1] != "\n"):
        result = re.search(r"^Result:[ \t]*\n{1,4}```\w{0,20}\n", inside, flags=re.MULTILINE)
        if not result:
            return inside, None
        given, output = inside[: result.start()], inside[result.end() :]
    else:
        given, output = inside[:start], inside[start + len("```text\n") :]
    end = output.rfind("```")
    closed = end >= 0 and (end == 0 or output[end - 1] == "\n")
    rest = output[end + 3 :].strip() if closed else ""
    body = output[:end].rstrip("\n") if closed else output
    return given, f"{body}\n\n{rest}" if rest else body


def unfence(text: str) -> tuple[str, str]:
    """The inside of a text that is one fence, and its language; any other text as it is."""
    text = re.sub(r"^Input(?: \(truncated\))?: ```\n", "```\n", text)
    lines = text.split("\n")
    if len(lines) < 2 or not re.fullmatch(r"```[\w+#.-]{0,20}", lines[0]) or lines[-1].strip() != "```":
        return text, ""
    if any(line.startswith("```") for line in lines[1:-1]):
        return text, ""
    language = lines[0][3:]
    return "\n".join(lines[1:-1]).strip("\n"), "" if language == "text" else language


def _shell(given: str) -> tuple[str, str, str]:
    """A shell block: a line about it, then the command as inline code → (title, command, language)."""
    found = re.fullmatch(r"(?:(?P<title>[^`\n]{1,200})\n+)?`(?P<command>.+)`", given.strip(), flags=re.DOTALL)
    if not found:
        return "", given, ""
    return (found["title"] or "").strip(), found["command"], "bash"


_DETAILS: Final = re.compile(r"<details[^>]*>\s*<summary>([^<\n]{0,120})</summary>(.*?)</details>\s*", re.DOTALL)
_PLAINTEXT: Final = re.compile(r"#### Thinking[ \t]*\n{1,4}(`{3,})plaintext\n(.*?)\n\1\s*(?:\n|$)", re.DOTALL)


def web_blocks(text: str) -> tuple[Block, ...]:
    """An answer by a browser exporter: thinking in front of it (in details or in a `plaintext` fence), then the words."""
    blocks: list[Block] = []
    found = _PLAINTEXT.match(text.lstrip("\n"))
    if found:
        blocks.append(Thinking(found[2].strip("\n")))
        text = text.lstrip("\n")[found.end() :]
    details = _DETAILS.match(text.lstrip("\n"))
    if details and re.search(r"th(?:ought|ink)|reason", details[1], re.IGNORECASE):
        blocks.append(Thinking(details[2].strip("\n")))
        text = text.lstrip("\n")[details.end() :]
    text = text.strip("\n")
    return (*blocks, Text(text)) if text.strip() else tuple(blocks)


def client(text: str) -> tuple[Block, ...]:
    """Words of the client in an assistant's place."""
    return (Aside("client", "Client", text=text.strip()),)
