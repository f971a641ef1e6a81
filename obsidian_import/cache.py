"""What was learned about files that have not changed since: outside the vault, derived, safe to delete.

One SQLite file in the user's data folder holds two things: what readers remember of a source file (`Memo`), and
what the last import said of a unit of reading, so that a run over a thousand unchanged sessions opens none of them.
Anything wrong with the file and it is made anew. No secret is in it: places stand as digests (a file's name may hold
one), and what a reader remembers is kept only where nothing in it looks like one.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from obsidian_import.config import data_dir
from obsidian_import.files import digest, private_dir
from obsidian_import.model import File

if TYPE_CHECKING:
    from obsidian_import.redact import Rules

SCHEMA = 4
_CLASHES = "conflicts"

_TABLES = """
PRAGMA journal_mode = DELETE;
CREATE TABLE IF NOT EXISTS memo (place TEXT, kind TEXT, stamp TEXT, value BLOB, PRIMARY KEY (place, kind)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outcome (vault TEXT, unit TEXT, stamp TEXT, value BLOB, PRIMARY KEY (vault, unit)) WITHOUT ROWID;
"""


def cache_path() -> Path:
    """Where the cache lies: in the user's data folder."""
    return data_dir() / "cache" / "import.sqlite"


def place(file: File) -> str:
    """Where a file lies, whatever folder we were called in: a digest of it."""
    return digest(os.path.abspath(file.where).encode("utf-8", "surrogateescape"))


def stamp(file: File) -> str:
    """What changes when a file changes: its size and time (nanoseconds where the reader knows them)."""
    return f"{file.size}:{file.mtime!r}"


class Cache:
    """A `Memo` for readers, and the outcomes of units of reading. Never raises: without a cache it is slower, no more."""

    def __init__(self, path: Path | None) -> None:
        self.rules: Callable[[], Rules] | None = None
        """What is a secret here (made when first asked for); the built-in kinds where nobody says more."""
        self._rules: Rules | None = None
        self._db: sqlite3.Connection | None = None
        if path is None:
            return
        with contextlib.suppress(OSError, sqlite3.Error):
            self._db = self._open(path)

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        private_dir(path.parent)
        try:
            return Cache._connect(path)
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            return Cache._connect(path)

    @staticmethod
    def _connect(path: Path) -> sqlite3.Connection:
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        db = sqlite3.connect(path, timeout=2)
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version not in (0, SCHEMA):
            db.executescript("DROP TABLE IF EXISTS memo; DROP TABLE IF EXISTS outcome;")
        db.executescript(_TABLES + f"PRAGMA user_version = {SCHEMA};")
        db.execute("BEGIN")
        return db

    # ---------------------------------------------------------------- Memo

    def get(self, file: File, kind: str) -> object | None:
        """See `model.Memo`."""
        value = self._select(
            "SELECT value FROM memo WHERE place = ? AND kind = ? AND stamp = ?", place(file), kind, stamp(file)
        )
        return None if value is None else value

    def put(self, file: File, kind: str, value: object) -> None:
        """See `model.Memo`. What holds a secret (a title, say) is not kept: the file is read again next time."""
        from obsidian_import.redact import find  # noqa: PLC0415 (a run with nothing new needs none of it)

        if self._rules is None and self.rules is not None:
            self._rules = self.rules()
        if not find("\n\n".join(_texts(value)), self._rules):  # one search; a blank line joins no two of them
            self._insert("INSERT OR REPLACE INTO memo VALUES (?, ?, ?, ?)", place(file), kind, stamp(file), value)

    # ---------------------------------------------------------------- outcomes

    def outcome(self, vault: str, unit: str, stamp: str) -> object | None:
        """What the last import of this unit said, if neither the unit nor the rules have changed (`stamp`)."""
        return self._select("SELECT value FROM outcome WHERE vault = ? AND unit = ? AND stamp = ?", vault, unit, stamp)

    def remember(self, vault: str, unit: str, stamp: str, value: object) -> None:
        """Keep what an import said of a unit."""
        self._insert("INSERT OR REPLACE INTO outcome VALUES (?, ?, ?, ?)", vault, unit, stamp, value)

    def forget(self, vault: str) -> None:
        """Drop all outcomes of a vault (after an undo, say)."""
        if self._db:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("DELETE FROM outcome WHERE vault = ? AND unit <> ?", (vault, _CLASHES))

    def clashes(self, vault: str) -> dict[tuple[str, int], str]:
        """Conflicts that imports met and nobody has settled: (key, part) → why."""
        value = self.outcome(vault, _CLASHES, "")
        if not isinstance(value, list):
            return {}
        return {(key, part): why for key, part, why in value}

    def set_clashes(self, vault: str, clashes: Mapping[tuple[str, int], str]) -> None:
        """Replace them."""
        if clashes or self.clashes(vault):
            self.remember(vault, _CLASHES, "", [[k, p, why] for (k, p), why in sorted(clashes.items())])

    def close(self) -> None:
        """Write everything down."""
        if self._db:
            with contextlib.suppress(sqlite3.Error):
                self._db.commit()
            self._db.close()
            self._db = None

    # ---------------------------------------------------------------- inside

    def _select(self, query: str, *values: str) -> object | None:
        if self._db is None:
            return None
        try:
            row = self._db.execute(query, values).fetchone()
            return orjson.loads(row[0]) if row else None
        except (sqlite3.Error, ValueError):
            return None

    def _insert(self, query: str, first: str, second: str, third: str, value: object) -> None:
        if self._db is None:
            return
        with contextlib.suppress(sqlite3.Error, TypeError):
            self._db.execute(query, (first, second, third, orjson.dumps(value)))


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += one.keys()
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one


def unit_id(format_name: str, files: Sequence[File]) -> tuple[str, str]:
    """(unit, stamp of its files) of a group: which files, and in which state."""
    unit = format_name + "\n" + "\n".join(place(f) for f in files)
    return unit, "\n".join(stamp(f) for f in files)
