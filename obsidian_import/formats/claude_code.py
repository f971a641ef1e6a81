"""Claude Code session transcripts (JSONL, and the JSON with `loglines`): one talk per lineage.

`groups` reads each file once for who belongs to whom (`_claude_lineage`); `read` then builds talk by talk
(`_claude_build`) from the files of a group. Records are looked at one by one; no file is held as a whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from obsidian_import.formats import _claude_facts as facts_of
from obsidian_import.formats import _claude_lineage as lineage
from obsidian_import.formats import _claude_records as records
from obsidian_import.formats import _claude_text as words
from obsidian_import.formats._claude_agents import place as place_agents
from obsidian_import.formats._claude_build import Builder
from obsidian_import.formats._claude_title import flat, headline, project_of
from obsidian_import.formats._claude_tools import Shelf
from obsidian_import.jsonl import Damage, Record
from obsidian_import.model import Aside, Block, Conversation, File, Found, Group, Memo, Problem, Skip, Text, Turn

NAME = "claude-code"

_SIGNS = re.compile(rb'"(?:sessionId|parentUuid|isSidechain|leafUuid)"\s*:')
_TYPES = re.compile(rb'"type"\s*:\s*"(?:user|assistant|summary|file-history-snapshot|queue-operation|ai-title)"')
_MESSAGE = re.compile(rb'"message"\s*:\s*[{"]|"leafUuid"\s*:|"messageId"\s*:|"operation"\s*:|"aiTitle"\s*:')
_DAMAGES = 100


def claims(file: File) -> bool:
    """Whether the first bytes are a Claude Code transcript's (or the note beside a sub-agent's). May raise OSError."""
    if file.name.endswith(".meta.json"):
        return bool(records.folder_session(file)) or records.stem(file).startswith("agent-")
    if not file.size:
        return records.is_session_name(file)
    head = file.head(65536)
    start = head.lstrip(b"\xef\xbb\xbf\0 \t\r\n")
    if records.is_loglines(head) and file.name.endswith(".json"):
        return True
    if file.name.endswith(".json") or b'"session_meta"' in head[:2000]:
        return False
    if not start:
        return records.is_session_name(file)
    if not file.name.endswith(".jsonl") and not start.startswith(b"{"):
        return False
    if file.name.rsplit(".", 1)[-1].lower() in ("md", "markdown", "txt", "html", "zip"):
        return False
    if _TYPES.search(head) and (_SIGNS.search(head) or _MESSAGE.search(head)):
        return True
    return file.name.endswith(".jsonl") and (bool(_SIGNS.search(head)) or records.is_session_name(file))


def groups(files: Sequence[File], memo: Memo) -> Iterator[Group]:
    """The files of each lineage with its forks and sub-agents; `hint` holds who continues whom."""
    known: list[facts_of.Known] = []
    good: list[File] = []
    for file in files:
        try:
            known.append(facts_of.known(file, memo))
        except records.READ_ERRORS:
            yield Group(NAME, (file,))
        else:
            good.append(file)
    summaries = [s for k in known for s in k.summaries]
    leaves: dict[int, list[list[str]]] = {}
    for leaf, text in summaries:
        leaves.setdefault(records.leaf_number(leaf), []).append([leaf, text])
    for places in lineage.components(known):
        part = [known[p] for p in places]
        hint = _hint(part, [records.stem(good[p]) for p in places])
        if leaves:
            mine = {key for k in part for p in k.parts.values() for key in leaves.keys() & set(p.ids)}
            named = {id(s) for k in part for s in k.summaries}
            hint["summaries"] = [s for key in sorted(mine) for s in leaves[key] if id(s) not in named]
        yield Group(NAME, tuple(good[p] for p in places), hint)


def _hint(known: Sequence[facts_of.Known], stems: Sequence[str]) -> dict[str, object]:
    talks = lineage.talks(known, stems)
    return {
        "talks": [{"sids": t.sids, "files": t.files, "parent": t.parent, "family": t.family} for t in talks],
        "rest": list(lineage.rest(known, talks)),
        "agents": {str(p): k.agent for p, k in enumerate(known) if k.agent and not k.about},
        "owners": {str(p): k.owner for p, k in enumerate(known) if k.agent and k.owner and not k.about},
        "about": {k.agent: dict(k.about) for k in known if k.agent and k.about},
    }


def read(group: Group) -> Iterator[Found]:
    """The talks of one group; what is wrong with its files; what is no talk, and why. Never raises."""
    hint: Any = group.hint
    if "talks" not in hint:
        known, problems = _facts_now(group)
        yield from problems
        if known is None:
            return
        hint = _hint(known, [records.stem(f) for f in group.files])
    reading = _Reading(group.files, hint)
    for talk in hint["talks"]:
        yield from reading.talk(talk)
    for place in hint["rest"]:
        yield from reading.rest(place)
    yield from reading.problems()


def _facts_now(group: Group) -> tuple[list[facts_of.Known] | None, list[Problem]]:
    known: list[facts_of.Known] = []
    for file in group.files:
        try:
            known.append(facts_of.known(file, None))
        except records.READ_ERRORS as error:
            return None, [Problem(file.where, f"could not be read: {_reason(error)}", fatal=True)]
    return known, []


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or str(error) or type(error).__name__)


@dataclass(slots=True)
class _Facts:
    """What a talk's records say about the talk itself."""

    custom: str = ""
    ai: str = ""
    summary: str = ""
    cwd: str = ""
    branch: str = ""


