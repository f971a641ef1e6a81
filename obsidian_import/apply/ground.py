"""Where we may write: below the vault, never through a link; and the folders that come and go with our files."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from obsidian_import.config import SIDECAR
from obsidian_import.files import Unsafe
from obsidian_import.manifest import (
    Change,
    Manifest,
)


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


def remove_empty(vault: Path, folders: Iterable[str]) -> None:
    """Remove these folders where nothing lies in them any more."""
    for folder in folders:
        try:
            vault.joinpath(folder).rmdir()
        except OSError:  # not empty, or gone: both are fine
            continue


def remove_up_to(folder: Path, top: Path) -> None:
    """Remove a folder and those above it, below `top`, as long as they are empty."""
    while folder != top and top in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
