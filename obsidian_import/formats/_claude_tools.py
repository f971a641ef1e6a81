"""Tool calls as people read them: a command, a diff, a file's text; and pictures and documents as `Media`."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

import orjson

from obsidian_import.formats._claude_text import clean
from obsidian_import.model import Media

_LANGUAGES: Mapping[str, str] = {
    "py": "python", "js": "javascript", "mjs": "javascript", "ts": "typescript", "tsx": "tsx", "jsx": "jsx", "rs": "rust",
    "go": "go", "java": "java", "kt": "kotlin", "rb": "ruby", "php": "php", "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp",
    "cs": "csharp", "swift": "swift", "sh": "bash", "bash": "bash", "zsh": "bash", "ps1": "powershell", "sql": "sql",
    "html": "html", "css": "css", "scss": "scss", "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml",
    "xml": "xml", "md": "markdown", "lua": "lua", "r": "r", "scala": "scala", "vue": "vue", "svelte": "svelte",
}  # fmt: skip

MEDIA_LIMIT = 64 << 20
"""Bytes of one picture or document that is kept."""
MEDIA_TOTAL = 192 << 20
"""Bytes of all pictures and documents of one talk that are held at once."""


def indented(value: object) -> str:
    """JSON for people; says so where a value is nested too deep to be shown."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):
        try:
            return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "replace").decode()
        except (RecursionError, ValueError, TypeError):
            return "(nested too deep to be shown)"


def text_of(value: object) -> str:
    """A field that should be text: text, or its JSON, or nothing for null."""
    if isinstance(value, str):
        return clean(value)
    return "" if value is None else indented(value)


