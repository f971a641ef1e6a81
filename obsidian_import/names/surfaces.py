"""Where names stand in a text: folding that keeps every offset, word edges, and one pass for all names.

Folding maps one code point to one code point, so an offset in the folded text is an offset in the text.
Only decomposed (NFD) text changes its length when composed: `compose` gives the map back.

Matches overlap in the automaton; the word-edge rule comes first and the longest is chosen last. The other way
round (an engine's own leftmost-longest) loses real names behind longer ones that fail at a word edge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

import ahocorasick_rs

Hit = tuple[int, int, int]
"""start, minus end (code points of the text as given), index of the name: sorts by start, the longest first."""

_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3031-\u3035\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"
)
_SPACE: Final = frozenset(" \n\t\r\u00a0\u3000")
# Neighbours that never speak against a link, tried before the slow rule.
_LEFT_FINE: Final = _SPACE | frozenset('(,;"“”«»„‘‚—–*{·•…:，。、；：（「『【《！？|~+&>')
_RIGHT_FINE: Final = _SPACE | frozenset(',;!?"“”«»‘—–*)}·•…，。、；：）」』】》！？|~&')
# `[[X]]` after one of these would become another construct: an embed, a footnote, an escape, a nested bracket.
_LEFT_NEVER: Final = frozenset("[]!^\\#@$%</")
_RIGHT_NEVER: Final = frozenset("[](@/$%=")
_ELISION: Final = re.compile(r"(?:^|[^\w'’])(?:[ldjmnstc]|qu|jusqu|lorsqu|puisqu|dell|nell|all|un)$", re.IGNORECASE)


def fold(text: str) -> str:
    """Lower case, one code point for one code point (`İ` is `i`, final sigma is sigma, `ß` stays)."""
    if text.isascii():
        return text.lower()
    if "İ" in text:
        text = text.replace("İ", "i")
    return text.lower().replace("ς", "σ")


def key(name: str) -> str:
    """A name as it is compared: NFC, folded, outer and repeated white space taken away."""
    low = fold(nfc(name))
    return low if low.isalnum() else " ".join(low.split())


def nfc(text: str) -> str:
    """Composed form, for comparing only: no note is ever rewritten in it."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_cjk(char: str) -> bool:
    """Whether a character belongs to a script written without spaces (Han, Kana) or glued (Hangul)."""
    return char > "\u10ff" and _CJK.match(char) is not None


def compose(text: str) -> tuple[str, list[int] | None]:
    """The NFC text and, where it differs in length, the start in `text` of each of its code points (and the end)."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text, None
    out: list[str] = []
    starts: list[int] = []
    at = 0
    size = len(text)
    while at < size:
        end = at + 1
        while end < size and _joins(text[end]):
            end += 1
        piece = text[at:end]
        whole = piece if end == at + 1 and piece.isascii() else unicodedata.normalize("NFC", piece)
        out.append(whole)
        # Inside a cluster no place is a valid edge; -1 says so.
        starts.append(at)
        starts.extend([-1] * (len(whole) - 1))
        at = end
    starts.append(size)
    return "".join(out), starts


def _joins(char: str) -> bool:
    return char > "\u02ff" and (unicodedata.combining(char) != 0 or "\u1160" <= char <= "\u11ff")


class Matcher:
    """All names at once. Immutable after construction; `find` costs one pass whatever the number of names."""

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` are folded, non-empty and distinct (see `key`); a hit carries the index into them."""
        self._engine = (
            ahocorasick_rs.AhoCorasick(list(keys), matchkind=ahocorasick_rs.MatchKind.Standard) if keys else None
        )

    def find(self, text: str) -> list[Hit]:
        """Every occurrence between word edges, overlapping ones too, by start and then longest first."""
        if self._engine is None or not text:
            return []
        whole, starts = compose(text)
        low = fold(whole)
        size = len(low)
        left_fine, right_fine = _LEFT_FINE, _RIGHT_FINE
        hits = [
            (start, -end, index)
            for index, start, end in self._engine.find_matches_as_indexes(low, overlapping=True)
            if (start == 0 or low[start - 1] in left_fine or _left(low, start))
            and (end == size or low[end] in right_fine or _right(low, start, end))
        ]
        if starts is not None:
            hits = [
                (starts[start], -starts[-end], index)
                for start, end, index in hits
                if starts[start] >= 0 and starts[-end] >= 0
            ]
        hits.sort()
        return hits

    def anywhere(self, text: str) -> set[int]:
        """The indexes of the names that occur at all."""
        return {index for _, _, index in self.find(text)}


