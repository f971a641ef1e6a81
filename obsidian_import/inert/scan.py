"""Finds every place of one text that needs something, as insertions at offsets; `inert` puts them in, `inert_active` reports them.

The scan asks the same questions of a text and of what was made of it, and gets the same answers: that is why nothing is left to find.
Inline code is left alone only where every parser agrees that it is code (`sure`); anywhere else a change is made, but an invisible one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from obsidian_import.inert.blocks import Fence, blocks
from obsidian_import.inert.rules import (
    CONTAINERS,
    DELIMITER_ROW,
    DOLLARS,
    FIELD_KEY,
    GATES,
    GOOD_DEFINITION,
    GOOD_TARGET,
    LABEL,
    LANGUAGES,
    MARK,
    MERMAID_ACTIVE,
    PAD,
    QUERY_BIT,
    RUN,
    SCHEME_BEFORE,
    SCHEME_TARGET,
    SCHEMES,
    candidates,
    indented_query,
    query,
)

ESCAPE = MARK + "\\"
"""Markdown's own escape, marked as put in."""


@dataclass(frozen=True, slots=True)
class Options:
    """What of the chat itself is made inert; everything else always is."""

    tasks: bool = True
    tags: bool = True
    wikilinks: bool = True
    """Also links to files, `[x](README.md)`: in a vault they name notes."""
    fields: bool = True
    queries: tuple[str, ...] = ("=", "$=")
    """Prefixes of Dataview's inline queries (a vault can set its own)."""


class Edit(NamedTuple):
    """`put` goes in at `at`; a `kind` counts it, an empty one belongs to the edit before or after."""

    at: int
    put: str
    kind: str
    guess: bool = False
    """Probably inside inline code (only told where `active` asks)."""


DEFAULT = Options()


# ------------------------------------------------------------------ what there is to do


