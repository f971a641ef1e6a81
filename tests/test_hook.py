"""The hook as the client runs it: `sh -c` of the installed command, the payload on a pipe that never closes."""

from __future__ import annotations

import ast
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from obsidian_import import spool
from obsidian_import.wiring.handlers import Caller
from tests.vaults import Desk, session

ROOT = Path(__file__).resolve().parents[1]
HOOK = ROOT / "hooks" / "session_autosave.py"
REASONS = ["clear", "resume", "logout", "prompt_input_exit", "other", "bypass_permissions_disabled"]
posix = pytest.mark.skipif(os.name == "nt", reason="as POSIX has it")


def event(reason: str = "other", **more: object) -> bytes:
    return json.dumps(
        {
            "session_id": session().id,
            "transcript_path": "/nowhere/x.jsonl",
            "cwd": "/srv/my-app",
            "hook_event_name": "SessionEnd",
            "reason": reason,
            **more,
        }
    ).encode()


def run(
    *args: str, payload: bytes = b"", close: bool = False, cwd: Path | None = None, prefix: str = "", wait: float = 20
) -> tuple[int, bytes, float]:
    """(exit code, what it printed, seconds). The pipe stays open until the hook is gone, unless `close`."""
    command = prefix + shlex.join([sys.executable, "-I", "-S", str(HOOK), *args])
    start = time.monotonic()
    child = subprocess.Popen(
        ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd
    )
    assert child.stdin is not None
    try:
        child.stdin.write(payload)
        child.stdin.flush()
    except BrokenPipeError:
        pass
    if close:
        child.stdin.close()
        child.stdin = None
    code = child.wait(wait)
    took = time.monotonic() - start
    assert child.stdout is not None
    out = child.stdout.read()
    if child.stdin:
        try:
            child.stdin.close()
        except BrokenPipeError:
            pass
    child.stdout.close()
    return code, out, took


def events() -> list[dict[str, str]]:
    return [json.loads(spool.read(p) or b"") for p in spool.waiting()]


