"""Where prose is: which words of a note may be turned into a link, and exact edits of its text.

The answer is a list of places where no link may go, each with the kind of thing that stands there. CommonMark and its
usual extensions are pyromark's business (pulldown-cmark, a real parser); `obsidian_syntax` adds what Obsidian, its
plug-ins and technical talk add. When two readings are possible the place is protected: a missed link costs nothing, a
link inside a formula or a query breaks it.

All offsets count code points of the text as it was given, whatever its line ends, and no function raises on any text
(`splice` and `unsplice` refuse edits that do not fit).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import NamedTuple, cast

from obsidian_import.edits import splice as splice
from obsidian_import.edits import unsplice as unsplice
from obsidian_import.markdown.commonmark import commonmark
from obsidian_import.markdown.obsidian_syntax import Raw, blank, lines_with, may_have_pairs, pairs, tokens


class Span(NamedTuple):
    """`text[start:end]` is no prose; `kind` is the reason."""

    start: int
    end: int
    kind: str


_as_span = cast("Callable[[tuple[int, int, str]], Span]", partial(tuple.__new__, Span))
"""`Span._make` without its Python frame."""

WHOLE_NAMES = frozenset({"identifier", "path"})
"""Kinds a name may still cover whole (`Node.js`, `.NET`, `folder/note`), but never a part of."""

_LONE = re.compile("[\ud800-\udfff]")
_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\n")
_FRONTMATTER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_WHOLE_FILE = re.compile(r"^[\"']?(excalidraw|kanban)-plugin[\"']?[ \t]*:", re.MULTILINE)
_DELIMITER_ROW = re.compile(r"^[ \t>|:]*+-[-|: \t]*+$", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")
_CODE = frozenset({"fence", "indented_code", "code", "math"})


class Places(NamedTuple):
    """A text's protected spans, sorted and disjoint, and its tables (delimiter row and header included)."""

    spans: list[Span]
    tables: list[tuple[int, int]]

    def in_table(self, offset: int) -> bool:
        """Whether a link at `offset` needs its pipe escaped."""
        at = bisect_right(self.tables, (offset, 1 << 62)) - 1
        return at >= 0 and offset < self.tables[at][1]


def protected(text: str) -> list[Span]:
    """Every place of a note where no link may go, sorted and disjoint."""
    return list(places(text).spans)


def in_table(text: str, offset: int) -> bool:
    """Whether `offset` lies in a table, so that the pipe of a link there needs a backslash."""
    return "|" in text and places(text).in_table(offset)


@lru_cache(maxsize=4)  # the linker asks about one text again and again: spans, then each link's table
def places(text: str) -> Places:
    """The protected spans and the tables of a whole note, frontmatter and all."""
    plain = _plain(text)
    opening = _FRONTMATTER.match(plain)
    if opening is None:
        bom = 1 if plain.startswith("\ufeff") else 0
        return _body(plain[bom:], bom)
    end = _FRONTMATTER_END.search(plain, opening.end())
    if end is None:
        return Places([Span(0, len(text), "frontmatter_unclosed")], [])
    whole = _WHOLE_FILE.search(plain, opening.end(), end.start())
    if whole:
        return Places([Span(0, len(text), whole[1])], [])
    body = _body(plain[end.end() :], end.end())
    body.spans.insert(0, Span(0, end.end(), "frontmatter"))
    return body


