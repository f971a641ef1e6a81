"""The pipeline, once through: sources → talks → tags → notes → links → plan. Reads, plans, writes nothing.

Talks come one at a time and leave only their rows and digests behind, so memory does not grow with the archive.
A unit of reading (a session with its forks, one export) that has not changed since the last import, and whose notes
still lie as they were left, is not opened again.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from obsidian_import import __version__, formats
from obsidian_import.cache import Cache, unit_id
from obsidian_import.config import data_dir
from obsidian_import.errors import UserError
from obsidian_import.files import digest
from obsidian_import.landing import Lander, Sure
from obsidian_import.manifest import Change, NoteState
from obsidian_import.model import Conversation, File, Found, Group, Problem, Skip
from obsidian_import.plan import Plan, Row
from obsidian_import.relinking import relink
from obsidian_import.sources import expand
from obsidian_import.world import World

if TYPE_CHECKING:  # a run that finds nothing new renders nothing
    from obsidian_import.render import Detail
    from obsidian_import.talks import Talks

_LINKED = "links"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the person asked for."""

    sources: tuple[Path, ...]
    origin: str = "auto"
    move: bool = False
    detail: Detail = "tools"
    since: date | None = None
    until: date | None = None
    project: str | None = None

    @property
    def filtered(self) -> bool:
        """Whether only some talks are wanted (then nothing is learned about whole units)."""
        return any((self.since, self.until, self.project))


