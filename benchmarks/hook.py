"""Wall time of the SessionEnd hook, as the client sees it, over sizes of transcript: `python benchmarks/hook.py [MB…]`.

Three things, interleaved, the least of several rounds each (the machine is never quiet, so the minimum is the figure
that says what the code costs): a bare `python -c pass`; the hook as `setup` installs it (`sh -c`, the event on a pipe
that stays open); and the whole work done inline, as a hook would that reads the transcript itself.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 15
SESSION = "5c0375b4-57a5-4f26-b12d-d022ee4e51b7"


def transcript(path: Path, megabytes: float) -> None:
    """A session of about this size: prompts, answers, tool results of 20 KB."""
    common = {
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/srv/my-app",
        "version": "2.1.200",
        "gitBranch": "main",
    }
    size = number = 0
    with path.open("w", encoding="utf-8") as out:
        while size < megabytes * 1e6 or number < 6:
            kind = ("user", "assistant", "assistant", "user")[number % 4]
            content = (
                "Please look at the next one and fix what is wrong with it.",
                [{"type": "text", "text": "I looked at it. " * 20}],
                [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "pytest -q"}}],
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": f"t{number - 1}",
                        "content": "ok 12345 line of output\n" * 800,
                    }
                ],
            )[number % 4]
            record = {
                "type": kind,
                "uuid": f"{number:08x}-0000-4000-8000-000000000000",
                "parentUuid": f"{number - 1:08x}-0000-4000-8000-000000000000" if number else None,
                "timestamp": f"2026-03-{1 + number // 86400:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
                "message": {"role": kind, "content": content, **({"id": f"m{number}"} if kind == "assistant" else {})},
                **common,
            }
            line = json.dumps(record) + "\n"
            out.write(line)
            size += len(line)
            number += 1


def timed(command: list[str], payload: bytes = b"", env: dict[str, str] | None = None) -> float:
    """Seconds until the command is gone; its stdin stays open until then."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    )
    assert child.stdin is not None
    try:
        child.stdin.write(payload)
        child.stdin.flush()
    except BrokenPipeError:
        pass
    child.wait()
    took = time.perf_counter() - start
    try:
        child.stdin.close()
    except BrokenPipeError:
        pass
    return took


def main() -> None:
    sizes = [float(a) for a in sys.argv[1:]] or [0.01, 1, 100, 300]
    work = Path(tempfile.mkdtemp(prefix="hook-bench-"))
    try:
        print(f"{sys.version.split()[0]} on {sys.platform}, least of {ROUNDS} interleaved rounds, milliseconds")
        print(f"{'transcript':>11} {'bare -c pass':>13} {'hook':>8} {'times':>6} {'inline':>10}")
        for size in sizes:
            row(work, size)
    finally:
        time.sleep(1)  # the last worker may still be at it
        shutil.rmtree(work, ignore_errors=True)


def row(work: Path, size: float) -> None:
    folder = work / f"{size}"
    path = folder / "claude" / "projects" / "-srv-my-app" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    (folder / "vault" / ".obsidian").mkdir(parents=True)
    transcript(path, size)
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "OBSIDIAN"))},
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "OBSIDIAN_IMPORT_DATA": str(folder / "data"),
    }
    event = json.dumps(
        {"session_id": SESSION, "transcript_path": str(path), "hook_event_name": "SessionEnd", "reason": "clear"}
    )
    # The worker is to start but not to work while we measure: it gets a vault that is none, and time to say so.
    hook = f"{sys.executable} -I -S {ROOT / 'hooks' / 'session_autosave.py'} --vault {folder / 'no-vault'}"
    bare, hooked, inline = [], [], []
    for number in range(ROUNDS):
        bare.append(timed([sys.executable, "-c", "pass"], env=env))
        hooked.append(timed(["sh", "-c", hook], event.encode(), env))
        time.sleep(0.6)
        if number < (3 if size < 50 else 1):
            shutil.rmtree(folder / "data", ignore_errors=True)
            timed(["sh", "-c", hook], event.encode(), env)
            time.sleep(0.6)
            work_now = [
                sys.executable,
                "-m",
                "obsidian_import",
                "autosave",
                "--quiet",
                "--vault",
                str(folder / "vault"),
            ]
            inline.append(timed(work_now, env=env))
            assert list((folder / "vault").rglob("*.md")), "the inline run wrote no log"
            shutil.rmtree(folder / "vault" / "logs")
            shutil.rmtree(folder / "vault" / ".obsidian-import")
    low, mid, high = min(bare) * 1e3, min(hooked) * 1e3, min(inline) * 1e3
    print(f"{size:>8g} MB {low:>13.1f} {mid:>8.1f} {mid / low:>6.2f} {high:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
