"""The hook's inbox: one owner-only file an event, by temporary file and rename. Standard library only.

The hook is killed without mercy (about 1.5 s for all hooks together), so it does the least that cannot be lost: it
writes the event down and starts a child. Whatever happens next, the event lies here until `autosave` has dealt with it.
A plugin runs the hook with whatever Python there is: this file and `files` keep to what 3.9 can read.
"""

from __future__ import annotations

import os
import sys

from obsidian_import import files

TYPE_CHECKING = False  # typing costs the hook 7 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EVENT = 8 << 20  # bytes of one event; the real ones have a few hundred
SUFFIX = ".json"
FIELDS = ("session_id", "transcript_path", "cwd", "reason", "hook_event_name", "trigger", "source")
"""What of an event is written down: never what was said (a Stop event carries the last answer)."""
FIELD = 4096  # characters of one


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


def put(event: bytes, name: str = "") -> str:
    """Write an event down; its path. Raises OSError (the hook says nothing and goes).

    An event with a `name` replaces the one of that name: a checkpoint is only worth its newest.
    """
    files.private_dir(data_folder())
    files.private_dir(folder())
    name = name or f"{os.times().elapsed:.0f}-{os.getpid()}-{os.urandom(4).hex()}"
    path = os.path.join(folder(), name + SUFFIX)
    files.write_atomic(path, event, 0o600, sync=False)  # a sync may take longer than the hook has
    return path


def waiting() -> Iterator[str]:
    """Paths of the events, oldest first."""
    try:
        entries = [e for e in os.scandir(folder()) if e.name.endswith(SUFFIX) and not e.name.startswith(".")]
    except OSError:
        return
    aged = []
    for entry in entries:
        try:
            aged.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name, entry.path))
        except OSError:  # another worker has just dealt with it
            continue
    for _, _, path in sorted(aged):
        yield path


def read(path: str) -> bytes | None:
    """The event's bytes; None where it is gone or is no regular file of ours."""
    try:
        return files.read_regular(path)
    except OSError:
        return None


def done(path: str) -> None:
    """The event has been dealt with."""
    files.discard(path)


def tidy() -> None:
    """Take away what killed hooks left half written, and marks of sessions long gone."""
    files.sweep_temps(folder())
    stamps = os.path.join(data_folder(), "stamps")
    try:
        old = [e.path for e in os.scandir(stamps) if e.stat(follow_symlinks=False).st_mtime < _month_ago()]
    except OSError:
        return
    for path in old:
        files.discard(path)


def _month_ago() -> float:
    import time  # noqa: PLC0415 (the hook does not need it here)

    return time.time() - 30 * 86400


# ------------------------------------------------------------------ what the hook does

RECENT = 60.0  # seconds in which a second session start begins no second sweep
OFTEN = 600.0  # seconds between two workers that checkpoints of one session start
GUARD = "OBSIDIAN_IMPORT_WORKER"


