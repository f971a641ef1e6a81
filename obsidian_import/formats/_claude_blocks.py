"""Content blocks of the API, of any shape, as blocks of a turn."""

from __future__ import annotations

from collections import Counter
from typing import Any

from obsidian_import.formats import _claude_records as records
from obsidian_import.formats import _claude_text as words
from obsidian_import.formats._claude_tools import Shelf, describe, indented, text_of
from obsidian_import.model import Aside, Block, Media, Text, Thinking, ToolCall, ToolResult


def shown(block: Any, shelf: Shelf, unknown: Counter[str]) -> list[Block]:
    """One content block of an assistant line as blocks of a turn."""
    if isinstance(block, str):
        block = {"type": "text", "text": block}
    if not isinstance(block, dict):
        return [Text(text_of(block))] if block is not None else []
    kind = block.get("type")
    if kind == "text":
        text = text_of(block.get("text"))
        return [Text(text)] if text.strip() and text.strip() != "(no content)" else []
    if kind == "thinking":
        return [Thinking(text_of(block.get("thinking")))]
    if kind == "redacted_thinking":
        return [Thinking("")]
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        name = text_of(block.get("name")) or "tool"
        title, text, language = describe(name, block.get("input"))
        return [ToolCall(records.text(block, "id"), name, text, title, language)]
    if kind in ("image", "document"):
        return [shelf.media(block)]
    if isinstance(kind, str) and kind.endswith("tool_result"):
        text, media = answer(block.get("content"), shelf)
        return [ToolResult(records.text(block, "tool_use_id"), text, block.get("is_error") is True), *media]
    name = kind[:40] if isinstance(kind, str) else "without a type"
    unknown[f"block {name}"] += 1
    return [Aside("client", f"Unknown block: {name}", text=indented(block))]


def answer(content: Any, shelf: Shelf) -> tuple[str, list[Media]]:
    """What a tool answered: its text, and its pictures."""
    if isinstance(content, str):
        return words.tool_text(content), []
    texts: list[str] = []
    media: list[Media] = []
    for block in content if isinstance(content, list) else [content]:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            texts.append(words.tool_text(block))
        elif kind in ("image", "document"):
            media.append(shelf.media(block))
        elif isinstance(block, dict) and isinstance(block.get("text"), str):
            texts.append(words.tool_text(block["text"]))
        elif kind == "tool_reference":
            texts.append(text_of(block.get("tool_name") or block.get("name")))
        elif kind == "web_search_result":
            texts.append(f"{text_of(block.get('title'))}\n{text_of(block.get('url'))}")
        elif block is not None:
            texts.append(indented(block))
    return "\n".join(t for t in texts if t), media


def plain_text(content: Any) -> str:
    """The words of a content of any shape."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [b if isinstance(b, str) else b.get("text") if isinstance(b, dict) else None for b in content]
    return "\n\n".join(t for t in texts if isinstance(t, str) and t)


def from_result(aside: Any) -> str:
    """The answer where only the client's own copy of it has any words."""
    if isinstance(aside, str):
        return words.tool_text(aside)
    if not isinstance(aside, dict):
        return ""
    texts = [aside.get(k) for k in ("stdout", "stderr", "content", "text", "result", "error")]
    return words.tool_text("\n".join(t for t in texts if isinstance(t, str) and t))


def extends(new: Block, old: Block) -> bool:
    """Whether `new` is `old`, or `old` with more."""
    if isinstance(new, Text) and isinstance(old, Text):
        return bool(old.text) and new.text.startswith(old.text)
    if isinstance(new, Thinking) and isinstance(old, Thinking):
        return new == old or (bool(old.text) and new.text.startswith(old.text))
    if isinstance(new, ToolCall) and isinstance(old, ToolCall):
        return bool(old.id) and new.id == old.id
    return new == old
