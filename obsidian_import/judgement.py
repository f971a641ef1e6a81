"""Is a name meant where it stands? Gates that say no, then a score of evidence, every term kept and put in words.

The score is a sum of log-odds-like terms; `LinkSettings.score` (1.0) is what a link needs. Nothing here looks
at places: a name that gets here stands in prose, between word edges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from obsidian_import.lexicon import Claim, Lexicon, short
from obsidian_import.names.addresses import bare, fold_path, stem
from obsidian_import.names.everyday import commonness, content, function_word, words, zipf
from obsidian_import.names.everyday_words import EVERYDAY
from obsidian_import.names.surfaces import is_cjk, key, nfc


class HowSure(Protocol):
    """What the judge asks of settings: `LinkSettings`, or the configuration's own `links` section."""

    @property
    def ignore(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def score(self) -> float: ...  # noqa: D102
    @property
    def threshold(self) -> float: ...  # noqa: D102
    @property
    def jaccard(self) -> float: ...  # noqa: D102
    @property
    def accepted(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def rejected(self) -> Sequence[str]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """How sure a link has to be, and what people decided."""

    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    score: float = 1.0
    threshold: float = 88
    jaccard: float = 0.6
    accepted: tuple[str, ...] = ()
    """"text -> target" (see `decision`): always linked."""
    rejected: tuple[str, ...] = ()


def decision(text: str, target: str) -> str:
    """How an accepted or rejected pair is written down: `neural networks -> folder/Neural network`."""
    return f"{' '.join(text.split())} -> {bare(target)}"


def pairs(told: Iterable[str]) -> frozenset[tuple[str, str]]:
    """(folded text, folded target without `.md`) of each decision; lines that are none are left out."""
    found = set()
    for line in told:
        text, arrow, target = line.rpartition("->")
        if arrow and text.strip() and target.strip():
            found.add((key(text), fold_path(bare(target.strip()))))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Weights:
    """The numbers of the score. Set by hand, then tuned on one vault by `benchmarks/link_quality.py`."""

    mass: float = 4.0
    """How many notes the first impression weighs against the notes counted."""
    slope: float = 2.6
    zipf: float = 5.21
    """Commonness at which a word says nothing either way; `slope` per step of the Zipf scale."""
    least: float = -3.5
    most: float = 3.0
    several: float = 0.5
    inner: float = 0.3
    """Exact case with a capital, digit or sign beyond the first letter."""
    habit: float = 1.0
    """How much the habits of the vault (its share of linked names) move the first impression."""
    capital: float = 0.9
    """A capital in mid-sentence, as in the name."""
    lower: float = -1.0
    """The name is capitalised, the text is not."""
    alone: float = 1.5
    """It is all its line, list item or cell says."""
    glued: float = -1.8
    """Two characters of Han, Kana or Hangul with more of the same beside them."""
    slug: float = 0.8
    """Written with the hyphens or underscores of the file name."""
    derived: float = -0.3


WEIGHTS: Final = Weights()


class Place(NamedTuple):
    """How the words stand where they were found."""

    start: bool = False
    """First word of a sentence or line: its capital says nothing."""
    alone: bool = False
    glued: bool = False
    shouted: bool = False
    """The line is in capitals: they say nothing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about a name in a place, and why."""

    target: str
    """Path of the note; empty where none can be meant."""
    claim: Claim | None
    link: bool
    score: float = 0.0
    terms: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    final: bool = False
    """No other place in the note would change it."""
    proposed: bool = False
    """Not sure enough to link by itself, likely enough to ask."""


class Judge:
    """Decides about names of one lexicon under one set of settings; remembers what it decided."""

    def __init__(self, lexicon: Lexicon, settings: HowSure, weights: Weights = WEIGHTS) -> None:
        self.lexicon = lexicon
        self.settings = settings
        self.weights = weights
        self._ignore = frozenset(key(entry) for entry in settings.ignore if entry.strip())
        self._accepted = pairs(settings.accepted)
        self._rejected = pairs(settings.rejected)
        self._known: dict[tuple[str, Place, tuple[str, ...]], Verdict] = {}

    def ignored(self, path: str) -> bool:
        """Whether a person said that this note is never to be linked."""
        return key(stem(path)) in self._ignore

    def _told(self, name: str, path: str, told: frozenset[tuple[str, str]]) -> bool:
        return bool(told) and ((name, fold_path(bare(path))) in told or (name, fold_path(stem(path))) in told)

    def target(self, name: str, source: str) -> tuple[Claim | None, str]:
        """Gate 2: the one claim on a folded name that a link in `source` can mean, or why there is none."""
        claims = self.lexicon.names.get(name, ())
        if not claims:
            return None, "no note has this name"
        free = [claim for claim in claims if not claim.bar]
        if not free:
            return None, claims[0].bar
        if len(claims) == 1:
            return claims[0], ""
        wanted = [c for c in free if self._told(name, c.path, self._accepted)]
        if len(wanted) == 1:
            return wanted[0], ""
        # Copies and excluded notes do not make a name ambiguous: nobody links to them.
        if len(free) == 1:
            return free[0], ""
        votes = self.lexicon.linked.get(name, {})
        total = sum(len(notes - {source}) for notes in votes.values())
        if total >= 3:
            best = max(free, key=lambda c: (len(votes.get(c.path, set()) - {source}), c.path))
            if len(votes.get(best.path, set()) - {source}) / total >= 0.8:
                return best, ""
        kind = "alias" if all(c.tier == "alias" for c in free) else "name"
        return None, f"ambiguous: {len(free)} notes have this {kind}"

    def judge(self, name: str, text: str, source: str, place: Place, spoken: tuple[str, ...]) -> Verdict:
        """The verdict on `text` (as it stands there), which is the folded `name`."""
        if source in self.lexicon.voters:  # its own evidence is left out: good for this note only
            return self._judge(name, text, source, place, spoken)
        known = (text, place, spoken)
        verdict = self._known.get(known)
        if verdict is None:
            verdict = self._known[known] = self._judge(name, text, source, place, spoken)
        return verdict

    def _judge(self, name: str, text: str, source: str, place: Place, spoken: tuple[str, ...]) -> Verdict:
        claim, reason = self.target(name, source)
        if claim is None:
            first = self.lexicon.names.get(name, ())
            return Verdict(first[0].path if len(first) == 1 else "", None, link=False, reason=reason, final=True)
        if name in self._ignore or key(claim.written) in self._ignore or key(stem(claim.path)) in self._ignore:
            return Verdict(claim.path, claim, link=False, reason="on your list of names never linked", final=True)
        if self._told(name, claim.path, self._rejected):
            return Verdict(claim.path, claim, link=False, reason="rejected by you", final=True)
        if self._told(name, claim.path, self._accepted):
            return Verdict(
                claim.path,
                claim,
                link=True,
                score=9.0,
                terms={"accepted": 9.0},
                reason=self._why(claim, "accepted by you"),
            )
        refused = self._surface(name, text, claim, place)
        if refused:
            return Verdict(
                claim.path, claim, link=False, reason=refused, final=refused in ("everyday word", "too short")
            )
        return self._score(name, text, claim, source, place, spoken)

    def near(self, name: str, text: str, source: str, spoken: tuple[str, ...], tier: str) -> Verdict:
        """The verdict on words that are only near to the folded `name`: proposed, or not worth a word."""
        claim, _ = self.target(name, source)
        other = key(text)
        if (
            claim is None
            or other in self.lexicon.names
            or {name, other, key(claim.written), key(stem(claim.path))} & self._ignore
            or self._told(other, claim.path, self._rejected)
            or self._surface(name, claim.written, claim, Place())
        ):
            return Verdict("", None, link=False)
        verdict = self._score(name, claim.written, claim, source, Place(start=True), spoken)
        kind = "same stem as" if tier == "stem" else "nearly the words of"
        reason = f"{kind} {claim.written} · {verdict.reason.split(' · ', 1)[-1]}"
        return Verdict(claim.path, claim, link=False, score=verdict.score, reason=reason, proposed=verdict.score >= 0)

    def path(self, path: str, source: str) -> Verdict:
        """The verdict on a vault-relative path that stands in prose."""
        claims = [claim for claim in self.lexicon.names.get(key(stem(path)), ()) if claim.path == path]
        claim = claims[0] if claims else Claim(path, "exact", stem(path))
        reason = claim.bar
        if fold_path(path) == fold_path(source):
            reason = "this note itself"
        elif self.ignored(path):
            reason = "on your list of names never linked"
        if reason:
            return Verdict(path, None, link=False, reason=reason)
        return Verdict(
            path, claim, link=True, score=9.0, terms={"whole path": 9.0}, reason=self._why(claim, "its whole path")
        )

    def _surface(self, name: str, text: str, claim: Claim, place: Place) -> str:
        """Gate 3: why the words themselves can be no link; empty where they can."""
        written = claim.written if claim.tier != "derived" else text
        capitals = acronym(written)
        if function_word(name) and not capitals:
            return "everyday word"
        if capitals and (nfc(text) != nfc(written) or place.shouted):
            return f"written differently from {written}" if not place.shouted else "the line is all in capitals"
        if short(name) and not (capitals and len(written) >= 2):
            return "too short"
        return ""

    def _score(self, name: str, text: str, claim: Claim, source: str, place: Place, spoken: tuple[str, ...]) -> Verdict:
        w = self.weights
        written = nfc(claim.written)
        exact = nfc(text) == written
        capitals = acronym(written)
        common = commonness(name, spoken)
        if capitals and exact and name not in EVERYDAY:
            # `WHO` in capitals is not the word "who"; `TODO` and `API` are everybody's.
            common = min(common, 3.0)
        several = len(content(name)) > 1
        inner = exact and any(c.isupper() or c.isdigit() for c in written[1:])
        # First impression: would people link such a name at all? As log-odds of a share of its occurrences …
        terms = {"rare word": min(w.most, max(w.least, w.slope * (w.zipf - common)))}
        if several:
            terms["several words"] = w.several
        if inner:
            terms["written exactly so"] = w.inner
        terms["habits of the vault"] = w.habit * _logit(self.lexicon.prior) - w.habit * _logit(0.6)
        first = sum(terms.values())
        # … which weighs `mass` notes against what the vault's own links say.
        linked, total = self.lexicon.evidence(name, source)
        if total:
            share = (linked + w.mass / (1 + math.exp(-first))) / (total + w.mass)
            terms["vault links"] = _logit(share) - first
        if exact and written[:1].isupper() and not place.start and not inner:
            terms["capital"] = w.capital
        elif text[:1].islower() and written[:1].isupper():
            terms["not capitalised"] = w.lower
        if several and "-" in text and "-" in written:
            terms["written as the file name"] = w.slug
        if claim.tier == "derived":
            terms["another spelling"] = w.derived
        if place.alone:
            terms["stands alone"] = w.alone
        if place.glued and len(name) < 3:
            terms["inside a longer word?"] = w.glued
        score = sum(terms.values())
        link = score >= self.settings.score
        rarity = self._rarity(name, common, several=several, capitals=capitals and exact)
        seen = max(linked, round(total))
        history = f"linked in {linked} of {seen} notes" if seen else ""
        if link:
            reason = self._why(claim, history, rarity)
        else:
            reason = f"{rarity}, {history or 'no links of yours speak for it'}"
        return Verdict(claim.path, claim, link, score, terms, reason, proposed=0 <= score < self.settings.score)

    def _why(self, claim: Claim, *more: str) -> str:
        name = stem(claim.path)
        first = {
            "exact": f"name of {name}",
            "alias": f"alias of {name}",
            "derived": f"another spelling of {name}",
        }[claim.tier]
        return " · ".join(part for part in (first, *more) if part)

    def _rarity(self, name: str, common: float, *, several: bool, capitals: bool) -> str:
        if capitals:
            return "written in capitals"
        if any(is_cjk(c) for c in name):
            return "everyday word" if common >= 4.5 else "rare word" if common < 3 else "less common word"
        if several:
            held = words(name)
            plain = all(word in EVERYDAY or zipf(word) >= 5 for word in held)
            return "everyday words" if plain and common >= 3.5 else f"{len(held)} words"
        return "everyday word" if common >= 4.7 else "rare word" if common < 3.3 else "less common word"


def _logit(share: float) -> float:
    share = min(0.999, max(0.001, share))
    return math.log(share / (1 - share))


def acronym(text: str) -> bool:
    """`WHO`, `R&D`, `GPT4`: at most five letters, all capitals, at least two."""
    letters = [c for c in text if c.isalpha()]
    return 2 <= len(letters) <= 5 and " " not in text and all(c.isupper() for c in letters)