def _left(text: str, start: int) -> bool:
    """Whether a name may begin at `start`, where `text[start-1]` is not one of the plain separators."""
    c = text[start - 1]
    if c.isalnum():
        return is_cjk(c) or is_cjk(text[start])
    before = text[start - 2] if start > 1 else " "
    if c == "_":
        at = start - 2
        while at >= 0 and text[at] == "_":
            at -= 1
        return at < 0 or not text[at].isalnum() or is_cjk(text[at])
    if c in "'’":
        return not before.isalnum() or _ELISION.search(text, max(0, start - 9), start - 1) is not None
    if c == "=":
        return before == "="
    if c in "-.":
        return False
    if c in _LEFT_NEVER:
        return False
    return not unicodedata.category(c).startswith("M") and c not in "\u200d\ufe0f"


def _right(text: str, start: int, end: int) -> bool:
    """Whether a name may end at `end`, where `text[end]` is not one of the plain separators."""
    d = text[end]
    if d.isalnum():
        return is_cjk(d) or is_cjk(text[end - 1])
    after = text[end + 1] if end + 1 < len(text) else " "
    if d == "_":
        at = end + 1
        while at < len(text) and text[at] == "_":
            at += 1
        return at == len(text) or not text[at].isalnum() or is_cjk(text[at])
    if d in "'’":
        if after == "s":
            beyond = text[end + 2] if end + 2 < len(text) else " "
            return not (beyond.isalnum() or beyond == "_")
        return not after.isalnum()
    if d == "-":
        return not (after.isalnum() or after in "->")
    if d == ".":
        return not (after.isalnum() or after in "_/")
    if d == ":":
        return after in _SPACE or (after != ":" and not after.isalnum() and after not in "/\\")
    if d == "\\":
        return after in "\r\n"
    if d == "=":
        return after == "="
    if d in _RIGHT_NEVER:
        return False
    if d in "+#" and text[end - 1] != d:
        # `C` in `C++` and in `C#` is another name.
        return not text[start:end].isalnum()
    return d not in "+#\u200d\ufe0f\u20e3" and not unicodedata.category(d).startswith("M")


def longest(hits: Iterable[Hit], spans: Sequence[tuple[int, int, bool]] = ()) -> list[tuple[int, int, int]]:
    """(start, end, index) of the leftmost, then longest, of sorted hits; no two overlap, none touches a span.

    Spans are sorted and disjoint: (start, end, may be covered whole).
    """
    taken: list[tuple[int, int, int]] = []
    edge = at = 0
    count = len(spans)
    for start, minus_end, index in hits:
        if start < edge:
            continue
        end = -minus_end
        while at < count and spans[at][1] <= start:
            at += 1
        if at < count and spans[at][0] < end and not _covers(spans, at, start, end):
            continue
        taken.append((start, end, index))
        edge = end
    return taken


def _covers(spans: Sequence[tuple[int, int, bool]], at: int, start: int, end: int) -> bool:
    """Whether all spans that `start:end` touches, from number `at` on, lie in it whole and may do so."""
    while at < len(spans) and spans[at][0] < end:
        first, last, whole = spans[at]
        if not whole or first < start or last > end:
            return False
        at += 1
    return True
