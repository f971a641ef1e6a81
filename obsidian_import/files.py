"""Files: digest, private folders, atomic compare-and-replace. Standard library only (the hook imports this).

The recipe (and why each step): the temporary file lies in the target's own folder, so that the rename is atomic;
its name starts with a dot and ends in `.tmp`, so that Obsidian never indexes it; data is on disk (fsync) before
the rename, so that a power loss leaves the old or the new file, never an empty one; the target is compared once
more right before the rename, so that an editor that saved meanwhile wins.
"""

from __future__ import annotations

import os
import stat
import sys
import time

TYPE_CHECKING = False  # typing costs the hook 7 ms
if TYPE_CHECKING:
    from os import PathLike

TEMP_PREFIX = ".obsidian-import-"
TEMP_SUFFIX = ".tmp"

_WINDOWS_BUSY = (5, 32, 33)  # access denied, sharing violation, lock violation: a scanner or editor holds the file


class Changed(Exception):
    """The target is no longer what the caller saw; nothing was written."""


class Unsafe(OSError):
    """A folder or a path that must not be used: a link, somebody else's, writable by others."""


def digest(data: bytes) -> str:
    """SHA-256, 64 hex digits."""
    import hashlib  # noqa: PLC0415 (the hook digests nothing)

    return hashlib.sha256(data).hexdigest()


def private_dir(path: PathLike[str] | str) -> None:
    """Make the folder 0700 where missing; Unsafe for a link, a foreign owner or one that others may write."""
    if not os.path.lexists(path):
        os.makedirs(path, mode=0o700, exist_ok=True)
    seen = os.lstat(path)
    if stat.S_ISLNK(seen.st_mode):
        raise Unsafe(f"{path} is a symbolic link; a state folder has to be a real one")
    if not stat.S_ISDIR(seen.st_mode):
        raise Unsafe(f"{path} is not a folder")
    if os.name == "posix":
        if seen.st_uid != os.getuid():
            raise Unsafe(f"{path} belongs to another user")
        if seen.st_mode & 0o022:
            raise Unsafe(f"{path} can be written by others (mode {stat.S_IMODE(seen.st_mode):o}); run chmod 700 on it")


def read_regular(path: PathLike[str] | str) -> bytes | None:
    """The bytes of a regular file, None where there is none. Never follows a link, never blocks on a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(path, flags)
    except FileNotFoundError:
        return None
    with open(fd, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise Unsafe(f"{path} is not a regular file")
        return stream.read()


def temp_name(target: PathLike[str] | str, owner: str = "") -> str:
    """A name for a temporary file beside `target`; `owner` tells whose it is where several machines write."""
    mark = f"{owner}-" if owner else ""
    return os.path.join(os.path.dirname(target), f"{TEMP_PREFIX}{mark}{os.urandom(6).hex()}{TEMP_SUFFIX}")


def write_temp(target: PathLike[str] | str, data: bytes, mode: int = 0o600, owner: str = "") -> str:
    """A new temporary file beside `target` with these bytes, not yet synced; the caller replaces or removes it."""
    temp = temp_name(target, owner)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(temp, flags, mode)
    try:
        with open(fd, "wb") as stream:
            stream.write(data)
        if os.name == "posix":
            os.chmod(temp, mode)  # the umask has narrowed it
    except BaseException:
        discard(temp)
        raise
    return temp


def sync_file(path: PathLike[str] | str) -> None:
    """Flush one file to the disk; on macOS only F_FULLFSYNC makes that word true."""
    fd = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        if sys.platform == "darwin":
            import fcntl  # noqa: PLC0415 (POSIX only)

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)
    finally:
        os.close(fd)


def sync_dir(path: PathLike[str] | str) -> None:
    """Flush a folder's entries; a no-op where folders cannot be opened (Windows)."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(temp: PathLike[str] | str, target: PathLike[str] | str) -> None:
    """`os.replace`, with the short retries that Windows needs while a scanner or a sync client reads the file."""
    delay = 0.01
    while True:
        try:
            os.replace(temp, target)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _WINDOWS_BUSY or delay > 1.0:
                raise
            time.sleep(delay)
            delay *= 2
        else:
            return


def exchange(one: PathLike[str] | str, other: PathLike[str] | str) -> bool:
    """Swap two files in one step, so that nothing saved at that very moment is lost; False where the system cannot.

    Linux (`renameat2`) and macOS (`renamex_np`), on most file systems. Raises OSError for a real failure.
    """
    if sys.platform not in ("linux", "darwin"):
        return False
    import ctypes  # noqa: PLC0415 (the hook exchanges nothing)
    import errno  # noqa: PLC0415

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "linux":
            here = -100  # AT_FDCWD; both paths are absolute or relative to it
            failed = library.renameat2(here, first, here, second, 2)  # RENAME_EXCHANGE
        else:
            failed = library.renamex_np(first, second, 2)  # RENAME_SWAP
    except AttributeError:  # an older C library
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), os.fspath(other))


def discard(temp: PathLike[str] | str) -> bool:
    """Remove a temporary file if it is still there; whether it is gone."""
    try:
        os.unlink(temp)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def write_atomic(target: PathLike[str] | str, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Replace `target` by these bytes or leave it as it was; nothing in between, killed anywhere."""
    temp = write_temp(target, data, mode)
    try:
        if sync:
            sync_file(temp)
        replace(temp, target)
    except BaseException:
        discard(temp)
        raise
    if sync:
        sync_dir(os.path.dirname(target) or ".")


def sweep_temps(folder: PathLike[str] | str, older_than: float = 900.0, owner: str = "") -> int:
    """Remove our own temporary files that a killed run (of `owner`) left here, older than 15 minutes; how many."""
    count = 0
    start = f"{TEMP_PREFIX}{owner}-" if owner else TEMP_PREFIX
    try:
        names = [e.name for e in os.scandir(folder) if e.name.startswith(start) and e.name.endswith(TEMP_SUFFIX)]
    except OSError:
        return 0
    for name in names:
        path = os.path.join(folder, name)
        try:
            if time.time() - os.lstat(path).st_mtime > older_than:
                os.unlink(path)
                count += 1
        except OSError:
            continue
    return count
