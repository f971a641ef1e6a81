"""What `setup` wires in, file by file: the pieces, the record of what was there before, the writing. See `wiring`.

The only code that writes settings: each file is compared once more before it is replaced, and its record is on disk
before it changes, so that `setup --remove` finds the way back wherever a run was killed.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from obsidian_import import config, files
from obsidian_import.apply.ground import Ground
from obsidian_import.errors import UserError
from obsidian_import.wiring import handlers

BEGIN, END = "<!-- obsidian-import:begin", "<!-- obsidian-import:end -->"
BLOCK = re.compile(rf"{re.escape(BEGIN)}[^\n]*\n.*?{re.escape(END)}", re.DOTALL)

Action = Literal["create", "update", "delete", "keep", "leave"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One file."""

    path: Path
    """Where it is named; a link there is followed when it is written (dotfiles are often links)."""
    before: bytes | None
    after: bytes | None
    what: str
    why: str = ""
    vault: Path | None = None
    """Set for a file inside a vault: then nothing is written through a link."""
    left: bool = False
    """Something of a person's stands in the way; it stays, and `why` says so."""
    ours: tuple[str, ...] = ()
    """The lines of our block, for taking it out of a file that was changed."""
    restored: bool = False
    """`--remove`: `after` is what was there before the first setup."""

    @property
    def action(self) -> Action:
        """What happens to the file."""
        if self.left:
            return "leave"
        if self.before == self.after:
            return "keep"
        return "create" if self.before is None else "delete" if self.after is None else "update"

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"action": self.action, "path": str(self.path), "what": self.what, "why": self.why}


@dataclass(slots=True)
class Wiring:
    """A plan of `setup`."""

    remove: bool = False
    pieces: list[Piece] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return any(p.action not in ("keep", "leave") for p in self.pieces)


# ------------------------------------------------------------------ the way back


def way_back(path: Path, known: Mapping[str, Any]) -> Piece:
    """How a recorded file goes back: as it was, or, where a person changed it since, without our part."""
    was = base64.b64decode(known["before"]) if known.get("before") is not None else None
    vault = Path(known["vault"]) if known.get("vault") else None
    now = bytes_of(path)
    what = "as it was before setup"
    if now is None or now == was:
        return Piece(
            path, now, now, what, "you deleted it" if now is None and was is not None else "", vault, restored=True
        )
    if known.get("after") == files.digest(now):
        return Piece(path, now, was, what, vault=vault, restored=True)
    why = "you changed it since: only our part is taken out"
    text = now.decode("utf-8", "surrogateescape")
    if path.name == "settings.json":
        try:
            after = handlers.without_handlers(text, str(path))
        except UserError as error:
            return Piece(path, now, now, what, f"{error.message}; mend it, then run --remove again", vault, left=True)
    elif path.name == "CLAUDE.md":
        after = unblocked(text, tuple(known.get("ours", ())))
    elif path == config.user_config_path():
        mine = f"vault: {json.dumps(str(known.get('names', '')), ensure_ascii=False)}"
        after = "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") != mine)
    else:
        return Piece(path, now, now, what, "you changed it since; it is yours now and stays", vault, left=True)
    return Piece(path, now, after.encode("utf-8", "surrogateescape"), what, why, vault)


def unblocked(text: str, ours: tuple[str, ...]) -> str:
    """The text without our block; lines that a person wrote into it stay."""
    found = BLOCK.search(text)
    if found is None:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    mine = {line.strip() for line in ours}
    kept = (
        [
            line
            for line in found[0].replace("\r\n", "\n").split("\n")
            if line.strip() and line.strip() not in mine and not line.startswith((BEGIN, END))
        ]
        if ours
        else []
    )
    head, tail = text[: found.start()], text[found.end() :]
    if kept:
        return head + newline.join(kept) + tail
    tail = tail.removeprefix(newline)
    if head.endswith(newline * 2):
        head = head.removesuffix(newline)
    return head + tail


# ------------------------------------------------------------------ the record


