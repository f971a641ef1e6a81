"""Which files and sessions are one talk: resumed copies, forks, lines in the wrong file, sub-agents.

Pass 1 reads each file once (a file that did not change: never again) and keeps a few numbers of it: per session the
ids of its records and their times. From these alone follows who continues whom; pass 2 then reads talk by talk.
"""

from __future__ import annotations

import base64
import itertools
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from obsidian_import import jsonl
from obsidian_import.formats import _claude_records as records
from obsidian_import.jsonl import Damage, Record
from obsidian_import.model import File, Memo

VERSION = 5
_HEADS = 8
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
class Talk:
    """One lineage: its sessions in order, the places of its files in the group, the key's session it was forked from."""

    sids: list[str]
    files: list[int] = field(default_factory=list)
    parent: str = ""
    family: int = 0
    """Talks of one family share records: what one of them has said the others do not repeat."""


@dataclass(slots=True)
class _Part:
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
    parts: dict[str, _Part] = {}
    summaries: list[list[str]] = []
    agent = ""
    last_minute: Any = None
    said: Any = None
    sid = fallback
    part: _Part | None = None
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
                _marks(record, parts.setdefault(records.session_of(record, fallback), _Part()))
            continue
        if part is None or said is None or record.get("sessionId") != said:
            said = record.get("sessionId")
            sid = records.session_of(record, fallback)
            part = parts.setdefault(sid, _Part())
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


def _begin(record: Record, part: _Part) -> None:
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

    parts: dict[str, _Part]
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
    parts: dict[str, _Part] = {}
    for sid, stored in facts["parts"].items():
        ids, marks = array("Q"), array("I")
        ids.frombytes(base64.b64decode(stored["ids"]))
        marks.frombytes(base64.b64decode(stored["marks"]))
        parts[sid] = _Part(
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
        wanted = set(heads)
        for place, k in enumerate(known):
            for part in k.parts.values():
                for key in wanted.intersection(part.ids):
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
    """Numbers of the records, each with its mark: a shared one is a copy."""
    plain: set[int]
    start: list[int]
    """The first few of `ids`: a copy begins with records of its origin."""
    first: int
    last: set[int]
    parents: set[int]
    mention: str
    marked: set[str]
    own: int = 0
    own_from: int = 0


def _clock(part: _Part) -> Iterator[tuple[int, int]]:
    """(id with mark, seconds), to the minute, of every record."""
    spans = [*part.times, [len(part.ids), 0]]
    keys = list(_marked(part))
    for (start, seconds), (end, _) in itertools.pairwise(spans):
        for key in keys[start:end]:
            yield key, seconds


def _marked(part: _Part) -> Iterator[int]:
    return (key << 32 | mark for key, mark in zip(part.ids, part.marks, strict=True))


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
            one = found.setdefault(sid, _Session(sid, set(), set(), [], 0, set(), set(), "", set()))
            one.plain.update(part.ids)
            keys = list(_marked(part))
            one.ids.update(keys)
            one.start = one.start or keys[:3]
            if homes[place] == sid or not one.last:
                one.last = {part.last, part.end} - {0}
            one.parents.update(part.parents)
            one.mention = one.mention or part.mention
            one.marked.update(part.marked)
            times.setdefault(sid, {}).update(_clock(part))
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
    single = {sid for k in known if not k.agent for sid, part in k.parts.items() if part.ids}
    if len(single) == 1:
        return _single(known, stems, single.pop())
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
            family = talk.family if talk else len(result)
            talk = Talk([one.sid], parent=parent if parent != one.sid else "", family=family)
            result.append(talk)
        of[one.sid] = talk
        before.append(one)
    _files(known, stems, result, of)
    return result


def _single(known: Sequence[Known], stems: Sequence[str], sid: str) -> list[Talk]:
    """One session alone: nothing to compare it with."""
    parts = [k.parts[sid] for k in known if not k.agent and sid in k.parts]
    named = [name for part in parts for name in [*part.marked, part.mention] if name and name != sid]
    talk = Talk([sid], parent=min(named, default=""))
    _files(known, stems, [talk], {sid: talk})
    return [talk]


def _origin(one: _Session, before: list[_Session]) -> _Session | None:
    """The session that `one` was copied from or follows: the latest one it shares the most with."""
    best: _Session | None = None
    score = (0, 0)
    for place, other in enumerate(before):
        common = len(one.ids & other.ids) if _copied(one, other) else 0
        follows = bool(one.parents & other.plain) or other.sid in one.marked or other.sid == one.mention
        if (common or follows) and (common + follows, place) > score:
            best, score = other, (common + follows, place)
    return best


def _copied(one: _Session, other: _Session) -> bool:
    """Whether `one` begins with records of `other` (equal ids somewhere inside are no copy)."""
    shared = [key in other.ids for key in one.start]
    return shared[:1] == [True] or sum(shared) > 1


def _continues(one: _Session, origin: _Session) -> bool:
    """Whether `one` goes on exactly where `origin` ends."""
    if one.mention == origin.sid:
        return True
    if origin.last & one.parents:
        return True
    return any(key >> 32 in origin.last for key in origin.ids & one.ids)


def _files(known: Sequence[Known], stems: Sequence[str], result: list[Talk], of: dict[str, Talk]) -> None:
    """Each talk's files in reading order: session by session, its home first, then by time; sub-agents last."""
    for talk in result:
        for sid in talk.sids:
            mine = [
                p
                for p, k in enumerate(known)
                if not k.agent and sid in k.parts and (k.parts[sid].ids or k.parts[sid].side)
            ]
            mine.sort(
                key=lambda p: (stems[p] != sid, min((t for _, t in known[p].parts[sid].times if t), default=0), p)
            )
            talk.files += [p for p in mine if p not in talk.files]
        talk.files += [
            p for p, k in enumerate(known) if not k.agent and p not in talk.files and set(talk.sids) & k.parts.keys()
        ]
    for place, k in sorted(enumerate(known), key=lambda item: (item[1].agent, item[0])):
        owner = of.get(k.owner) if k.agent else None
        if owner is not None and not k.about and k.parts:
            owner.files.append(place)


def rest(known: Sequence[Known], result: Sequence[Talk]) -> Iterator[int]:
    """The files of a component that are in no talk."""
    used = {place for talk in result for place in talk.files}
    for place, k in enumerate(known):
        if place not in used and (k.parts or not k.agent):
            yield place
