"""The same talk under two names: told by what was said. Pure.

A talk exported as Markdown without any id and the transcript it came from have different keys; a resumed file repeats
its parent under a new id. What they share are the messages. A fingerprint is the set of digests of the talk's longer
messages, each reduced to its letters and digits, so that line ends, emphasis, escapes and wrapping do not matter; two
talks are the same when most messages of the shorter one stand in the longer one. Where a message was changed a little
(a redaction, a cut), its words are compared by rapidfuzz.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

LONG = 40
"""Letters and digits: a shorter message ("yes, do that") says nothing about which talk it is from."""
ENOUGH = 2
"""Messages both talks must have in common; one alone may be a prompt that somebody uses every day."""
MOST = 0.8
"""Part of the shorter talk's long messages that must stand in the other one."""
ALIKE = 92.0
"""rapidfuzz ratio from which two messages are the same message, changed a little."""
COMPARED = 400
"""Characters of a message that are compared by rapidfuzz, and kept."""

_NOISE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The long messages of one talk."""

    digests: frozenset[str]
    starts: tuple[str, ...] = ()
    """How each begins, normalised: for those that were changed a little."""

    def as_json(self) -> list[list[str]]:
        """For the cache."""
        return [sorted(self.digests), list(self.starts)]

    @staticmethod
    def from_json(value: object) -> Fingerprint | None:
        """None for anything else than what `as_json` gave."""
        if not isinstance(value, list) or len(value) != 2 or not all(isinstance(v, list) for v in value):
            return None
        return Fingerprint(frozenset(map(str, value[0])), tuple(map(str, value[1])))


def normal(message: str) -> str:
    """A message reduced to its letters and digits, case folded."""
    return _NOISE.sub("", message).casefold()


def fingerprint(messages: Iterable[str]) -> Fingerprint:
    """Of the texts of a talk's messages, in any order."""
    long = list(dict.fromkeys(n for m in messages if len(n := normal(m)) >= LONG))
    return Fingerprint(
        frozenset(hashlib.blake2b(n.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest() for n in long),
        tuple(n[:COMPARED] for n in long),
    )


def agreement(one: Fingerprint, other: Fingerprint) -> tuple[int, float]:
    """(messages in common, part of the shorter talk that is in the other)."""
    short, long = (one, other) if len(one.digests) <= len(other.digests) else (other, one)
    if not short.digests:
        return 0, 0.0
    common = len(short.digests & long.digests)
    if 0 < common < len(short.digests):  # a common ground: worth a closer look at the others
        exact = set(long.starts)
        for start in short.starts:
            if start not in exact and process.extractOne(start, long.starts, scorer=fuzz.ratio, score_cutoff=ALIKE):
                common += 1
    common = min(common, len(short.digests))
    return common, common / len(short.digests)


def same(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether the shorter talk is the longer one, or a part of it."""
    common, part = agreement(one, other)
    return common >= ENOUGH and part >= MOST


@dataclass(slots=True)
class Known:
    """The fingerprints of the talks met so far, and which of them a new one is."""

    talks: dict[str, Fingerprint] = field(default_factory=dict)
    _by_digest: dict[str, set[str]] = field(default_factory=dict)

    def add(self, key: str, print_of: Fingerprint) -> None:
        """Remember a talk."""
        self.talks[key] = print_of
        for name in print_of.digests:
            self._by_digest.setdefault(name, set()).add(key)

    def match(self, print_of: Fingerprint, *, but: str = "") -> str | None:
        """The key of the talk this is, the one with most in common; None for a new talk. Only talks that share a message are compared."""
        votes: dict[str, int] = {}
        for name in print_of.digests:
            for key in self._by_digest.get(name, ()):
                if key != but:
                    votes[key] = votes.get(key, 0) + 1
        for key in sorted(votes, key=lambda k: (-votes[k], k)):
            if same(print_of, self.talks[key]):
                return key
        return None


def of_json(values: Mapping[str, object]) -> Known:
    """What the cache kept; damaged items are left out."""
    known = Known()
    for key, value in values.items():
        found = Fingerprint.from_json(value)
        if found is not None:
            known.add(key, found)
    return known
