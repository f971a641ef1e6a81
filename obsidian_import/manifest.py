"""The manifest: what every run meant to do and did, append-only, one JSON record a line. Pure.

Three records make a run: `run` (who, when, what for), one `intent` per file (written and synced before the first
byte of a note changes) and `done` (which intents were carried out). A file is written by one machine only; the
manifest of a vault is the union of all files, so two machines never conflict. A run without `done` was killed:
`unsettled` lists its intents, and `apply.heal` settles them by looking at the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import orjson

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file: what it is, what it is to become, and every reason for it. Reversing swaps before and after."""

    path: str
    """Relative to the vault, with `/`; empty for an original that `--move` takes away."""
    before: str | None
    """Digest of the bytes on disk before; None: there is no file."""
    after: str | None
    """Digest of the bytes to leave; None: no file."""
    base: str | None = None
    """Digest of the text we generated (before a merge with a person's edits); None when our doing removes the note."""
    key: str = ""
    """Identity of the talk; empty for attachments and other files."""
    part: int = 1
    edits: tuple[Mapping[str, Any], ...] = ()
    """Our links in the generated text: start, end, old, new, why, target, tier, score, terms, line."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tag → the word that gave it."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    inert: Mapping[str, int] = field(default_factory=dict)
    title: str = ""
    source: str = ""
    project: tuple[str, str] | None = None
    """For a session log: (folder name, identity) of its project (see `projects`)."""
    assets: tuple[str, ...] = ()
    """Paths of the attachments the note needs."""
    reverses: tuple[str, int] | None = None
    """(run, n) of the entry that this one takes back."""
    moved: Mapping[str, Any] | None = None
    """For `--move`: from, kept, mode, mtime_ns, size."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Change):
    """A change as run number `n` of a run recorded it."""

    run: str
    n: int
    mode: int | None = None
    """Permission bits of the file before."""


FIELDS = tuple(f.name for f in fields(Entry))


@dataclass(frozen=True, slots=True)
class Run:
    """One run as the manifest tells it."""

    id: str
    machine: str
    time: str
    """ISO, UTC."""
    version: str
    command: str
    undoes: str = ""
    folders: tuple[str, ...] = ()
    """Folders this run made, outermost first."""
    refused: tuple[tuple[str, int], ...] = ()
    """Entries an undo could not take back (a person's edits are in the way)."""
    counts: Mapping[str, int] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    applied: frozenset[int] = frozenset()
    failed: Mapping[int, str] = field(default_factory=dict)
    finished: bool = False

    def carried_out(self) -> Iterator[Entry]:
        """The entries that reached the disk."""
        return (e for e in self.entries if e.n in self.applied)


@dataclass(frozen=True, slots=True)
class NoteState:
    """What we last left of one note (one part of one talk)."""

    key: str
    part: int
    path: str
    base: str | None
    landed: str | None
    """None: taken away by an undo of ours (import may bring it again)."""
    entry: Entry


@dataclass(frozen=True, slots=True)
class Manifest:
    """All runs in order, and what they add up to."""

    runs: tuple[Run, ...] = ()
    notes: Mapping[tuple[str, int], NoteState] = field(default_factory=dict)
    files: Mapping[str, Entry] = field(default_factory=dict)
    """Attachments and other files without a key, by path: the last entry that was carried out."""
    reversed: frozenset[tuple[str, int]] = frozenset()
    """Entries taken back by an undo that still stands."""
    refused: frozenset[tuple[str, int]] = frozenset()
    damaged: tuple[tuple[str, int], ...] = ()
    """(file, line) of records that could not be read."""

    def run(self, wanted: str) -> Run | None:
        """The run with this id, or the only one whose id starts so."""
        hits = [r for r in self.runs if r.id == wanted] or [r for r in self.runs if wanted and r.id.startswith(wanted)]
        return hits[0] if len(hits) == 1 else None

    def stands(self, run: Run) -> bool:
        """Whether the run changed something that no standing undo has taken back or had to leave."""
        return any((run.id, e.n) not in self.reversed and (run.id, e.n) not in self.refused for e in run.carried_out())

    def newest_standing(self) -> Run | None:
        """What a bare `undo` takes back: the newest run that still stands and is no undo itself."""
        return next((r for r in reversed(self.runs) if not r.undoes and self.stands(r)), None)

    def unsettled(self) -> Iterator[tuple[Run, Entry]]:
        """Intents without a word on how they ended: the run was killed."""
        for run in self.runs:
            if not run.finished:
                for entry in run.entries:
                    if entry.n not in run.applied and entry.n not in run.failed:
                        yield run, entry


# ------------------------------------------------------------------ records in and out


