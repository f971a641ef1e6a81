"""Merging the lines of one section: an own diff3 over the standard library's difflib.

A line is changed by one side (that side's line is taken), by both alike, or by both differently. The last is a
conflict, apart from what loses nobody's words:

- both added lines at the end of the section, or in its middle set apart by blank lines: all of them stay, ours first
  unless theirs belong to the line above;
- one side added lines beside a line that only the other changed (outside a fence);
- both changed lines that touch, one line for one line: each is settled by itself;
- our change is among the person's already: the same merge was made before, on another machine;
- we changed nothing but wikilinks: the person's lines stay, and a link that they took out stays out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

__all__ = ["merge_lines", "trimmed_keys"]

Lines = Sequence[str]
Hunk = tuple[int, int, int, int]
"""`base[a:b]` became `other[c:d]`."""

COST = 30_000
"""Pairs of equal lines difflib may look at in one go; beyond it, lines that stand once on each side come first."""

_LINK = re.compile(r"\\?\[\\?\[([^\[\]\n|]*?)(?:\\?\|([^\[\]\n]*))?\]\]")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


def merge_lines(base: str, wanted: str, actual: str, eol: str = "\n") -> str | None:
    """The person's text with our changes, ours with the line end `eol`; None where both changed the same lines."""
    end = eol.removesuffix("\n")
    b, w, raw = (text.split("\n") if text else [] for text in (base, wanted, actual))
    if raw:  # its line end stands in the gap behind it, but it may not stay the last line
        raw[-1] += end
    merged = _Merge(b, w, trimmed_keys(b, raw), raw, end).run()
    return None if merged is None else "\n".join(merged).removesuffix(end)


def trimmed_keys(base: Lines, actual: Lines) -> list[str]:
    r"""The person's lines as they are compared: without `\r`, and with the trailing blanks an editor took from ours."""
    ours = set(base)
    full = {line.rstrip(" \t"): line for line in base}
    keys: list[str] = []
    for raw in actual:
        line = raw.removesuffix("\r")
        keys.append(line if line in ours or line != line.rstrip(" \t") else full.get(line, line))
    return keys


@dataclass(slots=True)
class _Region:
    """A stretch of base with the hunks of both sides that touch there."""

    start: int
    stop: int
    ours: list[Hunk]
    theirs: list[Hunk]


@dataclass(frozen=True, slots=True)
class _Merge:
    """The three texts as lines. `a` is what the person's lines are compared by, `raw` what they are."""

    b: Lines
    w: Lines
    a: Lines
    raw: Lines
    end: str
    """What our own lines get in front of their newline."""

    def run(self) -> list[str] | None:
        result: list[str] = []
        at = shift = 0  # the next line of base, and how far the person's text is ahead of it
        for region in _regions(_hunks(self.b, self.w), _hunks(self.b, self.a)):
            result += self.raw[at + shift : region.start + shift]
            low = region.start + shift
            high = _far(region.theirs, region.stop, region.stop + shift)
            if not region.theirs:
                result += self._our(region.ours[0][2], region.ours[-1][3])
            elif not region.ours:
                result += self.raw[low:high]
            else:
                both = self._settle(region, low, high)
                if both is None:
                    return None
                result += both
            at, shift = region.stop, high - region.stop
        return result + list(self.raw[at + shift :])

    def _our(self, low: int, high: int) -> list[str]:
        return [line + self.end for line in self.w[low:high]]

    def _settle(self, region: _Region, low: int, high: int) -> list[str] | None:
        """A region that both sides changed; None: not without a guess."""
        old = self.b[region.start : region.stop]
        near = region.ours[0][2] - (region.ours[0][0] - region.start)
        far = _far(region.ours, region.stop, 0)
        w, a, raw = self.w[near:far], self.a[low:high], list(self.raw[low:high])
        if list(w) == list(a):
            return raw
        if not old:
            return self._added(region.start, w, a, raw)
        both = self._apart(region)
        if both is not None:
            return both
        if len(old) == len(w) == len(a):
            lines = [self._line(*four) for four in zip(old, w, a, raw, strict=True)]
            if None not in lines:
                return [line for line in lines if line is not None]
        if _links_only(old, w):
            return raw
        # Our change is there already, with the person's around it: this very merge was made before.
        if _within(w, a) and not _within(w, old) and _says(w):
            return raw
        if _within(a, w) and not _within(a, old) and _says(a):
            return self._our(near, far)
        return None

    def _added(self, at: int, w: Lines, a: Lines, raw: list[str]) -> list[str] | None:
        """Both put lines in at one place: all of them, where that makes no text that nobody wrote."""
        if _within(w, a):
            return raw
        ours = [line + self.end for line in w]
        if _within(a, w):
            return ours
        apart = any(not lines[edge].strip() for lines in (w, a) for edge in (0, -1))
        if at < len(self.b) and (not apart or _in_fence(self.b, at)):
            return None
        # A message stays in one piece; but a line that a person put right below another one belongs to that.
        return [*raw, *ours] if a[0].strip() and not w[0].strip() else [*ours, *raw]

    def _apart(self, region: _Region) -> list[str] | None:
        """Lines put in by one side at the edge of lines that only the other changed: both. None: they overlap."""
        if _in_fence(self.b, region.start):
            return None
        if not all(_beside(ours, theirs) for ours in region.ours for theirs in region.theirs):
            return None
        # What one side put in and the other has among its lines is there once: this merge was made before.
        ours_new = [self.w[h[2] : h[3]] for h in region.ours]
        theirs_new = [self.a[h[2] : h[3]] for h in region.theirs]
        hunks = [(h[1], h[0], 0, h) for h in region.ours if not _among(h, self.w, theirs_new)]
        hunks += [(h[1], h[0], 1, h) for h in region.theirs if not _among(h, self.a, ours_new)]
        result: list[str] = []
        at = region.start
        for stop, start, side, (_, _, low, high) in sorted(hunks):
            result += self.b[at:start]
            result += self.raw[low:high] if side else self._our(low, high)
            at = stop
        return result

    def _line(self, b: str, w: str, a: str, raw: str) -> str | None:
        """One line for one line."""
        if w in (a, b) or (a != b and _links_only([b], [w])):
            return raw
        return w + self.end if a == b else None


