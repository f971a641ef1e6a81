"""One node of a ChatGPT talk, of any content type, as blocks; and whether anybody ever saw it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from obsidian_import import jsonl
from obsidian_import.formats import _chatgpt_canvas as canvas
from obsidian_import.formats._chatgpt_assets import MISSING, Shelf, ident
from obsidian_import.formats._chatgpt_marks import resolve
from obsidian_import.formats._claude_tools import describe, indented
from obsidian_import.formats._exports import first, items, line, media_type, record, text
from obsidian_import.formats._versions import Draft, Version, Versions
from obsidian_import.model import Aside, Block, Media, Text, Thinking, ToolCall, ToolResult

_PRIVATE: Final = frozenset({"user_editable_context", "model_editable_context"})
_LEFT_OUT: Final = frozenset({"reasoning_recap"})
_PAGES: Final = frozenset({"tether_quote", "sonic_webpage"})
_SANDBOX: Final = re.compile(r"sandbox:(?:/+)?(mnt/data/[^\s)\]>\"'`]{1,500})")
_IMAGE_WISH: Final = frozenset(
    {"prompt", "size", "n", "transparent_background", "is_style_transfer", "referenced_image_ids"}
)


def who(message: dict[str, Any]) -> str:
    """`user`, `assistant`, `tool`, `system`, or whatever the source says."""
    author = message.get("author")
    return text(record(author).get("role")) or (text(author) if isinstance(author, str) else text(message.get("role")))


def hidden(message: dict[str, Any]) -> bool:
    """What the person never saw: system messages, private context, what is marked so."""
    metadata = record(message.get("metadata"))
    weight = message.get("weight")
    kind = record(message.get("content")).get("content_type")
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or metadata.get("is_user_system_message") is True
        or (isinstance(weight, int | float) and weight == 0)
        or who(message) == "system"
        or (isinstance(kind, str) and kind in _PRIVATE)
    )


class Maker:
    """Makes blocks of the nodes of one path, in order; `versions` are its canvas documents so far."""

    def __init__(self, shelf: Shelf, versions: Versions) -> None:
        self.shelf = shelf
        self.versions = versions
        self._calls: list[tuple[str, str]] = []

    def blocks(self, message: dict[str, Any], node: str, following: dict[str, Any]) -> Draft:
        """The blocks of one message; `following` is the next one of the path. Never raises for any shape."""
        role = who(message)
        metadata = record(message.get("metadata"))
        content = message.get("content")
        if isinstance(content, str):
            content = {"content_type": "text", "parts": [content]}
        content = record(content)
        if role == "tool":
            return self._tool(message, content, metadata)
        recipient = text(message.get("recipient")) or "all"
        kind = _type(content)
        if role == "assistant" and recipient not in ("all", "assistant") and kind not in ("thoughts", *_LEFT_OUT):
            return self._call(recipient, content, node, following)
        if role == "user":
            self._calls.clear()
        made: Draft = list(self._said(content, metadata, role, node))
        made += self._attachments(metadata, made, content)
        if role != "user":
            made += _sandbox(made)
        return made

    # ---------------------------------------------------------------- words

    def _said(self, content: dict[str, Any], metadata: dict[str, Any], role: str, node: str) -> Iterator[Block]:
        kind = _type(content)
        if kind in ("text", "multimodal_text", None):
            yield from self._parts(content, metadata, role, node)
        elif kind == "code":
            body, language = _code(content)
            if body.strip():
                self._calls.append((node, "code"))
                yield ToolCall(node, "code", body, language=language)
        elif kind == "thoughts":
            if thought := _thoughts(content):
                yield Thinking(thought)
        elif kind in _LEFT_OUT or kind in _PRIVATE:
            return
        elif kind == "app_pairing_content":
            yield Aside("context", "What an app was showing", text=indented(_without_type(content)))
        else:
            known, words = _noise(content)
            if known:
                if words:
                    yield ToolResult("", words, error=kind == "system_error")
                return
            yield Text(f"[unsupported content: {line(kind, 60) or 'without a type'}]")
            if words := _plain(content):
                yield Text(words)

    def _parts(self, content: dict[str, Any], metadata: dict[str, Any], role: str, node: str) -> Iterator[Block]:
        parts = content.get("parts")
        parts = [parts] if isinstance(parts, str | dict) else items(parts)
        if not parts and isinstance(content.get("text"), str):
            parts = [content["text"]]
        spoken: set[str] = set()
        names = _names(metadata)
        heard = any(isinstance(part, dict) and part.get("content_type") == "audio_transcription" for part in parts)
        for number, part in enumerate(parts):
            if isinstance(part, str):
                words = text(part) if role == "user" else resolve(text(part), metadata)
                if role == "assistant" and (wish := _image_wish(words)) is not None:
                    call = f"{node}.{number}"
                    self._calls.append((call, "image"))
                    yield ToolCall(call, "image", wish, language="json")
                elif words.strip() and words.strip() not in spoken:
                    spoken.add(words.strip())
                    yield Text(words.strip("\n"))
            elif isinstance(part, dict):
                for block in self._part(part, names, heard=heard):
                    if isinstance(block, Text):
                        if block.text.strip() in spoken:
                            continue  # a voice chat has its words twice
                        spoken.add(block.text.strip())
                    yield block

    def _part(self, part: dict[str, Any], names: dict[str, tuple[str, str]], *, heard: bool) -> Iterator[Block]:
        kind = first((text(part.get("content_type")), text(part.get("type")))) or None
        pointer = part.get("asset_pointer")
        if kind == "audio_transcription" or (kind in ("text", "output_text") and isinstance(part.get("text"), str)):
            if (words := text(part.get("text"))).strip():
                yield Text(words)
        elif kind == "image_asset_pointer" or (kind is None and isinstance(pointer, str)):
            yield self._image(part, names)
        elif kind in ("audio_asset_pointer", "real_time_user_audio_video_asset_pointer"):
            inner = record(part.get("audio_asset_pointer"))
            sound = first((text(pointer), text(inner.get("asset_pointer"))))
            if heard:
                yield Media("voice", "audio/*", why="a recording, left in the export: its words stand here")
            else:
                yield self.shelf.media(sound, "", "audio/*")
            for frame in items(part.get("frames_asset_pointers")):
                yield self._image(record(frame), names)
        else:
            yield Text(f"[unsupported content: {line(kind, 60) or 'without a type'}]")
            if words := first((text(part.get("text")), text(part.get("content")))):
                yield Text(words)

    def _image(self, part: dict[str, Any], names: dict[str, tuple[str, str]]) -> Media:
        pointer = text(part.get("asset_pointer"))
        name, kind = names.get(ident(pointer), ("", ""))
        wish = record(record(part.get("metadata")).get("dalle")).get("prompt")
        return self.shelf.media(pointer, name or line(wish, 80), kind or "image/*")

    def _attachments(self, metadata: dict[str, Any], made: Draft, content: dict[str, Any]) -> Iterator[Block]:
        """Uploads that no part of the message shows."""
        shown = {one.name for one in made if isinstance(one, Media) and one.name}
        parts = {ident(text(record(part).get("asset_pointer"))) for part in items(content.get("parts"))}
        for raw in items(metadata.get("attachments")):
            given = record(raw)
            name = line(given.get("name"), 300)
            kind = first((text(given.get("mime_type")), text(given.get("mimeType"))))
            own = text(given.get("id"))
            if not given or name in shown or (own and ident(own) in parts):
                continue
            shown.update([name] if name else [])
            yield self.shelf.media(own, name, kind or media_type(name))

    # ---------------------------------------------------------------- tools

    def _call(self, name: str, content: dict[str, Any], node: str, following: dict[str, Any]) -> Draft:
        body, language = _code(content)
        self._calls.append((node, name))
        if name.startswith("canmore."):
            answer = record(record(following.get("metadata")).get("canvas")) if who(following) == "tool" else {}
            done = canvas.call(self.versions, name, body, node, answer)
            return [done] if isinstance(done, Version) else list(done)
        if not body.strip():
            return []
        title, value = "", _json(body)
        if isinstance(value, dict):
            title, body, language = describe(name, value)
            asked = [one.get("q") for one in items(value.get("search_query")) if isinstance(one, dict)]
            title = first((title, *(line(value.get(key)) for key in ("prompt", "query", "q")), *map(line, asked)))
        elif name == "python" and not language:
            language = "python"
        return [ToolCall(node, name, body, title, language)]

    def _tool(self, message: dict[str, Any], content: dict[str, Any], metadata: dict[str, Any]) -> Draft:
        """A tool's answer: to the last call of its name, else to the last call."""
        name = text(record(message.get("author")).get("name"))
        call = next((one for one, tool in reversed(self._calls) if name and tool == name), "")
        call = call or (self._calls[-1][0] if self._calls else "")
        kind = _type(content)
        texts: list[str] = []
        other: list[Block] = []
        error = kind == "system_error"
        if kind in ("text", "multimodal_text", None):
            for block in self._parts(content, metadata, "tool", ""):
                if isinstance(block, Text):
                    texts.append(block.text)
                else:
                    other.append(block)
        elif kind in _LEFT_OUT or kind in _PRIVATE:
            return []
        elif kind == "thoughts":
            return [Thinking(thought)] if (thought := _thoughts(content)) else []
        elif kind in ("execution_output", "code"):
            texts.append(text(content.get("text")))
        else:
            known, words = _noise(content)
            texts += (
                [words] if known else [f"[unsupported content: {line(kind, 60) or 'without a type'}]", _plain(content)]
            )
        result = record(metadata.get("aggregate_result"))
        error = error or "exception" in text(result.get("status"))
        streams = [record(one) for one in items(result.get("messages"))]
        if not any(one.strip() for one in texts):
            texts += [text(one.get("text")) for one in streams]
        images = (text(one.get("image_url")) for one in streams if one.get("message_type") == "image")
        other += [self.shelf.media(pointer, "", "image/*") for pointer in images]
        said = resolve("\n\n".join(one for one in texts if one.strip()), metadata)
        if name.startswith("canmore.") and not error and "\n" not in said.strip():
            said = ""  # "Successfully created text document …"
        made: Draft = [ToolResult(call, said, error=error)] if said.strip() or error else []
        made += other
        made += self._attachments(metadata, made, content)
        return made