@dataclass(slots=True)
class Record:
    """What stood in each file before our first edit, in the user's data folder (0600: settings may hold secrets)."""

    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def path() -> Path:
        """Where it lies."""
        return config.data_dir() / "wiring.json"

    @classmethod
    def load(cls) -> Record:
        """The record; empty where there is none. UserError for one that cannot be read: it is never written over."""
        data = bytes_of(cls.path())
        if data is None:
            return cls()
        try:
            entries = json.loads(data)["files"]
            return cls({str(k): dict(v) for k, v in entries.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            hint = "move the file away; then take our entries out by hand where --remove does not find them"
            raise UserError(f"{cls.path()} cannot be read: {error}", hint) from error

    def get(self, path: Path) -> dict[str, Any] | None:
        """What is known of a file."""
        return self.entries.get(str(path))

    def learn(self, piece: Piece, folders: list[str], names: str) -> None:
        """Before a file is written: what is there, what will be there."""
        known = self.get(piece.path)
        before = piece.before
        if known is not None and piece.before is not None and known.get("after") == files.digest(piece.before):
            was = known.get("before")
            folders = [*known.get("folders", []), *folders]
        elif known is not None and piece.before is not None:
            # A person changed it since our last setup: the way back leads to their text without our entries.
            back = way_back(piece.path, known)
            before = piece.before if back.left else back.after
            was = None if before is None else base64.b64encode(before).decode()
            folders = [*known.get("folders", []), *folders]
        else:
            was = None if before is None else base64.b64encode(before).decode()
        self.entries[str(piece.path)] = {
            "before": was,
            "after": None if piece.after is None else files.digest(piece.after),
            "folders": list(dict.fromkeys(folders)),
            "ours": list(piece.ours) or (known or {}).get("ours", []),
            "vault": str(piece.vault) if piece.vault else "",
            "names": names,
        }

    def save(self) -> None:
        """Write it, or take it away when nothing is left in it."""
        files.private_dir(config.data_dir())
        if self.entries:
            data = json.dumps({"v": 1, "files": self.entries}, indent=1, ensure_ascii=False)
            files.write_atomic(self.path(), data.encode("utf-8", "surrogateescape"), 0o600)
            return
        files.discard(self.path())


# ------------------------------------------------------------------ writing


def carry_out(wiring: Wiring, vault: Path | None = None) -> None:
    """Write the plan, file by file. UserError where one changed meanwhile or cannot be written; the rest stays undone.

    The record of a file is written before the file: killed anywhere, `--remove` still finds the way back.
    """
    if not wiring.changes and not wiring.remove:
        return
    record = Record.load()
    folders: list[str] = []
    for piece in wiring.pieces:
        try:
            if piece.action in ("create", "update", "delete"):
                _write(piece, record, wiring, str(vault or ""))
            if wiring.remove and not piece.left:
                folders += record.entries.pop(str(piece.path), {}).get("folders", [])
                record.save()
        except files.Unsafe as error:
            raise UserError(
                str(error), "what was written so far is recorded; `setup --remove` takes it back"
            ) from error
        except OSError as error:
            why = error.strerror or str(error)
            hint = "what was written so far is recorded; `setup --remove` takes it back"
            raise UserError(f"cannot write {piece.path}: {why}", hint) from error
    for folder in sorted(set(folders), key=len, reverse=True):  # the inner ones first
        try:
            os.rmdir(folder)
        except OSError:  # not empty, or gone
            continue


def _write(piece: Piece, record: Record, wiring: Wiring, names: str) -> None:
    if piece.vault is not None:
        target = Ground(piece.vault).path(piece.path.relative_to(piece.vault).as_posix())
    else:
        target = Path(os.path.realpath(piece.path))
    if not wiring.remove:
        record.learn(piece, [*_missing(config.data_dir()), *_missing(target.parent)], names)
        record.save()
    if bytes_of(piece.path) != piece.before:
        raise UserError(
            f"{piece.path} changed while we looked at it", "nothing of it was touched; run the command again"
        )
    if piece.after is None:
        os.unlink(target)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = stat.S_IMODE(os.lstat(target).st_mode)
    except FileNotFoundError:
        mode = 0o666 & ~_mask()
    files.write_atomic(target, piece.after, mode)


def _missing(folder: Path) -> list[str]:
    """Folders that have to be made, outermost first."""
    found: list[str] = []
    while not folder.exists():
        found.append(str(folder))
        folder = folder.parent
    return found[::-1]


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# ------------------------------------------------------------------ small things


def bytes_of(path: Path) -> bytes | None:
    """The file's bytes, through a link; None where there is none."""
    try:
        return files.read_regular(os.path.realpath(path))
    except (IsADirectoryError, NotADirectoryError) as error:
        raise UserError(f"{path} is not a file", "nothing was changed") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}", "nothing was changed") from error


def text_of(data: bytes | None, path: Path) -> str:
    """The file's text; UserError for what is no UTF-8."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8 text", "nothing was changed; save it as UTF-8") from error


def encoded(text: str, before: bytes | None) -> bytes:
    """The text as bytes; the very same bytes where nothing changed."""
    data = text.encode("utf-8", "surrogateescape")
    return before if before is not None and data == before else data
