"""CPU seconds of whole imports (process start included), over chats × notes and over session transcripts.

    python benchmarks/import_speed.py [--quick] [--sessions DIR]

CPU seconds are the operating system's own accounting of the finished process (user + system); wall time says little
on a shared machine. `R1` is a reference pass over the same text in this very run, so that figures of two machines
can be compared: one `re.findall` of words over all chats.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import generate


def run(vault: Path, data: Path, *sources: Path) -> tuple[float, int]:
    """(CPU seconds, peak KiB) of one import."""
    env = {**os.environ, "OBSIDIAN_IMPORT_DATA": str(data)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "obsidian_import", "import", *map(str, sources), "--vault", str(vault)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def reference(folder: Path) -> float:
    """CPU seconds of the reference pass R1."""
    texts = [p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.md"))]
    start = time.process_time()
    for text in texts:
        re.findall(r"\w+|[^\w\s]+|\s+", text)
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--sessions", type=Path, help="a folder of transcripts to measure besides our own")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    with tempfile.TemporaryDirectory() as temp:
        top = Path(temp)
        for count in (100, 1000):
            generate.chats(top / f"c{count}", max(5, count // scale))
        print(f"R1 over 1,000 chats: {reference(top / 'c1000'):.2f} s CPU\n")
        print(f"{'chats':>6} {'notes':>7} {'first':>8} {'again':>8}   peak")
        cost = {}
        for chats, notes in ((100, 100), (100, 1000), (1000, 100), (1000, 10_000)):
            vault, data = top / f"v{chats}-{notes}", top / f"d{chats}-{notes}"
            generate.vault(vault, max(5, notes // scale))
            first, peak = run(vault, data, top / f"c{chats}")
            again, _ = run(vault, data, top / f"c{chats}")
            cost[chats, notes] = first
            print(f"{chats:>6,} {notes:>7,} {first:>7.2f}s {again:>7.2f}s   {peak / 1024:.0f} MB")
        print(f"\n1,000 × 10,000 / 1,000 × 100: {cost[1000, 10_000] / cost[1000, 100]:.2f} (goal: at most 2.5)")
        size = generate.sessions(top / "sessions", 1000 // scale)
        for name, folder in (("our own", top / "sessions"), ("given", options.sessions)):
            if folder is None:
                continue
            vault, data = top / f"sv {name}", top / f"sd {name}"
            (vault / ".obsidian").mkdir(parents=True)
            first, peak = run(vault, data, folder)
            again, _ = run(vault, data, folder)
            size = sum(p.stat().st_size for p in folder.rglob("*.jsonl"))
            count = sum(1 for _ in folder.rglob("*.jsonl"))
            print(
                f"{count:,} sessions ({name}), {size / 1e6:.0f} MB: first {first:.2f} s, again {again:.2f} s, peak {peak / 1024:.0f} MB"
            )


if __name__ == "__main__":
    main()