def _plain(text: str) -> str:
    """The same length, every line end a line feed, encodable: what all patterns here are written for."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _LONE.sub("\ufffd", text)
    return text


def _body(text: str, shift: int) -> Places:
    raw, tables = commonmark(text)
    if may_have_pairs(text):
        raw += _pairs(text, raw)
    settled = _settle(raw)
    rest = blank(text, settled)
    more = tokens(rest)
    if "|" in text:
        more += _doubtful_tables(text, rest, tables)
    if more:
        settled = _settle([(s, -e, k) for s, e, k in settled] + more)
    if shift:
        tables = [(start + shift, end + shift) for start, end in tables]
        return Places([Span(start + shift, end + shift, kind) for start, end, kind in settled], tables)
    return Places(list(map(_as_span, settled)), tables)


def _pairs(text: str, raw: list[Raw]) -> list[Raw]:
    """What runs over many lines and is not hidden by code."""
    return pairs(blank(text, (span for span in _settle(raw) if span[2] in _CODE)))


def _settle(raw: list[Raw]) -> list[tuple[int, int, str]]:
    """Sorted and disjoint, empty ones gone: what lies inside another is dropped, what sticks out keeps its rest."""
    raw.sort()
    out: list[tuple[int, int, str]] = []
    add = out.append
    reached = 0
    for start, minus_end, kind in raw:
        end = -minus_end
        if start >= reached:
            if end > start:
                add((start, end, kind))
                reached = end
        elif end > reached:
            add((reached, end, kind))
            reached = end
    return out


def _doubtful_tables(text: str, rest: str, tables: list[tuple[int, int]]) -> list[Raw]:
    """What Obsidian may take for a table and GFM does not: delimiter row, the line above it, all lines to a blank one.

    Whether a pipe has to be escaped there is anybody's guess, so no link goes there at all.
    """
    out: list[Raw] = []
    known = Places([], tables)
    for row in lines_with(rest, "|", _DELIMITER_ROW):
        if not known.in_table(row.start()):
            start = text.rfind("\n", 0, max(0, row.start() - 1)) + 1
            end = _BLANK_LINE.search(text, row.end())
            out.append((start, -(end.start() if end else len(text)), "table"))
    return out


# ------------------------------------------------------------------ the parts of a note where people talk

_HEADING = r"## [^·\n]+?(?: · \d{4}-\d\d-\d\d \d\d:\d\d)? · [0-9a-f]{4,16}[ \t]*$"
_FOLDED = r"> \[!(?:tool|thinking|agent|branch|compaction|client|command|media)\]-[^\n]*(?:\n>[^\n]*)*+"
_SEAM = re.compile(rf"^(?:({_HEADING})|{_FOLDED})", re.MULTILINE)
_OURS = re.compile(r"^import_id:", re.MULTILINE)


def regions(note: str) -> list[tuple[int, int]]:
    """The parts of one of our chat notes where chat prose stands; of any other note, the whole body.

    Out are the frontmatter, what stands before the first message, message headings and our own folded callouts.
    """
    note = _plain(note)
    opening = _FRONTMATTER.match(note)
    end = _FRONTMATTER_END.search(note, opening.end()) if opening else None
    if opening is None or end is None:
        return [(0, len(note))] if opening is None and note else []
    start = end.end()
    if not _OURS.search(note, opening.end(), end.start()):
        return [(start, len(note))] if start < len(note) else []
    seams = [(m.start(), m.end(), m[1] is not None) for m in _SEAM.finditer(note, start)]
    first = next((i for i, seam in enumerate(seams) if seam[2]), None)
    if first is not None:
        start = seams[first][0]
        seams = seams[first:]
    out: list[tuple[int, int]] = []
    for seam_start, seam_end, _ in seams:
        if note[start:seam_start].strip():
            out.append((start, seam_start))
        start = seam_end
    if note[start:].strip():
        out.append((start, len(note)))
    return out


# ------------------------------------------------------------------ fences and what is left open

_FENCE = re.compile(r"`{3,}|~{3,}")
_RAW_HTML = re.compile(r"<(script|pre|style|textarea)\b", re.IGNORECASE)
_BEGIN = re.compile(r"<!--\s*((?:[\w-]+:\s?)?)begin\b[\s:]*(.*?)\s*-->", re.IGNORECASE | re.DOTALL)
_PROBE = "\n\nx\n"


def longest_run(text: str, char: str) -> int:
    """The length of the longest run of one character; 0 where it does not occur."""
    return max(map(len, re.findall(f"{re.escape(char)}+", text)), default=0)


def fence_for(text: str, info: str = "") -> tuple[str, str]:
    """The opening and the closing line of a fence that holds any text, longer than any run in it.

    Backticks, but tildes where the info string has a backtick or the backticks would get out of hand.
    """
    info = " ".join(info.split())
    ticks = max(3, longest_run(text, "`") + 1)
    tildes = max(3, longest_run(text, "~") + 1)
    fence = "~" * tildes if "`" in info or (ticks > 16 and tildes < ticks) else "`" * ticks
    return fence + info, fence


def close_open(text: str) -> str:
    """What has to be added to `text` so that nothing in it swallows what follows; "" where nothing is open.

    `text` is one message, not a note: its first line is no frontmatter. What is open inside a list or a quote ends with
    it; what is open inside a paragraph ends with the next blank line, and is left alone.
    """
    closers = ""
    for parse in (_parsed_blocks, _parsed_pairs):  # a fence first: in a fence nothing else can be closed
        for _ in range(4):
            full = text + closers
            kind, start = parse(_plain(full + _PROBE))
            closer = _closer(full, kind, start)
            if not closer:
                break
            closers += closer
    return closers


def _parsed_blocks(text: str) -> tuple[str, int]:
    return _at_end(text, commonmark(text)[0])


def _parsed_pairs(text: str) -> tuple[str, int]:
    return _at_end(text, _pairs(text, commonmark(text)[0]))


def _at_end(text: str, raw: Iterable[Raw]) -> tuple[str, int]:
    probe = len(text) - 2
    return next(((kind, start) for start, minus_end, kind in raw if start <= probe < -minus_end), ("", 0))


def _closer(text: str, kind: str, start: int) -> str:
    line = "" if not text or text.endswith(("\n", "\r")) else "\n"
    if kind == "fence":
        fence = _FENCE.match(text, start)
        return line + fence[0] if fence else ""
    if kind == "math_block":
        return line + "$$"
    if kind == "comment":
        return line + "%%"
    if kind in {"html_comment", "generated"}:
        begin = _BEGIN.match(text, start) if kind == "generated" else None
        return line + (f"<!-- {begin[1]}end {begin[2]} -->" if begin else "-->")
    if kind == "html_block":
        raw = _RAW_HTML.match(text, start)
        if raw:
            return f"{line}</{raw[1]}>"
        ends = (("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
        return next((line + end for begins, end in ends if text.startswith(begins, start)), "")
    return ""
