"""One file to its new state, and nothing an editor saved at that very moment is lost.

A new note is linked into a place where nothing may stand; a changed one is swapped in and what came out is looked at;
one that goes is set aside first and looked at there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from obsidian_import import files
from obsidian_import.apply.ground import Ground
from obsidian_import.apply.originals import move_original
from obsidian_import.files import TEMP_PREFIX, Changed, digest, read_regular
from obsidian_import.manifest import (
    Entry,
)

ASIDE = ".aside"  # ends the name of a note that was set aside for a moment


def one(entry: Entry, temp: str | None, ground: Ground) -> list[Path]:
    """One file to its new state; the folders to sync. Changed when the disk is not what the plan saw."""
    if entry.moved:
        return move_original(entry.moved)
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


def asides(vault: Path, entries: Iterable[Entry]) -> Iterator[Path]:
    """Where the entries' old versions may have been set aside."""
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
    if not settle_aside(aside, target, entry):
        raise Changed(f"{target.name} was saved while we worked; it stays as it is until the next run")


def _remove(target: Path, entry: Entry) -> None:
    """Take a file away: aside first, looked at there, so that what an editor saved at this moment comes back."""
    aside = aside_of(target, entry)
    try:
        files.replace(target, aside)
    except FileNotFoundError:
        raise Changed(f"{target.name} is gone already") from None
    if not settle_aside(aside, target, entry):
        raise Changed(f"{target.name} changed while we worked; it stays as it is")


def settle_aside(aside: Path, target: Path, entry: Entry) -> bool:
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


def new_file_mode() -> int:
    """Permission bits of a new file, as the umask has it."""
    if os.name != "posix":
        return 0o644
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
