"""What a command sees before it plans: vault, configuration, manifest, texts and the notes on disk. Reads only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from obsidian_import import config as configuration
from obsidian_import.cache import Cache, cache_path
from obsidian_import.config import Config, data_dir
from obsidian_import.files import digest, read_regular
from obsidian_import.lexicon import Lexicon
from obsidian_import.manifest import Entry, Manifest, NoteState
from obsidian_import.merge import HEADING
from obsidian_import.sidecar import Texts, load_manifest
from obsidian_import.vault import Snapshot, lexicon, look


@dataclass(slots=True)
class World:
    """One look at a vault. Everything a plan is made of; nothing here changes while the lock is held."""

    vault: Path
    config: Config
    manifest: Manifest
    texts: Texts
    snapshot: Snapshot
    clashes: dict[tuple[str, int], str] = field(default_factory=dict)
    """Conflicts the last imports met and nobody has settled yet: (key, part) → why."""
    _digests: dict[str, str | None] = field(default_factory=dict)

    @property
    def lexicon(self) -> Lexicon:
        """The names of this vault and what its own links say about them (counted when first asked for)."""
        return lexicon(self.snapshot)

    def actual(self, path: str) -> str | None:
        """Digest of the file at this path (relative to the vault), None where there is none. OSError propagates."""
        if path not in self._digests:
            data = read_regular(self.vault / path)
            self._digests[path] = None if data is None else digest(data)
        return self._digests[path]

    def keep(self, path: str) -> str | None:
        """As `actual`, and the text itself is kept in the store (it will be needed to undo or to merge)."""
        data = read_regular(self.vault / path)
        self._digests[path] = None if data is None else self.texts.put(data)
        return self._digests[path]

    def find(self, key: str, part: int = 1, known: str = "") -> str | None:
        """Where the note of this talk (this part) lies now: identity beats path. None: nowhere in the vault.

        `known` is where the manifest saw it last; among several copies that one is ours.
        """
        paths = self.snapshot.by_import_id.get(key, [])
        if known and known in paths:
            return known
        hits = [p for p in paths if p not in self.snapshot.conflict_copies and self._part(p) == part]
        if not hits and known and self._nameless(known, key, part):
            return known  # a person may have taken the whole frontmatter out
        return min(hits, key=lambda p: (p.count("/"), len(p), p)) if hits else None

    def _nameless(self, path: str, key: str, part: int) -> bool:
        """Whether the note at this path is the one we left there, though it no longer says so.

        A note that says it is another one is not, nor one that shares no message heading with what we wrote: a
        person may have deleted ours and put their own in its place.
        """
        seen, state = self.snapshot.notes.get(path), self.state(key, part)
        if seen is None or state is None or "import_id" in seen.facts:
            return False
        try:
            data = read_regular(self.vault / path)
        except OSError:
            return False
        base = self.texts.text(state.base)
        if data is None or base is None:
            return False
        ours = {line for line in base.split("\n") if HEADING.fullmatch(line)}
        return any(line.rstrip() in ours for line in data.decode("utf-8", "surrogateescape").split("\n"))

    def state(self, key: str, part: int = 1) -> NoteState | None:
        """What we last left of this note."""
        return self.manifest.notes.get((key, part))

    def states(self) -> Iterator[NoteState]:
        """All notes that stand as far as we know."""
        return (s for s in self.manifest.notes.values() if s.base is not None)

    def earlier(self, entry: Entry) -> Entry | None:
        """The newest entry for the same note from before this one that stands once this one is taken back."""
        gone = self.manifest.reversed - {entry.reverses}
        best: Entry | None = None
        for run in self.manifest.runs:
            for other in run.carried_out():
                if (other.run, other.n) == (entry.run, entry.n):
                    return best
                same = (other.key, other.part) == (entry.key, entry.part) if entry.key else other.path == entry.path
                if same and (other.run, other.n) not in gone and not other.reverses:
                    best = other
        return best

    def _part(self, path: str) -> int:
        part = str(self.snapshot.notes[path].facts.get("part", 1))
        return int(part) if part.isdecimal() else 1


def see(vault: Path) -> World:
    """Look at the vault: configuration, manifest, notes."""
    config = configuration.load(vault)
    snapshot = look(vault, config=config, cache=data_dir() / "cache")
    cache = Cache(cache_path())
    clashes = cache.clashes(str(vault))
    cache.close()
    return World(vault, config, load_manifest(vault), Texts(vault), snapshot, clashes)