def _regions(ours: Sequence[Hunk], theirs: Sequence[Hunk]) -> list[_Region]:
    regions: list[_Region] = []
    for hunk, mine in sorted([(h, True) for h in ours] + [(h, False) for h in theirs]):
        if not regions or hunk[0] > regions[-1].stop:
            regions.append(_Region(hunk[0], hunk[1], [], []))
        region = regions[-1]
        (region.ours if mine else region.theirs).append(hunk)
        region.stop = max(region.stop, hunk[1])
    return regions


def _far(hunks: Sequence[Hunk], stop: int, unchanged: int) -> int:
    """Where a side stands at the end of a region; `unchanged` where it has no hunk in there."""
    return hunks[-1][3] + stop - hunks[-1][1] if hunks else unchanged


def _beside(x: Hunk, y: Hunk) -> bool:
    """Whether two changes do not touch, or touch only as lines put in at the edge of changed ones."""
    if x[1] < y[0] or y[1] < x[0]:
        return True
    added = (x[0] == x[1]) + (y[0] == y[1])
    return added == 1 and not y[0] < x[0] < y[1] and not x[0] < y[0] < x[1]


def _within(few: Lines, many: Lines) -> bool:
    """Whether `few`, at least one line, stand together in `many`."""
    size = len(few)
    if not size:
        return False
    return any(many[i] == few[0] and list(many[i : i + size]) == list(few) for i in range(len(many) - size + 1))


def _says(lines: Lines) -> bool:
    return any(line.strip() for line in lines)


def _among(hunk: Hunk, side: Lines, others: Sequence[Lines]) -> bool:
    return hunk[0] == hunk[1] and any(_within(side[hunk[2] : hunk[3]], other) for other in others)


def _links_only(old: Lines, new: Lines) -> bool:
    """Whether we changed nothing but wikilinks."""
    return len(old) == len(new) and all(x == y or _bare(x) == _bare(y) for x, y in zip(old, new, strict=True))


def _bare(line: str) -> str:
    """The words a reader sees, without the wikilinks around them."""
    return _LINK.sub(lambda m: m[1] if m[2] is None else m[2], line)


def _in_fence(lines: Lines, at: int) -> bool:
    return sum(1 for line in lines[:at] if _FENCE.match(line)) % 2 == 1


# ------------------------------------------------------------------ what changed


def _hunks(base: Lines, other: Lines) -> list[Hunk]:
    """The changes from `base` to `other`, in order, disjoint, with at least one equal line between them."""
    hunks: list[Hunk] = []
    a = c = 0
    for i, j, size in [*_matches(base, other), (len(base), len(other), 0)]:
        if i > a or j > c:
            hunks.append((a, i, c, j))
        a, c = i + size, j + size
    return hunks


def _matches(base: Lines, other: Lines) -> list[tuple[int, int, int]]:
    """Blocks of equal lines `(i, j, size)` in order. Never quadratic: see `COST`."""
    start, limit = 0, min(len(base), len(other))
    while start < limit and base[start] == other[start]:
        start += 1
    stop = 0
    while stop < limit - start and base[-1 - stop] == other[-1 - stop]:
        stop += 1
    middle = _middle(base[start : len(base) - stop], other[start : len(other) - stop], anchored=False)
    blocks = [(0, 0, start), *((i + start, j + start, size) for i, j, size in middle)]
    return _compact([*blocks, (len(base) - stop, len(other) - stop, stop)])


def _middle(base: Lines, other: Lines, *, anchored: bool) -> list[tuple[int, int, int]]:
    if not base or not other:
        return []
    counts = _counts(base)
    if sum(counts.get(line, 0) for line in other) <= COST and len(base) + len(other) <= COST:
        return [(m.a, m.b, m.size) for m in SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()]
    if anchored:
        return []  # too much alike to compare: all of it counts as changed
    blocks: list[tuple[int, int, int]] = []
    places = [(-1, -1), *_unique(base, other, counts), (len(base), len(other))]
    for (i, j), (p, q) in pairwise(places):
        blocks += [
            (x + i + 1, y + j + 1, size) for x, y, size in _middle(base[i + 1 : p], other[j + 1 : q], anchored=True)
        ]
        if p < len(base):
            blocks.append((p, q, 1))
    return blocks


def _unique(base: Lines, other: Lines, counts: dict[str, int]) -> list[tuple[int, int]]:
    """The longest run, in order on both sides, of lines that stand once on each (patience diff)."""
    there = _counts(other)
    where = {line: j for j, line in enumerate(other) if there[line] == 1}
    pairs = [(i, where[line]) for i, line in enumerate(base) if counts[line] == 1 and line in where]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        k = bisect_left(tails, j)
        tails[k : k + 1] = [j]
        ends[k : k + 1] = [number]
        before.append(ends[k - 1] if k else -1)
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _counts(lines: Lines) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return counts


def _compact(blocks: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Blocks that touch become one, empty ones go."""
    result: list[tuple[int, int, int]] = []
    for block in blocks:
        i, j, size = block
        if result and result[-1][0] + result[-1][2] == i and result[-1][1] + result[-1][2] == j:
            p, q, before = result.pop()
            result.append((p, q, before + size))
        elif size:
            result.append(block)
    return result
