"""6 APPLY: Plan → disk and manifest. The only code that writes into a vault.

In this order, so that a kill at any point leaves each note whole and the next command able to tell what happened:
texts as objects, the intents (synced), then file by file: temporary file, sync, compare with what the plan saw,
replace, and at last `done`. `heal` settles the intents of a killed run by looking at the disk.
"""

from __future__ import annotations

import filecmp
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO

import orjson
from filelock import FileLock, Timeout

from obsidian_import import __version__, files
from obsidian_import.config import SIDECAR, data_dir
from obsidian_import.errors import UserError
from obsidian_import.files import TEMP_PREFIX, Changed, Unsafe, digest, private_dir, read_regular, sweep_temps
from obsidian_import.manifest import (
    Change,
    Entry,
    Manifest,
    Run,
    done_record,
    encode,
    intent_record,
    run_record,
)
from obsidian_import.plan import Plan
from obsidian_import.sidecar import Texts, load_manifest, machine_id, manifest_dir, object_path

BATCH = 128  # files whose syncs run side by side; the file system then groups its commits
LOCK_WAIT = 10.0  # seconds
ASIDE = ".aside"  # ends the name of a note that was set aside for a moment


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a run did."""

    run: str
    applied: tuple[Entry, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    """Entry number → why it was left: the file changed while we worked, a source grew, …."""
    stopped: str = ""
    """The I/O error that ended the run early (disk full, read-only, …); empty when it went through."""


# ------------------------------------------------------------------ one process at a time


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


# ------------------------------------------------------------------ where we may write


class Ground:
    """The vault as a place to write: every target is below it, and no part of its path is a link."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        self._safe: set[str] = set()

    def path(self, rel: str) -> Path:
        """The absolute path of a file of ours; Unsafe for anything that leads elsewhere."""
        parts = PurePosixPath(rel).parts
        if not parts or rel.startswith("/") or any(p in ("..", ".") or "\\" in p or "\0" in p for p in parts):
            raise Unsafe(f"not a path inside the vault: {rel!r}")
        if parts[0].startswith(".") and parts[0] != SIDECAR:
            raise Unsafe(f"never written to: {rel}")
        folder = "/".join(parts[:-1])
        if folder not in self._safe:
            self._check(parts[:-1])
            self._safe.add(folder)
        return self.vault.joinpath(*parts)

    def _check(self, parts: tuple[str, ...]) -> None:
        at = self.vault
        for part in parts:
            at = at / part
            try:
                mode = at.lstat().st_mode
            except FileNotFoundError:
                return
            if stat.S_ISLNK(mode):
                raise Unsafe(f"{at} is a symbolic link; nothing is written through links")
            if not stat.S_ISDIR(mode):
                raise Unsafe(f"{at} is a file where a folder is needed")

    def missing_folders(self, paths: Iterable[str]) -> list[str]:
        """Folders that have to be made for these files, outermost first."""
        wanted = {p.as_posix() for rel in paths for p in PurePosixPath(rel).parents if p.as_posix() != "."}
        return sorted((f for f in wanted if not self.vault.joinpath(f).exists()), key=lambda f: (f.count("/"), f))


# ------------------------------------------------------------------ the run


