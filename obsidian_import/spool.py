"""The hook's inbox: one owner-only file an event, by temporary file and rename. Standard library only.

The hook is killed without mercy (about 1.5 s for all hooks together), so it does the least that cannot be lost: it
writes the event down and starts a child. Whatever happens next, the event lies here until `autosave` has dealt with it.
"""

from __future__ import annotations

import os
import sys

from obsidian_import import files

TYPE_CHECKING = False  # typing costs the hook 7 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EVENT = 1 << 20  # bytes of one event; the real ones have a few hundred
SUFFIX = ".json"


def data_folder() -> str:
    """The user's data folder, as `config.data_dir` finds it (through platformdirs, which the hook must not load)."""
    named = os.environ.get("OBSIDIAN_IMPORT_DATA")
    if named:
        return named
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "obsidian-import")
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(base, "obsidian-import")
    base = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.join(home, ".local", "share")
    return os.path.join(base, "obsidian-import")


def folder() -> str:
    """Where events wait."""
    return os.path.join(data_folder(), "spool")


def put(event: bytes) -> str:
    """Write an event down; its path. Raises OSError (the hook says nothing and goes)."""
    files.private_dir(data_folder())
    files.private_dir(folder())
    name = f"{os.times().elapsed:.0f}-{os.getpid()}-{os.urandom(4).hex()}{SUFFIX}"
    path = os.path.join(folder(), name)
    files.write_atomic(path, event, 0o600, sync=False)  # a sync may take longer than the hook has
    return path


def waiting() -> Iterator[str]:
    """Paths of the events, oldest first."""
    try:
        entries = [e for e in os.scandir(folder()) if e.name.endswith(SUFFIX) and not e.name.startswith(".")]
    except OSError:
        return
    for entry in sorted(entries, key=lambda e: (e.stat(follow_symlinks=False).st_mtime_ns, e.name)):
        yield entry.path


def read(path: str) -> bytes | None:
    """The event's bytes; None where it is gone or is no regular file of ours."""
    try:
        return files.read_regular(path)
    except OSError:
        return None


def done(path: str) -> None:
    """The event has been dealt with."""
    files.discard(path)


# ------------------------------------------------------------------ what the hook does


def read_event(fd: int, seconds: float = 1.0) -> bytes:
    """Bytes from `fd` until they hold one whole JSON object, the end, the limit or the time is reached.

    The client may never close the pipe: waiting for its end would hang until the hook is killed.
    """
    import json  # noqa: PLC0415 (the child that drains the spool does not need it here)
    import select  # noqa: PLC0415
    import time  # noqa: PLC0415

    data = b""
    end = time.monotonic() + seconds
    while len(data) < MAX_EVENT:
        if os.name != "nt":  # Windows cannot select on a pipe; there one read gives what the client wrote
            left = end - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                break
        chunk = os.read(fd, 65536)
        if not chunk:
            break
        data += chunk
        if data.rstrip().endswith(b"}"):
            try:
                json.loads(data.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            break
    return data[:MAX_EVENT]


def start(arguments: list[str]) -> None:
    """Start a child that outlives us: own session, no inherited streams. Never waits."""
    if os.name == "nt":
        import subprocess  # noqa: PLC0415 (there is no other way on Windows)

        no_window, new_group = 0x0800_0000, 0x0000_0200  # subprocess has the names on Windows only
        off = subprocess.DEVNULL
        subprocess.Popen(arguments, stdin=off, stdout=off, stderr=off, creationflags=no_window | new_group)
        return
    if hasattr(os, "posix_spawn"):
        null = os.devnull
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
        ]
        try:
            os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions, setsid=True)
        except NotImplementedError:  # a C library without POSIX_SPAWN_SETSID: the process group must do
            os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions, setpgroup=0)
        return
    if os.fork() == 0:  # pragma: no cover (no such system at hand)
        os.setsid()
        null_fd = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null_fd, fd)
        os.execv(arguments[0], arguments)
