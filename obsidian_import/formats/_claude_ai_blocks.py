"""One message of a claude.ai talk, of any age, as blocks: what was said, what tools did, what was uploaded or made."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, Final

from obsidian_import import jsonl
from obsidian_import.formats._claude_tools import describe, indented
from obsidian_import.formats._exports import first, items, line, link, media_type, record, text
from obsidian_import.formats._versions import NOT_REPLAYED, Document, Draft, Version, Versions
from obsidian_import.model import Aside, Block, Media, Role, Text, Thinking, ToolCall, ToolResult

MISSING: Final = "not in the export"
_MAX_IMAGE: Final = 20 << 20

_PLACEHOLDERS: Final = (
    r"This block is not supported on your current device yet\.?"
    r"|Viewing artifacts created via the Analysis Tool web feature preview isn[’']t yet supported on mobile\.?"
)
_PLACEHOLDER: Final = re.compile(
    rf"(?:\A|(?<=\n))[ \t]*(?:```[ \t]*\n[ \t]*(?:{_PLACEHOLDERS})[ \t]*\n[ \t]*```|(?:{_PLACEHOLDERS}))[ \t]*(?=\n|\Z)"
)
_ANT: Final = re.compile(
    r"<antThinking>(?P<thought>.*?)(?:</antThinking>|\Z)|<antArtifact\b(?P<attributes>[^<>]{0,2000})>(?P<source>.*?)(?:</antArtifact>|\Z)",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r'([\w-]{1,40})="([^"]{0,1000})"')
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_COMPUTER: Final = re.compile(r"computer://(/[^\s)\]>\"'`]{1,500})")
_SILENT: Final = frozenset({"token_budget"})
_HTTP: Final = re.compile(r"https?://[^\s<>]{1,2000}\Z")


def role(message: dict[str, Any]) -> tuple[Role, str]:
    """Who spoke, and the name for the heading where it is neither of the two."""
    sender = message.get("sender") or message.get("role")
    if sender in ("human", "user"):
        return "user", ""
    return "assistant", "" if sender in ("assistant", "ai", "claude", None) else line(sender, 60)


class Maker:
    """Makes blocks of the messages of one path, in order; `versions` are its artifacts so far."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self._calls: list[tuple[str, str]] = []
        self._silent: set[str] = set()
        """Calls whose answer is only `OK`."""

    def blocks(self, message: dict[str, Any], turn: str) -> Draft:
        """The blocks of one message. Never raises for any shape."""
        who, _ = role(message)
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        made: Draft = []
        self._calls = []
        spoken = False
        for number, block in enumerate(items(content)):
            one = {"type": "text", "text": block} if isinstance(block, str) else block
            if isinstance(one, dict):
                said = list(self._block(one, who, f"{turn}.{number}", alone=len(items(content)) == 1))
                spoken = spoken or (one.get("type") == "text" and bool(text(one.get("text")).strip()))
                made += said
        if not spoken:
            made = self._from_text(message, who, turn, made)
        failed = {one.call for one in made if isinstance(one, ToolResult) and one.error and one.text != NOT_REPLAYED}
        made = [
            one for one in made if not (isinstance(one, ToolResult) and one.text == NOT_REPLAYED and one.call in failed)
        ]
        made += self._uploads(message, made)
        if who == "assistant":
            made += self._linked(made)
        return made

    # ---------------------------------------------------------------- words

    def _from_text(self, message: dict[str, Any], who: Role, turn: str, made: Draft) -> Draft:
        """`text`, where the content has no words: all there is in old exports; elsewhere it may leak the thinking."""
        words = text(message.get("text"))
        thoughts = [one.text.strip() for one in made if isinstance(one, Thinking) and one.text.strip()]
        for thought in thoughts:
            if words.lstrip().startswith(thought):
                words = words.lstrip()[len(thought) :]
        said: Draft = []
        for number, piece in enumerate(_PLACEHOLDER.split(words) if who == "assistant" else [words]):
            if number and not made:  # where the blocks are there, the placeholder says nothing
                said.append(Media("a part of the answer", "", why=MISSING))
            said += self._said(piece, who, f"{turn}.t{number or ''}")
        thinks = [one for one in made if isinstance(one, Thinking)]
        return [*thinks, *said, *(one for one in made if not isinstance(one, Thinking))]

    def _said(self, words: str, who: Role, turn: str) -> Iterator[Block | Version]:
        """Words, with the old tags for thinking and artifacts taken out of an answer."""
        if who == "user" or "<ant" not in words:
            if words.strip():
                yield Text(words.strip("\n"))
            return
        at = fences = counted = 0
        for number, found in enumerate(_ANT.finditer(words)):
            fences += len(_FENCE.findall(words, counted, found.start()))
            counted = found.start()
            if fences % 2:
                continue  # an example in a code block
            if words[at : found.start()].strip():
                yield Text(words[at : found.start()].strip("\n"))
            at = found.end()
            if found["thought"] is not None:
                yield Thinking(found["thought"].strip())
                continue
            given = dict(_ATTRIBUTE.findall(found["attributes"]))
            document = Document(
                line(given.get("title")), given.get("type", ""), given.get("language", ""), found["source"].strip("\n")
            )
            key = given.get("identifier") or f"{turn}.{number}"
            yield self.versions.write(key, document, f"{turn}.{number}", "artifacts", "wrote")
        if words[at:].strip():
            yield Text(words[at:].strip("\n"))

    # ---------------------------------------------------------------- content blocks

    def _block(self, block: dict[str, Any], who: Role, turn: str, *, alone: bool) -> Iterator[Block | Version]:
        kind = block.get("type") if isinstance(block.get("type"), str) else None
        if kind == "text":
            words = text(block.get("text"))
            if who == "assistant" and _PLACEHOLDER.fullmatch(words.strip()):
                if alone:
                    yield Media("a part of the answer", "", why=MISSING)
                return
            yield from self._said(words, who, turn)
            yield from _sources(block, words)
        elif kind == "thinking":
            thought = text(block.get("thinking")) or "\n\n".join(
                text(record(one).get("summary")) for one in items(block.get("summaries"))
            )
            yield Thinking(thought)
        elif kind == "redacted_thinking":
            yield Thinking("")
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            yield from self._call(block, turn)
        elif isinstance(kind, str) and kind.endswith("tool_result"):
            yield from self._result(block)
        elif kind == "voice_note":
            spoken = "\n\n".join(part for key in ("title", "text", "transcript") if (part := text(block.get(key))))
            yield Text(spoken) if spoken.strip() else Media("voice note", "audio/*", why=MISSING)
        elif kind in ("image", "document"):
            yield _media(block)
        elif kind not in _SILENT:
            name = line(kind, 40) or "without a type"
            yield Aside("client", f"Unknown block: {name}", text=indented(block))

    def _call(self, block: dict[str, Any], turn: str) -> Iterator[Block | Version]:
        name = text(block.get("name")) or "tool"
        call = text(block.get("id")) or turn
        self._calls.append((call, name))
        given = block.get("input")
        if isinstance(given, str):
            try:
                given = jsonl.decode(given.encode("utf-8", "replace"))
            except ValueError:
                given = {"input": given}
        shown = _display(block)
        made = self._made(name, call, record(given), shown)
        if made is not None:
            self._silent.add(call)
            yield from made if isinstance(made, tuple) else (made,)
            return
        title, body, language = describe("Bash" if name in ("bash_tool", "bash") else name, given)
        if not body and shown:
            body, language = text(shown.get("code")) or indented(shown), text(shown.get("language"))
        code = record(given).get("code")
        if set(record(given)) == {"code"} and isinstance(code, str):
            body, language = text(code), "javascript"  # the analysis tool
        yield ToolCall(call, name, body, title or line(block.get("message")), language)

    def _made(
        self, name: str, call: str, given: dict[str, Any], shown: dict[str, Any]
    ) -> Version | tuple[Block, ...] | None:
        """An artifact or file written or changed by this call; None for every other call."""
        versions = self.versions
        path = first((text(given.get("path")), text(given.get("file_path"))))
        old, new = text(given.get("old_str")), text(given.get("new_str"))
        if name == "artifacts":
            command = given.get("command") or ("create" if "content" in given else "")
            key = first((text(given.get("id")), call))
            source = given.get("content") if isinstance(given.get("content"), str) else shown.get("code")
            if command in ("create", "rewrite") and isinstance(source, str):
                kind, language = text(given.get("type")), text(given.get("language"))
                title = first((line(given.get("title")), line(shown.get("title")), line(shown.get("filename"))))
                if command == "create":
                    title = title or line(key)
                document = Document(title, kind, language or text(shown.get("language")), text(source))
                return versions.write(key, document, call, name, "wrote" if command == "create" else "rewrote")
            return versions.change(key, old, new, call, name) if command == "update" else None
        if name == "str_replace" and path and old:
            return versions.change(path, old, new, call, name)
        source = given.get("file_text")
        if not isinstance(source, str) and name == "create_file" and isinstance(given.get("content"), str):
            source = given["content"]
        if not isinstance(source, str) and not given.get("command"):
            source = shown.get("code") if name == "create_file" or text(shown.get("filename")) else None
            path = path or text(shown.get("filename"))
        if isinstance(source, str) and (path or name == "create_file"):
            base = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
            _, _, language = describe("Write", {"file_path": base or "file", "content": ""})
            document = Document(line(base), "", language or text(shown.get("language")), text(source))
            return versions.write(path or call, document, call, name, "wrote")
        return None

    def _result(self, block: dict[str, Any]) -> Iterator[Block]:
        name = block.get("name")
        call = text(block.get("tool_use_id"))
        if not call:
            call = next((one for one, tool in reversed(self._calls) if tool == name), "")
            call = call or (self._calls[-1][0] if self._calls and not name else "")
        content = block.get("content")
        parts = [content] if isinstance(content, str | dict) else items(content)
        texts, media = [], []
        for part in parts:
            if isinstance(part, dict) and part.get("type") in ("image", "document"):
                media.append(_media(part))
            elif isinstance(part, dict) and part.get("type") == "local_resource":
                media.append(
                    Media(line(part.get("name") or part.get("file_path")), text(part.get("mime_type")), why=MISSING)
                )
            elif answer := _answer(part):
                texts.append(answer)
        said, error = "\n\n".join(texts), block.get("is_error") is True
        if not error and call in self._silent and len(said) < 300 and "\n" not in said.strip():
            return  # "OK", "File created successfully: …"
        if said or error or not media:
            yield ToolResult(call, said, error=error)
        yield from media

    # ---------------------------------------------------------------- files

    def _uploads(self, message: dict[str, Any], made: Draft) -> Iterator[Block]:
        """Attachments with their text; files, of which the export has only the names; each upload once."""
        seen = {one.name for one in made if isinstance(one, Media) and one.name}
        for raw in items(message.get("attachments")):
            given = record(raw)
            name = line(given.get("file_name"), 300)
            words = given.get("extracted_content")
            kind = media_type(name, text(given.get("file_type")))
            if name:
                seen.add(name)
            if isinstance(words, str) and words.strip():
                yield Media(name or "pasted text", kind or "text/plain", text=text(words))
            elif given:
                yield Media(name or "attachment", kind, why=MISSING)
        known: set[tuple[str, str]] = set()
        for raw in (*items(message.get("files")), *items(message.get("files_v2"))):
            given = record(raw)
            name = line(given.get("file_name"), 300)
            uuid = first((text(given.get("file_uuid")), text(given.get("uuid"))))
            if not given or name in seen or (name, uuid) in known:
                continue
            seen.update([name] if name else [])
            known.add((name, uuid))
            image = given.get("file_kind") == "image"
            yield Media(name or "file", media_type(name, "") or ("image/*" if image else ""), why=MISSING)

    def _linked(self, made: Draft) -> Iterator[Block]:
        """Files that an answer links to on the tool's own computer and that no command in the data has written."""
        have = {path.replace("\\", "/").rpartition("/")[2] for path in self.versions.documents}
        have.update(one.name for one in made if isinstance(one, Media))
        for block in made:
            if isinstance(block, Text):
                for found in _COMPUTER.finditer(block.text):
                    name = found[1].rstrip(".,;:").rpartition("/")[2]
                    if name and name not in have:
                        have.add(name)
                        yield Media(name, media_type(name, ""), why=MISSING)