def apply(plan: Plan, texts: Texts, vault: Path, step: Callable[[], object] = lambda: None) -> Receipt:
    """Carry out a plan whose caller holds the lock. `step` is called once per file.

    Raises UserError when the sidecar itself cannot be written (then no note was touched).
    """
    machine = machine_id(data_dir())
    journal = Journal(vault, machine)
    manifest = journal.manifest
    now = _now()
    run_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    ground = Ground(vault)
    entries = tuple(_entry(change, run_id, n, vault) for n, change in enumerate(plan.changes))
    run = Run(
        id=run_id,
        machine=machine,
        time=_after(manifest, now).isoformat(timespec="milliseconds"),
        version=__version__,
        command=plan.command,
        undoes=plan.undoes,
        folders=tuple(ground.missing_folders(e.path for e in entries if e.path and e.after and e.before is None)),
        refused=plan.refused,
        counts={k: v for k, v in plan.totals().items() if v},
        entries=entries,
    )
    try:
        _prepare_sidecar(vault)
        _write_objects(vault, texts, entries, machine)
        journal.append([run_record(run), *(intent_record(e) for e in entries)])
    except OSError as error:
        raise UserError(
            f"cannot write to {vault / SIDECAR}: {_say(error)}", "no note was touched; mend that, then run it again"
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
        stopped = _say(error)
    _remove_empty(vault, spare_folders(plan.changes, manifest))
    if failed or stopped:
        _remove_empty(vault, reversed(run.folders))
    try:
        # A file of ours that could not be taken away leaves the run open: the next command settles it.
        if not left and not any(os.path.lexists(a) for a in _asides(vault, entries)):
            journal.append([done_record(run_id, [e.n for e in applied], failed, _now().isoformat())])
    except OSError as error:  # the disk is full: the next command settles the run by looking at it
        stopped = stopped or _say(error)
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
            _sync_all(temps.values())
            folders: set[Path] = set()
            for entry in entries:
                if entry.n not in self.failed:
                    with self._left(entry):
                        if entry.moved and self.failed and not entry.moved.get("back"):
                            raise Changed("a note could not be written, so all originals stay")
                        folders.update(_one(entry, temps.get(entry.n), self.ground))
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
            target, data, entry.mode if entry.mode is not None else _new_file_mode(), self.machine
        )

    @contextmanager
    def _left(self, entry: Entry) -> Iterator[None]:
        try:
            yield
        except Changed as error:
            self.failed[entry.n] = str(error)
        except (PermissionError, Unsafe, IsADirectoryError, NotADirectoryError) as error:
            self.failed[entry.n] = _say(error)


def _one(entry: Entry, temp: str | None, ground: Ground) -> list[Path]:
    """One file to its new state; the folders to sync. Changed when the disk is not what the plan saw."""
    if entry.moved:
        return _move_original(entry.moved)
    if entry.before == entry.after:  # only the manifest learns something
        return []
    target = ground.path(entry.path)
    if entry.after is None:
        _remove(target, entry)
    elif temp is not None:
        if entry.before is None:
            _create(temp, target)
        else:
            _expect(target, entry.before)
            _put(temp, target, entry)
    return [target.parent]


def _expect(target: Path, before: str | None) -> None:
    data = read_regular(target)
    if (None if data is None else digest(data)) != before:
        raise Changed(f"{target.name} changed while we worked; it stays as it is until the next run")


def _create(temp: str, target: Path) -> None:
    """Move into a place where nothing may stand: a file somebody made meanwhile is never replaced."""
    try:
        if os.name == "nt":
            os.rename(temp, target)  # refuses an existing target there
        else:
            os.link(temp, target, follow_symlinks=False)
    except FileExistsError:
        raise Changed(f"{target.name} appeared while we worked; it stays as it is") from None
    except OSError:  # a file system without hard links
        if target.exists() or target.is_symlink():
            raise Changed(f"{target.name} appeared while we worked; it stays as it is") from None
        files.replace(temp, target)


def _asides(vault: Path, entries: Iterable[Entry]) -> Iterator[Path]:
    return (aside_of(vault.joinpath(e.path), e) for e in entries if e.path and e.before and e.before != e.after)


def aside_of(target: Path, entry: Entry) -> Path:
    """Where a file stands for the moment in which it is taken away or exchanged; `heal` knows it by its name."""
    return target.with_name(f"{TEMP_PREFIX}{entry.run}-{entry.n}{ASIDE}")


def _put(temp: str, target: Path, entry: Entry) -> None:
    """Exchange a note for its new version and look at what came out: what an editor saved at this moment goes back.

    Where the system cannot exchange, there is a window of microseconds between the last look and the replacement.
    """
    aside = aside_of(target, entry)
    files.replace(temp, aside)
    try:
        if not files.exchange(aside, target):
            files.replace(aside, target)
            return
    except OSError:
        files.discard(aside)
        raise
    if not _settle_aside(aside, target, entry):
        raise Changed(f"{target.name} was saved while we worked; it stays as it is until the next run")


