"""Which files and sessions are one talk: resumed copies, forks, lines in the wrong file, sub-agents.

Pass 1 reads each file once (a file that did not change: never again) and keeps a few numbers of it: per session the
ids of its records and their times. From these alone follows who continues whom; pass 2 then reads talk by talk.
"""

from __future__ import annotations

import base64
import binascii
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from obsidian_import.formats import _claude_records as records
from obsidian_import.jsonl import Damage, Record
from obsidian_import.model import File, Memo

VERSION = 3
_HEADS = 8
_MENTION = re.compile(r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\.jsonl")


class Part(TypedDict):
    """What one file holds of one session."""

    ids: str
    times: str
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
class Talk:
    """One lineage: its sessions in order, the places of its files in the group, the key's session it was forked from."""

    sids: list[str]
    files: list[int] = field(default_factory=list)
    parent: str = ""


@dataclass(slots=True)
class _Part:
    """A `Part` while its file is read, or unpacked again."""

    ids: array[int] = field(default_factory=lambda: array("Q"))
    times: array[int] = field(default_factory=lambda: array("I"))
    last: int = 0
    end: int = 0
    parents: list[int] = field(default_factory=list)
    mention: str = ""
    marked: list[str] = field(default_factory=list)
    side: int = 0
    started: bool = False


_minutes: dict[str, int] = {}


def _seconds(value: Any) -> int:
    """Seconds since the epoch of a timestamp, 0 where there is none; the minute is looked up, not parsed."""
    if isinstance(value, str) and len(value) >= 20 and value[-1] == "Z":
        minute = _minutes.get(value[:16])
        if minute is not None and value[17:19].isdecimal() and value[17:19].isascii():
            return minute + int(value[17:19])
    moment = records.when(value)
    if moment is None:
        return 0
    seconds = int(moment.timestamp())
    if isinstance(value, str) and value[-1:] == "Z" and len(value) >= 20:
        if len(_minutes) > 50_000:
            _minutes.clear()
        _minutes[value[:16]] = seconds - seconds % 60
    return min(max(seconds, 0), 0xFFFFFFFF)


def _pack(values: array[int]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


def _unpack(kind: str, packed: str) -> array[int]:
    values: array[int] = array(kind)
    values.frombytes(base64.b64decode(packed))
    return values


def _scan(file: File) -> Facts:
    if file.name.endswith(".meta.json"):
        return _meta(file)
    fallback = records.stem(file)
    named = records.is_agent_file(file)
    parts: dict[str, _Part] = {}
    summaries: list[list[str]] = []
    agent = ""
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
        if kind not in records.CHAIN if isinstance(kind, str) else True:
            if "sessionId" in record:
                parts.setdefault(records.session_of(record, fallback), _Part())
                _marks(record, parts[records.session_of(record, fallback)])
            continue
        sid = records.session_of(record, fallback)
        part = parts.get(sid)
        if part is None:
            part = parts[sid] = _Part()
        key, _ = ids.of(record, raw, sid)
        if named or record.get("isSidechain") is True:
            part.side += 1
            agent = agent or records.text(record, "agentId")
            continue
        main += 1
        if not part.started:
            _begin(record, part, ids)
        if "forkedFrom" in record:
            _marks(record, part)
        part.ids.append(key)
        part.times.append(_seconds(record.get("timestamp")))
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
            "times": _pack(p.times),
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


def _begin(record: Record, part: _Part, ids: records.Identities) -> None:
    """What the first record of a session says about where it comes from."""
    part.started = True
    parent = ids.parent(record)
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


def _marks(record: Record, part: _Part) -> None:
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
        value = records.jsonl.decode(raw)
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


def facts(file: File, memo: Memo | None) -> Facts:
    """The facts of one file, from the memo where it did not change. Raises READ_ERRORS."""
    known = memo.get(file, "claude-code") if memo is not None else None
    if isinstance(known, dict) and known.get("version") == VERSION:
        return cast("Facts", known)
    fresh = _scan(file)
    if memo is not None:
        memo.put(file, "claude-code", fresh)
    return fresh


@dataclass(slots=True)
class Known:
    """The facts of one file, unpacked."""

    parts: dict[str, _Part]
    agent: str
    owner: str
    about: Mapping[str, str]
    summaries: Sequence[Sequence[str]]


def unpack(found: Facts) -> Known:
    """The facts ready for use; facts that a foreign hand has damaged are empty."""
    try:
        parts = {
            sid: _Part(
                _unpack("Q", p["ids"]),
                _unpack("I", p["times"]),
                p["last"],
                p["end"],
                list(p["parents"]),
                p["mention"],
                list(p["marked"]),
                p["side"],
            )  # fmt: skip
            for sid, p in found["parts"].items()
        }
    except (KeyError, TypeError, ValueError, binascii.Error):
        parts = {}
    return Known(parts, found["agent"], found["owner"], found["about"], found["summaries"])


class _Union:
    def __init__(self) -> None:
        self._up: dict[object, object] = {}

    def root(self, one: object) -> object:
        up = self._up
        while (parent := up.setdefault(one, one)) != one:
            up[one] = up.setdefault(parent, parent)
            one = parent
        return one

    def join(self, one: object, other: object) -> None:
        a, b = self.root(one), self.root(other)
        if a != b:
            self._up[b] = a


def components(known: Sequence[Known]) -> list[list[int]]:
    """The files (by place) that belong together, each once, in the order of their first file."""
    union = _Union()
    sids = {sid for k in known for sid in k.parts}
    heads: dict[int, int] = {}
    for place, k in enumerate(known):
        for sid, part in k.parts.items():
            union.join(("file", place), ("session", sid))
            for head in [*part.ids[:_HEADS], *part.parents, *part.ids[-2:]]:
                if (first := heads.setdefault(head, place)) != place:
                    union.join(("file", first), ("file", place))
            for name in (part.mention, *part.marked):
                if name in sids:
                    union.join(("file", place), ("session", name))
        if k.owner:
            union.join(("file", place), ("session", k.owner))
    if len(known) > 1:
        wanted = heads.keys()
        for place, k in enumerate(known):
            for part in k.parts.values():
                for key in wanted & set(part.ids):
                    if heads[key] != place:
                        union.join(("file", heads[key]), ("file", place))
    found: dict[object, list[int]] = {}
    for place in range(len(known)):
        found.setdefault(union.root(("file", place)), []).append(place)
    return list(found.values())


@dataclass(slots=True)
class _Session:
    sid: str
    ids: set[int]
    first: int
    last: set[int]
    parents: set[int]
    mention: str
    marked: set[str]
    own: int = 0
    own_from: int = 0


def _sessions(known: Sequence[Known], homes: Sequence[str]) -> list[_Session]:
    """The sessions that have records of their own, each with all its ids, in the order in which they began."""
    found: dict[str, _Session] = {}
    times: dict[str, dict[int, int]] = {}
    for place, k in enumerate(known):
        if k.agent:
            continue
        for sid, part in k.parts.items():
            if not part.ids:
                continue
            one = found.setdefault(sid, _Session(sid, set(), 0, set(), set(), "", set()))
            one.ids.update(part.ids)
            if homes[place] == sid or not one.last:
                one.last = {part.last, part.end} - {0}
            one.parents.update(part.parents)
            one.mention = one.mention or part.mention
            one.marked.update(part.marked)
            times.setdefault(sid, {}).update(zip(part.ids, part.times, strict=False))
    shared: set[int] = set()
    seen: set[int] = set()
    for one in found.values():
        shared |= seen & one.ids
        seen |= one.ids
    for one in found.values():
        clock = times[one.sid]
        one.first = min((t for t in clock.values() if t), default=0)
        own = one.ids - shared
        one.own = len(own)
        one.own_from = min((clock[i] for i in own if clock.get(i)), default=0)
    return sorted(
        found.values(),
        key=lambda s: (s.first, bool(s.marked), bool(s.own), s.own_from, len(s.ids), s.sid),
    )


def talks(known: Sequence[Known], stems: Sequence[str]) -> list[Talk]:
    """The talks of one component. A copy that goes on is one talk with its origin; a fork is its own, with a parent."""
    ordered = _sessions(known, stems)
    result: list[Talk] = []
    of: dict[str, Talk] = {}
    before: list[_Session] = []
    for one in ordered:
        origin = _origin(one, before)
        talk = of.get(origin.sid) if origin else None
        if origin and talk and talk.sids[-1] == origin.sid and _continues(one, origin):
            talk.sids.append(one.sid)
        else:
            parent = talk.sids[0] if talk else next((m for m in sorted(one.marked) if m and m != one.sid), one.mention)
            talk = Talk([one.sid], parent=parent if parent != one.sid else "")
            result.append(talk)
        of[one.sid] = talk
        before.append(one)
    _files(known, stems, result, of)
    return result


def _origin(one: _Session, before: list[_Session]) -> _Session | None:
    """The session that `one` was copied from or follows: the latest one it shares the most with."""
    best: _Session | None = None
    score = (0, 0)
    for place, other in enumerate(before):
        common = len(one.ids & other.ids)
        follows = bool(one.parents & other.ids) or other.sid in one.marked or other.sid == one.mention
        if (common or follows) and (common + follows, place) > score:
            best, score = other, (common + follows, place)
    return best


def _continues(one: _Session, origin: _Session) -> bool:
    """Whether `one` goes on exactly where `origin` ends."""
    if one.mention == origin.sid:
        return True
    return bool(origin.last & one.ids) or bool(origin.last & one.parents)


def _files(known: Sequence[Known], stems: Sequence[str], result: list[Talk], of: dict[str, Talk]) -> None:
    """Each talk's files in reading order: session by session, its home first, then by time; sub-agents last."""
    for talk in result:
        for sid in talk.sids:
            mine = [
                p
                for p, k in enumerate(known)
                if not k.agent and sid in k.parts and (k.parts[sid].ids or k.parts[sid].side)
            ]
            mine.sort(key=lambda p: (stems[p] != sid, min((t for t in known[p].parts[sid].times if t), default=0), p))
            talk.files += [p for p in mine if p not in talk.files]
        talk.files += [
            p for p, k in enumerate(known) if not k.agent and p not in talk.files and set(talk.sids) & k.parts.keys()
        ]
    for place, k in enumerate(known):
        owner = of.get(k.owner) if k.agent else None
        if owner is not None and not k.about and k.parts:
            owner.files.append(place)


def rest(known: Sequence[Known], result: Sequence[Talk]) -> Iterator[int]:
    """The files of a component that are in no talk."""
    used = {place for talk in result for place in talk.files}
    for place, k in enumerate(known):
        if place not in used and (k.parts or not k.agent):
            yield place
