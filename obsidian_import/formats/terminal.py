"""Text as a terminal shows it → paragraphs again: hard-wrapped lines joined, lists, tables and code left as they are.

A line is joined to the next only where it must have been broken: the next word would not have fitted. That test keeps
short lines (verses, records, code) apart without knowing what they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

USUAL_WIDTH: Final = 78
"""80 columns without the two of the mark or the indent."""
_LIST: Final = re.compile(r"\s*(?:[-*+•☐☒✔◻◼→↳▎|>#] ?|\d{1,3}[.)] )")
_BOX: Final = re.compile(r"\s*[│├└┌┬┴┼─═╭╮╰╯┐┘┤╞╡╪]")
_DRAWN: Final = re.compile(r"\s*[│├└┌╭╰╞]")
_RULE: Final = re.compile(r"\s*(?:-{3,}|─{3,}|═{3,})\s*")


def width_of(text: str) -> int:
    """Columns a text takes: wide characters count two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def screen_width(lines: Iterable[str], padded: Iterable[str]) -> int:
    """Columns for text, of lines without their indent: padded lines tell it exactly, else the longest that several come near."""
    exact = Counter(width_of(line) for line in padded if line.endswith(" ") and len(line) > 40)
    if exact:
        width, count = max(exact.items(), key=lambda item: (item[1], item[0]))
        if count > 1 or width + 2 in {80, 100, 120}:
            return width
    lengths = sorted((n for line in lines if 40 < (n := width_of(line.rstrip())) <= 400), reverse=True)
    # One over-long line is one that was not wrapped at all.
    for candidate in lengths:
        if sum(candidate - 12 <= n <= candidate for n in lengths) >= 3:
            return USUAL_WIDTH if USUAL_WIDTH - 10 <= candidate <= USUAL_WIDTH else max(candidate, 60)
    return USUAL_WIDTH


def unwrap(lines: Sequence[str], width: int) -> str:
    """The lines (without the screen's own indent, `width` counted without it) as Markdown paragraphs."""
    out: list[str] = []
    previous = ""
    for raw in lines:
        line = raw.rstrip()
        if line.startswith("▎"):
            line = "> " + line[1:].strip()
        if out and _continues(previous, line, width):
            if line.startswith("> ") and out[-1].startswith("> "):
                line = line[2:]
            out[-1] = out[-1] + _glue(previous, line, width) + line.strip()
        else:
            if _RULE.fullmatch(line) and out and out[-1].strip():
                out.append("")  # else Markdown makes a heading of the line before
            out.append(line)
        previous = raw
    return "\n".join(_fence_tables(out)).strip("\n")


def _fence_tables(lines: Sequence[str]) -> list[str]:
    """Drawn tables and boxes in fences, so that their columns stay under each other."""
    out: list[str] = []
    drawn: list[str] = []
    for line in [*lines, ""]:
        if _DRAWN.match(line):
            drawn.append(line)
            continue
        if len(drawn) > 1:
            out += ["```", *drawn, "```"]
        else:
            out += drawn
        drawn = []
        out.append(line)
    return out[:-1]


def _glue(previous: str, line: str, width: int) -> str:
    """Nothing where a word too long for any line was cut at the edge, else a blank."""
    if width_of(previous) < width or previous.endswith(" ") or line.startswith(" "):
        return " "
    cut = previous.rsplit(maxsplit=1)[-1] + line.split(maxsplit=1)[0]
    return "" if width_of(cut) > width else " "


def _continues(previous: str, line: str, width: int) -> bool:
    wrapped = previous.endswith(" ") and not previous.endswith("  ") and width_of(previous) < width
    previous = previous.rstrip()
    if not previous.strip() or not line.strip():
        return False
    quoted = line.startswith("> ") and previous.startswith(("> ", "▎"))
    if (
        (not quoted and _LIST.match(line))
        or _BOX.match(line)
        or _BOX.match(previous)
        or _RULE.fullmatch(line)
        or _RULE.fullmatch(previous)
    ):
        return False
    extra = len(line) - len(line.lstrip())
    base = len(previous) - len(previous.lstrip())
    marker = re.match(r"\s*(?:[-*+•☐☒✔] +|\d{1,3}[.)] +)", previous)
    if extra > max(base + 1, len(marker[0]) if marker else 0):
        return False  # deeper than a wrapped line would be: code, or a nested item
    word = (line[2:] if quoted else line).split(maxsplit=1)[0]
    # A lone blank at the end of a line is where the terminal broke it.
    return wrapped or width_of(previous) + 1 + width_of(word) > width