@dataclass(slots=True)
class _Reading:
    """One run over the files of a group."""

    files: tuple[File, ...]
    hint: Any
    seen: dict[int, set[int]] = field(default_factory=dict)
    damages: dict[int, list[Problem]] = field(default_factory=dict)
    unknown: dict[int, Counter[str]] = field(default_factory=dict)

    def _entries(self, place: int) -> Iterator[tuple[Record, bytes]]:
        """The records of one file; its damage is noted the first time."""
        file = self.files[place]
        damages: list[Problem] = []
        more = 0
        last: int | None = None
        try:
            for line, raw, record in records.entries(file):
                if not isinstance(record, Damage):
                    yield record, raw
                elif len(damages) < _DAMAGES:
                    damages.append(Problem(file.where, record.what, record.hint, line))
                else:
                    more, last = more + 1, line
        except records.READ_ERRORS as error:
            damages.append(Problem(file.where, f"could not be read: {_reason(error)}", fatal=True))
        if more:
            damages.append(Problem(file.where, f"{more} more damaged lines, up to this one", line=last))
        self.damages.setdefault(place, damages)

    def problems(self) -> Iterator[Problem]:
        """What was wrong with the files, file by file."""
        for place, file in enumerate(self.files):
            yield from self.damages.get(place, ())
            if counts := self.unknown.get(place):
                names = ", ".join(f"{name} × {n}" if n > 1 else name for name, n in sorted(counts.items())[:12])
                total = sum(counts.values())
                yield Problem(
                    file.where,
                    f"{total} {'thing' if total == 1 else 'things'} of kinds this version does not know: {names}",
                    "Blocks are shown as they are, folded; records are left out.",
                )

    def talk(self, talk: Any) -> Iterator[Found]:
        """Build one talk from its files."""
        sids = frozenset(talk["sids"])
        key_sid = talk["sids"][0]
        shelf = Shelf()
        facts = _Facts()
        main = Builder(shelf, Counter())
        agents: dict[str, Builder] = {}
        roots: dict[str, str] = {}
        leaves: list[tuple[str, str]] = [(s[0], s[1]) for s in self.hint.get("summaries", ())]
        used: list[File] = []
        uuids: set[str] = set()
        names: dict[str, str] = self.hint.get("agents", {})
        seen = self.seen.setdefault(talk["family"], set())
        chain = records.CHAIN | {"queue-operation"}
        for place in talk["files"]:
            file = self.files[place]
            used.append(file)
            unknown = self.unknown.setdefault(place, Counter())
            main.unknown = unknown
            fallback = records.stem(file)
            ids = records.Identities()
            inside = names.get(str(place), "")
            said: Any = None
            sid = fallback
            alone = len(self.files) == 1
            mine = frozenset[int]() if alone else frozenset(seen)
            for record, raw in self._entries(place):
                kind = record.get("type")
                if not isinstance(kind, str):
                    continue
                if kind == "summary":
                    leaves.append((records.text(record, "leafUuid"), records.text(record, "summary")))
                    continue
                if said is None or record.get("sessionId") != said:
                    said = record.get("sessionId")
                    sid = records.session_of(record, fallback)
                if kind not in chain:
                    if sid in sids:
                        _state(record, kind, facts, unknown)
                    continue
                if not inside and sid not in sids:
                    continue
                uid = record.get("uuid")
                if not alone or not isinstance(uid, str) or not uid:
                    number, mark, uid = ids.of(record, raw)
                    key = number << 32 | mark
                    if key in mine:
                        continue
                    seen.add(key)
                if not (facts.cwd and facts.branch) and kind in ("user", "assistant"):
                    _about(record, facts)
                if inside:
                    self._agent(agents, inside, shelf, unknown).add(record, uid)
                elif record.get("isSidechain") is True:
                    self._sidechain(record, uid, agents, roots, shelf, unknown)
                else:
                    uuids.add(uid)
                    main.add(record, uid)
        for leaf, summary in leaves:
            if leaf in uuids and summary.strip():
                facts.summary = summary
        yield self._finish(talk, key_sid, main, agents, facts, used)

    def _agent(self, agents: dict[str, Builder], name: str, shelf: Shelf, unknown: Counter[str]) -> Builder:
        builder = agents.get(name)
        if builder is None:
            builder = agents[name] = Builder(shelf, unknown, agent=name)
        return builder

    def _sidechain(
        self,
        record: Record,
        uid: str,
        agents: dict[str, Builder],
        roots: dict[str, str],
        shelf: Shelf,
        unknown: Counter[str],
    ) -> None:
        """A sub-agent's record inside the session file: to the chain of its parent."""
        parent = records.text(record, "parentUuid")
        name = records.text(record, "agentId") or roots.get(parent, "")
        if not name:
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            prompt = record.get("type") == "user" and "toolUseResult" not in record and isinstance(content, str)
            name = uid if prompt or not agents else next(reversed(agents))
        roots[uid] = name
        self._agent(agents, name, shelf, unknown).add(record, uid)

    def rest(self, place: int) -> Iterator[Found]:
        """A file that is in no talk: a sub-agent without its session, or no talk at all."""
        file = self.files[place]
        name = self.hint.get("agents", {}).get(str(place), "")
        unknown = self.unknown.setdefault(place, Counter())
        builder = Builder(Shelf(), unknown, agent=name or "?")
        facts = _Facts()
        ids = records.Identities()
        state = 0
        seen = self.seen.setdefault(-1, set())
        for record, raw in self._entries(place):
            kind = record.get("type")
            state += 1
            if name and isinstance(kind, str) and kind in records.CHAIN:
                number, mark, uid = ids.of(record, raw)
                key = number << 32 | mark
                if key in seen:
                    continue
                seen.add(key)
                _about(record, facts)
                builder.add(record, uid)
            elif isinstance(kind, str):
                _state(record, kind, facts, unknown)
        turns, beside = builder.turns()
        if not name or not turns:
            fatal = any(p.fatal for p in self.damages.get(place, ()))
            if fatal:
                return
            if not state and self.damages.get(place):
                first = self.damages[place][0]
                self.damages[place][0] = Problem(first.source, first.what, first.hint, first.line, fatal=True)
                return
            why = "only state records, no message" if state else "an empty session"
            yield Skip(file.where, why, f"{NAME}:{records.stem(file)}" if records.is_session_name(file) else "")
            return
        owner = self.hint.get("owners", {}).get(str(place), "")
        if why := words.helper(builder.first_text):
            yield Skip(file.where, why, f"{NAME}:agent-{name}")
            return
        about = self.hint.get("about", {}).get(name, {})
        title = about.get("description") or headline(builder.first_text) or about.get("agentType") or name
        parent = f"{NAME}:{owner}" if owner and owner != records.stem(file) else ""
        yield _conversation(
            f"agent-{name}", f"Sub-agent: {flat(title)}", turns, beside, builder, facts, (file,), parent, ()
        )

    def _finish(
        self, talk: Any, sid: str, main: Builder, agents: dict[str, Builder], facts: _Facts, used: list[File]
    ) -> Conversation | Skip:
        """The conversation, its sub-agents in their places; or why it is none."""
        key = f"{NAME}:{sid}"
        loose = place_agents(main, agents, self.hint.get("about", {}))
        turns, beside = main.turns()
        why = _no_talk(main, turns)
        if why and talk["parent"] and not turns:
            why = "a copy of another session that adds nothing"
        if why and not loose:
            return Skip(used[0].where, why, key)
        title = facts.custom or facts.ai or facts.summary
        title = flat(title) or headline(main.first_text) or headline(_first_answer(turns)) or f"Session {sid[:8]}"
        parent = f"{NAME}:{talk['parent']}" if talk["parent"] else ""
        aka = tuple(f"{NAME}:{other}" for other in talk["sids"][1:])
        return _conversation(sid, title, turns, [*beside, *loose], main, facts, tuple(used), parent, aka)