def _remove(target: Path, entry: Entry) -> None:
    """Take a file away: aside first, looked at there, so that what an editor saved at this moment comes back."""
    aside = aside_of(target, entry)
    try:
        files.replace(target, aside)
    except FileNotFoundError:
        raise Changed(f"{target.name} is gone already") from None
    if not _settle_aside(aside, target, entry):
        raise Changed(f"{target.name} changed while we worked; it stays as it is")


def _settle_aside(aside: Path, target: Path, entry: Entry) -> bool:
    """Drop what was set aside where it is a text we know (its object is stored), else give it back: never lost."""
    try:
        data = read_regular(aside)
    except FileNotFoundError:
        return True
    except OSError:  # a folder or a link that somebody put there: it goes back unread
        data = None
    known = (entry.before, entry.after)
    if data is not None and digest(data) in known:
        files.discard(aside)  # where even that fails, the run stays open and the next command does it
        return digest(data) == entry.before
    if not os.path.lexists(aside):
        return True
    there = read_regular(target) if target.exists() and not target.is_symlink() else None
    if not os.path.lexists(target) or (there is not None and digest(there) in known):
        files.replace(aside, target)
    else:  # saved twice within this moment: both texts are a person's
        files.replace(aside, _free_name(target))
    return False


def _free_name(target: Path) -> Path:
    """A visible name beside `target` for a text that must not be lost."""
    number = 1
    while True:
        name = f"{target.stem} (saved during an import{f' {number}' if number > 1 else ''}){target.suffix}"
        if not os.path.lexists(target.with_name(name)):
            return target.with_name(name)
        number += 1


def _sync_all(temps: Iterable[str]) -> None:
    paths = list(temps)
    if len(paths) < 4:
        for path in paths:
            files.sync_file(path)
        return
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(files.sync_file, paths))


def _new_file_mode() -> int:
    if os.name != "posix":
        return 0o644
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# ------------------------------------------------------------------ originals (`--move`)


def _move_original(moved: Mapping[str, object]) -> list[Path]:
    """Take an original away to our private folder, or put it back (with its mode and time)."""
    source, kept = Path(str(moved["from"])), Path(str(moved["kept"]))
    if moved.get("back"):
        if not kept.exists():
            raise Changed(f"the original is no longer at {kept}")
        if os.path.lexists(source):
            if not _equal_files(source, kept):
                raise Changed(f"a file stands at {source} again; the original stays at {kept}")
            kept.unlink()  # killed between the copy and this, the last time
            return [source.parent]
        source.parent.mkdir(parents=True, exist_ok=True)
        os.chmod(kept, int(str(moved["mode"])))  # before it moves: a kill leaves no half-restored file behind
        when = int(str(moved["mtime_ns"]))
        os.utime(kept, ns=(when, when))
        _carry(kept, source)
        _remove_up_to(kept.parent, data_dir() / "originals")
        return [source.parent]
    try:
        seen = source.lstat()
    except FileNotFoundError:
        raise Changed(f"{source} is gone already") from None
    if seen.st_mtime_ns != moved["mtime_ns"] or seen.st_size != moved["size"] or not stat.S_ISREG(seen.st_mode):
        raise Changed(f"{source.name} changed while we worked; it stays where it is")
    private_dir(data_dir())
    private_dir(data_dir() / "originals")
    private_dir(kept.parent)
    if os.path.lexists(kept) and not _equal_files(source, kept):
        raise Changed(f"another original is kept at {kept} already; {source.name} stays where it is")
    _carry(source, kept)
    os.chmod(kept, 0o600)
    return [kept.parent, source.parent]


def _equal_files(one: Path, other: Path) -> bool:
    return not one.is_symlink() and one.is_file() and filecmp.cmp(one, other, shallow=False)


def _carry(source: Path, target: Path) -> None:
    try:
        os.rename(source, target)
    except OSError:  # another file system: a synced copy first, then the original goes
        temp = files.temp_name(target)
        try:
            shutil.copyfile(source, temp)
            shutil.copystat(source, temp)
            files.sync_file(temp)
            files.replace(temp, target)
        except BaseException:
            files.discard(temp)
            raise
        source.unlink()


