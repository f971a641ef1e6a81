"""The sidecar as it is written: whole records, synced; texts as objects, once each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

import orjson

from obsidian_import import files
from obsidian_import.config import SIDECAR
from obsidian_import.files import Unsafe
from obsidian_import.manifest import (
    Entry,
    Manifest,
    encode,
)
from obsidian_import.sidecar import Texts, load_manifest, manifest_dir, object_path


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


def prepare_sidecar(vault: Path) -> None:
    """Make the sidecar's folders; Unsafe where one of them is a link."""
    side = vault / SIDECAR
    for folder in (side, side / "manifest", side / "objects"):
        if folder.is_symlink():
            raise Unsafe(f"{folder} is a symbolic link")
        folder.mkdir(exist_ok=True)


def write_objects(vault: Path, texts: Texts, entries: Iterable[Entry], machine: str) -> None:
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
        sync_all(temp for temp, _ in temps)
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


def sync_all(temps: Iterable[str]) -> None:
    """Flush many files side by side: the file system then groups its commits."""
    paths = list(temps)
    if len(paths) < 4:
        for path in paths:
            files.sync_file(path)
        return
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(files.sync_file, paths))


def moment() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def after_all(manifest: Manifest, now: datetime) -> datetime:
    """Now, but later than every run this vault knows: the order of runs must survive clocks that disagree."""
    newest = now
    for run in manifest.runs:
        try:
            newest = max(newest, datetime.fromisoformat(run.time) + timedelta(milliseconds=1))
        except (ValueError, TypeError):
            continue
    return newest


def say(error: OSError) -> str:
    """An I/O error in words, with the file it is about."""
    where = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{where}"