# ------------------------------------------------------------------ pieces


def _type(content: dict[str, Any]) -> str | None:
    """The content type: None where there is none, empty where it is no text."""
    kind = content.get("content_type")
    return None if kind is None else text(kind)


def _json(body: str) -> object:
    if body.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: object = jsonl.decode(body.encode("utf-8", "replace"))
    except ValueError:
        return None
    return value


def _image_wish(words: str) -> str | None:
    """The JSON of an image prompt that stands in an answer's place; None for what was said."""
    if not words.lstrip().startswith("{") or len(words) > 20_000:
        return None
    value = _json(words)
    if isinstance(value, dict) and ("prompt" in value or {"size", "n"} <= value.keys()) and value.keys() <= _IMAGE_WISH:
        return indented(value)
    return None


def _code(content: dict[str, Any]) -> tuple[str, str]:
    """The text of a call and its language, wherever the content type keeps it."""
    body = text(content.get("text"))
    if not body:
        body = "\n".join(part if isinstance(part, str) else indented(part) for part in items(content.get("parts")))
        body = text(body)
    language = line(content.get("language"), 30)
    return body, "" if language == "unknown" else language


def _thoughts(content: dict[str, Any]) -> str:
    out = []
    for one in items(content.get("thoughts")):
        given = record(one)
        said = text(given.get("content")) or "".join(text(part) for part in items(given.get("chunks")))
        summary = line(given.get("summary"), 300)
        parts = [f"**{summary}**" if summary else "", said.strip()]
        out.append("\n\n".join(part for part in parts if part))
    return "\n\n".join(one for one in out if one)


