"""Where fenced code is in a message, by CommonMark's rules for containers, and what has to be done about its edges.

Two ways to the same answer: `_plain` for texts whose fences all start in column 0 (nearly all), `_strict`, a line parser with a stack of
quotes and list items, for the rest. What `inert` puts into a text never changes either answer; where an edge is escaped (`Blocks.escapes`)
the parser already reads that line as the paragraph it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

RUN = re.compile(r"```[^\n]*+|~~~[^\n]*+")
CONTAINERS = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++[ \t>]*+)*+\Z")
SETEXT = re.compile(r"\n[ \t>]*+(?:=++|-++)[ \t]*+\r?(?=\n|\Z)")
SETEXT_LINE = re.compile(r"(?:=+|-+)[ \t]*\r?\Z")
LOOKALIKE = re.compile(r"#{1,6}[ \t][^\n]*·[ \t]*[0-9A-Fa-f]{4,16}[ \t#\r]*\Z")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?\Z")
ITEM = re.compile(r"([-+*]|(\d{1,9})[.)])(?=[ \r]|\Z)")
ATX = re.compile(r"#{1,6}(?=[ \t\r]|\Z)")
FENCE = re.compile(r"(`{3,}+(?=[^`]*+\Z)|~{3,}+)")


DEEP_RUN = re.compile(r"`{3,}+|~{3,}+")
DEEPEST = 60
"""Containers inside one another; what is deeper is read as text (a line of nothing but list markers would take for ever)."""


@dataclass(slots=True)
class Fence:
    """One fenced block: offsets into the text."""

    start: int
    """Start of the opener's line."""
    run: int
    """First character of the opening run."""
    info: int
    """Just after the opening run."""
    content: int
    """Start of the first content line (the end of the text where there is none)."""
    end: int
    """Just after the last content line: where the closing line or foreign text starts."""
    stop: int
    """Just after the whole block."""
    closer: str = ""
    """The line that has to be put in to close it; empty where it is closed."""
    at: int = 0
    """Where `closer` goes: the end of the last content line that holds something."""


@dataclass(slots=True)
class Blocks:
    """What the scan found, in order."""

    fences: list[Fence] = field(default_factory=list)
    escapes: list[tuple[int, int, str]] = field(default_factory=list)
    """(start, end, kind): characters to be escaped one by one: `fence-closed` for a run that must not open, else `heading`."""


def blocks(t: str) -> Blocks:
    """Fences of a text, and lines that must not become what they look like."""
    found = Blocks()
    ticks = "```" in t or "~~~" in t
    setext = ("=" in t or "-" in t) and _has_setext(t)
    lookalike = "·" in t and any(LOOKALIKE.match(line.lstrip(" \t>")) for line in t.split("\n") if "·" in line)
    if setext or lookalike or (ticks and not _plain(t, found)):
        found = Blocks()
        _Strict(t, found).run()
    return found


def _has_setext(t: str) -> bool:
    if _opens_setext(t):
        return True
    if "\n-" not in t and "\n=" not in t and "\n " not in t and "\n>" not in t and "\n\t" not in t:
        return False
    return any(t[m.start() - 1] != "\n" and _filled(t, m.start()) for m in SETEXT.finditer(t))


def _opens_setext(t: str) -> bool:
    """Whether the first line would make a heading of a line of ours right before it."""
    first = t.partition("\n")[0] if t[:1] in "=- " else ""
    body = first.lstrip(" ")
    return len(first) - len(body) <= 3 and SETEXT_LINE.match(body) is not None


def _filled(t: str, end: int) -> bool:
    """Whether anything but blanks and quote marks is on the line that ends at `end` (a long line is taken for one that has)."""
    start = max(t.rfind("\n", max(0, end - 400), end) + 1, end - 400, 0)
    return bool(t[start:end].strip(" \t\r>"))


def _runs(t: str) -> Iterator[tuple[int, int]]:
    """The first run of three or more on each line that has one: its start, and the end of the line."""
    if "~~~" in t:
        yield from (m.span() for m in RUN.finditer(t))
        return
    at = t.find("```")
    while at >= 0:
        end = t.find("\n", at)
        end = len(t) if end < 0 else end
        yield at, end
        at = t.find("```", end)