def one_line(value: object, limit: int = 2000) -> str:
    """A field on one line, for a title. Long on purpose: it is shortened after it was redacted (half a token looks like none)."""
    text = " ".join(text_of(value)[: 4 * limit].split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _language(path: str) -> str:
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    return _LANGUAGES.get(name.rsplit(".", 1)[-1].lower(), "") if "." in name else ""


def _diff(old: str, new: str) -> str:
    """Old lines out, new lines in, with up to three equal lines around them."""
    a, b = old.split("\n"), new.split("\n")
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    lines = [f" {line}" for line in a[max(0, head - 3) : head]]
    lines += [f"-{line}" for line in a[head : len(a) - tail] if old]
    lines += [f"+{line}" for line in b[head : len(b) - tail] if new]
    lines += [f" {line}" for line in a[len(a) - tail : len(a) - tail + min(tail, 3)]]
    return "\n".join(lines)


def _todos(value: object) -> str | None:
    if not isinstance(value, list):
        return None
    marks = {"completed": "x", "in_progress": "~"}
    lines = []
    for item in value:
        if not isinstance(item, dict):
            return None
        status = item.get("status")
        mark = marks.get(status, " ") if isinstance(status, str) else " "
        lines.append(f"[{mark}] {one_line(item.get('content') or item.get('activeForm'))}")
    return "\n".join(lines)


def _questions(value: object) -> str | None:
    if not isinstance(value, list) or not all(isinstance(q, dict) for q in value):
        return None
    lines: list[str] = []
    for question in value:
        lines.append(text_of(question.get("question")))
        options = question.get("options")
        for option in options if isinstance(options, list) else []:
            known = isinstance(option, dict)
            label = text_of(option.get("label")) if known else text_of(option)
            why = text_of(option.get("description")) if known else ""
            lines.append(f"- {label}: {why}" if why else f"- {label}")
    return "\n".join(lines)


def _rest(data: Mapping[str, Any], *used: str) -> str:
    """The other arguments, one a line, so that nothing the call said is lost."""
    return "\n".join(f"{key}: {text_of(value)}" for key, value in data.items() if key not in used and value is not None)


def _join(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def describe(name: str, given: object) -> tuple[str, str, str]:
    """(title, text, fence language) of a call's input, which may be of any shape (a JSON string in old files)."""
    if isinstance(given, str):
        try:
            given = orjson.loads(given)
        except ValueError:
            return "", clean(str(given)), ""
    if not isinstance(given, dict):
        return ("", indented(given), "json") if given not in (None, [], "") else ("", "", "")
    if not given:
        return "", "", ""
    tool = name.rsplit("__", 1)[-1]
    path = given.get("file_path") or given.get("notebook_path") or given.get("path")
    where = one_line(path) if isinstance(path, str) else ""
    if tool in ("Bash", "BashOutput", "PowerShell") and isinstance(command := given.get("command"), str):
        language = "powershell" if tool == "PowerShell" else "bash"
        return one_line(given.get("description")), clean(command), language
    if tool in ("Edit", "MultiEdit", "Update") and where:
        edits = given.get("edits")
        edits = edits if isinstance(edits, list) else [given]
        if all(isinstance(e, dict) and ("old_string" in e or "new_string" in e) for e in edits):
            hunks = [_diff(text_of(e.get("old_string")), text_of(e.get("new_string"))) for e in edits]
            return where, "\n@@\n".join(hunks), "diff"
    if tool in ("Write", "Create") and isinstance(content := given.get("content"), str):
        return where, clean(content), _language(where)
    if tool == "NotebookEdit" and isinstance(source := given.get("new_source"), str):
        return where, clean(source), "python" if given.get("cell_type") != "markdown" else "markdown"
    if tool in ("Read", "LS") and where:
        return where, _join(str(path), _rest(given, "file_path", "notebook_path", "path")), ""
    if tool in ("Grep", "Glob") and isinstance(pattern := given.get("pattern"), str):
        return one_line(pattern), _join(clean(pattern), _rest(given, "pattern")), ""
    if tool == "TodoWrite" and (todos := _todos(given.get("todos"))) is not None:
        return "", todos, ""
    if tool in ("Task", "Agent") and isinstance(prompt := given.get("prompt"), str):
        kind = one_line(given.get("subagent_type"))
        return one_line(given.get("description")) or kind, clean(prompt), ""
    if tool in ("WebFetch", "WebSearch") and (what := given.get("url") or given.get("query")):
        return one_line(what), _join(text_of(what), _rest(given, "url" if given.get("url") else "query")), ""
    if tool == "ExitPlanMode" and isinstance(plan := given.get("plan"), str):
        return "", clean(plan), "markdown"
    if tool == "AskUserQuestion" and (asked := _questions(given.get("questions"))) is not None:
        return "", asked, ""
    return one_line(given.get("description") or where or given.get("title")), indented(given), "json"


class Shelf:
    """Room for the pictures and documents of one talk; what does not fit is named instead of kept."""

    def __init__(self) -> None:
        self.left = MEDIA_TOTAL

    def media(self, block: Mapping[str, Any]) -> Media:
        """The picture or document of an `image` or `document` block of any shape."""
        source = block.get("source")
        source = source if isinstance(source, dict) else block
        kind = source.get("media_type") or source.get("mediaType") or block.get("mimeType")
        fallback = "application/octet-stream" if block.get("type") == "document" else "image/png"
        media_type = kind if isinstance(kind, str) and kind else fallback
        title = block.get("title") or block.get("name") or block.get("filename") or source.get("name")
        name = one_line(title) if isinstance(title, str) else ""
        data = source.get("data")
        if source.get("type") == "text" and isinstance(data, str):
            return Media(name, kind if isinstance(kind, str) else "text/plain", text=clean(data))
        if isinstance(url := source.get("url"), str) and not isinstance(data, str):
            return Media(name, media_type, why=f"only a link in the transcript: {one_line(url)}")
        if not isinstance(data, str) or not data:
            return Media(name, media_type, why="not in the transcript")
        size = len(data) * 3 // 4
        if size > MEDIA_LIMIT or size > self.left:
            return Media(name, media_type, why=f"too large to be kept ({size // (1 << 20)} MB)")
        try:
            content = base64.b64decode(data)
        except (binascii.Error, ValueError):
            return Media(name, media_type, why="could not be read: no base64")
        self.left -= len(content)
        return Media(name, media_type, data=content)
