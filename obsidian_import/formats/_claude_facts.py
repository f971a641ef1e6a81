"""Pass 1: what grouping needs to know of one file, read once and kept as a few numbers.

Per session the ids of its records, a mark of each record's words and its times; where it says it comes from.
"""

from __future__ import annotations

import base64
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from obsidian_import import jsonl
from obsidian_import.formats import _claude_records as records
from obsidian_import.jsonl import Damage, Record
from obsidian_import.model import File, Memo

VERSION = 5
_MENTION = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl")


class Part(TypedDict):
    """What one file holds of one session."""

    ids: str
    marks: str
    times: list[list[int]]
    last: int
    end: int
    parents: list[int]
    mention: str
    marked: list[str]
    side: int


class Facts(TypedDict):
    """What grouping needs to know of one file; JSON, small, kept by the Memo."""

    version: int
    parts: dict[str, Part]
    agent: str
    owner: str
    about: dict[str, str]
    summaries: list[list[str]]


@dataclass(slots=True)
class FilePart:
    """A `Part` while its file is read, or unpacked again."""

    ids: array[int] = field(default_factory=lambda: array("Q"))
    marks: array[int] = field(default_factory=lambda: array("I"))
    times: list[list[int]] = field(default_factory=list)
    """[place in ids, seconds since the epoch] wherever a new minute begins."""
    last: int = 0
    end: int = 0
    parents: list[int] = field(default_factory=list)
    mention: str = ""
    marked: list[str] = field(default_factory=list)
    side: int = 0
    started: bool = False


def _seconds(value: Any) -> int:
    """Seconds since the epoch of a timestamp, 0 where there is none."""
    moment = records.when(value)
    return max(int(moment.timestamp()), 0) if moment is not None else 0


def _pack(values: array[int]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


def _scan(file: File) -> Facts:
    if file.name.endswith(".meta.json"):
        return _meta(file)
    fallback = records.stem(file)
    named = records.is_agent_file(file)
    parts: dict[str, FilePart] = {}
    summaries: list[list[str]] = []
    agent = ""
    last_minute: Any = None
    said: Any = None
    sid = fallback
    part: FilePart | None = None
    main = 0
    ids = records.Identities()
    for _, raw, record in records.entries(file):
        if isinstance(record, Damage):
            continue
        kind = record.get("type")
        if kind == "summary":
            leaf, summary = records.text(record, "leafUuid"), records.text(record, "summary")
            if leaf and summary:
                summaries.append([leaf, summary[:500]])
            continue
        if not isinstance(kind, str) or kind not in records.CHAIN:
            if "sessionId" in record or "session_id" in record:
                _marks(record, parts.setdefault(records.session_of(record, fallback), FilePart()))
            continue
        if part is None or said is None or record.get("sessionId") != said:
            said = record.get("sessionId")
            sid = records.session_of(record, fallback)
            part = parts.setdefault(sid, FilePart())
        key, mark, _ = ids.of(record, raw)
        if named or record.get("isSidechain") is True:
            part.side += 1
            agent = agent or records.text(record, "agentId")
            continue
        main += 1
        if not part.started:
            _begin(record, part)
        if "forkedFrom" in record:
            _marks(record, part)
        stamp = record.get("timestamp")
        minute = stamp[:16] if isinstance(stamp, str) else stamp
        if minute != last_minute or not part.ids:
            last_minute = minute
            part.times.append([len(part.ids), _seconds(stamp)])
        part.ids.append(key)
        part.marks.append(mark)
        part.end = key
        if kind in ("user", "assistant"):
            part.last = key
    owner = ""
    if named or (not main and any(p.side for p in parts.values())):
        sids = sorted(parts, key=lambda s: -parts[s].side)
        owner = records.folder_session(file) or (sids[0] if sids and sids[0] != fallback else "")
        agent = agent or fallback.removeprefix("agent-")
    else:
        agent = ""
    packed: dict[str, Part] = {
        sid: {
            "ids": _pack(p.ids),
            "marks": _pack(p.marks),
            "times": p.times,
            "last": p.last,
            "end": p.end,
            "parents": p.parents,
            "mention": p.mention,
            "marked": sorted(set(p.marked)),
            "side": p.side,
        }
        for sid, p in parts.items()
    }
    return {"version": VERSION, "parts": packed, "agent": agent, "owner": owner, "about": {}, "summaries": summaries}


def _begin(record: Record, part: FilePart) -> None:
    """What the first record of a session says about where it comes from."""
    part.started = True
    parent = records.parent(record)
    if parent is not None:
        part.parents.append(parent)
    if record.get("isCompactSummary") is True or record.get("subtype") == "compact_boundary":
        part.started = record.get("type") != "system"
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str) and (found := _MENTION.search(content)):
            part.mention = found[1]
    if record.get("sessionKind") == "bg":
        part.marked.append("")


def _marks(record: Record, part: FilePart) -> None:
    origin = record.get("forkedFrom")
    for value in (origin.get("sessionId") if isinstance(origin, dict) else origin, record.get("forkedSessionId")):
        if isinstance(value, str) and value not in part.marked:
            part.marked.append(value)


def _meta(file: File) -> Facts:
    """What `agent-….meta.json` says about the agent file beside it."""
    about: dict[str, str] = {}
    with file.open() as stream:
        raw = stream.read(1 << 20)
    try:
        value = jsonl.decode(raw)
    except ValueError:
        value = None
    if isinstance(value, dict):
        about = {
            k: v[:500]
            for k, v in value.items()
            if isinstance(v, str) and k in ("agentType", "description", "toolUseId")
        }
    agent = records.stem(file).removesuffix(".meta").removeprefix("agent-")
    owner = records.folder_session(file)
    return {"version": VERSION, "parts": {}, "agent": agent, "owner": owner, "about": about, "summaries": []}


@dataclass(slots=True)
class Known:
    """The facts of one file, unpacked."""

    parts: dict[str, FilePart]
    agent: str
    owner: str
    about: Mapping[str, str]
    summaries: Sequence[Sequence[str]]


def known(file: File, memo: Memo | None) -> Known:
    """The facts of one file, from the memo where it did not change. Raises READ_ERRORS."""
    stored = memo.get(file, "claude-code") if memo is not None else None
    if isinstance(stored, dict) and stored.get("version") == VERSION:
        try:
            return _unpack(cast("Facts", stored))
        except (KeyError, TypeError, ValueError, AttributeError):
            pass  # a cache that something else has damaged is no cache
    fresh = _scan(file)
    if memo is not None:
        memo.put(file, "claude-code", fresh)
    return _unpack(fresh)


def _unpack(facts: Facts) -> Known:
    parts: dict[str, FilePart] = {}
    for sid, stored in facts["parts"].items():
        ids, marks = array("Q"), array("I")
        ids.frombytes(base64.b64decode(stored["ids"]))
        marks.frombytes(base64.b64decode(stored["marks"]))
        parts[sid] = FilePart(
            ids=ids,
            marks=marks,
            times=[[int(place), int(seconds)] for place, seconds in stored["times"]],
            last=stored["last"],
            end=stored["end"],
            parents=list(stored["parents"]),
            mention=stored["mention"],
            marked=list(stored["marked"]),
            side=stored["side"],
        )
    return Known(parts, facts["agent"], facts["owner"], facts["about"], facts["summaries"])
