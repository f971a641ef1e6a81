"""The names a vault knows, what each can lead to, and what the vault's own links say about them.

A *name* is a folded string: a note's file name, an alias of it, or a form derived from the file name. A *claim*
is one note's claim on a name. Names whose notes are no targets (templates, excluded folders, chats) stay in the
lexicon: they take their place in a text, so that no shorter name is linked inside them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from obsidian_import.names.addresses import AppSettings, Index, excluded, filters, linkable, stem
from obsidian_import.names.surfaces import Matcher, is_cjk, key
from obsidian_import.notefacts import Facts

Tier = Literal["exact", "alias", "derived"]

RULES: Final = 1
"""Raised with every change of a rule here, so that unchanged talks are looked at again."""

_NUMERIC: Final = re.compile(r"[\d\W_]+(?:(?:st|nd|rd|th|am|pm|h|w|q|年|月|日|号|周)[\d\W_]*)*", re.IGNORECASE)
_WEEK: Final = re.compile(r"\d{4}[- ]?[wq]\d{1,2}|[wq]\d{1,2}[- ]\d{4}", re.IGNORECASE)
_LEADING: Final = re.compile(r"^[^\w\s]+[\s\ufe0f\u200d]*")
_KEEP_LEADING: Final = frozenset(".$&+#@/\\'\"“‘«(《「『【<-")
_SWAP: Final = re.compile(r"[-_ ]+")


class Claim(NamedTuple):
    """One note's claim on a name."""

    path: str
    tier: Tier
    written: str
    """The file name or alias, as its owner wrote it."""
    bar: str = ""
    """Why the note is no target, in words; empty for a target."""


class Known(NamedTuple):
    """A note of the vault as the lexicon needs it."""

    path: str
    facts: Facts
    ours: bool = False
    """An imported chat or a session log: no evidence, no target."""


@dataclass(slots=True)
class Lexicon:
    """Names → claims, and the evidence of the vault. Built by `build`; treat it as frozen."""

    index: Index
    names: dict[str, tuple[Claim, ...]] = field(default_factory=dict)
    linked: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """name → target path → notes in which a person linked this name to it."""
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """name → (notes with links of their own, all notes of people) in which it occurs, its own note left out."""
    voters: frozenset[str] = frozenset()
    """Paths of all notes of people."""
    human: frozenset[str] = frozenset()
    """Those of them that hold at least one link: they surely say something by not linking."""
    off: dict[str, tuple[str, ...]] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    _matcher: Matcher | None = None
    _keys: list[str] = field(default_factory=list)
    _prior: float | None = None
    _fingerprint: str = ""

    @property
    def keys(self) -> list[str]:
        """The names, in a fixed order: a hit's index counts in this list."""
        if not self._keys:
            self._keys = sorted(self.names)
        return self._keys

    @property
    def matcher(self) -> Matcher:
        """All names in one automaton, built once."""
        if self._matcher is None:
            self._matcher = Matcher(self.keys)
        return self._matcher

    @property
    def settings(self) -> AppSettings:
        """The vault's own link settings."""
        return self.index.settings

    @property
    def trust(self) -> float:
        """How much a note without any link says by not linking: 0 where nobody links, 1 where every other note does."""
        return min(1.0, 2 * len(self.human) / len(self.voters)) if self.voters else 0.0

    def evidence(self, name: str, source: str = "") -> tuple[int, float]:
        """(notes that link the name, notes that hold it), the note `source` left out.

        Notes without any link count by `trust`, so the second may be broken.
        """
        by_target = self.linked.get(name)
        notes = set().union(*by_target.values()) if by_target else set()
        linking, total = self.counts.get(name, (0, 0))
        if source in self.voters:
            total = max(0, total - 1)
            linking = max(0, linking - (source in self.human))
            notes.discard(source)
        return len(notes), max(linking + self.trust * (total - linking), len(notes))

    @property
    def prior(self) -> float:
        """Share of the occurrences of known names that people here link; 0.6 before anything is known."""
        if self._prior is None:
            linked = sum(len(set().union(*by_target.values())) for by_target in self.linked.values())
            seen = sum(a + self.trust * (b - a) for a, b in self.counts.values())
            share = (linked + 0.6 * 30) / (max(seen, linked) + 30)
            # In steps, so that one more link somewhere is no reason to look at every talk again.
            self._prior = min(0.6, max(0.1, round(share * 20) / 20))
        return self._prior

    @property
    def fingerprint(self) -> str:
        """Stable digest of everything here that can change a decision about a link."""
        if not self._fingerprint:
            settings = self.settings
            parts: list[str] = [
                f"{RULES}\n{settings.link_format}\n{settings.markdown_links}\n{self.prior}\n{self.trust:.1f}",
                repr(sorted(self.off.items())),
                repr(sorted(self.whole.items())),
            ]
            for name in self.keys:
                if all(claim.bar for claim in self.names[name]):
                    continue  # a name that nothing is linked by (our own chats, say) decides nothing
                parts.append(name)
                for claim in self.names[name]:
                    parts += claim
            # Names that are not unique change how a link is written.
            parts += (
                f"{name}\n{paths}"
                for name, paths in sorted(self.index.by_name.items())
                if len(paths) > 1 and name in self.names
            )
            for name in sorted(self.linked):
                votes = sorted((path, len(notes)) for path, notes in self.linked[name].items())
                parts.append(f"{name}\n{votes}")
            parts += (f"{name} {a} {b}" for name, (a, b) in sorted(self.counts.items()))
            text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
            hasher = hashlib.blake2b(text, digest_size=16)
            self._fingerprint = hasher.hexdigest()
        return self._fingerprint

    def with_names(self, pairs: Iterable[tuple[str, str]]) -> Lexicon:
        """With further names that a person accepted: (folded text, folded path or name of the note, no `.md`)."""
        more: dict[str, tuple[Claim, ...]] = {}
        for name, target in sorted(pairs):
            path = self.index.by_path.get(target) or self.index.resolve(target)
            if path is None or name in self.names or not path.lower().endswith(".md"):
                continue
            known = [claim for claim in self.names.get(key(stem(path)), ()) if claim.path == path]
            more[name] = (Claim(path, "alias", name, known[0].bar if known else ""),)
        if not more:
            return self
        return Lexicon(
            self.index, {**self.names, **more}, self.linked, self.counts, self.voters, self.human, self.off, self.whole
        )

    def notes_of(self, name: str) -> list[str]:
        """Paths of the notes that may be linked by a (not yet folded) name or alias."""
        return sorted({claim.path for claim in self.names.get(key(name), ()) if not claim.bar})