class Scan:
    """Finds every place of one text that needs something. It asks the same questions of a text and of what was made of it."""

    def __init__(self, t: str, options: Options, *, single: bool = False, detect: bool = False) -> None:
        self.t = t
        self.options = options
        self.pattern: re.Pattern[str] | None = None
        self.indented = False
        self.single = single
        self.detect = detect
        self.out: list[Edit] = []
        self.escaped: set[int] = set()
        self.start = self.end = 0  # the stretch of text between two fences that is looked at
        self.inside = (0, -1)  # the paragraph `sure` and `likely` speak of
        self.sure: list[tuple[int, int]] = []
        self.likely: list[tuple[int, int]] = []
        self.math: list[tuple[int, int]] = []

    def edits(self) -> list[Edit]:
        """All of them, sorted by place."""
        t, position = self.t, 0
        which = 0
        for bit, character, first, second in GATES:
            if character in t and (first in t or second in t):
                which |= bit
        queries = self.options.queries
        live = any(q in t for q in queries)
        if not live:
            which &= ~QUERY_BIT
        self.pattern = candidates(queries, which) if which else None
        self.indented = live and ("    " in t or "\t" in t)
        if self.single:
            self.text(0, len(t))
        else:
            found = blocks(t)
            for start, end, kind in found.escapes:
                if kind != "heading":
                    self.escaped.add(start)
                for at in range(start, end):
                    self.out.append(Edit(at, ESCAPE, kind if at == start else ""))
            for fence in found.fences:
                self.text(position, fence.start)
                self.fence(fence)
                position = fence.stop
            self.text(position, len(t))
        self.out.sort(key=lambda e: (e.at, e.put != MARK))
        return self.out

    def add(self, at: int, kind: str, put: str = MARK) -> None:
        """Note one edit."""
        guess = False
        if self.detect and kind:
            self.paragraph(at)
            guess = _within(self.likely, at)
        self.out.append(Edit(at, put, kind, guess))

    # -------------------------------------------------------------- code

    def fence(self, fence: Fence) -> None:
        """N2, N3, N13 of one fenced block."""
        t = self.t
        if fence.content > fence.info:
            info = t[fence.info : fence.content]
            words = info.split(None, 1)
            if words and not _highlighted(words[0].lower(), t, fence):
                self.add(fence.info + len(info) - len(info.lstrip()), "fence-language", f"text {MARK}{PAD}")
        m = query(self.options.queries).match(t, fence.content, fence.end)
        if m is not None:
            self.add(m.start(1), "dataview")
        if fence.closer:
            self.add(fence.at, "fence-closed", f"{MARK}\n{fence.closer}")

    def paragraph(self, p: int) -> None:
        """Work out the code spans of the paragraph around `p` (between empty lines), unless they are known."""
        if self.inside[0] <= p < self.inside[1]:
            return
        t = self.t
        low = t.rfind("\n\n", self.start, p)
        high = t.find("\n\n", p, self.end)
        a = self.start if low < 0 else low + 2
        b = self.end if high < 0 else high + 1
        self.inside = (a, max(b, p + 1))
        self.sure, self.likely = [], []
        if t.find("`", a, b) >= 0:
            self.spans(a, b)

    def spans(self, a: int, b: int) -> None:
        """Code spans of one paragraph. `sure`: every parser sees them so. From the first doubtful thing on they are only `likely`."""
        t = self.t
        runs = [m.span() for m in RUN.finditer(t, a, b)]
        partner = [-1] * len(runs)
        last: dict[int, int] = {}
        for k in range(len(runs) - 1, -1, -1):
            size = runs[k][1] - runs[k][0]
            partner[k] = last.get(size, -1)
            last[size] = k
        table: bool | None = None
        doubt, before, i = False, a, 0
        while i < len(runs):
            s, e = runs[i]
            if not doubt:
                dollar = t.find("$", before, s)
                doubt = (
                    s in self.escaped
                    or (s > a and t[s - 1] == "\\")
                    or (dollar >= 0 and t.find("$", dollar + 1, b) >= 0)
                    or (not self.options.wikilinks and t.find("[[", before, s) >= 0)
                )
            j = partner[i]
            if j < 0:
                doubt, before, i = True, e, i + 1
                continue
            stop = runs[j][1]
            if not doubt and t.find("|", s, stop) >= 0:
                # a table's cells are cut at the bar first, and a code span with them
                table = DELIMITER_ROW.search(t, a, b) is not None if table is None else table
                doubt = table
            doubt = doubt or t.find("\n", s, stop) >= 0
            (self.likely if doubt else self.sure).append((s, stop))
            before, i = stop, j + 1

    def weak(self, p: int) -> bool:
        """Whether a change here has to be invisible, because this may be code or math after all."""
        self.paragraph(p)
        if self.single or _within(self.likely, p) or _within(self.math, p):
            return True
        start = self.line_start(p, 400)
        if start < 0:
            return False
        head = self.t[start : start + 100]
        body = head.lstrip(" \t>")
        lead = head[: len(head) - len(body)]
        return ("    " in lead or "\t" in lead) and CONTAINERS.match(body).end() == 0  # type: ignore[union-attr]

    def line_start(self, p: int, reach: int) -> int:
        """Start of the line `p` is on; -1 where it is further back than `reach`."""
        low = max(0, p - reach)
        found = self.t.rfind("\n", low, p)
        return found + 1 if found >= 0 else (0 if low == 0 else -1)

    def slashes(self, p: int) -> bool:
        """Whether the character at `p` is escaped by a backslash."""
        t, k = self.t, p
        while k > 0 and t[k - 1] == "\\":
            k -= 1
        return (p - k) % 2 == 1

    # -------------------------------------------------------------- text

    def text(self, a: int, b: int) -> None:
        """Everything between two fences."""
        if a >= b:
            return
        t = self.t
        self.start, self.end, self.inside, self.math = a, b, (0, -1), []
        ticks = not self.single and t.find("`", a, b) >= 0
        if t.find("$$", a, b) >= 0:
            self.formulas(a, b)
        for m in self.pattern.finditer(t, a, b) if self.pattern is not None else ():
            p = m.start()
            first = t[p]
            if first == "`":
                self.inline_query(p)
                continue
            if ticks:
                self.paragraph(p)
                if _within(self.sure, p):
                    continue
            _RULES[first](self, p, m.end())
        if self.indented:
            for m in indented_query(self.options.queries).finditer(t, a, b):
                self.add(m.start(1), "dataview")

    def inline_query(self, p: int) -> None:
        """N2, where a code span begins with the backtick at `p`."""
        t = self.t
        m = query(self.options.queries).match(t, p + 1, self.end)
        assert m is not None
        if not self.single:
            self.paragraph(p)
            k = bisect_right(self.sure, (p, self.end)) - 1
            if k >= 0 and p < self.sure[k][1]:
                s = self.sure[k][0]
                if p >= self.sure[k][1] - 1 or t[s : p + 1].strip("`"):
                    return
            elif not self.likely and (self.sure and p < self.sure[-1][0]):
                return
        self.add(m.start(1), "dataview")

    def formulas(self, a: int, b: int) -> None:
        """N9: pairs of `$$` that every parser closes stay; all others lose their meaning."""
        t, waiting = self.t, -1
        for m in DOLLARS.finditer(t, a, b):
            s, e = m.span()
            if not self.single:
                self.paragraph(s)
                if _within(self.sure, s):
                    continue
            if self.single or e - s > 2 or _within(self.likely, s) or self.slashes(s):
                self.cut(s, e)
            elif waiting < 0:
                waiting = s
            elif _same_formula(t, waiting, s, self.line_start(waiting, 400)):
                self.math.append((waiting, e))
                waiting = -1
            else:
                self.cut(waiting, waiting + 2)
                waiting = s
        if waiting >= 0:
            self.cut(waiting, waiting + 2)

    def cut(self, s: int, e: int) -> None:
        """Take a run of dollars apart."""
        for at in range(s + 1, e):
            self.add(at, "math" if at == s + 1 else "")

    def angle(self, p: int, _e: int) -> None:
        """N5, and N12 for `<scheme:…>`."""
        if self.single or not self.slashes(p):
            nxt = self.t[p + 1 : p + 40]
            word = nxt.lstrip("/").split(">")[0].split()
            scheme = bool(word) and ":" in word[0] and not nxt.startswith("!")
            self.add(p + 1, "comment" if nxt.startswith("!--") else "scheme" if scheme else "html")

    def bracket(self, p: int, e: int) -> None:
        """`[[` (N4, N6), and what one bracket may open: footnote (N11), task (N8), a callout like ours."""
        t = self.t
        if e - p > 1:
            self.wikilink(p, e)
            return
        if t[p + 1] == "^" and t[p + 2 : p + 3] not in ("", "]") and not t[p + 2].isspace():
            if self.single or not self.slashes(p):
                self.add(p + 1, "footnote")
        elif t[p + 1] == "!" and t[p + 2 : p + 3] != "]":
            start = self.line_start(p, 400)
            if start >= 0 and t[start:p].rstrip(" \t").endswith(">"):
                self.add(p + 1, "callout")
        elif self.options.tasks and p and t[p - 1] in " \t":
            start = self.line_start(p, 400)
            lead = t[start:p] if start >= 0 else "- "
            m = CONTAINERS.match(lead)
            if m is not None and m.end() == len(lead) and lead.rstrip(" \t")[-1:] in tuple("-*+.)"):
                self.add(p, "task")

    def wikilink(self, p: int, e: int) -> None:
        """N4, N6: a run of two or more brackets."""
        t, size = self.t, e - p
        embed = p > 0 and t[p - 1] == "!"
        if not self.options.wikilinks:
            if embed:
                self.add(p, "embed")
            return
        kind = "embed" if embed else "wikilink"
        hidden = self.slashes(p) or self.weak(p)
        if hidden:
            if embed:
                self.add(p, "")
            for at in range(p + 1, e):
                self.add(at, kind if at == p + 1 else "")
        else:
            for at in range(p, e - size % 2):
                self.add(at, kind if at == p else "", "\\")
            if size % 2:
                self.add(e - 1, "")
        if t[e : e + 1] == "^" and (hidden or size % 2):
            self.add(e, "")

    def bang(self, p: int, _e: int) -> None:
        """N4: a picture becomes a link to it."""
        if self.single or not self.slashes(p):
            self.add(p + 1, "image")

    def target(self, p: int, _e: int) -> None:
        """N12: what a Markdown link, or a definition for one, leads to."""
        t = self.t
        if self.slashes(p):
            return
        if t[p + 1] == "(":
            if GOOD_TARGET.match(t, p + 1):
                return
        else:
            start = self.line_start(p, 1000)
            if GOOD_DEFINITION.match(t, p + 1) or (start >= 0 and not _label(t[start:p])):
                return
        if SCHEME_TARGET.match(t, p + 1):
            self.add(p + 1, "scheme")
        elif self.options.wikilinks:
            self.add(p + 1, "link")

    def tag(self, p: int, _e: int) -> None:
        """N7."""
        if self.options.tags:
            if not self.weak(p):
                self.add(p, "", ESCAPE)
            self.add(p + 1, "tag")

    def percent(self, p: int, _e: int) -> None:
        """N9."""
        self.add(p + 1, "comment")

    def colon(self, p: int, _e: int) -> None:
        """N10, and N12 for a bare `scheme://`."""
        t = self.t
        if t[p + 1] == "/":
            m = SCHEME_BEFORE.search(t[max(0, p - 32) : p])
            if m is not None and m[0].lower() not in SCHEMES:
                start = p - len(m[0])
                told = t.endswith(("](", "](<"), max(0, start - 3), start)  # `target` has counted it
                self.add(p, "" if told else "scheme")
            return
        if not self.options.fields:
            return
        start = self.line_start(p, 500)
        key = t[start:p] if start >= 0 else ""
        if FIELD_KEY.match(key) or max(key.rfind("["), key.rfind("(")) > max(key.rfind("]"), key.rfind(")")):
            self.add(p + 1, "field")

    def caret(self, p: int, _e: int) -> None:
        """N11: a block id, or a footnote written in place."""
        if self.t[p + 1] != "[":
            self.add(p + 1, "block-id")
        elif self.single or not self.slashes(p):
            self.add(p + 1, "footnote")


