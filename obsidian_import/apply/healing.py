"""After a crash: settle the runs that were killed, by looking at the disk."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from obsidian_import.apply.ground import Ground, remove_empty, spare_folders
from obsidian_import.apply.journal import Journal, moment
from obsidian_import.apply.one import aside_of, settle_aside
from obsidian_import.config import SIDECAR, data_dir
from obsidian_import.files import digest, read_regular, sweep_temps
from obsidian_import.manifest import (
    Entry,
    Run,
    done_record,
)
from obsidian_import.sidecar import load_manifest, machine_id


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
        Journal(vault, machine).append([done_record(run.id, applied, failed, moment().isoformat(), healed=True)])
        said.append(f"run {run.id} was cut short: {len(applied)} of {len(run.entries)} files had been written")
        for place in {folder for e in run.entries for folder in _folders_of(vault, e)}:
            sweep_temps(place, older_than=0, owner=run.machine)
        remove_empty(vault, spare_folders(run.entries, manifest))
        remove_empty(vault, reversed(run.folders))
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
            settle_aside(aside_of(target, entry), target, entry)
    except OSError:  # it stays aside, under its name, for the next start
        return


def _looks_dead(run: Run) -> bool:
    try:
        age = moment() - datetime.fromisoformat(run.time)
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
