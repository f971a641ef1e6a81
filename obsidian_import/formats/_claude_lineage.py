"""Which files and sessions are one talk: resumed copies, forks, lines in the wrong file, sub-agents.

From the facts of pass 1 alone follows who continues whom; pass 2 then reads talk by talk.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from obsidian_import.formats._claude_facts import FilePart, Known

_HEADS = 8


@dataclass(slots=True)
class Talk:
    """One lineage: its sessions in order, the places of its files in the group, the key's session it was forked from."""

    sids: list[str]
    files: list[int] = field(default_factory=list)
    parent: str = ""
    family: int = 0
    """Talks of one family share records: what one of them has said the others do not repeat."""


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


def _clock(part: FilePart) -> Iterator[tuple[int, int]]:
    """(id with mark, seconds), to the minute, of every record."""
    spans = [*part.times, [len(part.ids), 0]]
    keys = list(_marked(part))
    for (start, seconds), (end, _) in itertools.pairwise(spans):
        for key in keys[start:end]:
            yield key, seconds


def _marked(part: FilePart) -> Iterator[int]:
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