_RULES = {
    "<": Scan.angle,
    "[": Scan.bracket,
    "!": Scan.bang,
    "]": Scan.target,
    "#": Scan.tag,
    "%": Scan.percent,
    ":": Scan.colon,
    "^": Scan.caret,
}


def _within(spans: list[tuple[int, int]], p: int) -> bool:
    k = bisect_right(spans, (p, 1 << 62)) - 1
    return k >= 0 and p < spans[k][1]


def _highlighted(word: str, t: str, fence: Fence) -> bool:
    if word == "mermaid":
        return MERMAID_ACTIVE.search(t, fence.content, fence.end) is None
    return word in LANGUAGES


def _label(lead: str) -> bool:
    """Whether `]:` after these words of a line may end the label of a link definition (which may have begun lines before)."""
    if LABEL.match(lead) is None:
        return False
    body = lead[CONTAINERS.match(lead).end() :]  # type: ignore[union-attr]
    return body.startswith(("[", "\\[")) or "[" not in body or "[[" in body or "\\[" in body


def _same_formula(t: str, first: int, second: int, start: int) -> bool:
    """Whether two `$$` are one formula for every parser: on one line, or a block in one container without an empty line."""
    inner = t[first + 2 : second]
    if "`" in inner:
        return False
    if "\n" not in inner:
        return True
    if start < 0:
        return False
    lead = t[start:first]
    m = CONTAINERS.match(lead)
    if m is None or m.end() != len(lead):
        return False
    quotes, columns = lead.count(">"), len(lead.expandtabs(4))
    for row in (inner + "$$").split("\n")[1:]:
        body = row.lstrip(" \t>")
        mine = row[: len(row) - len(body)]
        if not body.strip() or mine.count(">") != quotes or (not quotes and len(mine.expandtabs(4)) < columns):
            return False
    return True
