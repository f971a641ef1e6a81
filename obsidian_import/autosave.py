"""Drain the spool and sweep the projects folder: every session with two real prompts gets its log. Plans, writes nothing.

The hook only wrote an event down. Here the transcript is read, as part of all transcripts, so that a session that was
resumed, forked or compacted is one talk and one log. Sessions that ended without a hook (killed, crashed, cancelled)
are found by the sweep; one that has not changed since its log was written is not opened.
"""

from __future__ import annotations

import json
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from obsidian_import import paths, projects, properties, session_log, spool
from obsidian_import.cache import Cache
from obsidian_import.errors import UserError
from obsidian_import.files import read_regular
from obsidian_import.formats import claude_code
from obsidian_import.landing import Lander, Sure, Wanted, inert_options
from obsidian_import.manifest import Change
from obsidian_import.model import Conversation, File, Group, Problem, Skip
from obsidian_import.plan import Plan, Row
from obsidian_import.redact import Redactor, Rules
from obsidian_import.sources import expand
from obsidian_import.world import World

SETTLE = 2.0  # seconds that a transcript may still be written after its session ended
NAMED = 10  # notes named in one log
ASKED = 20  # logs of one folder that are read for whose it is
AUTO = "auto"

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")


@dataclass(frozen=True, slots=True)
class Event:
    """One spooled event, as far as it can be trusted: it is input like any other."""

    spooled: str
    session_id: str = ""
    transcript: str = ""
    reason: str = ""


