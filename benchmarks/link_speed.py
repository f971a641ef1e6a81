"""CPU seconds of the link stage and of looking at a vault, by number of names.

    python benchmarks/link_speed.py --vault DIR --text FILE.md [--chat-size 20000]

The vault and the text are best made by a generator (10,000 notes, 10 MB of chat Markdown). The text is cut into chats
at its headings. As the machine's speed changes from minute to minute, a plain tokenising pass over the same text is
timed beside each figure: compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from obsidian_import import markdown
from obsidian_import.links import Linker, LinkSettings
from obsidian_import.names.surfaces import longest
from obsidian_import.vault import lexicon, look


def cpu(work: Callable[[], object], rounds: int = 3) -> float:
    best = 1e9
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def chats(text: str, size: int) -> list[str]:
    out: list[str] = []
    start = 0
    while start < len(text):
        end = text.find("\n# ", min(len(text), start + size))
        end = len(text) if end < 0 else end + 1
        out.append(text[start:end])
        start = end
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--vault", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--chat-size", type=int, default=1)
    args = parser.parse_args()
    if args.vault is None or not args.vault.is_dir():
        print("no vault given (or none there): nothing measured")
        return 0
    with tempfile.TemporaryDirectory() as cache:
        folder = Path(cache) / "c"
        for name in ("cold", "warm", "warm", "warm"):
            start = time.process_time()
            snapshot = look(args.vault, cache=folder)
            seen = time.process_time()
            names = lexicon(snapshot)
            built = time.process_time()
            _ = names.matcher, names.fingerprint
            end = time.process_time()
            print(
                f"{name}: {len(snapshot.notes)} notes, look {seen - start:.3f} s, lexicon {built - seen:.3f} s, "
                f"automaton and fingerprint {end - built:.3f} s; {len(names.names)} names"
            )
    if args.text is None or not args.text.is_file():
        return 0
    parts = chats(args.text.read_text(encoding="utf-8"), args.chat_size)
    mb = sum(len(part.encode()) for part in parts) / 1e6
    linker = Linker(names, LinkSettings())
    token = re.compile(r"\w+|[^\w\s]+|\s+")
    links = sum(len(linker.find(part, "chats/x.md").links) for part in parts)
    print(f"{len(parts)} chats, {mb:.1f} MB, {links} links")

    def each(work: Callable[[str], object]) -> Callable[[], None]:
        def run() -> None:
            for part in parts:
                work(part)

        return run

    for name, work in (
        ("tokenising pass", token.findall),
        ("places (markdown.py)", markdown.places),
        ("names: automaton and word edges", lambda part: longest(names.matcher.find(part))),
        ("link stage, all of it", lambda part: linker.find(part, "chats/x.md")),
        ("with all near misses", lambda part: linker.find(part, "chats/x.md").misses),
    ):
        seconds = cpu(each(work))
        print(f"{name:32} {seconds:.3f} s  {mb / seconds:6.1f} MB/s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
