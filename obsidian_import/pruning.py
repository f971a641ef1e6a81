"""Which stored texts nobody needs any more: those of old runs that no merge, relink or younger undo would read."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

from obsidian_import.config import SIDECAR
from obsidian_import.manifest import Entry, Manifest

UNSPOKEN = 30 * 86400.0
"""Seconds: a text that no manifest speaks of may belong to a machine whose manifest has not been synced yet."""


def needed(manifest: Manifest, since: datetime) -> set[str]:
    """Digests that must stay. Pure. What we generated last of every note stays for ever: merges start from it."""
    keep: set[str | None] = set()
    for state in manifest.notes.values():
        keep.update((state.base, state.landed))
    for entry in manifest.files.values():
        keep.add(entry.after)
    earlier: dict[tuple[str, int], list[Entry]] = {}
    for run in manifest.runs:
        young = not run.finished or datetime.fromisoformat(run.time) >= since
        for entry in run.entries:
            if young:
                keep.update((entry.before, entry.after, entry.base))
                keep.update(_base_before(manifest, earlier.get((entry.key, entry.part), [])))
            if entry.key:
                earlier.setdefault((entry.key, entry.part), []).append(entry)
    return {name for name in keep if name}


def _base_before(manifest: Manifest, entries: list[Entry]) -> list[str | None]:
    """What an undo would set the base back to: merges start from there then."""
    bases: list[str | None] = []
    for entry in reversed(entries):
        bases.append(entry.base)
        if not entry.reverses and (entry.run, entry.n) not in manifest.reversed:
            break
    return bases


def unneeded(vault: Path, manifest: Manifest, since: datetime) -> dict[str, int]:
    """Digest → bytes of the stored texts that may go, when runs older than `since` need no undo."""
    keep = needed(manifest, since)
    spoken = {name for run in manifest.runs for e in run.entries for name in (e.before, e.after, e.base)}
    fresh = time.time() - UNSPOKEN
    found: dict[str, int] = {}
    for folder, _, names in os.walk(vault / SIDECAR / "objects"):
        for name in names:
            if len(name) != 64 or name in keep:
                continue
            seen = os.lstat(os.path.join(folder, name))
            if name in spoken or seen.st_mtime < fresh:
                found[name] = seen.st_size
    return found
