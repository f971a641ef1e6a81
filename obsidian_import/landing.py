"""From a wanted note to its row and its change: find it, link it, reconcile it. Used by import, relink and logs.

A note is found by its key wherever a person moved it; links are made for the place where it lies; the text we
generate (with links) is the base of the next merge. Nothing is written here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from obsidian_import import inert
from obsidian_import.config import Config
from obsidian_import.edits import splice
from obsidian_import.files import digest
from obsidian_import.manifest import Change, NoteState
from obsidian_import.merge import Merged, merge
from obsidian_import.model import Link
from obsidian_import.plan import Action, Clash, Keep, Row, Set, reconcile
from obsidian_import.records import record, words
from obsidian_import.renamed import with_renamed
from obsidian_import.world import World

if TYPE_CHECKING:  # loaded when there is a note to land
    from obsidian_import.links import Linker
    from obsidian_import.redact import Rules

SENTENCE = 90  # characters of context on each side of a link, for the report


class Linking(Protocol):
    """What makes links: a vault's linker, recorded links, or nothing (`--no-wikilinks`)."""

    def __call__(self, text: str, path: str) -> Sequence[Link]:
        """The links of one note, as edits on its unlinked text."""
        ...


def no_links(text: str, path: str) -> Sequence[Link]:  # noqa: ARG001 (the shape of Linking)
    """`--no-wikilinks`."""
    return ()


class Sure:
    """The links this vault's linker is sure of. The linker is made for the first note: it is dear to load."""

    def __init__(self, world: World, judge: Linker | None = None) -> None:
        self._world = world
        self._judge = judge

    def __call__(self, text: str, path: str) -> Sequence[Link]:
        """See `Linking`."""
        if self._judge is None:
            self._judge = linker(self._world)
        return self._judge.find(text, path).links

    @property
    def fingerprint(self) -> str:
        """Changes with everything that can change a link: the vault's names, its own links, the settings."""
        return f"{self._world.lexicon.fingerprint} {self._world.config.links!r}"


def rules(config: Config) -> Rules:
    """What is a secret here: the built-in kinds, the config's, and secret-looking values of the environment."""
    from obsidian_import.redact import Rules, known_from_env  # noqa: PLC0415 (its tables are dear to load)

    redact = config.redact
    return Rules(allow=frozenset(redact.allow), patterns=redact.patterns, known=known_from_env(os.environ))


def inert_options(config: Config) -> inert.Options:
    """The configuration's wishes about the chat's own tasks, tags, links and fields."""
    wish = config.inert
    return inert.Options(tasks=wish.tasks, tags=wish.tags, wikilinks=wish.wikilinks, fields=wish.fields)


def linker(world: World) -> Linker:
    """The linker of this vault."""
    from obsidian_import.links import Linker  # noqa: PLC0415 (so is the linker)

    return Linker(world.lexicon, world.config.links)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One part of one talk, as it should be: text still unlinked, path only where it is to be made anew."""

    key: str
    part: int
    text: str
    row: Row
    """Everything a row says that the talk itself knows; action, path, links and why are filled in here."""
    source: str
    assets: tuple[str, ...] = ()
    project: tuple[str, str] | None = None


@dataclass(slots=True)
class Lander:
    """Lands wanted notes one after the other; remembers which new paths are taken."""

    world: World
    link: Linking
    restore: frozenset[str] = frozenset()
    take: Mapping[str, str] = field(default_factory=dict)
    sentences: bool = False

    def place(self, key: str, part: int, fresh: Callable[[], str]) -> tuple[str, NoteState | None, bool]:
        """(path, what we last left, whether a file of ours lies there) of a note; `fresh` makes a path for a new one."""
        state = self.world.state(key, part)
        where = self.world.find(key, part, state.path if state else "")
        if where is not None:
            return where, state, True
        if state is not None and state.base is not None and not self._restored(key):
            return state.path, state, False
        return fresh(), state, False

    def land(self, wanted: Wanted, path: str, state: NoteState | None, *, exists: bool) -> tuple[Row, Change | None]:
        """What is to happen to this note, and the change that makes it so (None: nothing)."""
        world, key = self.world, wanted.key
        if state is not None and not exists and path in world.snapshot.undownloaded:
            why = "not downloaded from the cloud yet, so neither there nor deleted"
            return replace(wanted.row, action="keep", path=path, why=why), None
        links = self.link(wanted.text, path)
        if isinstance(self.link, Sure):
            links = with_renamed(world, state, wanted.text, path, links)
        text = splice(wanted.text, [link.edit for link in links]) if links else wanted.text
        data = text.encode("utf-8", "surrogateescape")
        after = digest(data)
        base = state.base if state else None
        try:
            actual = world.actual(path) if exists else None
        except OSError as error:  # a link, a folder, no permission: this one note must not cost the others
            row = replace(wanted.row, action="conflict", path=path, why=f"cannot be read: {error.strerror or error}")
            return row, None
        if self._restored(key) and actual is None:
            base = None
        outcome: Keep | Set | Clash = reconcile(base, after, actual, lambda: self._merged(base, text, path))
        taken = self.take.get(key) or self.take.get(path)
        if taken and actual is not None and after != actual:
            outcome = Set(after, "taken from the source, as you asked") if taken == "ours" else Keep("already so")
        row = replace(
            wanted.row,
            path=path,
            links=tuple(_shown(link, wanted.text, sentences=self.sentences) for link in links),
        )
        if isinstance(outcome, Clash):
            return replace(row, action="conflict", why=outcome.why), None
        adopts = isinstance(outcome, Keep) and outcome.why == "already so" and base != after
        if isinstance(outcome, Keep) and not adopts:
            why = outcome.why if outcome.why != "already so" else ""
            if outcome.why == "you deleted it":
                why = f"you deleted it; `import --restore {key}` brings it back"
            return replace(row, action="keep", why=why), None
        landed = actual
        world.texts.put(data)
        if isinstance(outcome, Set):
            landed = after
            if outcome.merged is not None:
                landed = world.texts.put(outcome.merged.encode("utf-8", "surrogateescape"))
            if actual is not None and (state is None or actual != state.landed):
                world.keep(path)  # a person's bytes: undo must be able to bring them back
        change = Change(
            path=path,
            before=actual,
            after=landed,
            base=after,
            key=key,
            part=wanted.part,
            edits=tuple(record(link) for link in links),
            tags=dict(row.words),
            redactions=dict(row.redactions),
            inert=dict(row.inert),
            title=row.title,
            source=wanted.source,
            assets=wanted.assets,
            project=wanted.project,
            why=outcome.why,
        )
        action: Action = "keep" if landed == actual else "create" if actual is None else "update"
        return replace(row, action=action, why=outcome.why if action != "keep" else ""), change

    def _restored(self, key: str) -> bool:
        return key in self.restore or "all" in self.restore

    def _merged(self, base: str | None, wanted: str, path: str) -> Merged | None:
        texts = self.world.texts
        self.world.keep(path)
        old, actual = texts.text(base), texts.text(self.world.actual(path))
        return None if old is None or actual is None else merge(old, wanted, actual)


def _shown(link: Link, text: str, *, sentences: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "target": link.target,
        "text": words(link),
        "line": link.line,
        "tier": link.tier,
        "score": round(link.score, 2),
        "why": link.edit.why,
    }
    if sentences:
        start, end = link.edit.start, link.edit.end
        left = max(text.rfind("\n", 0, start) + 1, start - SENTENCE)
        newline = text.find("\n", end)
        right = min(newline if newline >= 0 else len(text), end + SENTENCE)
        row["sentence"] = [text[left:start], words(link), text[end:right]]
    return row