def numeric(name: str) -> bool:
    """Dates, times, numbers and weeks: `2026-11-30`, `10`, `2026-W48`, `3月4日`."""
    return _NUMERIC.fullmatch(name) is not None or _WEEK.fullmatch(name) is not None


def derived(name: str) -> list[str]:
    """Folded forms that mean the same file name: signs in front taken away, kebab, snake and space swapped."""
    form = name
    out: list[str] = []
    if not name[:1].isalnum() and name[:1] not in _KEEP_LEADING:
        lead = _LEADING.match(name)
        if lead and lead.end() < len(name):
            form = name[lead.end() :]
            out.append(form)
    if "-" in form or "_" in form or " " in form:
        parts = form.replace("-", " ").replace("_", " ").split()
        if len(parts) > 1 and not (form[0].isdigit() and numeric(form)):
            for other in (" ".join(parts), "-".join(parts)):
                if other != name and other not in out:
                    out.append(other)
    return out


def build(
    notes: Iterable[Known],
    files: Iterable[str],
    *,
    settings: AppSettings | None = None,
    exclude: Sequence[str] = (),
    barred: Mapping[str, str] | None = None,
) -> Lexicon:
    """The lexicon of a vault.

    `files` are all files (for names that are no longer unique), `exclude` the folders of the configuration,
    `barred` further notes that are no targets (sync-conflict copies) with the reason.
    """
    settings = settings or AppSettings()
    index = Index.of(files, settings)
    lexicon = Lexicon(index)
    prefixes, patterns = filters(exclude, folders=True)
    ignored = filters(settings.ignore)
    templates = filters(settings.templates, folders=True)
    attachments = filters([settings.attachments] if settings.attachments.strip("./") else [], folders=True)
    anything = bool(prefixes or patterns or ignored[0] or ignored[1] or templates[0] or attachments[0])
    barred = barred or {}
    claims: dict[str, list[Claim]] = {}
    evidence: list[tuple[str, list[list[str]]]] = []
    voters: list[str] = []
    for note in notes:
        path, facts = note.path, note.facts
        name = stem(path)
        bar = barred.get(path, "")
        if not note.ours:
            voters.append(path)
        elif not bar:
            bar = "an imported chat or a log"
        if not bar and anything:
            if excluded(path, *templates):
                bar = "a template"
            elif excluded(path, prefixes, patterns):
                bar = "in an excluded folder"
            elif excluded(path, *ignored):
                bar = "excluded in Obsidian's settings"
            elif excluded(path, *attachments):
                bar = "an attachment"
        if not bar and not linkable(name):
            bar = "its name cannot stand in a link"
        if facts:
            if not bar and (facts.get("no_target") or "whole" in facts):
                bar = "the note does not want links" if facts.get("no_target") else "a drawing or board"
            if "off" in facts:
                lexicon.off[path] = tuple(facts["off"])
            if "whole" in facts:
                lexicon.whole[path] = facts["whole"]
            if not note.ours and facts.get("links"):
                evidence.append((path, facts["links"]))
        folded = key(name)
        if folded:
            _claim(claims, folded, Claim(path, "exact", name, bar))
        if facts and "aliases" in facts and not note.ours:
            for alias in facts["aliases"]:
                other = key(alias)
                if other and other != folded:
                    _claim(claims, other, Claim(path, "alias", alias, bar))
        if not note.ours:
            for form in derived(folded):
                _claim(claims, form, Claim(path, "derived", name, bar))
    lexicon.names = {
        name: (held[0],) if len(held) == 1 else _settle(held) for name, held in claims.items() if _worth(name)
    }
    _count_links(lexicon, evidence)
    lexicon.human = frozenset(path for path, _ in evidence)
    lexicon.voters = frozenset(voters)
    return lexicon