def encode(record: Mapping[str, Any]) -> bytes:
    """One line. Keys sorted, so that equal records are equal bytes."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def run_record(run: Run) -> dict[str, Any]:
    """The opening record of a run."""
    record: dict[str, Any] = {
        "record": "run",
        "v": VERSION,
        "run": run.id,
        "machine": run.machine,
        "time": run.time,
        "version": run.version,
        "command": run.command,
    }
    if run.undoes:
        record["undoes"] = run.undoes
    if run.folders:
        record["folders"] = run.folders
    if run.refused:
        record["refused"] = run.refused
    if run.counts:
        record["counts"] = run.counts
    return record


def intent_record(entry: Entry) -> dict[str, Any]:
    """One entry; fields that say nothing are left out."""
    record: dict[str, Any] = {"record": "intent", "before": entry.before, "after": entry.after}
    for name in FIELDS:
        value = getattr(entry, name)
        if value or name == "n":
            record[name] = value
    if entry.part == 1:
        del record["part"]
    return record


def done_record(
    run: str, applied: Iterable[int], failed: Mapping[int, str], time: str, *, healed: bool = False
) -> dict[str, Any]:
    """The closing record. `applied` is a list of numbers, or of [first, last] ranges where they run on."""
    ranges: list[list[int]] = []
    for n in sorted(applied):
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    record: dict[str, Any] = {"record": "done", "run": run, "applied": ranges, "time": time}
    if failed:
        record["failed"] = {str(n): why for n, why in failed.items()}
    if healed:
        record["healed"] = True
    return record


def decode(files: Iterable[tuple[str, bytes]]) -> Manifest:
    """Fold the manifest files of all machines. Damaged lines are listed, never fatal; a torn last line is dropped."""
    pile = _Pile()
    damaged: list[tuple[str, int]] = []
    for name, data in files:
        lines = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                pile.take(orjson.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                if number < len(lines):  # the last piece has no line end: a torn write, as after a crash
                    damaged.append((name, number))
    whole = pile.runs_in_order()
    return fold(whole, tuple(damaged))


@dataclass(slots=True)
class _Pile:
    """Records in any order, some of them twice.

    The same line may stand in a sync service's copy of a manifest, and the `done` of the machine that healed a run
    may be read before the run itself.
    """

    runs: dict[str, Run] = field(default_factory=dict)
    entries: dict[str, dict[int, Entry]] = field(default_factory=dict)
    applied: dict[str, set[int]] = field(default_factory=dict)
    failed: dict[str, dict[int, str]] = field(default_factory=dict)

    def take(self, record: Any) -> None:
        """One record. ValueError, KeyError, TypeError or AttributeError for what is none."""
        kind, run = record["record"], record["run"]
        if kind == "run":
            self.runs[run] = Run(
                id=run,
                machine=record["machine"],
                time=record["time"],
                version=record.get("version", ""),
                command=record.get("command", ""),
                undoes=record.get("undoes", ""),
                folders=tuple(record.get("folders", ())),
                refused=tuple((r, n) for r, n in record.get("refused", ())),
                counts=record.get("counts", {}),
            )
        elif kind == "intent":
            known = {k: v for k, v in record.items() if k in FIELDS}
            known.setdefault("path", "")
            for name in ("edits", "assets"):
                if name in known:
                    known[name] = tuple(known[name])
            for name in ("reverses", "project"):
                if known.get(name):
                    known[name] = (known[name][0], known[name][1])
            entry = Entry(**known)
            self.entries.setdefault(run, {})[entry.n] = entry
        elif kind == "done":
            applied = {n for first, last in record["applied"] for n in range(first, last + 1)}
            failed = {int(n): why for n, why in record.get("failed", {}).items()}
            self.applied.setdefault(run, set()).update(applied)
            self.failed.setdefault(run, {}).update(failed)

    def runs_in_order(self) -> list[Run]:
        """Each run with all that is known of it, oldest first."""
        whole = [
            replace(
                run,
                entries=tuple(entry for _, entry in sorted(self.entries.get(run.id, {}).items())),
                applied=frozenset(self.applied.get(run.id, ())),
                failed=self.failed.get(run.id, {}),
                finished=run.id in self.applied,
            )
            for run in self.runs.values()
        ]
        return sorted(whole, key=lambda r: (r.time, r.machine, r.id))


def fold(runs: Iterable[Run], damaged: tuple[tuple[str, int], ...] = ()) -> Manifest:
    """What the runs add up to, in their order."""
    runs = tuple(runs)
    notes: dict[tuple[str, int], NoteState] = {}
    files: dict[str, Entry] = {}
    for run in runs:
        for entry in run.carried_out():
            if entry.key:
                state = NoteState(entry.key, entry.part, entry.path, entry.base, entry.after, entry)
                notes[entry.key, entry.part] = state
            elif entry.path:
                files[entry.path] = entry
    # Newest first: a reversal counts only while nothing later has reversed the reversal itself.
    taken_back: set[tuple[str, int]] = set()
    for run in reversed(runs):
        for entry in run.carried_out():
            if entry.reverses and (run.id, entry.n) not in taken_back:
                taken_back.add(entry.reverses)
    refused = {
        place
        for run in runs
        if not run.entries or any((run.id, e.n) not in taken_back for e in run.carried_out())
        for place in run.refused
    }
    return Manifest(runs, notes, files, frozenset(taken_back), frozenset(refused), damaged)
