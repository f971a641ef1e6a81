"""6 APPLY: Plan → disk and manifest. The only code that writes into a vault.

In this order, so that a kill at any point leaves each note whole and the next command able to tell what happened:
texts as objects, the intents (synced), then file by file: temporary file, sync, compare with what the plan saw,
replace, and at last `done`. `heal` settles the intents of a killed run by looking at the disk.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

from filelock import FileLock, Timeout

from obsidian_import import __version__, files
from obsidian_import.apply.ground import Ground, remove_empty, spare_folders
from obsidian_import.apply.journal import Journal, after_all, moment, prepare_sidecar, say, sync_all, write_objects
from obsidian_import.apply.one import asides, new_file_mode, one
from obsidian_import.config import SIDECAR, data_dir
from obsidian_import.errors import UserError
from obsidian_import.files import Changed, Unsafe, digest, private_dir
from obsidian_import.manifest import Change, Entry, Run, done_record, intent_record, run_record
from obsidian_import.plan import Plan
from obsidian_import.sidecar import Texts, machine_id

BATCH = 128  # files whose syncs run side by side; the file system then groups its commits
LOCK_WAIT = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a run did."""

    run: str
    applied: tuple[Entry, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    """Entry number → why it was left: the file changed while we worked, a source grew, …."""
    stopped: str = ""
    """The I/O error that ended the run early (disk full, read-only, …); empty when it went through."""


@contextmanager
def locked(vault: Path) -> Iterator[None]:
    """Hold this vault for the time of a look, a plan and a run. The lock lies outside the vault."""
    folder = data_dir() / "locks"
    try:
        private_dir(data_dir())
        private_dir(folder)
    except Unsafe as error:
        raise UserError(str(error)) from error
    except OSError as error:
        raise UserError(f"cannot make the state folder {folder}: {error}", "set OBSIDIAN_IMPORT_DATA") from error
    lock = FileLock(folder / f"{digest(os.fsencode(vault.resolve()))[:32]}.lock", mode=0o600)
    try:
        lock.acquire(timeout=LOCK_WAIT)
    except Timeout as error:
        raise UserError(
            "another obsidian-import is at work on this vault", "wait for it to end, then run the command again"
        ) from error
    try:
        yield
    finally:
        lock.release()


def apply(plan: Plan, texts: Texts, vault: Path, step: Callable[[], object] = lambda: None) -> Receipt:
    """Carry out a plan whose caller holds the lock. `step` is called once per file.

    Raises UserError when the sidecar itself cannot be written (then no note was touched).
    """
    machine = machine_id(data_dir())
    journal = Journal(vault, machine)
    manifest = journal.manifest
    now = moment()
    run_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    ground = Ground(vault)
    entries = tuple(_entry(change, run_id, n, vault) for n, change in enumerate(plan.changes))
    run = Run(
        id=run_id,
        machine=machine,
        time=after_all(manifest, now).isoformat(timespec="milliseconds"),
        version=__version__,
        command=plan.command,
        undoes=plan.undoes,
        folders=tuple(ground.missing_folders(e.path for e in entries if e.path and e.after and e.before is None)),
        refused=plan.refused,
        counts={k: v for k, v in plan.totals().items() if v},
        entries=entries,
    )
    try:
        prepare_sidecar(vault)
        write_objects(vault, texts, entries, machine)
        journal.append([run_record(run), *(intent_record(e) for e in entries)])
    except OSError as error:
        raise UserError(
            f"cannot write to {vault / SIDECAR}: {say(error)}", "no note was touched; mend that, then run it again"
        ) from error

    applied: list[Entry] = []
    failed: dict[int, str] = {}
    left: list[str] = []
    stopped = ""
    try:
        for start in range(0, len(entries), BATCH):
            work = _Batch(texts, ground, machine, applied, failed, left, step)
            work.run(entries[start : start + BATCH])
    except OSError as error:
        stopped = say(error)
    remove_empty(vault, spare_folders(plan.changes, manifest))
    if failed or stopped:
        remove_empty(vault, reversed(run.folders))
    try:
        # A file of ours that could not be taken away leaves the run open: the next command settles it.
        if not left and not any(os.path.lexists(a) for a in asides(vault, entries)):
            journal.append([done_record(run_id, [e.n for e in applied], failed, moment().isoformat())])
    except OSError as error:  # the disk is full: the next command settles the run by looking at it
        stopped = stopped or say(error)
    return Receipt(run_id, tuple(applied), failed, stopped)


def _entry(change: Change, run: str, n: int, vault: Path) -> Entry:
    values = {f.name: getattr(change, f.name) for f in fields(Change)}
    mode = None
    if change.path and change.before is not None:
        try:
            mode = stat.S_IMODE(vault.joinpath(change.path).lstat().st_mode)
        except OSError:
            mode = None
    return Entry(**values, run=run, n=n, mode=mode)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Temporary files first, all synced side by side, then each compared and moved into its place."""

    texts: Texts
    ground: Ground
    machine: str
    applied: list[Entry]
    failed: dict[int, str]
    left: list[str]
    step: Callable[[], object]

    def run(self, entries: tuple[Entry, ...]) -> None:
        """All files of one batch. One that cannot be written is left and said; a full disk ends the run."""
        temps: dict[int, str] = {}
        try:
            for entry in entries:
                with self._left(entry):
                    self._prepare(entry, temps)
            sync_all(temps.values())
            folders: set[Path] = set()
            for entry in entries:
                if entry.n not in self.failed:
                    with self._left(entry):
                        if entry.moved and self.failed and not entry.moved.get("back"):
                            raise Changed("a note could not be written, so all originals stay")
                        folders.update(one(entry, temps.get(entry.n), self.ground))
                        self.applied.append(entry)
                self.step()
            for folder in folders:
                if folder.is_dir():
                    files.sync_dir(folder)
        finally:
            self.left.extend(temp for temp in temps.values() if not files.discard(temp))

    def _prepare(self, entry: Entry, temps: dict[int, str]) -> None:
        if entry.moved or entry.after is None or entry.after == entry.before:
            return
        data = self.texts.get(entry.after)
        if data is None:
            raise Changed("its text is lost (an object of the sidecar is missing or damaged)")
        target = self.ground.path(entry.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temps[entry.n] = files.write_temp(
            target, data, entry.mode if entry.mode is not None else new_file_mode(), self.machine
        )

    @contextmanager
    def _left(self, entry: Entry) -> Iterator[None]:
        try:
            yield
        except Changed as error:
            self.failed[entry.n] = str(error)
        except (PermissionError, Unsafe, IsADirectoryError, NotADirectoryError) as error:
            self.failed[entry.n] = say(error)
