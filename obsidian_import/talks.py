"""One talk → its rows and changes: tag, render, place, link, reconcile. Loaded only when there is a talk to read.

Nothing of a talk stays behind but its rows and digests, so memory does not grow with the archive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from obsidian_import import inert, paths, sameness
from obsidian_import.files import digest
from obsidian_import.landing import Lander, Wanted, inert_options
from obsidian_import.manifest import Change, NoteState
from obsidian_import.markdown import regions
from obsidian_import.model import POORER, Conversation, richness
from obsidian_import.plan import Row
from obsidian_import.records import unlinked
from obsidian_import.redact import Redactor, Rules
from obsidian_import.render import Detail, Note, Rendering, render, safe_title, said
from obsidian_import.tags import Keymap, tag

_CODE_PATH = re.compile(r"(?:^|[/\\._-])(?:code|claude-code|codex|specstory)(?:$|[/\\._-])", re.IGNORECASE)


@dataclass(slots=True)
class Talks:
    """Lands the talks of one import, one after the other."""

    lander: Lander
    keymap: Keymap
    rules: Rules
    origin: str
    detail: Detail
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Key → (source, digest of its words) of the talks met so far."""
    _taken: set[str] = field(default_factory=set)
    _assets: set[str] = field(default_factory=set)
    _known: dict[bool, sameness.Known] = field(default_factory=dict)
    _looked: set[bool] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._taken.update(self.lander.world.snapshot.folded)

    def safe(self, text: str) -> str:
        """A title or a message for the plan: without secrets, and inert."""
        return inert.line(Redactor(self.rules).redact(text)).text if text else text

    def _title(self, talk: Conversation) -> str:
        return inert.line(safe_title(talk, Redactor(self.rules))).text

    def shown(self, where: str) -> str:
        """A source's place for the plan: as the person has it, but for a secret in a name."""
        return Redactor(self.rules).redact(where)

    def land(self, talk: Conversation) -> Iterator[Row | Change]:
        """Everything that is to happen for this talk; a row for each of its notes."""
        talk = self._without_secret_id(talk)
        where = talk.files[0] if talk.files else talk.key
        talk = self._apart(talk, where)
        other = self._other(talk, where)
        if other is not None:
            yield other
            return
        twin = self._twin(talk, where)
        if twin and richness(talk.source) == richness(POORER[0]):
            why = f"same talk as {twin}, by its words"
            yield Row("skip", talk.key, self.shown(where), title=self._title(talk), why=why)
            return
        config = self.lander.world.config
        talk = replace(talk, origin=self._origin(talk, where))
        words = tag(said(talk), self.keymap)
        redactor = Redactor(self.rules)
        rendered = render(
            talk,
            words,
            Rendering(chats=config.chats, zone=config.zone, detail=self.detail),
            redactor,
            inert_options(config),
        )
        assets = tuple(dict.fromkeys(a.path for a in rendered.assets))
        for asset in rendered.assets:
            yield from self._asset(asset.path, asset.data)
        places: list[tuple[str, NoteState | None, bool]] = []
        for note in rendered.notes:
            first = places[0][0] if places else ""
            places.append(self.lander.place(talk.key, note.part, self._fresh(note, talk.key, first)))
        everywhere = [path for path, _, _ in places]
        for note, (path, state, exists) in zip(rendered.notes, places, strict=True):
            whole = note.part == 1  # what is told of the whole talk is told once
            row = Row(
                "keep",
                talk.key,
                path,
                title=str(note.properties.get("title", "")),
                source=talk.source,
                origin=talk.origin or "",
                project=str(note.properties.get("project", "")),
                created=str(note.properties.get("created", "")),
                tags=tuple(_list(note.properties.get("tags"))),
                words=words if whole else {},
                redactions=dict(redactor.counts) if whole else {},
                inert=dict(rendered.inert) if whole else {},
                part=note.part,
            )
            wanted = Wanted(
                key=talk.key,
                part=note.part,
                text=note.text(everywhere),
                row=row,
                source=talk.source,
                assets=assets if whole else (),
            )
            landed, change = self.lander.land(wanted, path, state, exists=exists)
            if twin and landed.action == "create":
                landed = replace(landed, why=f"{twin} holds the same talk, from a poorer source")
            yield landed
            if change is not None:
                yield change

    def _without_secret_id(self, talk: Conversation) -> Conversation:
        """An id that holds a secret (an exported file may claim any) is none: the talk is known by its first words."""
        ids = (talk.key, talk.session_id, talk.parent, *talk.aka)
        if all(self.shown(one) == one for one in ids):
            return talk
        first = self.shown(talk.turns[0].text if talk.turns else talk.body or talk.title)
        name = digest(f"{self.shown(talk.key)}\n{talk.created}\n{first}".encode("utf-8", "surrogatepass"))[:32]
        parent = talk.parent if self.shown(talk.parent) == talk.parent else ""
        return replace(talk, key=f"{talk.source}:{name}", session_id="", parent=parent, aka=())

    def _apart(self, talk: Conversation, where: str) -> Conversation:
        """Two different notes that claim one id: the second is known by its folder and name."""
        earlier = self.seen.get(talk.key)
        if talk.body is None or earlier is None or earlier[0] == where or earlier[1] == words_digest(talk):
            return talk
        name = "/".join(re.split(r"[/\\!]", where)[-2:])
        return replace(talk, key=f"{talk.source}:{digest(name.encode('utf-8', 'surrogatepass'))[:32]}", session_id="")

    def _other(self, talk: Conversation, where: str) -> Row | None:
        """The row of a talk that is here already: met in this run, or kept from a richer source."""
        rich = richness(talk.source)
        earlier = next((self.seen[k] for k in (talk.key, *talk.aka) if k in self.seen), None)
        if earlier is not None:
            why = f"same talk as {self.shown(earlier[0])}"
            return Row("skip", talk.key, self.shown(where), title=self._title(talk), why=why)
        for key in (talk.key, *talk.aka):
            self.seen[key] = (where, words_digest(talk))
        state = self.lander.world.state(talk.key)
        if state is not None and state.base is not None and richness(state.entry.source) > rich:
            why = f"already here from a richer source ({state.entry.source})"
            return Row("keep", talk.key, state.path, title=state.entry.title, source=state.entry.source, why=why)
        return None

    def _twin(self, talk: Conversation, where: str) -> str | None:
        """Where a talk that we have no note of is known by another name: told by its words, never merged.

        A poorer copy without an id is looked for among the richer talks, and a richer talk among the poorer notes.
        """
        if talk.body is not None or self.lander.world.state(talk.key) is not None:
            return None
        poor = richness(talk.source) == richness(POORER[0])
        if poor and talk.session_id:
            return None
        found = sameness.fingerprint(said(talk))
        known = self._twins(poor=not poor)
        if not poor:
            self._twins(poor=False, of_vault=False).add(self.shown(where), found)
        return known.match(found)

    def _twins(self, *, poor: bool, of_vault: bool = True) -> sameness.Known:
        """The talks of poorer (or richer) sources: those new in this run and, when first asked for, those of the vault."""
        known = self._known.setdefault(poor, sameness.Known())
        if of_vault and poor not in self._looked:
            self._looked.add(poor)
            world = self.lander.world
            for state in world.states():
                is_poor = richness(state.entry.source) == richness(POORER[0])
                if state.part == 1 and is_poor == poor and (text := unlinked(world.texts, state)) is not None:
                    known.add(state.path, sameness.fingerprint(inert.restore(text[a:b]) for a, b in regions(text)))
        return known

    def _fresh(self, note: Note, key: str, first: str) -> Callable[[], str]:
        def path() -> str:
            # All parts of a talk share the stem of the first, wherever a person has put it.
            stem = paths.part_stem(first.rpartition("/")[2].removesuffix(".md"), note.part) if first else note.stem
            made = paths.unique(note.folder, stem, key, self._taken)
            self._taken.add(paths.fold(made))
            return made

        return path

    def _origin(self, talk: Conversation, where: str) -> Any:
        if self.origin != "auto":
            return self.origin
        return talk.origin or ("code" if _CODE_PATH.search(where) else "web")

    def _asset(self, path: str, data: bytes) -> Iterator[Change]:
        if path in self._assets:
            return
        self._assets.add(path)
        world, after = self.lander.world, digest(data)
        entry = world.manifest.files.get(path)
        try:
            actual = world.actual(path)
        except OSError:  # a folder or a link stands there: `apply` leaves it, and says so of this one file
            actual = None
        # There already, or put there once and taken away by a person: neither is written again.
        if actual is None and (entry is None or entry.after is None):
            world.texts.put(data)
            yield Change(path=path, before=None, after=after, base=after)


def words_digest(talk: Conversation) -> str:
    """What was said, as a digest: two files with the same words are copies."""
    return digest("\0".join(said(talk)).encode("utf-8", "surrogatepass"))[:32]


def _list(value: object) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list | tuple) else []