def _noise(content: dict[str, Any]) -> tuple[bool, str]:
    """(whether this is a known kind of what tools leave behind, its words)."""
    kind = _type(content)
    if kind in _PAGES:
        keys = ("title", "url", "text") if kind == "sonic_webpage" else ("title", "domain", "url", "text")
        return True, "\n".join(one for key in keys if (one := text(content.get(key)).strip()))
    if kind == "tether_browsing_display":
        return True, first((text(content.get("result")), text(content.get("summary"))))
    if kind in ("tether_browsing_code", "execution_output"):
        return True, first((text(content.get("text")), text(content.get("result"))))
    if kind == "system_error":
        return True, ": ".join(one for key in ("name", "text") if (one := text(content.get(key)).strip()))
    if kind == "super_widget":
        return True, indented(_without_type(content))
    return False, ""


def _plain(content: dict[str, Any]) -> str:
    """The words of a content of unknown type, where it keeps them as others do."""
    parts = [text(part) for part in items(content.get("parts"))]
    keys = ("text", "content", "result", "title")
    return "\n\n".join(one for one in (*(text(content.get(key)) for key in keys), *parts) if one.strip())


def _without_type(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != "content_type"}


def _names(metadata: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Name and type of each upload, by its id."""
    known = {}
    for raw in items(metadata.get("attachments")):
        given = record(raw)
        kind = first((text(given.get("mime_type")), text(given.get("mimeType"))))
        known[ident(text(given.get("id")))] = line(given.get("name"), 300), kind
    return known


def _sandbox(made: Draft) -> Iterator[Media]:
    """Files an answer links to on the tool's own computer: they are gone, and the note says so."""
    have: set[str] = {one.name for one in made if isinstance(one, Media)}
    for block in list(made):
        if isinstance(block, Text):
            for found in _SANDBOX.finditer(block.text):
                name = found[1].rstrip(".,;:").rpartition("/")[2]
                if name and name not in have:
                    have.add(name)
                    yield Media(name, media_type(name), why=MISSING)