# ------------------------------------------------------------------ pieces


def _display(block: dict[str, Any]) -> dict[str, Any]:
    """`display_content`: the source once more, as JSON text in a JSON block."""
    shown = record(block.get("display_content"))
    raw = shown.get("json_block")
    if isinstance(raw, str):
        try:
            return record(jsonl.decode(raw.encode("utf-8", "replace")))
        except ValueError:
            return {}
    return record(raw)


def _sources(block: dict[str, Any], words: str) -> Iterator[Text]:
    """The pages an answer cites, under it (their places in it are not reliable in the data)."""
    links: dict[str, str] = {}
    for one in items(block.get("citations")):
        given = record(one)
        details = record(given.get("details")) or given
        url = text(details.get("url")) or text(given.get("url"))
        if _HTTP.match(url) and url not in words:
            links.setdefault(url, first((line(given.get("title"), 80), line(details.get("title"), 80), _host(url))))
    if links:
        yield Text("Sources: " + ", ".join(link(title, url) for url, title in links.items()))


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def _answer(part: object) -> str:
    """One part of a tool's answer as text."""
    if isinstance(part, str):
        return text(part)
    if not isinstance(part, dict):
        return "" if part is None else indented(part)
    if isinstance(part.get("text"), str) and part.get("type") in ("text", None):
        return text(part["text"])
    url = text(part.get("url"))
    if url or part.get("type") == "knowledge":
        return "\n".join(one for one in (text(part.get("title")), url, text(part.get("text"))) if one)
    return indented(part)


def _media(block: dict[str, Any]) -> Media:
    source = record(block.get("source"))
    kind = first((text(source.get("media_type")), text(block.get("mime_type"))))
    name = first((line(block.get("file_name")), line(block.get("title")), line(block.get("name"))))
    data = source.get("data")
    fallback = "image/*" if block.get("type") == "image" else ""
    if not isinstance(data, str) or not data:
        return Media(name, kind or fallback, why=MISSING)
    if source.get("type") == "text":
        return Media(name, kind or "text/plain", text=text(data))
    if len(data) * 3 // 4 > _MAX_IMAGE:
        return Media(name, kind or fallback, why=f"larger than {_MAX_IMAGE >> 20} MB")
    try:
        return Media(name, kind or fallback, data=base64.b64decode("".join(data.split()), validate=True))
    except (binascii.Error, ValueError):
        return Media(name, kind or fallback, why="could not be read: no base64")
