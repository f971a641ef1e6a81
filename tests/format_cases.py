"""Golden cases of the format readers: a source in `tests/cases/formats/<format>/`, what was read of it beside it.

`OBSIDIAN_IMPORT_REGEN=1` writes the expected files anew; review them in the diff.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from obsidian_import.formats import Detected, detect
from obsidian_import.model import (
    Aside,
    Block,
    Conversation,
    File,
    Found,
    Media,
    Problem,
    Skip,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from obsidian_import.sources import expand

CASES = Path(__file__).parent / "cases" / "formats"
FIXED_MTIME = 1_767_225_600  # 2026-01-01T00:00:00Z: golden output must not depend on when a file was checked out


class NoMemo:
    def get(self, file: File, kind: str) -> object | None:
        return None

    def put(self, file: File, kind: str, value: object) -> None:
        pass


def detected(*paths: Path) -> Detected:
    return detect(expand(paths))


def read(*paths: Path) -> list[Found]:
    """Everything that detection and the readers say about the paths."""
    found = detected(*paths)
    said: list[Found] = list(found.found)
    for form, group in found.groups(NoMemo()):
        said += form.read(group)
    return said


def talks(*paths: Path) -> list[Conversation]:
    return [one for one in read(*paths) if isinstance(one, Conversation)]


def cases(folder: str) -> list[Path]:
    return sorted(path for path in (CASES / folder).iterdir() if not path.name.endswith(".expected.txt"))


def check(case: Path) -> None:
    """Compare what is read of a case with its expected file (or write that file)."""
    for path in [case, *case.rglob("*")] if case.is_dir() else [case]:
        os.utime(path, (FIXED_MTIME, FIXED_MTIME))
    text = "\n".join(line for found in read(case) for line in show(found)).replace(f"{case.parent}{os.sep}", "") + "\n"
    expected = case.with_name(case.name + ".expected.txt")
    if os.environ.get("OBSIDIAN_IMPORT_REGEN"):
        expected.write_bytes(text.encode())
    assert text == expected.read_bytes().decode()


def show(found: Found) -> Iterator[str]:
    """One found thing as lines that a person can read."""
    if isinstance(found, Problem):
        yield f"PROBLEM{' (fatal)' if found.fatal else ''} {found.source}{f':{found.line}' if found.line else ''}: {found.what} | {found.hint}"
        return
    if isinstance(found, Skip):
        yield f"SKIP {found.source}: {found.why} [{found.key}]"
        return
    yield f"TALK {found.key} | {found.title}"
    for name in (
        "source",
        "session_id",
        "assistant",
        "origin",
        "project",
        "cwd",
        "branch",
        "parent",
        "tags",
        "aliases",
        "files",
        "kind",
    ):
        value = getattr(found, name)
        if value:
            yield f"  {name}: {value}"
    for name in ("created", "updated"):
        value = getattr(found, name)
        yield f"  {name}: {value.isoformat() if value else '-'}"
    for key, value in found.properties.items():
        yield f"  property {key}: {value!r}"
    if found.body is not None:
        yield from _text("  body", found.body)
    for turn in found.turns:
        yield from _turn(turn, "  ")
    for aside in found.asides:
        yield from _block(aside, "  ")


def _turn(turn: Turn, indent: str) -> Iterator[str]:
    at = f" {turn.at.isoformat()}" if turn.at else ""
    yield f"{indent}[{turn.id}] {turn.role}{at}{f' ({turn.speaker})' if turn.speaker else ''}"
    for block in turn.blocks:
        yield from _block(block, indent + "  ")


def _block(block: Block, indent: str) -> Iterator[str]:
    if isinstance(block, Text):
        yield from _text(f"{indent}text", block.text)
    elif isinstance(block, Thinking):
        yield from _text(f"{indent}thinking", block.text)
    elif isinstance(block, ToolCall):
        yield from _text(f"{indent}call {block.id} {block.name} ({block.title}) {block.language}".rstrip(), block.input)
    elif isinstance(block, ToolResult):
        yield from _text(f"{indent}result {block.call}{' ERROR' if block.error else ''}", block.text)
    elif isinstance(block, Media):
        yield f"{indent}media {block.name} {block.media_type} {len(block.data) if block.data is not None else '-'} {block.why}"
    else:
        assert isinstance(block, Aside)
        yield from _text(f"{indent}aside {block.kind} ({block.title})", block.text)
        for turn in block.turns:
            yield from _turn(turn, indent + "  ")


def _text(head: str, text: str) -> Iterator[str]:
    indent = " " * (len(head) - len(head.lstrip()))
    yield f"{head}:"
    for line in text.split("\n") if text else []:
        yield f"{indent}| {line}".rstrip()


class MemoryFile:
    """A `model.File` of bytes."""

    def __init__(self, name: str, raw: bytes, mtime: float | None = FIXED_MTIME) -> None:
        self.name = self.where = name
        self.raw, self.size, self.mtime = raw, len(raw), mtime

    def open(self) -> BinaryIO:
        return io.BytesIO(self.raw)

    def head(self, size: int = 65536) -> bytes:
        return self.raw[:size]
