"""Codex CLI rollouts (`rollout-<time>-<uuid>.jsonl`): lines of `{timestamp, type, payload}`, older ones flat.

Every visible message is there twice (`response_item` and `event_msg`): each is taken once. What the client sends in the
person's name (environment, AGENTS.md, instructions) is nobody's words. Sub-agents are folded into the talk that
started them; a fork repeats its parent's beginning, which is left out where the parent is at hand.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from obsidian_import import jsonl
from obsidian_import.formats import dates
from obsidian_import.formats.client_words import plain
from obsidian_import.formats.naming import one_line, prompt_title
from obsidian_import.formats.pieces import tool_call
from obsidian_import.model import (
    Aside,
    Block,
    Conversation,
    File,
    Found,
    Group,
    Media,
    Memo,
    Problem,
    Role,
    Skip,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)

NAME: Final = "codex"
MAX_DAMAGES: Final = 50

_WRAPPED: Final = re.compile(rb'"type"\s*:\s*"(?:session_meta|response_item|turn_context|event_msg)"')
_FLAT: Final = re.compile(
    rb'^\s*\{"id"\s*:\s*"[0-9a-f-]{36}"\s*,\s*"timestamp"\s*:[^\n]{0,65536}\n[ \t\r]{0,8}\{"(?:type"\s*:\s*"(?:message|reasoning|function_call)|record_type)"',
    re.DOTALL,
)
_NOT_SAID: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions[ _]instructions|turn_aborted|user_shell_command|skill|INSTRUCTIONS|collaboration_mode"
    r"|app-context|apps_instructions|model_switch|subagent_notification|recommended_plugins)\b|# AGENTS\.md instructions\b)",
    re.IGNORECASE,
)
_DATA_URL: Final = re.compile(r"data:([\w.+/-]{3,60});base64,", re.IGNORECASE)
_MAX_IMAGE: Final = 64 * 1024 * 1024


def claims(file: File) -> bool:
    """By the first lines: a `session_meta` (or another of Codex's records), or the old flat head. May raise OSError."""
    head = file.head()
    start = head.lstrip(b"\xef\xbb\xbf\0 \t\r\n")
    if not start.startswith(b"{"):
        return False
    first = start[:8192]
    if _WRAPPED.search(first) and b'"payload"' in first:
        return True
    return bool(_FLAT.match(start))


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:
    """A rollout with its sub-agents, and behind them the rollout it was forked from (if it is among the files)."""
    metas = [(file, _meta(file, memo)) for file in files]
    by_id: dict[str, File] = {}
    copies: dict[str, list[File]] = {}
    for file, meta in metas:
        # The same session in `sessions/` and `archived_sessions/`: the longer file is the talk.
        known = by_id.setdefault(meta.get("id", "") or file.where, file)
        if known is not file:
            longer, shorter = (file, known) if file.size > known.size else (known, file)
            by_id[meta["id"]] = longer
            copies.setdefault(meta["id"], []).append(shorter)
    metas = [(file, meta) for file, meta in metas if by_id[meta.get("id", "") or file.where] is file]
    children: dict[str, list[File]] = {}
    for file, meta in metas:
        if meta.get("agent") and meta.get("parent") in by_id:
            children.setdefault(meta["parent"], []).append(file)
    for file, meta in metas:
        if meta.get("agent") and meta.get("parent") in by_id:
            continue
        agents: list[File] = []
        queue = [meta.get("id", "")]
        while queue:
            for child in children.pop(queue.pop(0), []):
                agents.append(child)
                queue.append(dict(metas_of(metas, child)).get("id", ""))
        parent = by_id.get(meta.get("parent", "")) if not meta.get("agent") else None
        fork = [parent] if parent is not None and parent is not file else []
        same = copies.get(meta.get("id", ""), [])
        yield Group(
            NAME, (file, *agents, *same, *fork), {"agents": len(agents), "copies": len(same), "fork": bool(fork)}
        )


def metas_of(metas: Sequence[tuple[File, dict[str, str]]], file: File) -> dict[str, str]:
    """What is known of one of the files."""
    return next((meta for one, meta in metas if one is file), {})


def read(group: Group) -> Iterator[Found]:
    """The talk of one rollout."""
    agents = int(str(group.hint.get("agents", 0)))
    file = group.files[0]
    reader = _Rollout(file)
    yield from reader.problems
    own = reader.turns()
    if group.hint.get("fork") and reader.parent:
        own = _without_beginning(own, _Rollout(group.files[-1]).turns())
    asides = []
    where = [file.where]
    for agent in group.files[1 : 1 + agents]:
        inner = _Rollout(agent)
        yield from inner.problems
        turns = _without_beginning(inner.turns(), own)
        if turns:
            asides.append(Aside("agent", f"Sub-agent {inner.nickname or inner.id}".strip(), turns=turns))
        where.append(agent.where)
    key = f"{NAME}:{reader.id or _name_id(file.name)}"
    for copy in group.files[1 + agents : 1 + agents + int(str(group.hint.get("copies", 0)))]:
        yield Skip(copy.where, f"the same session as {file.where}, not longer", key=key)
    title = reader.title or next((t for turn in own if turn.role == "user" and (t := prompt_title((turn,)))), "")
    if not any(turn.text.strip() for turn in own):
        yield Skip(file.where, "a session in which nobody said anything", key=key)
        return
    times = [turn.at for turn in own if turn.at]
    yield Conversation(
        key=key,
        source=NAME,
        session_id=reader.id,
        title=one_line(title or "Codex session"),
        turns=own,
        assistant="Codex",
        origin="code",
        project=re.split(r"[\\/]", reader.cwd.rstrip("\\/"))[-1],
        cwd=reader.cwd,
        branch=reader.branch,
        created=reader.created or (times[0] if times else None) or dates.from_mtime(file.mtime),
        updated=times[-1] if times else reader.created,
        asides=tuple(asides),
        parent=f"{NAME}:{reader.parent}" if reader.parent else "",
        files=tuple(where),
    )


def _without_beginning(turns: tuple[Turn, ...], parent: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """A fork without the turns it repeats: two or more at its beginning, the same words in the same order."""
    same = 0
    while same < min(len(turns), len(parent)) and (turns[same].role, turns[same].text) == (
        parent[same].role,
        parent[same].text,
    ):
        same += 1
    return turns[same:] if same >= 2 else turns


def _name_id(name: str) -> str:
    found = re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", name, re.IGNORECASE)
    return found[0].lower() if found else name.rpartition("/")[2].removesuffix(".jsonl")


def _meta(file: File, memo: Memo) -> dict[str, str]:
    known = memo.get(file, "codex-meta")
    if isinstance(known, dict):
        return {str(key): str(value) for key, value in known.items()}
    meta: dict[str, str] = {}
    try:
        with file.open() as stream:
            for _, _, record in jsonl.read(stream, lambda _: False):
                if isinstance(record, jsonl.Damage):
                    continue
                payload = _dict(record.get("payload")) if record.get("type") == "session_meta" else record
                meta = {
                    "id": _text(payload.get("id")),
                    "parent": _parent(payload),
                    "agent": "yes" if _is_agent(payload) else "",
                }
                break
    except OSError:
        return meta  # `read` meets the same error and reports it
    memo.put(file, "codex-meta", meta)
    return meta


def _spawn(payload: dict[str, Any]) -> dict[str, Any]:
    return _dict(_dict(_dict(payload.get("source")).get("subagent")).get("thread_spawn"))


def _is_agent(payload: dict[str, Any]) -> bool:
    source = payload.get("source")
    return (
        bool(isinstance(source, dict) and "subagent" in source)
        or payload.get("thread_source") == "subagent"
        or bool(payload.get("parent_thread_id"))
    )


def _parent(payload: dict[str, Any]) -> str:
    return (
        _text(_spawn(payload).get("parent_thread_id"))
        or _text(payload.get("parent_thread_id"))
        or _text(payload.get("forked_from_id"))
    )


@dataclass(slots=True)
class _Said:
    role: Role
    at: datetime | None
    blocks: list[Block] = field(default_factory=list)


class _Rollout:
    """One file, read once, line by line."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.id = self.cwd = self.branch = self.parent = self.title = self.nickname = ""
        self.created: datetime | None = None
        self.problems: list[Problem] = []
        self._said: list[_Said] = []
        self._last: dict[str, tuple[str, set[str]]] = {}
        self._calls: set[str] = set()
        damaged = 0
        try:
            with file.open() as stream:
                for line, _, record in jsonl.read(stream, lambda one: "payload" in one and "type" in one):
                    if isinstance(record, jsonl.Damage):
                        damaged += 1
                        if damaged <= MAX_DAMAGES:
                            self.problems.append(Problem(file.where, record.what, record.hint, line=line))
                    else:
                        self._record(record)
        except OSError as error:
            self.problems.append(
                Problem(file.where, f"could not be read: {error.strerror or error}", fatal=not self._said)
            )
        if damaged > MAX_DAMAGES:
            self.problems.append(Problem(file.where, f"{damaged - MAX_DAMAGES:,} more damaged lines"))

    def turns(self) -> tuple[Turn, ...]:
        """Its turns; ids count the turns of each side, so they stay when the session grows."""
        counts = {"user": 0, "assistant": 0}
        made = []
        for said in self._said:
            counts[said.role] += 1
            made.append(Turn(f"{said.role[0]}{counts[said.role]}", said.role, tuple(said.blocks), said.at))
        return tuple(made)

    def _record(self, record: dict[str, Any]) -> None:
        kind, payload = record.get("type"), record.get("payload")
        at = _time(record.get("timestamp"))
        if kind == "session_meta":
            self._head(_dict(payload), at)
        elif kind == "turn_context":
            self.cwd = self.cwd or _text(_dict(payload).get("cwd"))
        elif kind == "event_msg":
            self._event(_dict(payload), at)
        elif kind == "response_item":
            self._item(_dict(payload), at)
        elif kind == "compacted":
            self._aside(
                Aside("compaction", "Summary of the talk so far", text=_text(_dict(payload).get("message"))), at
            )
        elif payload is None and isinstance(kind, str):
            self._item(record, at)
        elif payload is None and "id" in record and not self._said:
            self._head(record, at)

    def _head(self, payload: dict[str, Any], at: datetime | None) -> None:
        if self.id:
            return  # a second one is the parent's, repeated
        self.id = _text(payload.get("id")).lower()
        self.cwd = _text(payload.get("cwd"))
        self.branch = _text(_dict(payload.get("git")).get("branch"))
        self.parent = _parent(payload)
        self.nickname = _text(_spawn(payload).get("agent_nickname")) or _text(payload.get("agent_nickname"))
        self.created = _time(payload.get("timestamp")) or at

    def _event(self, payload: dict[str, Any], at: datetime | None) -> None:
        kind = payload.get("type")
        if kind == "user_message":
            images = [block for one in _list(payload.get("images")) if (block := _image(one))]
            self._say("user", _text(payload.get("message")), "event", at, images)
        elif kind == "agent_message":
            self._say("assistant", _text(payload.get("message")), "event", at)
        elif kind == "agent_reasoning":
            self._say("thinking", _text(payload.get("text")), "event", at)
        elif kind == "turn_aborted":
            self._aside(Aside("client", "Interrupted", text=_text(payload.get("reason"))), at)
        elif kind in {"error", "stream_error"}:
            self._aside(Aside("client", "Error", text=_text(payload.get("message"))), at)
        elif kind == "thread_name_updated":
            self.title = _text(payload.get("thread_name")) or self.title

    def _item(self, item: dict[str, Any], at: datetime | None) -> None:
        kind = item.get("type")
        call_id = _text(item.get("call_id")) or _text(item.get("id"))
        if kind == "message":
            self._message(item, at)
        elif kind == "reasoning":
            text = "\n\n".join(_text(_dict(one).get("text")) for one in _list(item.get("summary")))
            self._say("thinking", text, "item", at)
        elif kind == "function_call":
            self._put([_call(call_id, _text(item.get("name")), _json(item.get("arguments")))], at)
        elif kind == "custom_tool_call":
            self._put([_call(call_id, _text(item.get("name")), item.get("input"))], at)
        elif kind == "local_shell_call":
            self._put([_call(call_id, "shell", _dict(item.get("action")))], at)
        elif kind == "web_search_call":
            query = _text(_dict(item.get("action")).get("query"))
            self._put([ToolCall(call_id, "web_search", query, title=one_line(query)[:2000] if query else "")], at)
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            text, error = _output(item.get("output"))
            self._put([ToolResult(call_id, text, error=error)], at)

    def _message(self, item: dict[str, Any], at: datetime | None) -> None:
        role = item.get("role")
        content = item.get("content")
        texts = [content] if isinstance(content, str) else [_text(_dict(one).get("text")) for one in _list(content)]
        images = [block for one in _list(content) if (block := _image(_dict(one).get("image_url")))]
        if role == "user":
            said = [text for text in texts if text.strip() and not _NOT_SAID.match(text)]
            self._say("user", "\n\n".join(said), "item", at, images)
        elif role == "assistant":
            self._say("assistant", "\n\n".join(text for text in texts if text.strip()), "item", at)

    def _say(self, who: str, text: str, channel: str, at: datetime | None, images: Sequence[Block] = ()) -> None:
        """Words, once: the same words on the other channel are the same message."""
        text = text.strip()
        if not text and not images:
            return
        if who == "user" and _NOT_SAID.match(text):
            return
        same = " ".join(text.split())
        last, channels = self._last.get(who, ("", set()))
        if same == last and channel not in channels:
            channels.add(channel)
            if (
                images
                and self._said
                and self._said[-1].role == "user"
                and not any(isinstance(b, Media) for b in self._said[-1].blocks)
            ):
                self._said[-1].blocks.extend(images)
            return
        self._last[who] = (same, {channel})
        blocks: list[Block] = [*images]
        if text:
            blocks.insert(0, Thinking(text) if who == "thinking" else Text(text))
        if who == "user":
            self._said.append(_Said("user", at, blocks))
            for other in ("assistant", "thinking"):
                self._last.pop(other, None)
        else:
            self._put(blocks, at)

    def _put(self, blocks: Sequence[Block], at: datetime | None) -> None:
        if not self._said or self._said[-1].role != "assistant":
            self._said.append(_Said("assistant", at))
        self._said[-1].blocks.extend(blocks)

    def _aside(self, aside: Aside, at: datetime | None) -> None:
        if self._said:
            self._said[-1].blocks.append(aside)
        else:
            self._put([aside], at)


def _call(call_id: str, name: str, raw: object) -> ToolCall:
    if isinstance(raw, dict):
        command = raw.get("cmd") if isinstance(raw.get("cmd"), str) else raw.get("command")
        if isinstance(command, list) and all(isinstance(one, str) for one in command):
            shell = len(command) == 3 and command[1] in {"-lc", "-c"}
            command = command[2] if shell else " ".join(command)
        if isinstance(command, str):
            return ToolCall(call_id, name or "shell", command, language="bash")
    made = tool_call(call_id, name or "tool", raw)
    if isinstance(raw, str) and "*** Begin Patch" in raw:
        return replace(made, language="diff")
    return made


def _output(raw: object) -> tuple[str, bool]:
    """A tool's output: text, or an object (also as JSON text) with `output`/`content` and an exit code."""
    value = _json(raw) if isinstance(raw, str) and raw.lstrip().startswith("{") else raw
    if isinstance(value, dict):
        inner = value.get("output", value.get("content"))
        code = _dict(value.get("metadata")).get("exit_code")
        error = value.get("success") is False or (isinstance(code, int) and code != 0)
        if inner is not None:
            return _output(inner)[0], error
        return json.dumps(value, indent=2, ensure_ascii=False), error
    if isinstance(value, list):
        return "\n".join(_text(_dict(one).get("text")) for one in value), False
    return plain(_text(value)), False


def _image(url: object) -> Media | None:
    if isinstance(url, dict):
        url = url.get("url")
    if not isinstance(url, str) or not url:
        return None
    found = _DATA_URL.match(url)
    if not found:
        return Media("", "image/*", why=f"not in the export: {url[:2000]}")
    try:
        data = base64.b64decode(url[found.end() :][:_MAX_IMAGE], validate=False)
    except (binascii.Error, ValueError) as error:
        return Media("", found[1], why=f"could not be read: {error}")
    return Media("", found[1].lower(), data=data)


def _json(raw: object) -> object:
    if not isinstance(raw, str):
        return raw
    try:
        value: object = jsonl.decode(raw.encode("utf-8", "replace"))
    except ValueError:
        return raw
    return value


def _time(raw: object) -> datetime | None:
    when = dates.value(raw) if isinstance(raw, str | int | float) else None
    return when.read(day_first=False) if when else None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