@dataclass(slots=True)
class Unit:
    """A unit of reading and what became of it."""

    id: str
    stamp: str
    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: tuple[File, ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    """Key → digest of the words of its talks: copies are told from different notes of one id by it."""
    known: bool = False
    """Not read now: nothing has changed since the last import."""


@dataclass(slots=True)
class Importer:
    """One import. `plan()` once; after the plan was applied, `learn()`."""

    world: World
    request: Request
    lander: Lander
    start: Callable[[], Talks]
    """Makes what lands talks."""
    cache: Cache
    protected: tuple[Path, ...] = ()
    """Folders whose files are never moved away (the client's own)."""
    progress: Callable[[int, int], object] = lambda done, total: None  # noqa: ARG005
    rows: list[Row] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    read: int = 0
    talks: Talks | None = None
    _bad: set[str] = field(default_factory=set)
    """Inputs that came to a problem or were skipped, wholly or in part."""
    _seen: dict[str, tuple[str, str]] = field(default_factory=dict)

    # ---------------------------------------------------------------- the loop

    def plan(self) -> Plan:
        """Read everything, decide everything."""
        self.cache.rules = lambda: self._talks().rules
        detected = formats.detect(expand(self.request.sources, skip=[self.world.vault]))
        for found in detected.found:
            self._other(found)
        total = sum(len(files) for _, files in detected.claimed)
        done = 0
        for form, group in detected.groups(self.cache):
            unit = self._unit(group)
            known = None if self.request.filtered or self.request.move else self._known(unit)
            if known is not None:
                unit.known = True
                unit.rows, unit.problems, unit.words = known
                self.rows += unit.rows
                self.problems += unit.problems
                self.read += len({r.key for r in unit.rows if r.action == "keep"})
                for row in unit.rows:
                    self._seen.setdefault(row.key, (group.files[0].where, unit.words.get(row.key, "")))
                    if self.talks is not None:
                        self.talks.seen.setdefault(row.key, self._seen[row.key])
            else:
                self._read(form.read(group), unit)
            self.units.append(unit)
            done += len(group.files)
            self.progress(min(done, total), total)
        if self.request.move and not self.request.filtered:  # a filtered export has talks that are not here yet
            self._moves()
        self._relink()
        return Plan(
            "import",
            tuple(self.rows),
            tuple(self.changes),
            tuple(self.problems),
            read=self.read,
            notices=self._notices(),
        )

    def _read(self, found: Iterator[Found], unit: Unit) -> None:
        rows, problems = len(self.rows), len(self.problems)
        try:
            for one in found:
                if isinstance(one, Conversation):
                    self._talk(one)
                else:
                    self._other(one)
        except (UserError, OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 (one talk that meets a bug of ours must not cost the others)
            at = traceback.extract_tb(error.__traceback__)[-1]
            what = f"a bug of ours ended the reading here: {type(error).__name__} in {at.name}, line {at.lineno}"
            where = unit.files[0].where if unit.files else unit.id
            self._bad.add(where)
            self.problems.append(
                Problem(self._talks().shown(where), what, "please report it; everything else went on", fatal=True)
            )
        unit.rows = self.rows[rows:]
        if self.talks is not None:
            unit.words = {r.key: self.talks.seen[r.key][1] for r in unit.rows if r.key in self.talks.seen}
        unit.problems = self.problems[problems:]

    def _other(self, found: Problem | Skip) -> None:
        talks = self._talks()
        where = talks.shown(found.source)
        if isinstance(found, Problem):
            self._bad.add(found.source)
            # Its words may quote the source.
            self.problems.append(replace(found, source=where, what=talks.safe(found.what)))
        else:
            title = talks.safe(found.title) if found.title else ""
            self.rows.append(Row("skip", talks.shown(found.key), where, title=title, why=found.why))

    # ---------------------------------------------------------------- one talk

    def _talk(self, talk: Conversation) -> None:
        if not self._asked_for(talk):
            return
        self.read += 1
        for one in self._talks().land(talk):
            if isinstance(one, Row):
                self.rows.append(one)
            else:
                self.changes.append(one)

    def _talks(self) -> Talks:
        """What lands talks; made for the first one, since a run with nothing new needs none of it."""
        if self.talks is None:
            self.talks = self.start()
            self.talks.seen.update(self._seen)
        return self.talks

    def _asked_for(self, talk: Conversation) -> bool:
        request, zone = self.request, self.world.config.zone
        if request.project is not None and talk.project != request.project:
            return False
        created, updated = talk.created or talk.updated, talk.updated or talk.created
        if request.since and (updated is None or local_day(updated, zone) < request.since):
            return False
        return not (request.until and (created is None or local_day(created, zone) > request.until))

    # ---------------------------------------------------------------- new names, old talks

    def _relink(self) -> None:
        """Notes whose talks were not read now (unchanged, or their source is gone) get the links of today's vault.

        Only when something that decides about links has changed since the last import.
        """
        links = self.lander.link
        if not isinstance(links, Sure) or self.request.filtered:
            return
        if self.cache.outcome(str(self.world.vault), _LINKED, links.fingerprint) is not None:
            return
        landed = {(c.key, c.part) for c in self.changes} | {
            (r.key, r.part) for u in self.units if not u.known for r in u.rows
        }
        found = relink(self.world, self.lander, without=landed)
        self.changes += found.changes
        rows = {(r.key, r.part): r for r in found.rows if r.action in ("update", "conflict")}
        for unit in self.units:
            unit.rows = [rows.get((r.key, r.part), r) for r in unit.rows]
        known = {(r.key, r.part) for r in self.rows}
        self.rows = [rows.get((r.key, r.part), r) for r in self.rows]
        self.rows += [r for place, r in rows.items() if place not in known]

    # ---------------------------------------------------------------- --move

    def _moves(self) -> None:
        """The originals that may go: wholly read, every talk of theirs landed, and not the client's own."""
        units: dict[str, list[Unit]] = {}
        for unit in self.units:
            for file in unit.files:
                units.setdefault(_on_disk(file), []).append(unit)
        for number, (place, its) in enumerate(sorted(units.items())):
            if any(p == place or p.startswith(f"{place}!") for p in self._bad):
                continue
            shown = self._talks().shown(place)
            if shown != place:  # the manifest must name what it moved, and the manifest holds no secret
                what = "its name holds what looks like a secret, so it stays where it is"
                self.problems.append(Problem(shown, what, "rename it, then import it with --move again"))
                continue
            rows = [r for u in its for r in u.rows]
            # An empty talk in an export that landed otherwise is no reason to keep it; a file of nothing else is.
            if all(r.action == "skip" for r in rows) or any(r.action == "conflict" for r in rows):
                continue
            if any(u.problems for u in its):
                continue
            source = Path(os.path.abspath(place))
            if any(folder in source.resolve().parents for folder in self.protected):
                continue
            seen = source.lstat()
            self.changes.append(
                Change(
                    path="",
                    before=None,
                    after=None,
                    moved={
                        "from": str(source),
                        "kept": str(_kept(source, number, seen)),
                        "mode": seen.st_mode & 0o7777,
                        "mtime_ns": seen.st_mtime_ns,
                        "size": seen.st_size,
                    },
                )
            )

    # ---------------------------------------------------------------- what need not be read again

    def _unit(self, group: Group) -> Unit:
        name, stamps = unit_id(group.format, group.files)
        # What grouping learned from other files (a title, a new fork) can change a talk whose own files did not.
        hint = orjson.dumps(dict(group.hint), option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
        return Unit(name, digest(f"{self._context()}\n{stamps}\n".encode() + hint), files=group.files)

    def _context(self) -> str:
        request = self.request
        return f"{code_stamp()}|{self.world.config!r}|{request.origin}|{request.detail}|{isinstance(self.lander.link, Sure)}"

    def _known(self, unit: Unit) -> tuple[list[Row], list[Problem], dict[str, str]] | None:
        value = self.cache.outcome(str(self.world.vault), unit.id, unit.stamp)
        if not isinstance(value, dict) or self.lander.restore or self.lander.take:
            return None
        try:
            for note in value["notes"]:
                state = self.world.state(note["key"], note["part"])
                if state is None or state.base != note["base"] or not self._as_left(note, state):
                    return None
            rows = [Row(**{**row, "tags": tuple(row["tags"]), "links": tuple(row["links"])}) for row in value["rows"]]
            problems = [Problem(**p) for p in value["problems"]]
        except (KeyError, TypeError):
            return None
        return rows, problems, dict(value.get("words", {}))

    def _as_left(self, note: Mapping[str, Any], state: NoteState) -> bool:
        if note["seen"] is None:
            return state.path not in self.world.snapshot.notes and note["key"] not in self.world.snapshot.by_import_id
        stat = self.world.snapshot.notes.get(note["path"])
        return stat is not None and [stat.size, stat.mtime_ns] == note["seen"]

    def learn(self, vault: Path) -> None:
        """After the plan was carried out: remember what each unit came to, so that it need not be read again."""
        if self.request.filtered or self.request.move:
            return
        if isinstance(self.lander.link, Sure):
            self.cache.remember(str(vault), _LINKED, self.lander.link.fingerprint, value=True)
        changed = {(c.key, c.part): c for c in self.changes if c.key}
        for unit in self.units:
            if any(r.action == "conflict" for r in unit.rows):
                continue
            notes = []
            for row in unit.rows:
                if row.action == "skip":
                    continue
                change, state = changed.get((row.key, row.part)), self.world.state(row.key, row.part)
                base = change.base if change else state.base if state else None
                try:
                    seen = vault.joinpath(row.path).lstat()
                    stat: list[int] | None = [seen.st_size, seen.st_mtime_ns]
                except OSError:
                    stat = None
                notes.append({"key": row.key, "part": row.part, "base": base, "path": row.path, "seen": stat})
            kept = [
                _plain(replace(r, action="keep", why="") if r.action in ("create", "update") else r) for r in unit.rows
            ]
            problems = [_fields(p) for p in unit.problems]
            self.cache.remember(
                str(vault),
                unit.id,
                unit.stamp,
                {"notes": notes, "rows": kept, "problems": problems, "words": unit.words},
            )

    def _notices(self) -> tuple[str, ...]:
        copies = sorted(self.world.snapshot.conflict_copies)
        if not copies:
            return ()
        shown = ", ".join(copies[:3]) + (", …" if len(copies) > 3 else "")
        return (f"{len(copies)} copies left by a sync service were not touched: {shown}",)


# ------------------------------------------------------------------ small things


def local_day(at: datetime, zone: tzinfo) -> date:
    """The calendar day of a moment in the vault's zone; a zone-less time is taken as written."""
    return (at.astimezone(zone) if at.tzinfo else at).date()


@cache
def code_stamp() -> str:
    """Version and newest change of our own code: what may render the same talk differently."""
    newest = 0
    for folder, _, names in os.walk(Path(__file__).parent):
        newest = max(newest, *(os.stat(os.path.join(folder, n)).st_mtime_ns for n in names if n.endswith(".py")), 0)
    return f"{__version__}:{newest}"


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _plain(row: Row) -> dict[str, Any]:
    return {**_fields(row), "tags": list(row.tags), "links": [dict(x) for x in row.links]}


def _on_disk(file: File) -> str:
    return file.where.split("!")[0]


def _kept(source: Path, number: int, seen: os.stat_result) -> Path:
    """Where an original is kept: another place for each state of the file, so that none takes another's."""
    return (
        data_dir()
        / "originals"
        / digest(f"{source}\n{seen.st_size}\n{seen.st_mtime_ns}".encode("utf-8", "surrogateescape"))[:12]
        / f"{number}-{source.name}"
    )
