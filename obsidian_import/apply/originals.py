"""The originals that `--move` takes away: to a private folder, and back with mode and time."""

from __future__ import annotations

import filecmp
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from obsidian_import import files
from obsidian_import.apply.ground import remove_up_to
from obsidian_import.config import data_dir
from obsidian_import.files import Changed, private_dir


def move_original(moved: Mapping[str, object]) -> list[Path]:
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
        remove_up_to(kept.parent, data_dir() / "originals")
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
