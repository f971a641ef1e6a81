"""Peak memory and speed of reading account exports: `python benchmarks/formats_memory.py [MB ...]` (default 10 200).

Each export is made in a temporary folder and read in a process of its own, the way an import reads it (detection,
index, talks one by one). Said is the peak of resident memory over that of the same process with an export of 0 MB,
and the CPU time; at the end the same JSON by ijson alone, for comparison.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

WORDS = [
    "the",
    "quick",
    "brown",
    "fox,",
    "jumps",
    "—",
    "over",
    "λ",
    "`code`",
    "and\n\n-",
    "a",
    "list\n-",
    "of",
    "“words”",
    "日本",
    "😀",
    "so",
    "12.5",
    '"quoted"',
]


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def _claude(rng: random.Random, number: int) -> dict[str, object]:
    messages = []
    for n in range(rng.randint(2, 60)):
        text = _words(rng, rng.randint(5, 400))
        content = [{"start_timestamp": "2026-01-01T00:00:00Z", "type": "text", "text": text, "citations": []}]
        messages.append({"uuid": f"{number}-{n}", "text": text, "content": content, "sender": ("human", "assistant")[n % 2], "created_at": "2026-01-01T00:00:00.123456Z", "updated_at": "2026-01-01T00:00:00.123456Z", "attachments": [], "files": [], "parent_message_uuid": f"{number}-{n - 1}"})  # fmt: skip
    return {"uuid": f"c{number}", "name": f"Talk {number}", "summary": "", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "account": {"uuid": "a"}, "chat_messages": messages}  # fmt: skip


def _chatgpt(rng: random.Random, number: int) -> dict[str, object]:
    mapping: dict[str, object] = {"n-1": {"id": "n-1", "message": None, "parent": None, "children": ["n0"]}}
    size = rng.randint(2, 60)
    for n in range(size):
        message = {"id": f"n{n}", "author": {"role": ("user", "assistant")[n % 2], "name": None, "metadata": {}}, "create_time": 1.77e9 + n, "update_time": None, "content": {"content_type": "text", "parts": [_words(rng, rng.randint(5, 400))]}, "status": "finished_successfully", "end_turn": True, "weight": 1.0, "metadata": {"model_slug": "gpt", "parent_id": f"n{n - 1}", "citations": [], "content_references": [], "request_id": "x" * 36, "timestamp_": "absolute"}, "recipient": "all", "channel": None}  # fmt: skip
        mapping[f"n{n}"] = {"id": f"n{n}", "message": message, "parent": f"n{n - 1}", "children": [f"n{n + 1}"]}
    return {"title": f"Talk {number}", "create_time": 1.77e9, "update_time": 1.77e9, "mapping": mapping, "current_node": f"n{size - 1}", "conversation_id": f"c{number}", "id": f"c{number}"}  # fmt: skip


def _pieces(kind: str, size: int) -> Iterator[bytes]:
    """A list of talks on one line, `size` bytes or a little more."""
    rng = random.Random(7)
    made, number = 0, 0
    yield b"["
    while made < size:
        one = _claude(rng, number) if kind == "claude" else _chatgpt(rng, number)
        raw = json.dumps(one, ensure_ascii=kind == "chatgpt").encode()
        yield (b", " if number else b"") + raw
        made, number = made + len(raw) + 2, number + 1
    if not number:
        one = _claude(rng, 0) if kind == "claude" else _chatgpt(rng, 0)
        yield json.dumps(one).encode()
    yield b"]"


def _write(folder: Path, kind: str, size: int) -> Path:
    if not kind.endswith(".zip"):
        path = folder / f"{kind}-{size}.json"
        with path.open("wb") as out:
            out.writelines(_pieces(kind, size))
        return path
    path = folder / f"{kind.removesuffix('.zip')}-{size}.zip"
    rng = random.Random(3)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        with made.open("conversations.json", "w", force_zip64=True) as member:
            for piece in _pieces("chatgpt", size // 2):
                member.write(piece)
        for number in range(size // 2 // (1 << 20)):
            made.writestr(f"file-{number}-x.png", b"\x89PNG\r\n\x1a\n" + rng.randbytes(1 << 20), zipfile.ZIP_STORED)
    return path


def _read(path: str) -> None:
    """In a process of its own: read everything, keep nothing, say peak memory (MB), CPU seconds and talks."""
    from obsidian_import import formats
    from obsidian_import.model import Conversation
    from obsidian_import.sources import expand

    class Forget:
        def get(self, _file: object, _kind: str) -> None:
            return None

        def put(self, _file: object, _kind: str, _value: object) -> None:
            return None

    talks = 0
    for form, group in formats.detect(expand([Path(path)])).groups(Forget()):
        for found in form.read(group):
            talks += isinstance(found, Conversation)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peak": peak, "cpu": time.process_time(), "talks": talks}))


def _ijson(path: str) -> None:
    import ijson

    with Path(path).open("rb") as stream:
        talks = sum(1 for _ in ijson.items(stream, "item", use_float=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peak": peak, "cpu": time.process_time(), "talks": talks}))


def _child(what: str, path: Path) -> dict[str, float]:
    out = subprocess.run([sys.executable, __file__, what, str(path)], capture_output=True, check=True).stdout
    result: dict[str, float] = json.loads(out)
    return result


def main(sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for kind in ("claude", "chatgpt", "chatgpt.zip"):
            empty = _child("--read", _write(folder, kind, 0))
            peaks = []
            for size in sizes:
                path = _write(folder, kind, size << 20)
                got = _child("--read", path)
                peaks.append(got["peak"])
                speed = size / max(0.01, got["cpu"] - empty["cpu"])
                print(
                    f"{kind:12} {size:5} MB: {got['talks']:6} talks, peak {got['peak']:6.1f} MB, {speed:5.1f} MB/s of CPU"
                )
                if not kind.endswith(".zip") and size == sizes[-1]:
                    got = _child("--ijson", path)
                    print(
                        f"{'':12} by ijson alone (objects only): peak {got['peak']:6.1f} MB, {size / got['cpu']:5.1f} MB/s"
                    )
                path.unlink()
            print(f"{kind:12} ratio of peaks {peaks[-1] / peaks[0]:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        _read(sys.argv[2])
    elif sys.argv[1:2] == ["--ijson"]:
        _ijson(sys.argv[2])
    else:
        main([int(one) for one in sys.argv[1:]] or [10, 200])
