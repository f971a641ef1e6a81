"""ChatGPT's canvas: documents made by `canmore.create_textdoc` and changed by `canmore.update_textdoc`.

An update names its places by regular expressions that a model wrote. They are matched by plain search (literal pieces
with gaps between them), so that none can take forever; a pattern that is more than that is not replayed, and said.
"""

from __future__ import annotations

import re
from typing import Any, Final

from obsidian_import import jsonl
from obsidian_import.formats._claude_tools import indented
from obsidian_import.formats._exports import items, line, record, text
from obsidian_import.formats._versions import NOT_REPLAYED, Document, Version, Versions
from obsidian_import.model import Block, ToolCall, ToolResult

CREATE: Final = "canmore.create_textdoc"
UPDATE: Final = "canmore.update_textdoc"
_ALL: Final = frozenset(
    {".*", ".+", "(?s).*", "(?s).+", "^.*$", "(?s)^.*$", r"[\s\S]*", r"[\s\S]+", r"(.|\n)*", r"^[\s\S]*$"}
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_CURRENT: Final = ""
MAX_SIZE: Final = 8 << 20
"""Characters of one document: replacements that multiply its text end here."""


def call(versions: Versions, name: str, body: str, node: str, canvas: dict[str, Any]) -> Version | tuple[Block, ...]:
    """What an assistant's message to the canvas does. `canvas` is what the tool's answer says of the document."""
    try:
        given = record(jsonl.decode(body.encode("utf-8", "replace")))
    except ValueError:
        given = {}
    if name == CREATE and isinstance(given.get("content"), str):
        kind = text(given.get("type"))
        language = kind.partition("/")[2]
        document = Document(
            line(given.get("name"), 200) or "canvas",
            "" if language else "text/markdown",
            language,
            text(given["content"]),
        )
        key = f"canvas {node}"
        versions.other_names[_CURRENT] = key
        if own := text(canvas.get("textdoc_id")):
            versions.other_names[own] = key
        return versions.write(key, document, node, name, "wrote")
    key = versions.other_names.get(text(canvas.get("textdoc_id")), "") or versions.other_names.get(_CURRENT, "")
    known = versions.documents.get(key)
    updates = [record(one) for one in items(given.get("updates"))]
    title = f"update {known.name}" if known else ""
    if name != UPDATE or not updates:
        return (ToolCall(node, name, indented(given) if given else body, language="json" if given else ""),)
    shown = ToolCall(node, name, "\n\n".join(map(_spelled, updates)), title)
    done = _apply(known.text, updates) if known else None
    if known is None or done is None:
        return (shown, ToolResult(node, NOT_REPLAYED, error=True)) if known else (shown,)
    versions.other_names[_CURRENT] = key
    if len(updates) == 1 and text(updates[0].get("pattern")) in _ALL:
        document = Document(known.name, known.media_type, known.language, done)
        return versions.write(key, document, node, name, "rewrote")
    return versions.replaced(key, done, shown)


def _spelled(update: dict[str, Any]) -> str:
    every = " (everywhere)" if update.get("multiple") is True else ""
    return f"replace{every}: {text(update.get('pattern'))}\nby: {text(update.get('replacement'))}"


def _apply(words: str, updates: list[dict[str, Any]]) -> str | None:
    for update in updates:
        pattern, new = update.get("pattern"), update.get("replacement")
        if not isinstance(pattern, str) or not isinstance(new, str):
            return None
        new = text(new)
        if pattern in _ALL:
            words = new
            continue
        found = _find(words, pattern, every=update.get("multiple") is True)
        if not found:
            return None
        out, at = [], 0
        if len(words) + len(found) * len(new) > MAX_SIZE:
            return None
        for start, end in found:
            out += [words[at:start], new]
            at = end
        words = "".join([*out, words[at:]])
    return words


def _find(words: str, pattern: str, *, every: bool) -> list[tuple[int, int]]:
    """Where the pattern fits: its own letters as they are, else as literal pieces with gaps."""
    pieces = [(pattern, "")] if pattern and pattern in words else _pieces(pattern)
    spans: list[tuple[int, int]] = []
    at = 0
    while pieces and at <= len(words):
        span = _first(words, pieces, at)
        if span is None or span[0] == span[1]:
            break
        spans.append(span)
        at = span[1]
        if not every:
            break
    return spans


def _first(words: str, pieces: list[tuple[str, str]], at: int) -> tuple[int, int] | None:
    start = end = -1
    for number, (piece, gap) in enumerate(pieces):
        if number == 0:
            start = words.find(piece, at)
        elif gap == "greedy":
            start_of = words.rfind(piece, end) if piece else len(words)
            end = start_of
        else:
            end = words.find(piece, end)
        if start < 0 or (number and end < 0):
            return None
        end = (start if number == 0 else end) + len(piece)
    return start, end


def _pieces(pattern: str) -> list[tuple[str, str]]:
    """(literal, kind of gap before it) of a pattern made of literals and `.*`; empty for any other pattern."""
    pattern = re.sub(r"\A\(\?[smi]{1,3}\)", "", pattern).removeprefix("^")
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern[:-1]
    pieces: list[tuple[str, str]] = []
    literal: list[str] = []
    gap, at = "", 0
    while at < len(pattern):
        char, after = pattern[at], pattern[at + 1 : at + 2]
        if char == "\\":
            if not after or (after.isalnum() and after not in _ESCAPES):
                return []
            literal.append(_ESCAPES.get(after, after))
            at += 2
        elif char == "." and after in ("*", "+"):
            lazy = pattern[at + 2 : at + 3] == "?"
            pieces.append(("".join(literal), gap))
            literal, gap = [], "lazy" if lazy else "greedy"
            at += 3 if lazy else 2
        elif char in ".[](){}*+?|^$":
            return []
        else:
            literal.append(char)
            at += 1
    pieces.append(("".join(literal), gap))
    return pieces if any(piece for piece, _ in pieces) else []