def _plain(t: str, found: Blocks) -> bool:
    """The scan where every opener stands in column 0; False (and `found` spoilt) where one does not."""
    opened: Fence | None = None
    mark, size, done, length = "", 0, 0, len(t)
    for at, end in _runs(t):
        start = t.rfind("\n", done, at) + 1 or done
        done = end
        prefix = t[start:at]
        if prefix and CONTAINERS.match(prefix) is None:
            continue
        words = t[at:end].lstrip(t[at])
        run = end - at - len(words)
        if opened is None:
            if t[at] == "`" and "`" in words:
                continue
            if prefix:
                return False
            mark, size = t[at], run
            content = min(end + 1, length)
            opened = Fence(start, at, at + run, content, content, content)
        elif t[at] == mark and run >= size and not words.strip(" \t\r") and len(prefix) <= 3 and not prefix.strip(" "):
            opened.end, opened.stop = start, min(end + 1, length)
            found.fences.append(opened)
            opened = None
    if opened is not None:
        last = _last_filled(t, opened.content)
        if last < 0:
            found.escapes.append((opened.run, opened.info, "fence-closed"))
        else:
            opened.end = opened.stop = length
            opened.closer, opened.at = mark * size, last
            found.fences.append(opened)
    return True


def _last_filled(t: str, start: int) -> int:
    """End of the last character that is no blank after `start`, with the blanks that follow it on its line; -1 if there is none."""
    cut = len(t)
    while cut > start and t[cut - 1] in " \t\r\n":
        cut -= 1
    if cut <= start:
        return -1
    while cut < len(t) and t[cut] in " \t":
        cut += 1
    return cut