def _claim(claims: dict[str, list[Claim]], name: str, claim: Claim) -> None:
    held = claims.get(name)
    if held is None:
        claims[name] = [claim]
    else:
        held.append(claim)


_ORDER: Final = {"exact": 0, "alias": 1, "derived": 2}


def _settle(held: list[Claim]) -> tuple[Claim, ...]:
    """Claims in a fixed order. A note's best claim is its only one; a real name or alias outranks derived forms."""
    held.sort(key=lambda claim: (_ORDER[claim.tier], claim.path, claim.written))
    best: dict[str, Claim] = {}
    for claim in held:
        best.setdefault(claim.path, claim)
    claims = list(best.values())
    if any(claim.tier != "derived" for claim in claims):
        claims = [claim for claim in claims if claim.tier != "derived"]
    return tuple(claims)


def _worth(name: str) -> bool:
    """Whether a name can ever be looked for: two signs, one of them a letter, no number or date."""
    if len(name) < 2:
        return len(name) == 1 and ord(name) > 0xFFFF
    first = name[0]
    if first.isalpha() and first not in "wq":
        return True
    return not numeric(name) and any(c.isalpha() for c in name)


def _count_links(lexicon: Lexicon, evidence: list[tuple[str, list[list[str]]]]) -> None:
    resolve = lexicon.index.resolve
    names = lexicon.names
    for path, links in evidence:
        for target, shown in links:
            name = key(shown)
            if name not in names:
                continue
            found = resolve(target, path)
            if found is None or found == path:
                continue
            lexicon.linked.setdefault(name, {}).setdefault(found, set()).add(path)


def occurrences(lexicon: Lexicon, path: str, words: str) -> set[int]:
    """Indexes of the names that occur in the words of a note (see `notefacts.prose`), its own names left out."""
    return own_left_out(lexicon, path, lexicon.matcher.anywhere(words))


def own_left_out(lexicon: Lexicon, path: str, indexes: Iterable[int]) -> set[int]:
    """Without the names of the note itself: nobody links a note to itself."""
    names, keys = lexicon.names, lexicon.keys
    return {index for index in indexes if all(claim.path != path for claim in names[keys[index]])}


def counted(lexicon: Lexicon, held: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, int]]:
    """Lexicon.counts, from each note's occurrences (path → indexes)."""
    linking: Counter[int] = Counter()
    total: Counter[int] = Counter()
    for path, indexes in held.items():
        total.update(indexes)
        if path in lexicon.human:
            linking.update(indexes)
    keys = lexicon.keys
    return {keys[index]: (linking[index], count) for index, count in total.items()}


def short(name: str) -> bool:
    """Whether a folded name has fewer than three letters or signs (two, where it is Han, Kana or Hangul)."""
    held = [c for c in name if not c.isspace()]
    return len(held) < (2 if any(is_cjk(c) for c in held) else 3)
