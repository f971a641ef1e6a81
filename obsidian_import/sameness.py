"""The same talk under two names: told by what was said. Pure.

A talk exported as Markdown without any id and the transcript it came from have different keys. What they share is their
text. A fingerprint is the set of digests of a talk's first longer paragraphs, each reduced to its letters and digits, so
that line ends, emphasis, escapes, wrapping and the cut into messages do not matter. Two talks are the same when most
paragraphs of the shorter one stand in the other one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

LONG = 40
"""Letters and digits: a shorter paragraph ("yes, do that") says nothing about which talk it is from."""
FIRST = 32
"""Paragraphs of a talk that are kept: enough to tell it, and little to remember of each."""
ENOUGH = 2
"""Paragraphs both talks must have in common; one alone may be a prompt that somebody uses every day."""
MOST = 0.8
"""Part of the shorter talk's paragraphs that must stand in the other one."""

_NOISE = re.compile(r"[\W_]+")
_BLANK = re.compile(r"\n[ \t>]*\n")

Fingerprint = frozenset[int]


def fingerprint(texts: Iterable[str]) -> Fingerprint:
    """Of the texts of a talk, in order; however they are cut into messages."""
    found: dict[int, None] = {}
    for text in texts:
        for paragraph in _BLANK.split(text):
            letters = _NOISE.sub("", paragraph).casefold()
            if len(letters) >= LONG:
                found[_number(letters)] = None
                if len(found) == FIRST:
                    return frozenset(found)
    return frozenset(found)


def _number(letters: str) -> int:
    return int.from_bytes(hashlib.blake2b(letters.encode("utf-8", "surrogatepass"), digest_size=7).digest(), "big")


def same(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether the shorter talk is the longer one, or its beginning."""
    common = len(one & other)
    return common >= ENOUGH and common >= MOST * min(len(one), len(other))


@dataclass(slots=True)
class Known:
    """The fingerprints of talks by a name for people, and which of them a further one is."""

    talks: list[tuple[str, Fingerprint]] = field(default_factory=list)
    _by_number: dict[int, list[int]] = field(default_factory=dict)
    _indexed: int = 0

    def add(self, name: str, found: Fingerprint) -> None:
        """Remember a talk; one without enough to tell it by is left out."""
        if len(found) >= ENOUGH:
            self.talks.append((name, found))

    def match(self, found: Fingerprint) -> str | None:
        """The name of the talk this is, the one with most in common; None for a new talk."""
        for at in range(self._indexed, len(self.talks)):
            for number in self.talks[at][1]:
                self._by_number.setdefault(number, []).append(at)
        self._indexed = len(self.talks)
        votes: dict[int, int] = {}
        for number in found:
            for at in self._by_number.get(number, ()):
                votes[at] = votes.get(at, 0) + 1
        for at in sorted(votes, key=lambda a: (-votes[a], a)):
            if same(found, self.talks[at][1]):
                return self.talks[at][0]
        return None
