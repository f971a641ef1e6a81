"""Which stored texts nobody needs any more: those of old runs that no merge, relink or younger undo would read."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from obsidian_import.config import SIDECAR
from obsidian_import.manifest import Manifest


def needed(manifest: Manifest, since: datetime) -> set[str]:
    """Digests that must stay. Pure. What we generated last of every note stays for ever: merges start from it."""
    keep: set[str | None] = set()
    for state in manifest.notes.values():
        keep.update((state.base, state.landed))
    for entry in manifest.files.values():
        keep.add(entry.after)
    for run in manifest.runs:
        if not run.finished or datetime.fromisoformat(run.time) >= since:
            for entry in run.entries:
                keep.update((entry.before, entry.after, entry.base))
    return {name for name in keep if name}


def unneeded(vault: Path, manifest: Manifest, since: datetime) -> dict[str, int]:
    """Digest → bytes of the stored texts that may go, when runs older than `since` need no undo."""
    keep = needed(manifest, since)
    found: dict[str, int] = {}
    for folder, _, names in os.walk(vault / SIDECAR / "objects"):
        for name in names:
            if len(name) == 64 and name not in keep:
                found[name] = os.lstat(os.path.join(folder, name)).st_size
    return found