# ------------------------------------------------------------------ the sidecar


class Journal:
    """The manifest file of this machine: append whole lines, synced."""

    def __init__(self, vault: Path, machine: str) -> None:
        self.vault = vault
        self.path = manifest_dir(vault) / f"{machine}.jsonl"

    @property
    def manifest(self) -> Manifest:
        """All machines' records as they stand now."""
        return load_manifest(self.vault)

    def append(self, records: Iterable[Mapping[str, object]]) -> None:
        """Write the records and wait for the disk. The torn line of an earlier crash is taken away first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        fd = os.open(self.path, flags, 0o644)
        with open(fd, "r+b", buffering=0) as stream:
            data = b"".join(encode(r) for r in records)
            if not _whole_lines(stream):
                data = b"\n" + data
            view = memoryview(data)
            while view:
                view = view[stream.write(view) or 0 :]
            os.fsync(stream.fileno())
        files.sync_dir(self.path.parent)


def _whole_lines(stream: IO[bytes]) -> bool:
    """Cut off a last line that was torn; False where it is a record that only lacks its line end."""
    size = end = stream.seek(0, os.SEEK_END)
    tail = b""
    while end and b"\n" not in tail:
        start = max(0, end - 65536)
        stream.seek(start)
        tail = stream.read(end - start) + tail
        end = start
    torn = tail.rpartition(b"\n")[2]
    if not torn:
        return True
    try:
        orjson.loads(torn)
    except ValueError:
        stream.truncate(size - len(torn))
        return True
    return False


def _prepare_sidecar(vault: Path) -> None:
    side = vault / SIDECAR
    for folder in (side, side / "manifest", side / "objects"):
        if folder.is_symlink():
            raise Unsafe(f"{folder} is a symbolic link")
        folder.mkdir(exist_ok=True)


def _write_objects(vault: Path, texts: Texts, entries: Iterable[Entry], machine: str) -> None:
    """Every text the entries speak of, before anything else: what undo and merge will need.

    The temporary files lie in one folder, so that those of a killed run are found without a walk.
    """
    wanted = {name for e in entries if not e.moved for name in (e.before, e.after, e.base) if name}
    temps: list[tuple[str, Path]] = []
    made: set[Path] = set()
    try:
        for name in sorted(wanted):
            packed = texts.packed(name)
            target = object_path(vault, name)
            if packed is None or target.exists():
                continue
            if target.parent not in made:
                target.parent.mkdir(exist_ok=True)
                made.add(target.parent)
            temps.append((files.write_temp(target.parent.parent / name, packed, 0o644, machine), target))
        _sync_all(temp for temp, _ in temps)
        while temps:
            temp, target = temps.pop()
            files.replace(temp, target)
        for folder in made:
            files.sync_dir(folder)
    finally:
        for temp, _ in temps:
            files.discard(temp)


def drop_objects(vault: Path, names: Iterable[str]) -> None:
    """Remove stored texts (`prune`); the lock is held."""
    for name in names:
        object_path(vault, name).unlink(missing_ok=True)


def spare_folders(changes: Iterable[Change], manifest: Manifest) -> list[str]:
    """Folders that go with their last file, innermost first: those that the runs undone by these changes made.

    Also those above these changes that an older run made and its own undo had to leave, because what is undone now
    lay in them already. A folder that was empty when the run came stays: it is not the run's.
    """
    changes = list(changes)
    now = {c.reverses[0] for c in changes if c.reverses}
    above = {p.as_posix() for c in changes if c.path for p in PurePosixPath(c.path).parents}
    came = min((at for at, run in enumerate(manifest.runs) if run.id in now), default=0)
    later = {e.reverses for run in manifest.runs[came:] for e in run.carried_out() if e.reverses}
    made: set[str] = set()
    for run in manifest.runs if now else ():
        if run.id in now:
            made.update(run.folders)
        elif run.folders and all((run.id, e.n) in manifest.reversed & later for e in run.carried_out()):
            made.update(above.intersection(run.folders))
    return sorted(made, key=lambda f: (-f.count("/"), f))


def _remove_empty(vault: Path, folders: Iterable[str]) -> None:
    for folder in folders:
        try:
            vault.joinpath(folder).rmdir()
        except OSError:  # not empty, or gone: both are fine
            continue


def _remove_up_to(folder: Path, top: Path) -> None:
    while folder != top and top in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


# ------------------------------------------------------------------ after a crash


def heal(vault: Path) -> list[str]:
    """Settle the runs that were killed, with the lock held; what was found, in words.

    An intent whose file is as planned was carried out; one whose file is as before was not. Where it is neither,
    somebody changed it after the crash: a created note counts as ours with their edits if it still tells whose it is,
    an updated one as not yet updated (the next import merges, and what both sides changed alike merges cleanly).
    """
    side = vault / SIDECAR
    if not side.is_dir():
        return []
    machine = machine_id(data_dir())
    for folder in (side, side / "objects", side / "manifest"):
        sweep_temps(folder, older_than=0, owner=machine)
    manifest = load_manifest(vault)
    said: list[str] = []
    for run in [r for r in manifest.runs if not r.finished]:
        if run.machine != machine and not _looks_dead(run):
            continue  # another machine's run: its `done` may not have been synced yet
        applied: list[int] = []
        failed: dict[int, str] = {}
        for entry in run.entries:
            _restore_aside(vault, entry)
            (applied.append(entry.n) if _carried_out(vault, entry) else failed.update({entry.n: "the run was killed"}))
        Journal(vault, machine).append([done_record(run.id, applied, failed, _now().isoformat(), healed=True)])
        said.append(f"run {run.id} was cut short: {len(applied)} of {len(run.entries)} files had been written")
        for place in {folder for e in run.entries for folder in _folders_of(vault, e)}:
            sweep_temps(place, older_than=0, owner=run.machine)
        _remove_empty(vault, spare_folders(run.entries, manifest))
        _remove_empty(vault, reversed(run.folders))
    return said


def _folders_of(vault: Path, entry: Entry) -> list[Path]:
    if entry.moved:
        return [Path(str(entry.moved[name])).parent for name in ("from", "kept")]
    return [vault.joinpath(entry.path).parent] if entry.path else []


def _restore_aside(vault: Path, entry: Entry) -> None:
    """What a kill left aside goes back, unless it is a text we keep anyway."""
    if not entry.path or entry.before is None:
        return
    try:
        target = Ground(vault).path(entry.path)
        if os.path.lexists(aside_of(target, entry)):
            _settle_aside(aside_of(target, entry), target, entry)
    except OSError:  # it stays aside, under its name, for the next start
        return


def _looks_dead(run: Run) -> bool:
    try:
        age = _now() - datetime.fromisoformat(run.time)
    except (ValueError, TypeError):
        return True
    return age.total_seconds() > 3600


def _carried_out(vault: Path, entry: Entry) -> bool:
    if entry.moved:
        there, kept = Path(str(entry.moved["from"])).exists(), Path(str(entry.moved["kept"])).exists()
        return there and not kept if entry.moved.get("back") else kept and not there
    if entry.before == entry.after:
        return True
    try:
        data = read_regular(Ground(vault).path(entry.path))
    except OSError:
        return False
    if data is None:
        return entry.after is None
    if digest(data) == entry.after:
        return True
    named = entry.key.rpartition(":")[2].encode("utf-8", "surrogateescape")
    return entry.before is None and bool(named) and named in data


# ------------------------------------------------------------------ words and clocks


def _now() -> datetime:
    return datetime.now(UTC)


def _after(manifest: Manifest, now: datetime) -> datetime:
    """Now, but later than every run this vault knows: the order of runs must survive clocks that disagree."""
    newest = now
    for run in manifest.runs:
        try:
            newest = max(newest, datetime.fromisoformat(run.time) + timedelta(milliseconds=1))
        except (ValueError, TypeError):
            continue
    return newest


def _say(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{where}"
