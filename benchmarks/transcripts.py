"""Transcripts to notes against two peers from PyPI, in one run: CPU seconds and peak memory.

    python benchmarks/transcripts.py [--mb 100] [--file TRANSCRIPT]

claude-conversation-extractor and claude-code-log are installed into a throw-away venv. The first drops most of what a
transcript holds (tools, results, images) and redacts nothing; the second keeps it all in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generate

PEERS = ("claude-conversation-extractor==1.1.2", "claude-code-log==1.7.0")


def measure(words: list[str], env: dict[str, str], cwd: Path) -> tuple[float, float, int]:
    """(CPU seconds, peak MB, exit code) of one command, by a child of its own (peak memory is per process tree)."""
    code = (
        "import json,resource,subprocess,sys;"
        "r=subprocess.run(json.loads(sys.argv[1]),stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL).returncode;"
        "u=resource.getrusage(resource.RUSAGE_CHILDREN);print(u.ru_utime+u.ru_stime,u.ru_maxrss/1024,r)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(words)], env=env, cwd=cwd, capture_output=True, text=True, check=True
    )
    cpu, peak, status = done.stdout.split()
    return float(cpu), float(peak), int(status)


def transcript(path: Path, megabytes: float) -> None:
    """One long session: prose, thinking, tools, results (twice, as the client writes them), snapshots, a few pictures."""
    r = random.Random(9)
    sid, size, k = "0badcafe-0000-4000-8000-000000000001", 0, 0

    def words(n: int) -> str:
        return " ".join(r.choice(generate.WORDS) for _ in range(n))

    with path.open("w", encoding="utf-8") as out:

        def line(kind: str, **more: object) -> None:
            nonlocal size, k
            k += 1
            when = f"2026-03-{1 + k // 86400 % 28:02d}T{k // 3600 % 24:02d}:{k // 60 % 60:02d}:{k % 60:02d}.000Z"
            head = {"type": kind, "uuid": f"{k:08x}-0000-4000-8000-000000000001", "sessionId": sid, "timestamp": when}
            text = json.dumps(
                {**head, "parentUuid": None, "isSidechain": False, "cwd": "/srv/app", "version": "2.1.200", **more}
            )
            out.write(text + "\n")
            size += len(text) + 1

        while size < megabytes * 1e6:
            line("user", message={"role": "user", "content": words(r.randint(8, 120))})
            for _ in range(r.randint(2, 10)):
                call = f"toolu_{k:09d}"
                said = [{"type": "text", "text": words(r.randint(10, 200))}] if r.random() < 0.5 else []
                thought = [{"type": "thinking", "thinking": words(r.randint(20, 250)), "signature": "x" * 400}]
                for block in (
                    *thought,
                    *said,
                    {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": words(4)}},
                ):
                    line(
                        "assistant",
                        message={"role": "assistant", "id": f"msg_{call}", "model": "claude", "content": [block]},
                    )
                result = words(int(40 * 60 ** r.random()))
                content = [{"type": "tool_result", "tool_use_id": call, "content": result}]
                line("user", message={"role": "user", "content": content}, toolUseResult={"stdout": result})
            if r.random() < 0.2:
                line(
                    "file-history-snapshot",
                    messageId=sid,
                    snapshot={"trackedFileBackups": {words(2): words(5) for _ in range(50)}},
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--file", type=Path, help="a transcript to measure instead of a generated one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        top = Path(temp)
        venv.create(top / "venv", with_pip=True)
        tool = top / "venv" / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run(
            [tool / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS], check=True
        )
        home = top / "home"
        source = home / ".claude" / "projects" / "-srv-app" / "0badcafe-0000-4000-8000-000000000001.jsonl"
        source.parent.mkdir(parents=True)
        if options.file:
            source.write_bytes(options.file.read_bytes())
        else:
            transcript(source, options.mb)
        vault = top / "vault"
        (vault / ".obsidian").mkdir(parents=True)
        env = {**os.environ, "HOME": str(home), "OBSIDIAN_IMPORT_DATA": str(top / "data")}
        env.pop("CLAUDE_CONFIG_DIR", None)
        ours = [sys.executable, "-m", "obsidian_import", "import", "--vault", str(vault)]
        figures = {
            "claude-conversation-extractor": [
                str(tool / "claude-extract"),
                "--all",
                "--output",
                str(top / "extracted"),
            ],
            "claude-code-log (md)": [
                str(tool / "claude-code-log"),
                str(source),
                "--format",
                "md",
                "-o",
                str(top / "log.md"),
            ],
            "obsidian-import --detail talk": [*ours, "--detail", "talk", "--dry-run"],
            "obsidian-import": ours,
        }
        print(f"{source.stat().st_size / 1e6:.0f} MB of transcript\n\n{'':32} {'CPU':>8} {'peak':>8}  exit")
        for name, words in figures.items():
            cpu, peak, status = measure(words, env, top)
            print(f"{name:32} {cpu:7.2f}s {peak:5.0f} MB  {status}")


if __name__ == "__main__":
    main()
