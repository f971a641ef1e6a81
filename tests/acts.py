"""What people, editors, sync services and crashes do to a vault between two commands; used by the state machines."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from obsidian_import import apply, files
from obsidian_import.cli import main
from obsidian_import.manifest import encode

IMPORT_ID = re.compile(r"^import_id: *[\"']?([^\"'\r\n]+)", re.MULTILINE)


class Killed(BaseException):
    """The process is dead: nothing it would do from here on happens."""


# ------------------------------------------------------------------ calling the command


def call(vault: Path, data: Path, *args: str | Path) -> tuple[int, Any]:
    """(exit code, JSON or None) of one command as the machine with this data folder. Syncs are skipped: nobody cuts the power."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with (
        mock.patch.dict(os.environ, {"OBSIDIAN_IMPORT_DATA": str(data)}),
        mock.patch.object(os, "fsync", return_value=None),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main([*map(str, args), "--json", "--vault", str(vault)])
        except SystemExit as done:
            code = done.code if isinstance(done.code, int) else 0
    out.flush()
    said = out.buffer.getvalue()  # type: ignore[attr-defined]  # a BytesIO
    if code == 3:
        logs = sorted((data / "log").glob("*.md"))
        raise AssertionError(logs[-1].read_text(encoding="utf-8") if logs else err.getvalue())
    return code, json.loads(said) if said.strip().startswith(b"{") else err.getvalue()


EFFECTS: tuple[tuple[Any, str], ...] = (
    (os, "replace"),
    (os, "rename"),
    (os, "link"),
    (os, "unlink"),
    (os, "mkdir"),
    (os, "rmdir"),
    (os, "chmod"),
    (os, "utime"),
    (files, "exchange"),
    (files, "write_temp"),
    (files, "sync_file"),
    (files, "sync_dir"),
    (apply.Journal, "append"),
)
"""All that changes the disk in a run, at the grain at which it can fail."""


@contextlib.contextmanager
def failing(at: int, fail: Callable[[str], BaseException], *, for_good: bool, under: Path) -> Iterator[list[str]]:
    """The `at`-th effect below `under` (from 1) raises; with `for_good` all later ones too. What happened, in order."""
    done: list[str] = []

    def wrap(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*args: Any, **more: Any) -> Any:
            if not any(str(under) in str(getattr(a, "path", a)) for a in args[:2]):
                return real(*args, **more)
            done.append(name)
            if len(done) == at or (for_good and len(done) > at):
                if len(done) == at and for_good:
                    torn(name, real, args, more)
                raise fail(name)
            return real(*args, **more)

        return effect

    with contextlib.ExitStack() as stack:
        for owner, name in EFFECTS:
            stack.enter_context(mock.patch.object(owner, name, wrap(name, getattr(owner, name))))
        yield done


def torn(name: str, real: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> None:
    """A write that a kill meets leaves half of its bytes."""
    if name == "write_temp":
        real(args[0], args[1][: len(args[1]) // 2], *args[2:], **more)
    elif name == "append" and args[0].path.parent.is_dir():
        data = b"".join(encode(record) for record in args[1])
        with open(args[0].path, "ab") as stream:
            stream.write(data[: len(data) * 2 // 3])


@contextlib.contextmanager
def killed(at: int, under: Path) -> Iterator[list[str]]:
    """Death at the `at`-th effect; the block is left quietly."""
    with failing(at, Killed, for_good=True, under=under) as done:
        try:
            yield done
        except Killed:
            pass


# ------------------------------------------------------------------ looking


def notes(vault: Path) -> dict[str, str]:
    """Path → text of every Markdown file outside dot-folders."""
    found = {}
    for folder, names, names_of_files in os.walk(vault):
        names[:] = [n for n in names if not n.startswith(".")]
        for name in names_of_files:
            if name.endswith(".md") and not name.startswith("."):
                path = Path(folder) / name
                found[path.relative_to(vault).as_posix()] = path.read_bytes().decode("utf-8", "surrogateescape")
    return found


def ours(vault: Path) -> dict[str, str]:
    """Path → key of the notes that say they are ours; copies of a sync service left out."""
    return {
        path: found[1]
        for path, text in notes(vault).items()
        if (found := IMPORT_ID.search(text[:4000])) and "sync-conflict" not in path
    }


def leftovers(vault: Path) -> list[str]:
    """Temporary files and files set aside."""
    return [
        str(Path(folder) / name)
        for folder, _, names in os.walk(vault)
        for name in names
        if name.startswith(files.TEMP_PREFIX)
    ]


# ------------------------------------------------------------------ acts on a text


def block_end(lines: list[str]) -> int:
    """The number of the first line behind the frontmatter."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((n + 1 for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), 0)


def eol_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def add_line(text: str, marker: str, place: float, *, blank: bool) -> str:
    """The marker on a line of its own, anywhere behind the frontmatter."""
    eol = eol_of(text)
    lines = text.split("\n")
    low = block_end(lines)
    at = low + int(place * (len(lines) - low))
    extra = [line + eol.removesuffix("\n") for line in (["", marker, ""] if blank else [marker])]
    return "\n".join(lines[:at] + extra + lines[at:])


def extend_line(text: str, marker: str, place: float) -> str:
    """The marker at the end of an existing line of the body."""
    lines = text.split("\n")
    low = block_end(lines)
    at = min(low + int(place * (len(lines) - low)), len(lines) - 1)
    tail = "\r" if lines[at].endswith("\r") else ""
    lines[at] = lines[at].removesuffix("\r") + " " + marker + tail
    return "\n".join(lines)


def drop_line(text: str, place: float) -> str:
    """Without one line of the body that holds no marker of a person."""
    lines = text.split("\n")
    low = block_end(lines)
    at = low + int(place * (len(lines) - low))
    if at < len(lines) and "PERSON" not in lines[at]:
        del lines[at]
    return "\n".join(lines)


def add_property(text: str, marker: str) -> str:
    """A property of the person's own, behind the others."""
    lines = text.split("\n")
    end = block_end(lines)
    if not end:
        return add_line(text, marker, 1.0, blank=True)
    lines.insert(end - 1, f"mine_{marker[6:]}: {marker}" + ("\r" if lines[0].endswith("\r") else ""))
    return "\n".join(lines)


def reformat(text: str) -> str:
    """The block as Obsidian's own property editor writes it: block lists, no flow, no comments."""
    lines = text.replace("\r\n", "\n").split("\n")
    end = block_end(lines)
    if not end or "\r\n" in text:
        return text
    try:
        values = yaml.load("\n".join(lines[1 : end - 1]), yaml.BaseLoader)
    except yaml.YAMLError:
        return text
    if not isinstance(values, dict):
        return text
    out = ["---"]
    for key, value in values.items():
        if isinstance(value, list):
            out += [f"{key}:", *(f"  - {item}" for item in value)]
        elif re.fullmatch(r"[\w:.+-]+", str(value)) and not str(value).endswith(":"):
            out.append(f"{key}: {value}")
        else:
            out.append(f"{key}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join([*out, "---", *lines[end:]])
