"""What a person named on the command line → the files in it. Reads, never writes, never follows a link.

A source is a file, a folder (walked in a fixed order) or a zip (also in a folder, also in a zip). Every file knows
where it came from (`boxes`), so that a source in which nothing was recognised can be reported instead of passed over.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from obsidian_import import archives
from obsidian_import.archives import ZipMember, release
from obsidian_import.model import File, Problem, Skip

__all__ = ["DiskFile", "ZipMember", "expand", "release"]

KEPT_DOT_FOLDERS: Final = frozenset({".specstory"})
"""Dot-folders that are walked although they are hidden: they hold nothing but chats."""
NEVER: Final = frozenset({"node_modules", "__pycache__", "__MACOSX"})
MAX_DEPTH: Final = 40

_LISTED_ZIP: Final = re.compile(rb"([A-Za-z0-9][\w.%-]{0,200}\.zip)", re.IGNORECASE)
_OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


@dataclass(slots=True, unsafe_hash=True)
class DiskFile:
    """A regular file on disk."""

    path: Path
    name: str
    where: str
    size: int
    mtime: float | None
    boxes: tuple[str, ...]

    def open(self) -> BinaryIO:
        """A fresh stream at byte 0. Raises OSError; never waits for a pipe, never follows a link put there since."""
        descriptor = os.open(self.path, _OPEN_FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{self.where}: no regular file any more")
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def head(self, size: int = 65536) -> bytes:
        """The first `size` bytes. Raises OSError as `open` does."""
        # Every format asks for the head of one file before any asks for the next: one is worth keeping.
        key = (self.path, self.size, self.mtime)
        for kept, data in tuple(_last_head):
            if kept == key and size <= HEAD:
                return data[:size]
        with self.open() as stream:
            data = stream.read(max(size, HEAD))
        _last_head[:] = [(key, data[:HEAD])]
        return data[:size]


HEAD: Final = 65536
_last_head: list[tuple[tuple[Path, int, float | None], bytes]] = []


def expand(paths: Sequence[Path], *, skip: Sequence[Path] = ()) -> Iterator[File | Problem | Skip]:
    """The files in `paths`, each once, in a fixed order; what cannot be read as Problems, links and pipes as Skips.

    `skip` names folders that are not walked into although they lie inside a source (the vault). Never raises.
    """
    walk = _Walk(skip=frozenset(os.path.realpath(one) for one in skip))
    for path in paths:
        yield from walk.source(path)


def _show(path: Path | str) -> str:
    """A path as text that can be printed and encoded, whatever bytes the file system has."""
    return os.fsencode(path).decode("utf-8", "replace")


class _Walk:
    def __init__(self, skip: frozenset[str]) -> None:
        self._skip = skip
        self._seen: set[str] = set()

    def source(self, path: Path) -> Iterator[File | Problem | Skip]:
        where = _show(path)
        try:
            status = path.lstat()
        except (OSError, ValueError) as error:
            yield Problem(where, _why(error), "Name a file, a folder or a zip that exists.", fatal=True)
            return
        if stat.S_ISLNK(status.st_mode):
            yield Skip(
                where, f"a symbolic link, not followed: name what it points to ({_show(os.path.realpath(path))})"
            )
            return
        absolute = Path(os.path.abspath(path))  # resolve() would follow links
        boxes = (where,)
        if stat.S_ISDIR(status.st_mode):
            if os.path.realpath(path) in self._skip:
                yield Problem(
                    where, "this is the vault itself", "Name a folder of chats, or a folder in the vault.", fatal=True
                )
                return
            root, name = self._claude_home(path, _show(absolute.name))
            count = 0
            for found in self._folder(root, name, boxes, 0):
                count += 1
                yield found
            if not count:
                yield Problem(where, "nothing in it to read", "Name the folder, zip or file of an export.", fatal=True)
            return
        if not stat.S_ISREG(status.st_mode):
            yield Skip(where, _kind(status.st_mode))
            return
        # `folder/name` whether the file was named itself or found by walking its folder: identity rests on it.
        name = _show(f"{absolute.parent.name}/{absolute.name}").lstrip("/")
        yield from self._file(path, name, boxes, status, named=True)

    @staticmethod
    def _claude_home(path: Path, name: str) -> tuple[Path, str]:
        """Of a whole `~/.claude` only `projects` holds talks; the rest is plugins, commands, settings."""
        if (path.name == ".claude" or (path / "history.jsonl").exists()) and (path / "projects").is_dir():
            return path / "projects", f"{name}/projects"
        return path, name

    def _folder(self, folder: Path, name: str, boxes: tuple[str, ...], depth: int) -> Iterator[File | Problem | Skip]:
        where = _show(folder)
        if depth > MAX_DEPTH:
            yield Problem(where, f"folders more than {MAX_DEPTH} deep", "Name the inner folder.")
            return
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            yield Problem(where, _why(error), "Check the permissions of this folder.", fatal=not depth)
            return
        for entry in entries:
            inner = folder / entry.name
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield Problem(_show(inner), _why(error))
                continue
            label = f"{name}/{_show(entry.name)}"
            hidden = entry.name.startswith(".") and entry.name not in KEPT_DOT_FOLDERS
            if hidden or entry.name in NEVER:
                continue
            if stat.S_ISLNK(status.st_mode):
                yield Skip(_show(inner), "a symbolic link, not followed")
            elif stat.S_ISDIR(status.st_mode):
                if os.path.realpath(inner) in self._skip:
                    yield Skip(_show(inner), "the vault itself is not read as a source")
                else:
                    yield from self._folder(inner, label, boxes, depth + 1)
            elif stat.S_ISREG(status.st_mode):
                yield from self._file(inner, label, boxes, status, named=False)
            else:
                yield Skip(_show(inner), _kind(status.st_mode))

    def _file(
        self,
        path: Path,
        name: str,
        boxes: tuple[str, ...],
        status: os.stat_result,
        *,
        named: bool,
    ) -> Iterator[File | Problem | Skip]:
        place = os.path.realpath(path)
        if place in self._seen:
            return
        self._seen.add(place)
        where = _show(path)
        file = DiskFile(path, name, where, status.st_size, status.st_mtime, boxes)
        suffix = path.suffix.lower()
        manifest = (
            suffix == ".json" and path.name.lower().startswith("manifest") and not path.name.startswith("manifest.")
        )
        if suffix == ".zip" or manifest or named:
            try:
                head = file.head()
            except OSError as error:
                yield Problem(where, _why(error), "Check the permissions of this file.", fatal=True)
                return
            if suffix == ".zip" or archives.looks_like_zip(head):
                inner = boxes if where in boxes else (*boxes, where)
                yield from archives.members(path, where, name, inner)
                return
            if manifest and (listed := sorted({m.decode() for m in _LISTED_ZIP.findall(head)})):
                yield from self._manifest(path, name, boxes, listed)
                return
        yield file

    def _manifest(
        self, path: Path, name: str, boxes: tuple[str, ...], listed: list[str]
    ) -> Iterator[File | Problem | Skip]:
        """A claude.ai manifest only lists zips to download: read those that lie beside it, report the others."""
        missing = []
        for zipped in listed:
            beside = path.parent / zipped
            try:
                status = beside.lstat()
            except OSError:
                missing.append(zipped)
                continue
            if stat.S_ISREG(status.st_mode):
                yield from self._file(
                    beside, f"{name.rpartition('/')[0]}/{zipped}".lstrip("/"), boxes, status, named=False
                )
        if missing:
            shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            yield Problem(
                _show(path),
                f"lists archives that are not here: {shown}",
                "Download every archive the manifest lists into the same folder; the links expire.",
                fatal=len(missing) == len(listed),
            )


def _why(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return {"No such file or directory": "no such file or folder"}.get(text, text[:1].lower() + text[1:])


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe, not a file"
    if stat.S_ISSOCK(mode):
        return "a socket, not a file"
    return "a device, not a file"