@dataclass(slots=True)
class Saver:
    """One run of `autosave`. `plan()` once; after it was applied, `learn()`."""

    world: World
    lander: Lander
    rules: Rules
    cache: Cache
    root: Path
    """Claude Code's projects folder; a transcript outside it, or behind a link, is not read."""
    sweep: bool = True
    said: list[str] = field(default_factory=list)
    """What happened, for the log: one line a session."""
    changes: list[Change] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _seen: list[File] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)
    _owners: dict[str, str] = field(default_factory=dict)

    def plan(self) -> tuple[Plan, list[str]]:
        """The plan, and the spool files it deals with (to be dropped once it was carried out)."""
        self.cache.rules = lambda: self.rules
        events = list(self._events())
        if not events and not self.sweep:
            return Plan("autosave"), []
        self._taken.update(self.world.snapshot.folded)
        self._owners = owners(self.world)
        reasons: dict[str, str] = {}
        for event in events:
            if event.session_id:  # a checkpoint knows no reason and must not hide one
                reasons[event.session_id] = event.reason or reasons.get(event.session_id, "")
        self._settle(events)
        root = Path(os.path.realpath(self.root))  # the folder itself may be a link: that is how people share it
        files = [f for f in expand([root]) if not isinstance(f, Problem | Skip)] if root.is_dir() else []
        files = [f for f in files if f.name.endswith(".jsonl") and claude_code.claims(f)]
        met: set[str] = set()
        for group in claude_code.groups(files, self.cache):
            stems = {Path(f.name).stem for f in group.files}
            met |= stems & set(reasons)
            if not (stems & set(reasons)) and (not self.sweep or self._logged(group)):
                continue
            if self._read(group, reasons):
                self._seen += group.files
        for session_id in set(reasons) - met:
            self.said.append(f"{session_id[:36]}: no transcript of it below {self.root}")
        plan = Plan("autosave", tuple(self.rows), tuple(self.changes), tuple(self.problems), read=len(self.rows))
        return plan, [e.spooled for e in events]

    def _read(self, group: Group, reasons: Mapping[str, str]) -> bool:
        """The sessions of one group; whether it need not be read again before it changes."""
        before = len(self.problems)
        if _by_a_program(group):
            self.said.append(f"{Path(group.files[0].name).stem}: run by a program (claude -p), no log")
            return True
        try:
            for found in claude_code.read(group):
                if isinstance(found, Conversation):
                    self._session(found, reasons)
                elif isinstance(found, Problem):
                    self.problems.append(found)
                else:
                    self.said.append(f"{Path(found.source).stem}: {found.why}, no log")
        except (UserError, OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 (one session that meets a bug of ours must not cost the others)
            at = traceback.extract_tb(error.__traceback__)[-1]
            what = f"a bug of ours: {type(error).__name__} in {at.name}, line {at.lineno}"
            where = group.files[0].where
            self.problems.append(Problem(where, what, "please report it; everything else went on", fatal=True))
            self.said.append(f"{Path(group.files[0].name).stem}: {what}")
        return not any(p.fatal for p in self.problems[before:])

    def learn(self) -> None:
        """After the plan was carried out: these transcripts, as they are now, have their log."""
        for file in self._seen:
            self.cache.put(file, self._memo, value=True)
        spool.tidy()

    @property
    def _memo(self) -> str:
        return f"autolog {self.world.vault}"

    def _logged(self, group: Group) -> bool:
        return all(self.cache.get(f, self._memo) for f in group.files)

    # ---------------------------------------------------------------- events

    def _events(self) -> Iterator[Event]:
        for path in spool.waiting():
            data = spool.read(path)
            try:
                value = json.loads((data or b"").decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                self.said.append("an event that is no JSON object: dropped")
                yield Event(path)
                continue
            yield self._event(path, value)

    def _event(self, path: str, value: Mapping[str, Any]) -> Event:
        named, reason = value.get("session_id"), value.get("reason")
        transcript = self._inside(value.get("transcript_path"))
        # Claude Code has given stale ids after /exit and --continue: the file's own name is the better witness.
        session_id = Path(transcript).stem if transcript else named if isinstance(named, str) else ""
        if not _ID.fullmatch(session_id):
            self.said.append("an event without a session id: dropped")
            return Event(path)
        return Event(path, session_id, transcript, reason if isinstance(reason, str) and len(reason) <= 40 else "")

    def _inside(self, transcript: object) -> str:
        """The transcript's path when it is a regular file below the root, whatever links stand on the way; else empty."""
        if not isinstance(transcript, str) or "\0" in transcript or not transcript.endswith(".jsonl"):
            return ""
        real, root = os.path.realpath(transcript), os.path.realpath(self.root)
        if os.path.islink(transcript) or not real.startswith(root + os.sep) or not os.path.isfile(real):
            return ""
        return real

    def _settle(self, events: list[Event]) -> None:
        """Wait until the transcripts of these events stop growing and end in a whole line (two seconds at most)."""
        waiting = [e.transcript for e in events if e.transcript]
        end = time.monotonic() + SETTLE
        sizes: dict[str, int] = {}
        while waiting and time.monotonic() < end:
            now = {p: _size(p) for p in waiting}
            waiting = [p for p in waiting if now[p] != sizes.get(p) or not _whole(p)]
            sizes = now
            if waiting:
                time.sleep(0.1)

    # ---------------------------------------------------------------- one session

    def _session(self, talk: Conversation, reasons: Mapping[str, str]) -> None:
        world, config = self.world, self.world.config
        ids = [talk.session_id, *(key.partition(":")[2] for key in talk.aka)]
        home = projects.home_of(talk.cwd) if talk.cwd else projects.Home(talk.project, talk.project, "", "")
        redactor = Redactor(self.rules)
        told = session_log.facts(talk, home.root, talk.cwd, redact=redactor.redact)
        if told.prompts < 2:
            self.said.append(f"{talk.session_id}: fewer than two messages of yours, no log")
            return
        rich = next((p for i in ids for p in self._rich(i)), "")
        if rich:
            self.said.append(f"{talk.session_id}: {rich} tells it already, no auto-log")
            return
        clean = Redactor(
            self.rules
        ).redact  # a folder may be called by a token: it names notes, tags and the manifest's project
        home = replace(home, name=clean(home.name), identity=clean(home.identity), owner=clean(home.owner))
        name = folder = ""
        if home.name:
            name, folder = projects.folder_of(home, config.projects, self._owners)
            self._owners.setdefault(folder.casefold(), home.identity)
        place = f"{folder}/logs" if folder and (world.vault / folder).is_dir() else config.logs
        at = f"{place}/{AUTO}"
        chat = self._chat(talk)
        setting = session_log.Setting(
            project=folder if name == home.name else name,
            identity=home.identity,
            reason=next((reasons[i] for i in ids if reasons.get(i)), self._reason(told.key)),
            zone=config.zone,
            chat=chat,
            named=self._named(talk),
        )
        options = inert_options(config)
        text = session_log.text(told, setting, redactor.redact, options)

        def fresh() -> str:
            path = paths.unique(at, session_log.stem(told, config.zone), told.key, self._taken)
            self._taken.add(paths.fold(path))
            return path

        path, state, exists = self.lander.place(told.key, 1, fresh)
        row = Row(
            "keep",
            told.key,
            path,
            title=f"Session log {path.rpartition('/')[2].removesuffix('.md')}",
            source="session-log",
            origin="code",
            project=setting.project,
            redactions=dict(redactor.counts),
        )
        owner = (folder, home.identity) if folder else None
        wanted = Wanted(key=told.key, part=1, text=text, row=row, source="session-log", project=owner)
        row, change = self.lander.land(wanted, path, state, exists=exists)
        self.rows.append(row)
        if change is not None:
            self.changes.append(change)
        self.said.append(f"{talk.session_id}: {row.action} {row.path}" + (f" ({row.why})" if row.why else ""))

    def _rich(self, session_id: str) -> Iterator[str]:
        """Logs of this session that /save or a person wrote."""
        for path in self.world.snapshot.by_session_id.get(session_id, []):
            facts = self.world.snapshot.notes[path].facts
            if facts.get("type") == "log" and not str(facts.get("import_id", "")).startswith(session_log.KEY):
                yield path

    def _reason(self, key: str) -> str:
        """The end reason an earlier run knew: the sweep does not know one and must not change the note for that."""
        state = self.world.state(key)
        text = self.world.texts.text(state.base) if state else None
        found = re.search(r'^end_reason: "?([\w-]+)"?$', text or "", re.MULTILINE)
        return found[1] if found else ""

    def _chat(self, talk: Conversation) -> str:
        for key in (talk.key, *talk.aka):
            state = self.world.state(key)
            if state and state.landed and (path := self.world.find(key, 1, state.path)):
                return path
        return ""

    def _named(self, talk: Conversation) -> tuple[str, ...]:
        """Notes the talk speaks of, as they are written there; the linker makes links of them in the log."""
        link: Callable[[str, str], Any] = self.lander.link
        if not isinstance(link, Sure):
            return ()
        said = "\n\n".join(t.text for t in talk.turns)
        found: dict[str, str] = {}
        for one in link(said, ""):
            found.setdefault(one.target, one.text)
        return tuple(found.values())[:NAMED]


def owners(world: World) -> dict[str, str]:
    """Folded folder name → identity of the project that had it first.

    As the manifest of all machines tells, and the `repository` of logs that /save wrote.
    """
    found: dict[str, str] = {}
    for run in world.manifest.runs:
        for entry in run.carried_out():
            if entry.project:
                found.setdefault(entry.project[0].casefold(), entry.project[1])
    asked: dict[str, int] = {}
    for path in sorted(world.snapshot.notes):
        folder, _, rest = path.rpartition("/logs/")
        if not rest or not folder or folder.casefold() in found or asked.get(folder, 0) >= ASKED:
            continue
        if world.snapshot.notes[path].facts.get("type") == "log":
            asked[folder] = asked.get(folder, 0) + 1
            try:
                data = read_regular(world.vault / path)
            except OSError:
                continue
            said = properties.read((data or b"").decode("utf-8", "replace")).get("repository")
            if isinstance(said, str) and (remote := projects.normal_remote(said) or said):
                found[folder.casefold()] = remote
    return found


_ENTRY = re.compile(rb'"entrypoint"\s*:\s*"([\w-]{1,40})"')


def _by_a_program(group: Group) -> bool:
    """Whether every record that says so was written under `claude -p`: its prompts are a script's, not a person's.

    Hosts that show a person's own words through the SDK (`sdk-ts`, `sdk-py`: editors, desktop) do not count. A hook's
    environment tells nothing here: the client sets CLAUDE_CODE_CHILD_SESSION for all that it starts, hooks too.
    """
    met = False
    for file in group.files:
        try:
            with file.open() as stream:
                tail = b""
                while chunk := stream.read(1 << 20):
                    for hit in _ENTRY.finditer(tail + chunk):
                        if hit[1] != b"sdk-cli":
                            return False
                        met = True
                    tail = chunk[-80:]
        except OSError:
            return False
    return met


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def _whole(path: str) -> bool:
    """Whether the file ends in a whole line."""
    try:
        with open(path, "rb") as stream:
            if not stream.seek(0, os.SEEK_END):
                return True
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) == b"\n"
    except OSError:
        return True
