"""What is only suggested: other inflections and other wordings of names (tiers `stem` and `fuzzy`), and renamed notes.

A string that merely resembles a name never becomes a link by itself: `rust` and `trust` are 89 % alike. A suggestion
needs equal stems, or alike letters *and* shared words *and* a clear lead over the next name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from rapidfuzz import fuzz, process

from obsidian_import.lexicon import Lexicon, short
from obsidian_import.names.addresses import Index, fold_path
from obsidian_import.names.addresses import stem as file_stem
from obsidian_import.names.everyday import function_word, stem, stems, words
from obsidian_import.names.surfaces import is_cjk, key

MARGIN: Final = 5.0
"""Points by which the best name must lead the next."""
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_GLUE: Final = frozenset((" ", "-", "\n", "  "))
_MOST: Final = 6
"""Words of the longest phrase looked at."""


@dataclass(frozen=True, slots=True)
class Near:
    """A place whose words nearly are a name."""

    start: int
    end: int
    name: str
    """The folded name it is near to."""
    tier: Literal["stem", "fuzzy"]
    alike: float
    """100 for equal stems, else rapidfuzz's `token_sort_ratio`."""


Word = tuple[int, int, str]
"""start, end, folded."""


class Suggester:
    """Near matches of the names of one lexicon. Slower than the linker; only for `explain` and `suggest`."""

    def __init__(self, lexicon: Lexicon, *, threshold: float = 88, jaccard: float = 0.6) -> None:
        self.lexicon = lexicon
        self.threshold = threshold
        self.jaccard = jaccard

    @cached_property
    def _held(self) -> list[tuple[str, list[str]]]:
        """Names that may be suggested, with their words: no signs, no CJK, not too short, a target behind them."""
        found = []
        seen: set[tuple[str, ...]] = set()
        for name in self.lexicon.keys:
            held = words(name)
            if tuple(held) in seen:  # kebab and spaced forms are the same words
                continue
            seen.add(tuple(held))
            if not held or len(held) > _MOST or short(name) or any(is_cjk(c) for c in name):
                continue
            if " ".join(held) == " ".join(name.replace("-", " ").split()) and any(
                not claim.bar for claim in self.lexicon.names[name]
            ):
                found.append((name, held))
        return found

    @cached_property
    def _by_stem(self) -> dict[tuple[str, ...], str]:
        found: dict[tuple[str, ...], str] = {}
        for name, held in self._held:
            if len(held) > 1 or len(held[0]) >= 4:
                found.setdefault((*held[:-1], stem(held[-1])), name)
        return found

    @cached_property
    def _widths(self) -> dict[str, set[int]]:
        """First word (or stem of the only one) → numbers of words to look at."""
        found: dict[str, set[int]] = {}
        for held in self._by_stem:
            found.setdefault(held[0], set()).add(len(held))
        return found

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """Stem → names of several words in which it is the rarest (indexes into `_held`)."""
        seen: dict[str, int] = {}
        several = [(index, stems(held)) for index, (_, held) in enumerate(self._held) if len(held) > 1]
        for _, held in several:
            for word in held:
                seen[word] = seen.get(word, 0) + 1
        found: dict[str, list[int]] = {}
        for index, held in several:
            # The two rarest words: one of them may be the word that is missing in the text.
            for word in sorted(held, key=lambda w: (seen[w], w))[:2]:
                if not function_word(word):
                    found.setdefault(word, []).append(index)
        return found

    def find(self, body: str, free: Callable[[int, int], bool]) -> list[Near]:
        """Near matches in prose, by place; `free(start, end)` says whether a link could stand there."""
        tokens = [
            (m.start(), m.end(), key(m[0])) for m in _TOKEN.finditer(body) if not m[0].isdigit() and free(*m.span())
        ]
        found: list[Near] = []
        edge = -1
        for at in range(len(tokens)):
            if tokens[at][0] < edge:
                continue
            near = self._inflected(body, tokens, at) or self._reworded(body, tokens, at)
            if near is not None and free(near.start, near.end):
                found.append(near)
                edge = near.end
        return found

    def _inflected(self, body: str, tokens: Sequence[Word], at: int) -> Near | None:
        first = tokens[at][2]
        widths = self._widths.get(first, set()) | {w for w in self._widths.get(stem(first), ()) if w == 1}
        for width in sorted(widths, reverse=True):
            run = self._run(body, tokens, at, width)
            if run is None:
                continue
            folded = [word for _, _, word in run]
            name = self._by_stem.get((*folded[:-1], stem(folded[-1])))
            if name is not None and words(name) != folded and len(folded[-1]) >= 4:
                return Near(run[0][0], run[-1][1], name, "stem", 100.0)
        return None

    def _reworded(self, body: str, tokens: Sequence[Word], at: int) -> Near | None:
        """The best wording of a name of several words that begins with this word."""
        best: list[tuple[float, str, Sequence[Word]]] = []
        tried: set[int] = set()
        for ahead in range(at, min(len(tokens), at + _MOST)):
            for index in self._by_word.get(stem(tokens[ahead][2]), ()):
                if index in tried:
                    continue
                tried.add(index)
                name, held = self._held[index]
                for width in (len(held), len(held) + 1, len(held) - 1):
                    run = self._run(body, tokens, at, width) if width > 1 else None
                    if run is None or run[-1][0] < tokens[ahead][0]:
                        continue
                    folded = [word for _, _, word in run]
                    if function_word(folded[0]) or function_word(folded[-1]) or folded == held:
                        continue
                    one, two = stems(folded), stems(held)
                    if len(one & two) / len(one | two) < self.jaccard:
                        continue
                    alike = fuzz.token_sort_ratio(" ".join(folded), " ".join(held))
                    if alike >= self.threshold:
                        best.append((alike, name, run))
        if not best:
            return None
        best.sort(key=lambda item: (-item[0], item[1]))
        alike, name, run = best[0]
        next_best = max((item[0] for item in best if item[1] != name), default=0.0)
        if alike - next_best < MARGIN:
            return None
        return Near(run[0][0], run[-1][1], name, "fuzzy", alike)

    def _run(self, body: str, tokens: Sequence[Word], at: int, width: int) -> Sequence[Word] | None:
        """The next `width` words, if only single spaces or hyphens of one line stand between them."""
        run = tokens[at : at + width]
        if len(run) < width:
            return None
        for one, two in itertools.pairwise(run):
            if body[one[1] : two[0]] not in (" ", "-"):
                return None
        return run


