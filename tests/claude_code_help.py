"""What the tests of the Claude Code reader share: files from disk, no memo, and a talk as text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from obsidian_import.formats import claude_code
from obsidian_import.model import Aside, Conversation, Found, Media, Problem, Skip, Text, Thinking, ToolCall, ToolResult

CASES = Path(__file__).parent / "cases" / "formats" / "claude-code"


class Disk:
    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.name = path.relative_to(root).as_posix()
        self.where = self.name
        self.size = path.stat().st_size
        self.mtime = None

    def open(self) -> BinaryIO:
        return self.path.open("rb")

    def head(self, size: int = 65536) -> bytes:
        with self.open() as stream:
            return stream.read(size)


class NoMemo:
    def get(self, file: object, kind: str) -> object | None:
        return None

    def put(self, file: object, kind: str, value: object) -> None:
        pass


def files_of(path: Path) -> list[Disk]:
    if path.is_file():
        return [Disk(path, path.parent)]
    return [Disk(p, path) for p in sorted(path.rglob("*")) if p.is_file() and p.suffix in (".jsonl", ".json")]


def found_in(path: Path) -> list[Found]:
    files = files_of(path)
    return [one for group in claude_code.groups(files, NoMemo()) for one in claude_code.read(group)]


def _indent(text: str, by: str) -> str:
    return "\n".join(f"{by}{line}" for line in text.split("\n"))


def _turns(turns: Iterable[object], by: str) -> list[str]:
    lines: list[str] = []
    for turn in turns:
        at = turn.at.isoformat() if turn.at else "-"
        lines.append(f"{by}== {turn.role}{' ' + turn.speaker if turn.speaker else ''} · {at} · {turn.id}")
        for block in turn.blocks:
            lines += _block(block, by + "   ")
    return lines


def _block(block: object, by: str) -> list[str]:
    match block:
        case Text(text):
            return [_indent(text, by + "| ")]
        case Thinking(text):
            return [f"{by}(thinking)", *([_indent(text, by + "| ")] if text else [])]
        case ToolCall(id, name, given, title, language):
            return [f"{by}> {name} [{title}] {language} {id}".rstrip(), _indent(given, by + "  ")]
        case ToolResult(call, text, error):
            return [f"{by}< {call}{' ERROR' if error else ''}", _indent(text, by + "  ")]
        case Media(name, kind, data, text, why):
            return [f"{by}* {kind} {name!r} {data!r} {text!r} {why}".rstrip()]
        case Aside(kind, title, turns, text):
            return [f"{by}({kind}) {title}", *([_indent(text, by + "| ")] if text else []), *_turns(turns, by + "   ")]
    raise AssertionError(block)


def dump(found: Iterable[Found]) -> str:
    lines: list[str] = []
    for one in found:
        match one:
            case Conversation():
                lines.append(f"# {one.key}: {one.title}")
                lines.append(
                    f"project={one.project!r} branch={one.branch!r} origin={one.origin} parent={one.parent!r} aka={list(one.aka)}"
                )
                lines.append(
                    f"created={one.created} updated={one.updated} files={[f.rsplit('/', 1)[-1] for f in one.files]}"
                )
                lines += _turns(one.turns, "")
                for aside in one.asides:
                    lines += ["== beside", *_block(aside, "   ")]
            case Problem():
                lines.append(
                    f"! {one.source.rsplit('/', 1)[-1]}:{one.line} {'FATAL ' if one.fatal else ''}{one.what} / {one.hint}"
                )
            case Skip():
                lines.append(f"- {one.source.rsplit('/', 1)[-1]}: {one.why} [{one.key}]")
        lines.append("")
    return "\n".join(lines)