# `--plugin` without an obsidian-import on PATH: the event is written down and nobody drains it.
@pytest.fixture
def alone(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Desk:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if spool.installed():
        pytest.skip("an obsidian-import is installed for everybody here")
    return desk


# ------------------------------------------------------------------ what comes in


@posix
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_written_down(reason: str, alone: Desk) -> None:
    code, out, took = run("--plugin", payload=event(reason))
    assert (code, out) == (0, b"")
    assert took < 10, "it waits for no end of the pipe (how long it takes is measured in benchmarks/hook.py)"
    (held,) = events()
    assert held["reason"] == reason
    assert held["session_id"] == session().id


@posix
@pytest.mark.parametrize(
    ("payload", "close"),
    [
        (b"", True),
        (b"garbage", True),
        (b"\xff\xfe\x00", True),
        (b"[]", True),
        (b"null", True),
        (b"{}", False),
        (b'{"a": ' * 3000, True),
        (b'{"session_id": 7, "reason": null}', False),
    ],
)
def test_what_is_no_event_is_not_written_down(payload: bytes, close: bool, alone: Desk) -> None:
    code, out, _ = run("--plugin", payload=payload, close=close)
    assert (code, out) == (0, b"")
    assert events() == []


@posix
def test_a_pipe_on_which_nothing_comes_is_given_up(alone: Desk) -> None:
    code, out, took = run("--plugin")
    assert (code, out) == (0, b"")
    assert 0.9 < took < 10


@posix
def test_an_event_that_is_cut_off_gives_what_can_be_made_out(alone: Desk) -> None:
    code, _, _ = run("--plugin", payload=event("clear")[:-1] + b', "more": "and the')
    assert code == 0
    assert events()[0]["reason"] == "clear"


@posix
def test_a_megabyte_is_read_and_only_what_matters_is_kept(alone: Desk) -> None:
    code, out, took = run("--plugin", payload=event(last_assistant_message="secret } {" * 120_000))
    assert (code, out) == (0, b"")
    assert took < 10
    (path,) = spool.waiting()
    assert os.stat(path).st_size < 500
    assert b"secret" not in Path(path).read_bytes()


@posix
def test_missing_fields_and_unknown_ones(alone: Desk) -> None:
    run("--plugin", payload=b'{"session_id": "abc-12345678", "scratchpad_dir": "/x", "future": {"a": [1]}}')
    assert events() == [{"session_id": "abc-12345678"}]


@posix
def test_a_slow_client_is_waited_for(alone: Desk) -> None:
    """The event in pieces, the last one late."""
    whole = event("clear")
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(HOOK), "--plugin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    for piece in (whole[:20], whole[20:60], whole[60:]):
        child.stdin.write(piece)
        child.stdin.flush()
        time.sleep(0.1)
    assert child.wait(5) == 0
    child.communicate()
    assert events()[0]["reason"] == "clear"


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_cancelled_hook_goes_on(number: signal.Signals, alone: Desk) -> None:
    """The client (or the closing terminal) signals; the event is written down all the same."""
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", str(HOOK), "--plugin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    status = Path(f"/proc/{child.pid}/status")
    if not status.exists():
        pytest.skip("no /proc to see from when on it is deaf")
    for _ in range(500):  # a signal that comes before the interpreter has run its first line kills any program
        ignored = next(x for x in status.read_text().split("\n") if x.startswith("SigIgn:"))
        if int(ignored.split()[1], 16) & 1:  # SIGHUP, the last of the three
            break
        time.sleep(0.01)
    child.send_signal(number)
    child.stdin.write(event())
    child.stdin.flush()
    assert child.wait(5) == 0
    child.communicate()
    assert len(events()) == 1


def test_windows_reads_by_a_thread() -> None:
    """The same pieces, and the same end of patience, where a pipe cannot be waited for."""
    reading, writing = os.pipe()
    os.write(writing, b'{"a": ')
    chunks = spool._chunks_by_thread(reading, time.monotonic() + 1)
    assert next(chunks) == b'{"a": '
    os.write(writing, b"1}")
    assert next(chunks) == b"1}"
    start = time.monotonic()
    assert list(spool._chunks_by_thread(os.pipe()[0], time.monotonic() + 0.2)) == []
    assert 0.1 < time.monotonic() - start < 10
    os.close(writing)


# ------------------------------------------------------------------ killed

KILLED = """
import os, signal, sys
wanted, script = int(sys.argv[1]), sys.argv[2]
sys.argv = [script, "--plugin"]
count = 0
def trace(frame, kind, arg):
    global count
    if "spool" in frame.f_code.co_filename or "files" in frame.f_code.co_filename or frame.f_code.co_filename == script:
        if kind == "line":
            count += 1
            if count == wanted:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace
    return None
def over(code):
    os.write(2, str(count).encode())
    real(code)
real, os._exit = os._exit, over
sys.settrace(trace)
import runpy
runpy.run_path(script, run_name="__main__")
"""


def killed_at(line: int) -> tuple[int, int]:
    """(exit code, lines run) of the hook killed when it is about to run its n-th line."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", KILLED, str(line), str(HOOK)],
        input=event("clear"),
        capture_output=True,
        check=False,
    )
    return done.returncode, int(done.stderr or b"0")


@posix
def test_killed_at_25_points_the_spool_survives(alone: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier event is never touched, the new one is there whole or not at all, and the log comes either way."""
    killed_at(-1)  # makes the folders
    code, lines = killed_at(-1)
    assert code == 0
    assert lines > 60
    for path in spool.waiting():
        spool.done(path)
    spool.put(json.dumps({"session_id": "earlier-1234567"}).encode())
    seen = set()
    for n in range(25):
        code, _ = killed_at(1 + n * (lines - 1) // 24)
        assert code == -signal.SIGKILL
        held = events()
        assert held[0] == {"session_id": "earlier-1234567"}
        assert all(e == {**json.loads(event("clear")), "transcript_path": "/nowhere/x.jsonl"} for e in held[1:])
        seen.add(len(held) - 1)
        for path in list(spool.waiting())[1:]:
            spool.done(path)
    assert seen == {0, 1}, "some kills were before the event was there, some after"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(alone.sources.parent / "claude"))
    session().you("One").claude("a").you("Two").claude("b").save(alone.sources.parent / "claude" / "projects")
    for torn in Path(spool.folder()).glob(".*.tmp"):
        os.utime(torn, (0, 0))
    alone.run("autosave")
    assert len(list(alone.vault.rglob("*.md"))) == 1
    assert events() == []
    assert list(Path(spool.folder()).iterdir()) == [], "what a killed hook left half written goes too"


# ------------------------------------------------------------------ the worker


@posix
def test_from_the_hook_to_the_note(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The installed command in a project's folder; the worker outlives the hook and finds the vault by itself."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    project = tmp_path / "project"
    project.mkdir()
    for trap in ("click.py", "obsidian_import.py", "json.py"):  # what a repository may hold must never be run
        (project / trap).write_text(f"open({str(tmp_path / 'trapped')!r}, 'w')\n")
    path = (
        session(cwd=str(project)).you("One").claude("a").you("Two").claude("b").save(tmp_path / "claude" / "projects")
    )
    command = Caller(sys.executable, str(HOOK), str(desk.vault)).handler("end")["command"]
    child = subprocess.Popen(
        ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=project
    )
    assert child.stdin is not None
    child.stdin.write(event("prompt_input_exit", session_id=path.stem, transcript_path=str(path)))
    child.stdin.flush()
    out, _ = child.stdout.read(), child.wait(5)  # type: ignore[union-attr]  # ends although the worker lives on
    assert out == b""
    assert child.returncode == 0
    child.stdin.close()
    for _ in range(300):
        if list(desk.vault.rglob("*.md")) and not list(spool.waiting()):
            break
        time.sleep(0.1)
    (note,) = desk.vault.rglob("*.md")
    assert "end_reason: prompt_input_exit" in note.read_text(encoding="utf-8")
    assert not (tmp_path / "trapped").exists()


@posix
def test_the_worker_inherits_nothing_the_client_waits_for(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    code = (
        "import sys; sys.path.append(sys.argv[1]); from obsidian_import import spool\n"
        f"spool.start(['/bin/sh', '-c', 'ls -l /dev/fd/ > {tmp_path}/fds; ps -o sid= -p $$ > {tmp_path}/sid; pwd > {tmp_path}/pwd; sleep 8'], '/tmp')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)], pass_fds=(writing,), capture_output=True, check=True, timeout=7
    )
    os.close(writing)
    assert done.stdout == b""
    start = time.monotonic()
    assert os.read(reading, 1) == b""  # the other end is closed although the worker still sleeps
    assert time.monotonic() - start < 7
    os.close(reading)
    for _ in range(50):
        if (tmp_path / "pwd").exists() and (tmp_path / "pwd").read_text():
            break
        time.sleep(0.1)
    assert (tmp_path / "pwd").read_text().strip() == "/"
    sid = (tmp_path / "sid").read_text().strip()
    assert not sid or int(sid) != os.getsid(0)


def test_the_workers_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spool.worker([]) == [sys.executable, "-P", "-m", "obsidian_import", "autosave", "--quiet"]
    assert spool.worker(["--vault", "/a b"])[-2:] == ["--vault", "/a b"]
    assert spool.worker(["--vault"])[-1] == "--quiet"
    assert "--no-sweep" in spool.worker(["--checkpoint"])
    monkeypatch.setenv("CLAUDE_PLUGIN_OPTION_VAULT", "/from/the/plugin")
    assert spool.worker([])[-2:] == ["--vault", "/from/the/plugin"]
    assert spool.worker(["--vault", "/named"])[-2:] == ["--vault", "/named"]


def test_a_plugin_starts_the_installed_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = "obsidian-import.exe" if os.name == "nt" else "obsidian-import"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
    (tmp_path / "bin" / name).chmod(0o700)
    monkeypatch.setenv("PATH", os.pathsep.join(["relative", str(tmp_path / "bin")]))
    assert spool.worker(["--plugin"])[0] == str(tmp_path / "bin" / name)


# ------------------------------------------------------------------ the other modes


@posix
def test_the_sweep_reads_nothing_prints_nothing_and_is_not_started_twice(
    alone: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    worker = tmp_path / "bin" / "obsidian-import"
    worker.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    worker.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    for _ in range(3):
        code, out, _ = run("--plugin", "--sweep", "--vault", "/v", payload=event())
        assert (code, out) == (0, b"")
    for _ in range(100):
        if (tmp_path / "calls").exists():
            break
        time.sleep(0.1)
    time.sleep(0.3)
    assert (tmp_path / "calls").read_text() == "autosave --quiet --vault /v\n"
    assert events() == []


@posix
def test_checkpoints_replace_each_other(alone: Desk) -> None:
    for n in range(3):
        code, out, _ = run(
            "--plugin", "--checkpoint", payload=event(hook_event_name="Stop", n=n, last_assistant_message="x")
        )
        assert (code, out) == (0, b"")
    (held,) = events()
    assert held["hook_event_name"] == "Stop"
    assert "last_assistant_message" not in held
    run("--plugin", "--checkpoint", payload=event(session_id="../../evil"))
    assert sorted(os.path.basename(p) for p in spool.waiting()) == sorted(
        [f"checkpoint-{session().id}.json", "checkpoint-evil.json"]
    )


@posix
def test_the_workers_own_children_are_no_news(alone: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(spool.GUARD, "1")
    assert run("--plugin", payload=event())[:2] == (0, b"")
    assert events() == []


# ------------------------------------------------------------------ trouble


@posix
def test_trouble_is_never_the_sessions(alone: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A data folder that cannot be used, a full disk, a closed stdin: exit 0, nothing printed."""
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        monkeypatch.setenv("OBSIDIAN_IMPORT_DATA", str(bad))
        assert run("--plugin", payload=event())[:2] == (0, b"")
    monkeypatch.setenv("OBSIDIAN_IMPORT_DATA", str(tmp_path / "data"))
    assert run("--plugin", payload=event(), prefix="ulimit -f 0; ")[0] in (0, 153)  # SIGXFSZ where the system sends it
    assert run("--plugin", prefix="exec 0<&-; ")[:2] == (0, b"")


@posix
def test_what_is_spooled_is_for_its_owner_only(alone: Desk) -> None:
    run("--plugin", payload=event(), prefix="umask 000; ")
    (path,) = spool.waiting()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize("path", ["hooks/session_autosave.py", "obsidian_import/spool.py", "obsidian_import/files.py"])
def test_an_older_python_can_read_it(path: str) -> None:
    """A plugin runs the hook with whatever python3 there is."""
    ast.parse((ROOT / path).read_text(encoding="utf-8"), feature_version=(3, 9))


def test_a_real_run_loads_nothing_else() -> None:
    """After a whole run: of ours only spool and files, no third party, no subprocess."""
    code = (
        "import sys, os, io; sys.path.append(sys.argv[1])\n"
        "from obsidian_import import spool\n"
        "spool.take(['--plugin'])\n"
        "ours = sorted(m for m in sys.modules if m.startswith('obsidian_import'))\n"
        "third = [m for m in sys.modules if 'site-packages' in (getattr(sys.modules[m], '__file__', '') or '')]\n"
        "print(ours, third, 'subprocess' in sys.modules, 'typing' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT)], input=event(), capture_output=True, check=True
    )
    assert (
        done.stdout.decode().strip()
        == "['obsidian_import', 'obsidian_import.files', 'obsidian_import.spool'] [] False False"
    )