def repair(
    targets: Iterable[str], index: Index, lexicon: Lexicon | None = None, *, threshold: float = 88
) -> dict[str, str | None]:
    """For each note that is gone (by its last path) the note it became, or None where that is not clear.

    A note of the same name elsewhere was moved; one that has the old name as its only alias was renamed; else the
    name must be alike enough, share words with it, and lead the next one clearly.
    """
    notes = sorted({path for paths in index.by_name.values() for path in paths if path.lower().endswith(".md")})
    targets_of = {path: file_stem(path) for path in notes}
    names = {path: key(name) for path, name in targets_of.items()}
    found: dict[str, str | None] = {}
    for target in targets:
        if fold_path(target).removesuffix(".md") in index.by_path:
            found[target] = index.by_path[fold_path(target).removesuffix(".md")]
            continue
        old = key(file_stem(target))
        moved = [path for path, name in names.items() if name == old]
        if moved:
            found[target] = moved[0] if len(moved) == 1 else None
            continue
        if lexicon is not None:
            claims = [claim for claim in lexicon.names.get(old, ()) if not claim.bar]
            if len(claims) == 1:
                found[target] = claims[0].path
                continue
        found[target] = _alike(old, names, threshold)
    return found


def _alike(old: str, names: dict[str, str], threshold: float) -> str | None:
    ranked = process.extract(old, names, scorer=fuzz.token_sort_ratio, limit=2, score_cutoff=threshold - MARGIN)
    if not ranked or ranked[0][1] < threshold:
        return None
    if len(ranked) > 1 and ranked[0][1] - ranked[1][1] < MARGIN:
        return None
    name, score, path = ranked[0]
    one, two = stems(words(old)), stems(words(name))
    shared = len(one & two) / max(1, len(one | two))
    # One long word with a letter changed is the same word corrected; short ones are other words.
    return path if shared >= 0.5 or (len(old) >= 10 and score >= 90) else None
