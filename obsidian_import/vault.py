"""A vault's folder → Snapshot: every file's place, what each note says about names, the app's own settings.

Reads only. One walk with `os.scandir`; dot-folders are skipped, linked folders are not followed, what cannot be
read is a Problem. What a note says is remembered outside the vault by path, size and time, so that a look at an
unchanged vault opens no note at all.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from obsidian_import.app_settings import read_settings
from obsidian_import.config import Config
from obsidian_import.files import private_dir, read_regular, write_atomic
from obsidian_import.lexicon import Known, Lexicon, build, counted, own_left_out
from obsidian_import.model import Problem
from obsidian_import.names.addresses import AppSettings
from obsidian_import.names.surfaces import Matcher
from obsidian_import.notefacts import VERSION, Facts, facts, frontmatter, head, prose
from obsidian_import.paths import fold

_CACHE: Final = 1
_HEAD: Final = 16 * 1024
_MOST: Final = 4 * 1024 * 1024
_ICLOUD: Final = re.compile(r"^\.(.+\.md)\.icloud$", re.IGNORECASE)

# Names that a sync service gives to the losing copy: sure by themselves …
_COPY: Final = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$"  # Syncthing
    r"| \([^()]*(?:conflicted copy|konfliktkopie|in konflikt stehende kopie|copie en conflit|copia en conflicto"
    r"|copia in conflitto|case conflict)[^()]*\)$"  # Dropbox, Nextcloud, Obsidian Sync
    r"|_conf(?:lict)?-\d{8}-\d{6}$",
    re.IGNORECASE,
)
# … and names that are a copy only where the original lies beside it and begins the same.
_MAYBE: Final = re.compile(
    r"(?: \d{1,2}| ?\(\d{1,2}\)|-(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{5,11}|-[A-Za-z0-9]+(?:MacBook|iMac|-PC)[\w-]*| copy)$"
)


_INSTRUCTIONS: Final = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "SKILL.md"})
"""Files for agents that lie in a vault: notes to Obsidian, but nobody who says "Claude" means them."""


class Seen(NamedTuple):
    """One note as it lay there."""

    size: int
    mtime_ns: int
    facts: Facts
    ours: bool
    """An imported chat or a session log (by its folder or by its identity)."""


@dataclass
class Snapshot:
    """What the vault was when we looked. All paths are relative to the root, with `/`."""

    root: Path
    notes: dict[str, Seen] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    """All files, notes among them, that are not in a dot-folder; undownloaded ones by their real name."""
    folders: list[str] = field(default_factory=list)
    settings: AppSettings = field(default_factory=AppSettings)
    conflict_copies: frozenset[str] = frozenset()
    undownloaded: tuple[str, ...] = ()
    """Notes of which only iCloud's stub lies on this disk."""
    problems: tuple[Problem, ...] = ()
    exclude: tuple[str, ...] = ()
    cache: Path | None = None
    _counts: dict[str, Any] = field(default_factory=dict)
    _lexicon: Lexicon | None = None

    @cached_property
    def by_import_id(self) -> dict[str, list[str]]:
        """import_id → paths of the notes that carry it, wherever a person moved them."""
        return self._by("import_id")

    @cached_property
    def by_session_id(self) -> dict[str, list[str]]:
        """session_id → paths of the notes that carry it (chats and logs)."""
        return self._by("session_id")

    @cached_property
    def folded(self) -> dict[str, str]:
        """Folded path (NFC, case folded) → real path, for all files and folders."""
        found = {fold(path): path for path in self.folders}
        found.update((fold(path), path) for path in self.files)
        return found

    @property
    def attachments(self) -> list[str]:
        """Files that are no notes."""
        return [path for path in self.files if path not in self.notes and not path.lower().endswith(".md")]

    def known(self) -> Iterable[Known]:
        """The notes as the lexicon wants them."""
        return [Known(path, seen.facts, seen.ours) for path, seen in self.notes.items()]

    def _by(self, name: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, seen in self.notes.items():
            value = seen.facts.get(name)
            if isinstance(value, str):
                found.setdefault(value, []).append(path)
        return found


def look(
    root: Path,
    *,
    config: Config | None = None,
    exclude: Sequence[str] = (),
    cache: Path | None = None,
) -> Snapshot:
    """The vault at `root` as it is now. `cache` is a folder outside the vault, or None to remember nothing.

    `exclude` adds to the configuration's folders whose notes are no targets. Raises OSError only where the root
    itself cannot be listed.
    """
    with _unhindered():
        return _look(root, config or Config(), exclude, cache)


def _look(root: Path, config: Config, exclude: Sequence[str], cache: Path | None) -> Snapshot:
    file = _cache_file(cache, root)
    old, counts = _load(file)
    snapshot = Snapshot(root, exclude=(*config.links.exclude, *exclude), cache=file, _counts=counts)
    problems: list[Problem] = []
    ours = tuple(fold(name.strip("/")) + "/" for name in (config.chats, config.logs) if name.strip("/"))
    found: list[tuple[str, int, int, bool]] = []
    undownloaded: list[str] = []
    _walk(root, found, snapshot.folders, undownloaded, problems)
    found.sort()
    fresh = False
    notes, files = snapshot.notes, snapshot.files
    for path, size, mtime_ns, link in found:
        if size < 0:  # no note
            files.append(path)
            continue
        held = old.get(path)
        mine = fold(path).startswith(ours)
        if held is not None and held[0] == size and held[1] == mtime_ns:
            said: Facts = held[2]
        elif link:
            said = {}
        else:
            fresh = True
            try:
                said = _read(root / path, size, head_only=mine)
            except OSError as error:
                problems.append(Problem(path, f"could not be read: {error.strerror or error}"))
                continue
        files.append(path)
        if said and not mine:
            mine = "import_id" in said or ("session_id" in said and said.get("type") == "log")
        notes[path] = Seen(size, mtime_ns, said, mine)
    snapshot.files += undownloaded
    snapshot.folders.sort()
    snapshot.undownloaded = tuple(sorted(undownloaded))
    snapshot.settings, more = read_settings(root)
    snapshot.conflict_copies = frozenset(_copies(snapshot))
    snapshot.problems = (*problems, *more)
    if fresh or len(old) != len(notes):
        _save(snapshot)
    return snapshot


def lexicon(snapshot: Snapshot) -> Lexicon:
    """The names of the vault and what its links say about them, counted (and remembered) when first asked for."""
    if snapshot._lexicon is None:  # noqa: SLF001  # this module's own field
        with _unhindered():
            found = build(
                snapshot.known(),
                snapshot.files,
                settings=snapshot.settings,
                exclude=snapshot.exclude,
                barred={
                    **dict.fromkeys(snapshot.conflict_copies, "a copy made by a sync conflict"),
                    **{p: "instructions for an agent" for p in snapshot.notes if p.rpartition("/")[2] in _INSTRUCTIONS},
                },
            )
            found.counts = _counted(snapshot, found)
        snapshot._lexicon = found  # noqa: SLF001
    return snapshot._lexicon  # noqa: SLF001


@contextmanager
def _unhindered() -> Iterator[None]:
    """Without the cyclic collector: a hundred thousand small values are made, none of them garbage."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


# ------------------------------------------------------------------------------------------------ walking


def _walk(
    root: Path,
    found: list[tuple[str, int, int, bool]],
    folders: list[str],
    undownloaded: list[str],
    problems: list[Problem],
) -> None:
    """Every file: (path, size or -1 for other files than notes, mtime in ns, is it a symbolic link)."""
    base = os.fspath(root)
    stack = [""]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(f"{base}/{folder}" if folder else base) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == ".":
                        stub = _ICLOUD.match(name)
                        if stub:
                            undownloaded.append(f"{folder}/{stub[1]}" if folder else stub[1])
                        continue
                    path = f"{folder}/{name}" if folder else name
                    if not name.isascii() and not _sound(name):
                        problems.append(Problem(ascii(path), "the name is no valid text; the file is left alone"))
                        continue
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            stack.append(path)
                            folders.append(path)
                        elif name[-3:].lower() != ".md":
                            if entry.is_file():
                                found.append((path, -1, 0, False))
                        elif entry.is_file():
                            seen = entry.stat(follow_symlinks=False)
                            found.append((path, seen.st_size, seen.st_mtime_ns, entry.is_symlink()))
                    except OSError as error:
                        problems.append(Problem(path, f"could not be looked at: {error.strerror or error}"))
        except OSError as error:
            if not folder:
                raise
            problems.append(Problem(folder, f"the folder could not be read: {error.strerror or error}"))


def _sound(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _read(path: Path, size: int, *, head_only: bool) -> Facts:
    if head_only and size > _HEAD:
        with path.open("rb") as stream:
            text = stream.read(_HEAD).decode("utf-8", "replace")
        yaml, end = frontmatter(text)
        if end or not text.startswith("---"):
            return head(yaml)
    data = read_regular(path)
    if data is None:
        return {}
    text = data[:_MOST].decode("utf-8", "replace")
    return head(frontmatter(text)[0]) if head_only else facts(text)


def _copies(snapshot: Snapshot) -> Iterable[str]:
    """Notes that a sync service left as the losing copy of another."""
    notes = snapshot.notes
    for path in notes:
        bare = path[:-3]
        if bare[-1:] not in ")0123456789" and "conf" not in bare and "-" not in bare and not bare.endswith(" copy"):
            continue
        if _COPY.search(bare):
            yield path
            continue
        maybe = _MAYBE.search(bare, bare.rfind("/") + 1)
        original = bare[: maybe.start()] + path[-3:] if maybe else ""
        if original in notes and _alike(snapshot, path, original):
            yield path


def _alike(snapshot: Snapshot, path: str, original: str) -> bool:
    one, two = snapshot.notes[path].facts, snapshot.notes[original].facts
    if "import_id" in one or "import_id" in two:
        return one.get("import_id") == two.get("import_id") and one.get("part") == two.get("part")
    try:
        heads = [(snapshot.root / name).open("rb").read(300) for name in (path, original)]
    except OSError:
        return False
    size = min(map(len, heads))
    return size > 40 and heads[0][:size] == heads[1][:size]


# ----------------------------------------------------------------------------------- remembering and counting


def _cache_file(cache: Path | None, root: Path) -> Path | None:
    if cache is None:
        return None
    place = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:24]
    return cache / f"vault-{place}.json"


def _load(file: Path | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """(path → [size, mtime, facts], what was counted); both empty where there is nothing sound."""
    if file is None:
        return {}, {}
    try:
        data = read_regular(file)
        held = orjson.loads(data) if data else None
        if not isinstance(held, dict) or held.get("v") != [_CACHE, VERSION]:
            return {}, {}
        notes, counts, check = held["notes"], held["counts"], held["check"]
        sound = (
            isinstance(notes, dict)
            and isinstance(counts, dict)
            and check == len(notes)
            and all(type(n) is list and len(n) == 3 and type(n[2]) is dict for n in notes.values())
        )
    except (OSError, ValueError, KeyError):
        return {}, {}
    return (notes, counts) if sound else ({}, {})


def _save(snapshot: Snapshot) -> None:
    """Write the cache; a cache that cannot be written costs time only."""
    if snapshot.cache is None:
        return
    notes = {path: [seen.size, seen.mtime_ns, seen.facts] for path, seen in snapshot.notes.items()}
    data = {"v": [_CACHE, VERSION], "check": len(notes), "notes": notes, "counts": snapshot._counts}  # noqa: SLF001
    try:
        private_dir(snapshot.cache.parent)
        write_atomic(snapshot.cache, orjson.dumps(data), sync=False)
    except (OSError, TypeError, ValueError):
        return


def _counted(snapshot: Snapshot, found: Lexicon) -> dict[str, tuple[int, int]]:
    """Occurrences of every name in the notes of people (see `Lexicon.counts`)."""
    if not found.human:
        return {}  # where nobody links, it says nothing that a name stands there unlinked
    voters = sorted(found.voters)
    hasher = hashlib.blake2b("\n".join(found.keys).encode("utf-8", "surrogatepass"), digest_size=16)
    hasher.update(orjson.dumps([[p, snapshot.notes[p].size, snapshot.notes[p].mtime_ns] for p in voters]))
    state = hasher.hexdigest()
    held = snapshot._counts  # noqa: SLF001
    totals = held.get("totals")
    if held.get("state") == state and isinstance(totals, dict):
        return {name: (pair[0], pair[1]) for name, pair in totals.items()}
    places = _places(snapshot, found, voters)
    counts = counted(found, places)
    inner = {
        "keys": found.keys,
        "notes": {p: [snapshot.notes[p].size, snapshot.notes[p].mtime_ns, sorted(places[p])] for p in voters},
    }
    # The places are needed only when something changes: as one string they cost an unchanged run nothing.
    snapshot._counts = {"state": state, "totals": counts, "places": orjson.dumps(inner).decode()}  # noqa: SLF001
    _save(snapshot)
    return counts


def _places(snapshot: Snapshot, found: Lexicon, voters: Sequence[str]) -> dict[str, set[int]]:
    """For each note the indexes of the names in it; only what changed is read again."""
    keys = found.keys
    try:
        inner = orjson.loads(snapshot._counts.get("places", "{}"))  # noqa: SLF001
        old_keys: list[str] = inner.get("keys", [])
        old: dict[str, Any] = inner.get("notes", {})
        at = {name: index for index, name in enumerate(keys)}
        moved = [at.get(name, -1) for name in old_keys]
        added = sorted(set(keys).difference(old_keys)) if old else []
        extra = Matcher(added)
        places: dict[str, set[int]] = {}
        for path in voters:
            seen = snapshot.notes[path]
            kept = old.get(path)
            if kept is not None and kept[0] == seen.size and kept[1] == seen.mtime_ns:
                indexes = {moved[index] for index in kept[2]}
                indexes.discard(-1)
                if added:
                    indexes |= {at[added[index]] for index in extra.anywhere(_words(snapshot.root / path))}
            else:
                indexes = found.matcher.anywhere(_words(snapshot.root / path))
            places[path] = indexes
    except (ValueError, AttributeError, TypeError, IndexError, KeyError):
        snapshot._counts = {}  # noqa: SLF001  # a damaged cache: count anew
        places = {path: found.matcher.anywhere(_words(snapshot.root / path)) for path in voters}
    return {path: own_left_out(found, path, indexes) for path, indexes in places.items()}


def _words(path: Path) -> str:
    try:
        data = read_regular(path)
    except OSError:
        return ""
    text = (data or b"")[:_MOST].decode("utf-8", "replace")
    return prose(text[frontmatter(text)[1] :])[0]