def _state(record: Record, kind: str, facts: _Facts, unknown: Counter[str]) -> None:
    """A state record: a title, or nothing for a note."""
    if kind == "custom-title":
        facts.custom = records.text(record, "customTitle") or records.text(record, "title") or facts.custom
    elif kind == "ai-title":
        facts.ai = records.text(record, "aiTitle") or records.text(record, "title") or facts.ai
    elif kind not in records.KNOWN:
        unknown[f"record {kind[:40]}"] += 1


def _about(record: Record, facts: _Facts) -> None:
    if not facts.cwd:
        facts.cwd = records.text(record, "cwd")
    if not facts.branch:
        facts.branch = records.text(record, "gitBranch")


def _first_answer(turns: tuple[Turn, ...]) -> str:
    return next((b.text for t in turns for b in t.blocks if isinstance(b, Text)), "")


def _no_talk(main: Builder, turns: tuple[Turn, ...]) -> str:
    """Why these turns are no talk; empty where they are one."""
    if not turns:
        return "only commands and client messages, no talk" if main.lead else "no message of a person or of Claude"
    people = [p for p in main.prompts if p.strip()]
    if people and (why := words.helper(people[0])) and (len(people) == 1 or all(words.helper(p) for p in people)):
        return why
    if people and "memory plugin" in words.helper(people[0]):
        return words.helper(people[0])
    if not main.prompts and not main.answered:
        return "only commands and client messages, no talk"
    if people and not main.answered and all(p.split()[0] in ("/usage", "/cost", "/status") for p in people):
        return "a usage probe"
    return ""


def _conversation(
    sid: str,
    title: str,
    turns: tuple[Turn, ...],
    beside: Sequence[Block],
    builder: Builder,
    facts: _Facts,
    files: tuple[File, ...],
    parent: str,
    aka: tuple[str, ...],
) -> Conversation:
    asides = tuple(b for b in beside if isinstance(b, Aside))
    created = records.when(builder.prompt_at) or records.when(builder.first_at)
    updated = records.when(builder.last_at) or created
    return Conversation(
        key=f"{NAME}:{sid}",
        source=NAME,
        session_id=sid,
        title=title,
        turns=turns,
        origin="code",
        project=project_of(facts.cwd),
        cwd=flat(facts.cwd),
        branch=flat(facts.branch),
        created=created,
        updated=max(updated, created) if updated and created else updated,
        asides=asides,
        parent=parent,
        aka=aka,
        files=tuple(f.where for f in files),
    )


__all__ = ["NAME", "claims", "groups", "project_of", "read"]