def read_event(fd: int, seconds: float = 1.0) -> bytes:
    """Bytes from `fd` until they hold one whole JSON object, the end, the limit or the time is reached.

    The client may never close the pipe: waiting for its end would hang until the hook is killed.
    """
    import json  # noqa: PLC0415 (the child that drains the spool does not need it here)

    data = b""
    for chunk in _chunks(fd, seconds):
        data += chunk
        if data.rstrip().endswith(b"}"):
            try:
                json.loads(data.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            break
        if len(data) >= MAX_EVENT:
            break
    return data[:MAX_EVENT]


def _chunks(fd: int, seconds: float) -> Iterator[bytes]:
    """What arrives on `fd` within `seconds`, piece by piece; ends at the end of the stream."""
    import time  # noqa: PLC0415

    end = time.monotonic() + seconds
    if os.name == "nt":
        yield from _chunks_by_thread(fd, end)
        return
    import select  # noqa: PLC0415

    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return
        chunk = os.read(fd, 1 << 20)
        if not chunk:
            return
        yield chunk


def _chunks_by_thread(fd: int, end: float) -> Iterator[bytes]:
    """The same where a pipe cannot be waited for with a limit (Windows): a thread reads, and is left behind."""
    import queue  # noqa: PLC0415
    import threading  # noqa: PLC0415
    import time  # noqa: PLC0415

    pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def pump() -> None:
        while True:
            try:
                chunk = os.read(fd, 1 << 20)
            except OSError:
                chunk = b""
            pieces.put(chunk)
            if not chunk:
                return

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            chunk = pieces.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            return
        if not chunk:
            return
        yield chunk


def essence(event: bytes) -> dict[str, str]:
    """The fields worth keeping; of an event that is cut off or damaged, those that can still be made out."""
    import json  # noqa: PLC0415

    try:
        value = json.loads(event.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        value = _salvaged(event)
    if not isinstance(value, dict):
        return {}
    return {k: value[k][:FIELD] for k in FIELDS if isinstance(value.get(k), str) and value[k]}


def _salvaged(event: bytes) -> dict[str, str]:
    import json  # noqa: PLC0415
    import re  # noqa: PLC0415 (json has loaded it)

    found: dict[str, str] = {}
    for name in FIELDS:
        hit = re.search(rb'"%s"\s*:\s*("(?:[^"\\]|\\.){1,4096}")' % name.encode(), event)
        if hit:
            try:
                found[name] = json.loads(hit[1].decode("utf-8", "replace"))
            except ValueError:
                continue
    return found


def take(arguments: list[str], fd: int = 0) -> None:
    """Do the whole work of the hook; `arguments` are those behind the script's name.

    `--vault DIR` goes on to the worker · `--sweep` (SessionStart): nothing is read, a worker looks for sessions without
    a log · `--checkpoint` (Stop, PreCompact): the newest event of a session replaces the one before, and a worker starts
    at most every ten minutes · `--plugin`: the interpreter is not the one that has obsidian-import.
    """
    import json  # noqa: PLC0415

    if os.environ.get(GUARD):
        return  # whatever our own worker may start: its end is not news
    if "--sweep" in arguments:
        if fresh("sweep", RECENT):
            start(worker(arguments), place(arguments))
        return
    event = essence(read_event(fd))
    if "--checkpoint" in arguments:
        session = "".join(c for c in event.get("session_id", "") if c.isalnum() or c == "-")[:64]
        if not session:
            return
        put(json.dumps(event).encode(), f"checkpoint-{session}")
        if fresh(f"checkpoint-{session}", OFTEN) or event.get("hook_event_name") == "PreCompact":
            start(worker(arguments), place(arguments))
        return
    if event:
        put(json.dumps(event).encode())
    start(worker(arguments), place(arguments))


def fresh(name: str, seconds: float) -> bool:
    """Whether this was last asked longer than `seconds` ago; from now on it counts as asked. OSError propagates."""
    import time  # noqa: PLC0415

    files.private_dir(data_folder())
    folder = os.path.join(data_folder(), "stamps")
    files.private_dir(folder)
    path = os.path.join(folder, name)
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        age = seconds + 1
    if 0 <= age <= seconds:
        return False
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
    os.utime(path)
    return True


def place(arguments: list[str]) -> str:
    """The vault that the installed command names, or that the plugin was given; empty where neither does."""
    if "--vault" in arguments[:-1]:
        return arguments[arguments.index("--vault") + 1]
    for name in ("CLAUDE_PLUGIN_OPTION_VAULT", "CLAUDE_PLUGIN_OPTION_vault"):
        if os.environ.get(name):
            return os.environ[name]
    return ""


def worker(arguments: list[str]) -> list[str]:
    """The command line of the child. `-P`: a project's own click.py must not be what Python finds first."""
    vault = place(arguments)
    tail = ["autosave", "--quiet", *(["--vault", vault] if vault else [])]
    if "--checkpoint" in arguments:
        tail.append("--no-sweep")
    if "--plugin" in arguments:
        found = installed()
        return [found, *tail] if found else []
    return [sys.executable, "-P", "-m", "obsidian_import", *tail]


def installed() -> str:
    """The `obsidian-import` command, for a hook that runs with another Python; empty where there is none."""
    name = "obsidian-import.exe" if os.name == "nt" else "obsidian-import"
    home = os.path.expanduser("~")
    usual = [os.path.join(home, ".local", "bin"), "/opt/homebrew/bin", "/usr/local/bin"]  # what pipx and uv use
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), *usual]:
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def start(arguments: list[str], vault: str = "") -> None:
    """Start a child that outlives us: own session, no inherited streams or handles. Never waits.

    With a vault named, the child does not stand in the project's folder (which somebody may want to remove).
    """
    if not arguments:
        return
    os.environ["PYTHONUTF8"] = "1"
    os.environ[GUARD] = "1"
    if vault and os.path.isabs(vault):
        os.chdir(os.path.abspath(os.sep))
    if os.name == "nt":
        _start_on_windows(arguments)
        return
    _keep_handles()
    if hasattr(os, "posix_spawn"):
        import signal  # noqa: PLC0415 (the hook has loaded it)

        null = os.devnull
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
        ]
        # The hook ignores all three; the worker only the one that a closing terminal sends.
        again = [signal.SIGINT, signal.SIGTERM]
        try:
            os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions, setsid=True, setsigdef=again)
        except NotImplementedError:  # a C library without POSIX_SPAWN_SETSID: the process group must do
            os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions, setpgroup=0, setsigdef=again)
        return
    if os.fork() == 0:  # pragma: no cover (no such system at hand)
        os.setsid()
        null_fd = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null_fd, fd)
        os.execv(arguments[0], arguments)


def _keep_handles() -> None:
    """What the client left open in us stays with us: it waits for everything that holds its pipes."""
    try:
        held = [int(n) for n in os.listdir("/dev/fd") if n.isdigit()]
    except OSError:
        held = list(range(3, 64))
    for fd in held:
        if fd > 2:
            try:
                os.set_inheritable(fd, False)
            except OSError:
                continue


def _start_on_windows(arguments: list[str]) -> None:  # pragma: no cover (no such system at hand)
    import subprocess  # noqa: PLC0415 (there is no other way on Windows)

    no_window, new_group, breakaway = 0x0800_0000, 0x0000_0200, 0x0100_0000  # subprocess has the names there only
    off = subprocess.DEVNULL
    for flags in (no_window | new_group | breakaway, no_window | new_group):
        try:
            subprocess.Popen(arguments, stdin=off, stdout=off, stderr=off, creationflags=flags)
        except PermissionError:  # the client's job object lets nobody go
            continue
        return
