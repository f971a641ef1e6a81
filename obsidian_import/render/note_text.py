"""The letters of a note: fences and callouts, lines that are not too long, and texts cut in parts without loss.

Nothing here knows what a talk is. Long lines are broken with a mark that can be seen; a block that is cut in two keeps
its callout and its fence on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_LINE = 8000
"""Characters: a longer line stops Obsidian's indexer. Nothing we write comes near."""
PROSE_LINE = 6000
"""Where a line of prose is broken: links that come later still fit."""
CODE_LINE = 7800
"""Where a line inside a fence is broken: nothing is added there but `> ` marks."""
BREAK = "⏎"
"""Ends a line that goes on in the next one."""

# ------------------------------------------------------------------ characters and lines


def sane(text: str) -> str:
    """`text` without what a file of UTF-8 lines cannot hold: lone surrogates, NUL, carriage returns."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def one_line(text: str) -> str:
    """`text` on one line, runs of white space as one space."""
    return " ".join(sane(text).split())


def long_line(text: str, limit: int) -> bool:
    """Whether any line of `text` has more than `limit` characters; hops from line end to line end, so it costs nothing."""
    at, size = 0, len(text)
    while size - at > limit:
        end = text.rfind("\n", at, at + limit + 1)
        if end < 0:
            return True
        at = end + 1
    return False


def wrap_code(text: str) -> str:
    """Lines for a fence, each within `CODE_LINE`, a broken one ending in `BREAK`."""
    if not long_line(text, CODE_LINE):
        return text
    return "\n".join(
        f"{BREAK}\n".join(line[at : at + CODE_LINE] for at in range(0, max(len(line), 1), CODE_LINE))
        for line in text.split("\n")
    )


_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)*")


def wrap_prose(text: str, fenced: Iterable[tuple[int, int]]) -> str:
    """Lines of Markdown, each within `PROSE_LINE`: broken before a word, so that no new line starts a list or heading.

    `fenced` are the ranges of fenced code in `text`, in order: there lines are broken anywhere.
    """
    out: list[str] = []
    at = 0
    for start, end in fenced:
        out.append(_wrap_paragraphs(text[at:start]))
        out.append(wrap_code(text[start:end]))
        at = end
    out.append(_wrap_paragraphs(text[at:]))
    return "".join(out)


def _wrap_paragraphs(text: str) -> str:
    return "\n".join(_wrap_line(line) if len(line) > PROSE_LINE else line for line in text.split("\n"))


def _wrap_line(line: str) -> str:
    quote = _QUOTE.match(line)
    pre = quote[0] if quote is not None and ">" in quote[0] and len(quote[0]) < 100 else ""
    out: list[str] = []
    at = 0
    while len(line) - at > PROSE_LINE:
        cut = _place(line, at + PROSE_LINE // 2, at + PROSE_LINE)
        out.append(line[at:cut].rstrip(" \t") + " " + BREAK if line[cut - 1] in " \t" else line[at:cut] + BREAK)
        at = cut
        # where no word begins, the mark stands at the start too: what follows it can start nothing
        line = line if line[at].isalpha() else line[:at] + BREAK + line[at:]
        line = line[:at] + pre + line[at:] if pre else line
    out.append(line[at:])
    return "\n".join(out)


def _place(line: str, low: int, high: int) -> int:
    """Best before a word, else between two letters, else anywhere but behind a backslash."""
    for at in range(high, low, -1):
        if line[at - 1] == " " and line[at].isalpha():
            return at
    for at in range(high, low, -1):
        if line[at - 1].isalpha() and line[at].isalpha():
            return at
    return high - 1 if line[high - 1] == "\\" and line[high - 2] != "\\" else high


# ------------------------------------------------------------------ fences, callouts, cuts

_HEAD = re.compile(r"\[!([a-z]+)\]-? (.*)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_CONTINUED = " (continued)"


def fence(text: str, language: str = "") -> str:
    """`text` as a block of code in a fence longer than any run inside."""
    size = 3
    while "`" * size in text or "~" * size in text:
        size += 1
    mark = "`" * size
    return f"{mark}{language}\n{text}\n{mark}" if text else f"{mark}{language}\n{mark}"


def callout(kind: str, title: str, body: str = "") -> str:
    """A folded callout; every line has its `>`, an empty one too."""
    head = f"> [!{kind}]- {title}"
    return head + "\n> " + body.replace("\n", "\n> ") if body else head


def width(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def pieces(text: str, size: int) -> list[str]:
    """`text` (lines within `MAX_LINE`) in pieces of at most `size` bytes, cut between lines, best at a blank one.

    Where a cut falls into a fence, it is closed and opened again; where it falls into a callout, its head is repeated.
    """
    if width(text) <= size:
        return [text]
    room = size - 2 * MAX_LINE  # for closing and repeated lines
    out: list[str] = []
    lines: list[str] = []
    used = blank = blank_used = 0
    frame = _Frame()
    safe = _Frame()
    for line in text.split("\n"):
        cost = width(line) + 1
        if lines and used + cost > room:
            if blank and blank_used * 2 > room:
                out.append("\n".join(lines[:blank]))
                lines = [*safe.again(), *lines[blank:]]
            else:
                out.append("\n".join(lines + frame.close()))
                lines = frame.again()
            used = sum(width(old) + 1 for old in lines)
            blank = 0
        if not line.lstrip("> ") and not frame.fence:
            blank, blank_used = len(lines) + 1, used
            safe = frame.copy()
        lines.append(line)
        used += cost
        frame.see(line)
    out.append("\n".join(lines))
    return out


class _Frame:
    """What is open after a line: the callouts around it (by depth) and the fence in it."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.depth = 0
        self.fence = ""
        self.info = ""
        self.fence_depth = 0

    def copy(self) -> _Frame:
        other = _Frame()
        other.heads, other.depth = list(self.heads), self.depth
        return other

    def see(self, line: str) -> None:
        depth, rest = 0, line
        most = self.fence_depth if self.fence else 99
        while rest[:1] == ">" and depth < most:
            depth, rest = depth + 1, rest[1:].removeprefix(" ")
        if self.fence:
            if depth < self.fence_depth:
                self.fence = ""
            else:
                closing = rest.strip(" \t")
                if closing and closing[0] == self.fence[0] and set(closing) == {closing[0]}:
                    self.fence = "" if len(closing) >= len(self.fence) else self.fence
                return
        self.depth = depth
        del self.heads[depth:]
        head = _HEAD.match(rest) if depth else None
        if head is not None:
            del self.heads[depth - 1 :]
            self.heads += [""] * (depth - 1 - len(self.heads))
            self.heads.append(f"[!{head[1]}]- {head[2].removesuffix(_CONTINUED)[:500]}{_CONTINUED}")
            return
        opening = _FENCE.match(rest)
        if opening is not None:
            self.fence, self.info, self.fence_depth = opening[1], opening[2][:100], depth

    def close(self) -> list[str]:
        return ["> " * self.fence_depth + self.fence] if self.fence else []

    def again(self) -> list[str]:
        out = ["> " * (at + 1) + head for at, head in enumerate(self.heads[: self.depth]) if head]
        return [*out, "> " * self.fence_depth + self.fence + self.info] if self.fence else out