class _Strict:
    """CommonMark's container rules, line by line; leaves are told apart only as far as fences need it."""

    def __init__(self, t: str, found: Blocks) -> None:
        self.t = t
        self.found = found
        self.stack: list[int] = []  # 0: a quote; n > 0: a list item whose content is n columns further in
        self.paragraph = _opens_setext(t)  # text of ours may stand before
        self.fence: Fence | None = None
        self.run_text = ""
        self.saved: tuple[list[int], bool, int] = ([], False, 0)
        self.no_fence = -1
        self.empty_item = False

    def run(self) -> None:
        t, position, size = self.t, 0, len(self.t)
        while position < size:
            end = t.find("\n", position)
            end = size if end < 0 else end
            raw = t[position:end]
            line = raw.expandtabs(4) if "\t" in raw else raw
            after = min(end + 1, size)
            back = self.line(position, end, raw, line, after)
            position = after if back < 0 else back
            if position >= size and self.fence is not None:
                back = self.finish(size)
                position = size if back < 0 else back

    def finish(self, end: int) -> int:
        """The open fence ends without a closing line before `end`. -1, or where to read again (an empty one is no fence)."""
        fence = self.fence
        assert fence is not None
        self.fence = None
        if fence.at < 0:
            self.stack, self.paragraph, start = list(self.saved[0]), self.saved[1], self.saved[2]
            self.no_fence = start
            return start
        fence.end = fence.stop = end
        fence.closer = "".join("> " if width == 0 else " " * width for width in self.stack) + self.run_text
        self.found.fences.append(fence)
        return -1

    def line(self, position: int, end: int, raw: str, line: str, after: int) -> int:
        """Read one line. -1, or the offset to read again from."""
        i, matched = self.containers(line)
        rest = line[i:].rstrip(" \r")
        fence = self.fence
        if fence is not None:
            if matched == len(self.stack):
                text = rest.lstrip(" ")
                if (
                    text
                    and len(rest) - len(text) <= 3
                    and text[0] == self.run_text[0]
                    and len(text) >= len(self.run_text)
                    and not text.strip(text[0])
                ):
                    fence.end, fence.stop, fence.closer = position, after, ""
                    self.found.fences.append(fence)
                    self.fence = None
                elif text:
                    fence.at = end - 1 if raw.endswith("\r") else end
                return -1
            back = self.finish(position)
            if back >= 0:
                return back
        start = (list(self.stack), self.paragraph, position)
        if not rest:
            if matched < len(self.stack):
                del self.stack[self.keep(matched) :]
            elif self.empty_item:
                self.stack.pop()
            self.paragraph = self.empty_item = False
            return -1
        self.empty_item = False
        i, fresh = self.open(line, i, matched)
        if (len(self.stack) if fresh else matched) >= DEEPEST:
            # nobody writes this: read no further, and let no fence open here
            for m in DEEP_RUN.finditer(raw):
                self.found.escapes.append((position + m.start(), position + m.end(), "fence-closed"))
            self.paragraph = True
            return -1
        self.leaf(position, raw, line, after, start, i, matched, fresh)
        return -1

    def keep(self, matched: int) -> int:
        """A blank line leaves list items open, not quotes: how much of the stack stays."""
        while matched < len(self.stack) and self.stack[matched]:
            matched += 1
        return matched

    def containers(self, line: str) -> tuple[int, int]:
        """How far the open containers reach into this line: (index, number of containers)."""
        i = matched = 0
        blank = not line.strip(" \r")
        for width in self.stack:
            indent = len(line) - i - len(line[i:].lstrip(" "))
            if width == 0:
                if indent > 3 or line[i + indent : i + indent + 1] != ">":
                    break
                i += indent + 1
                if line[i : i + 1] == " ":
                    i += 1
                blank = not line[i:].strip(" \r")
            elif blank:
                i = min(i + width, len(line))
            elif indent >= width:
                i += width
            else:
                break
            matched += 1
        return i, matched

    def open(self, line: str, i: int, matched: int) -> tuple[int, bool]:
        """Open the quotes and list items that start on this line."""
        fresh = False
        while True:
            rest = line[i:]
            body = rest.lstrip(" ")
            indent = len(rest) - len(body)
            if indent > 3 or not body or (len(self.stack) if fresh else matched) >= DEEPEST:
                return i, fresh
            if body[0] == ">":
                width, step = 0, indent + 1 + (body[1:2] == " ")
            elif (m := ITEM.match(body)) is not None and not RULE.match(body):
                tail = body[m.end() :]
                text = tail.lstrip(" ")
                empty = not text.strip("\r")
                continues = self.paragraph and not fresh and matched == len(self.stack)
                if continues and (empty or (m[2] is not None and int(m[2]) != 1)):
                    return i, fresh
                if continues and SETEXT_LINE.match(body):
                    return i, fresh
                gap = len(tail) - len(text)
                gap = 1 if empty or gap > 4 else gap
                width = indent + m.end() + gap
                step = min(width, len(rest))
                self.empty_item = empty
            else:
                return i, fresh
            if not fresh:
                del self.stack[matched:]
            self.stack.append(width)
            self.paragraph = False
            fresh = True
            i += step

    def leaf(
        self,
        position: int,
        raw: str,
        line: str,
        after: int,
        start: tuple[list[int], bool, int],
        i: int,
        matched: int,
        fresh: bool,
    ) -> None:
        """What the rest of the line is, as far as it matters: a fence, text, or something that ends text."""
        rest = line[i:].rstrip("\r")
        body = rest.lstrip(" ")
        if not body:
            self.paragraph = False
            return
        lazy = self.paragraph and not fresh and matched < len(self.stack)
        whole = fresh or matched == len(self.stack)
        if len(rest) - len(body) > 3:
            if not self.paragraph and not fresh:
                del self.stack[matched:]
            return
        m = FENCE.match(body)
        if m is not None:
            run = raw.find(m[1])
            if position != self.no_fence:
                if not fresh:
                    del self.stack[matched:]
                self.paragraph = False
                self.saved = start
                self.run_text = m[1]
                self.fence = Fence(position, position + run, position + run + len(m[1]), after, after, after, "", -1)
                return
            self.found.escapes.append((position + run, position + run + len(m[1]), "fence-closed"))
        elif self.paragraph and whole and SETEXT_LINE.match(body):
            at = position + len(raw.rstrip(" \t\r")) - len(body.rstrip(" \t\r"))
            self.found.escapes.append((at, at + 1, "heading"))
            return
        elif ATX.match(body):
            if LOOKALIKE.match(body):
                at = position + raw.find("#")
                self.found.escapes.append((at, at + 1, "heading"))
            else:
                if not fresh:
                    del self.stack[matched:]
                self.paragraph = False
                return
        elif RULE.match(body):
            if not fresh:
                del self.stack[matched:]
            self.paragraph = False
            return
        if not lazy and not fresh:
            del self.stack[matched:]
        self.paragraph = True
