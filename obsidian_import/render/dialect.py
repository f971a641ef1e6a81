r"""What a chat client writes, as the Markdown Obsidian reads: terminal codes out, maths in dollars, headings lowered.

`\(x\)` and `\[x\]` become `$x$` and `$$x$$`; a dollar of money that could pair up with another is escaped; a heading
sinks below the heading of its message. All of it outside code only, and every rule prefers to leave a text alone.
Pure text in, text out; a text without any of the signs costs a few scans for single characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# ------------------------------------------------------------------ terminals

_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|\Z)"  # OSC, DCS, SOS, PM, APC: titles, links
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
    r"|\x9b[0-?]*[ -/]*[@-~]"  # CSI in one character
    r"|[^\n\x08]?\x08"  # overstrike, as manual pages print bold
    r"|[\x07\x0e\x0f\x1b\x9b]"  # bell, shifts, an escape cut off
)


def terminal(text: str) -> str:
    """`text` as a terminal shows it: colours, cursor moves, titles, bells and overstrikes taken out; LF line ends."""
    if "\x1b" in text or "\x08" in text or "\x9b" in text or "\x07" in text or "\x0e" in text or "\x0f" in text:
        text = _TERMINAL.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


# ------------------------------------------------------------------ where code is

_FENCE = re.compile(r"`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,}")
_PREFIX = re.compile(r"(?P<pre>(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*)(?P<pad>[ \t]*)")
_LIST = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?P<blank>[ \t]+|$)")


def fences(text: str) -> list[tuple[int, int]]:
    """Where fenced code stands: from the start of its opening line to the end of its closing one (or of the text).

    Fences of both kinds and any length, in quotes and lists; an unclosed one reaches to the end of its container.
    """
    found: list[tuple[int, int]] = []
    at = 0
    while (opening := _next_fence(text, at)) is not None:
        start, pre, pad, mark = opening
        line_end = text.find("\n", start + len(pre))
        if line_end < 0:
            found.append((start, len(text)))
            break
        end = _fence_end(text, line_end + 1, mark, pre.count(">"), _content(text, start, pre, pad))
        found.append((start, end))
        at = end
    return found


def _next_fence(text: str, at: int) -> tuple[int, str, str, str] | None:
    """The next opening line from `at` on: where it starts, the containers and the blanks before the mark, the mark."""
    ticks = tildes = at - 1
    while True:
        # both kinds are looked for by plain search: most texts have few
        if 0 <= ticks < at or ticks == at - 1:
            ticks = text.find("```", at)
        if 0 <= tildes < at or tildes == at - 1:
            tildes = text.find("~~~", at)
        place = min((p for p in (ticks, tildes) if p >= 0), default=-1)
        if place < 0:
            return None
        start = text.rfind("\n", 0, place) + 1
        mark = _FENCE.match(text, place)
        before = _PREFIX.fullmatch(text, start, place)
        if mark is not None and before is not None:
            pre = before["pre"]
            if _indent(before["pad"]) < 4 or _in_list(text, start, pre):
                return start, pre, before["pad"], mark[0]
        line_end = text.find("\n", place)
        if line_end < 0:
            return None
        at = line_end + 1
        ticks = ticks if ticks >= at or ticks < 0 else at - 1
        tildes = tildes if tildes >= at or tildes < 0 else at - 1


def _indent(pad: str) -> int:
    return len(pad.expandtabs(4))


def _in_list(text: str, at: int, pre: str) -> bool:
    """True where an indented line can belong to a list item above it."""
    if pre.strip(" \t>"):
        return True
    for line in reversed(text[max(0, at - 2000) : at].split("\n")[-60:-1]):
        if _LIST.match(line):
            return True
        if line.strip() and not line[0].isspace() and line[0] != ">":
            return False
    return False


def _content(text: str, at: int, pre: str, pad: str) -> int:
    """The column where the content of the list item begins that a fence stands in; 0 where it stands in none."""
    if pre.strip(" \t>"):
        wide = _indent(pre + pad) - _indent(pre)
        return _indent(pre) + (wide if 1 <= wide <= 4 else 1)
    room = _indent(pad)
    if not room or pre:
        return 0
    lazy = False
    for line in reversed(text[max(0, at - 2000) : at].split("\n")[-60:-1]):
        if (item := _ITEM.match(line)) is not None:
            mark = _indent(line[: item.start("blank")])
            wide = _indent(item[0]) - mark
            begin = mark + (wide if 1 <= wide <= 4 and line[item.end("blank") :].strip() else 1)
            if begin <= room:
                return begin
        elif not line.strip():
            if lazy:
                return 0
        elif not line[0].isspace():
            if line[0] == ">" or _BLOCK.match(line):
                return 0
            lazy = True  # such a line still belongs to the item's paragraph if no blank one stands between
    return 0


def _fence_end(text: str, at: int, mark: str, quotes: int, inside: int) -> int:
    """The end of the fence whose content starts at `at`: of its closing line, or where its container ends.

    `quotes` and `inside`: how many quotes it stands in, and the column of its list item's content.
    """
    closing = re.compile(rf"[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    if not quotes and not inside:
        while (hit := text.find(mark, at)) >= 0:
            start = text.rfind("\n", 0, hit) + 1
            if not text[start:hit].strip(" \t") and closing.match(text, start):
                end = text.find("\n", hit)
                return len(text) if end < 0 else end
            at = hit + 1
        return len(text)
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if line[: len(line) - len(line.lstrip(" \t>"))].count(">") < quotes:
            return max(at - 1, 0)
        if closing.match(line):
            return end
        if not quotes and inside and line.strip() and _indent(line[: len(line) - len(line.lstrip())]) < inside:
            return max(at - 1, 0)
        at = end + 1
    return len(text)


def outside(text: str) -> Iterator[tuple[bool, str]]:
    """`text` in pieces, in order and nothing left out: (True, fenced code) and (False, the rest)."""
    at = 0
    for start, end in fences(text):
        if start > at:
            yield False, text[at:start]
        yield True, text[start:end]
        at = end
    if at < len(text):
        yield False, text[at:]


# ------------------------------------------------------------------ headings

MESSAGE_HEADING = re.compile(
    r"^## (?P<who>[^·\n]+?)(?: · (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d))? · (?P<id>[0-9a-f]{4,16})$", re.MULTILINE
)
"""The heading that starts a message in a note of ours; no line of chat text ever looks like it."""
LOWERED = 2
"""A first-level heading of a chat becomes one of the third level."""

_MARKS = re.compile(r"##{0,5}(?=[ \t\n]|\Z)")
_CONTAINER = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+[ \t>]*)*")
_UNDERLINE = re.compile(r"\n {0,3}(=+|-+)[ \t]*(?=\n|\Z)")
_BLOCK = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|(?:[-*_][ \t]*){3,}$|=+[ \t]*$|`{3,}|~{3,}|\$\$|<)"  # a line that is no paragraph
)
_NESTED = re.compile(r"[ \t]*(?:>|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|\|)")  # a list, a quote, a table


def _lower(text: str) -> str:
    """Headings of `text` (no fenced code in it), two levels down; underlined ones become `###` and `####` lines."""
    if "\n-" in text or "\n=" in text or "\n " in text:
        text = _setext(text)
    if "#" in text:
        text = _MARKS.sub(_deeper, text)
    return text


def _deeper(hit: re.Match[str]) -> str:
    text, at = hit.string, hit.start()
    start = text.rfind("\n", 0, at) + 1
    if start == at:
        return "#" * min(len(hit[0]) + LOWERED, 6)
    pre = text[start:at]
    if not _CONTAINER.fullmatch(pre):
        return hit[0]
    if _indent(pre) >= 4 and not pre.strip() and not _in_list(text, start, ""):
        return hit[0]  # indented code
    return "#" * min(len(hit[0]) + LOWERED, 6)


def _setext(text: str) -> str:
    """Only where a paragraph ends in the underline: below a list, a quote or a blank line it is a rule, or text."""
    out: list[str] = []
    done = 0
    for hit in _UNDERLINE.finditer(text):
        begin = end = at = hit.start()
        while at >= done:
            start = max(text.rfind("\n", done, at) + 1, done)
            line = text[start:at]
            if not line.strip() or _BLOCK.match(line):
                break
            if _NESTED.match(line):
                begin = end
                break
            begin = start
            at = start - 1
        words = text[begin:end]
        pad = words[: len(words) - len(words.lstrip(" \t"))]
        if not words.strip() or _indent(pad) >= 4:
            continue
        out.append(f"{text[done:begin]}{pad}{'#' if hit[1][0] == '=' else '##'} {' '.join(words.split())}")
        done = hit.end()
    if not out:
        return text
    out.append(text[done:])
    return "".join(out)


# ------------------------------------------------------------------ maths and money

_SPECIAL = re.compile(r"[`\\$]")
_TICKS = re.compile(r"`+")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s<>\"`]*\Z")
_NO_TERM = re.compile(r"\n[ \t>]*\n|\$\$|(?<!\\)(?:\\\\)*\\[\[(]")
"""What no formula in brackets holds: a blank line, another formula."""
_LONGEST_TERM = 4000
_DISPLAY = re.compile(r"\$\$(?!\$)(?:[^$\\]|\\[\s\S]|\$(?!\$))+?\$\$(?!\$)")
_INLINE_MATH = re.compile(
    r"\$(?P<term>[^\s$](?:(?:[^$\\\n]|\\[^\n]|\n(?![ \t>]*\n)){0,500}[^\s$\\]|\\[^\s])?|[^\s$])\$(?!\d)"
)
_SIGNS = re.compile(r"\\[a-zA-Z{},;!]|[\^_=<>{}]")
_MONEY = re.compile(r"\d[\d,.]*\s?(?:[kKmMbB]|bn|mn|million|billion|USD|usd)?(?=$|[\s/,.;:)*\-–—+])")
_WORDS = re.compile(r"[^\W\d_]{2,}")


def _is_math(term: str) -> bool:
    """Whether what stands between two dollars is a formula: signs of LaTeX, or too short and odd to be words."""
    if _SIGNS.search(term):
        return not ("\n" in term and not re.search(r"\\[a-zA-Z]|[\^_{}]", term))
    if "\n" in term:
        return False
    words = _WORDS.findall(term)
    if _MONEY.match(term) and (words or not re.search(r"[+*/\-(]", term)) and len(term) > 1:
        return bool(re.fullmatch(r"\d+(?:\.\d+)?", term))
    return not words or (len(words) == 1 and len(words[0]) <= 2 and len(term) <= 12)


def _is_formula(term: str) -> bool:
    r"""Whether what stands in `\( \)` is a formula and not words in escaped brackets."""
    if re.search(r"[\\^_+=<>{}|*/&~\d]", term):
        return True
    words = _WORDS.findall(term)
    return not any(len(word) >= 4 for word in words) and len(words) < 2


def _maths(text: str) -> str:
    """Formulas and money of `text` (no fenced code in it), paragraph by paragraph."""
    return "\n\n".join(
        _paragraph(part) if "$" in part or "\\(" in part or "\\[" in part else part for part in text.split("\n\n")
    )


def _paragraph(text: str) -> str:
    out: list[str] = []
    waiting: list[int] = []  # places in `out` of dollars that are no part of a formula
    formulas = 0
    done = at = 0
    while (sign := _SPECIAL.search(text, at)) is not None:
        at = sign.start()
        new = None
        if sign[0] == "`":
            at = _after_code(text, at)
        elif sign[0] == "\\":
            new, at = _backslash(text, at)
            formulas += new is not None and not new.startswith("$$")
        elif text.startswith("$$", at):
            shown = _DISPLAY.match(text, at)
            at = shown.end() if shown is not None else at + len(text[at:]) - len(text[at:].lstrip("$"))
        else:
            formula = _INLINE_MATH.match(text, at)
            if formula is not None and _is_math(formula["term"]):
                formulas += 1
                at = formula.end()
            elif _URL.search(text, max(0, at - 500), at):
                at += 1
            else:
                out.append(text[done:at])
                waiting.append(len(out))
                out.append("$")
                at += 1
                done = at
            continue
        if new is not None:
            out += (text[done : sign.start()], new)
            done = at
    if len(waiting) + 2 * formulas > 1:
        for place in waiting:
            out[place] = "\\$"
    out.append(text[done:])
    return "".join(out)


def _after_code(text: str, at: int) -> int:
    """Behind the inline code that starts at `at`, or behind its backticks where they open none."""
    ticks = _TICKS.match(text, at)
    assert ticks is not None
    for closing in _TICKS.finditer(text, ticks.end()):
        if len(closing[0]) == len(ticks[0]):
            return closing.end()
    return ticks.end()


def _backslash(text: str, at: int) -> tuple[str | None, int]:
    """What a formula in brackets becomes, and the place behind it; None and the place behind an escape otherwise."""
    kind = text[at + 1 : at + 2]
    if kind in {"(", "["}:
        mark = "\\)" if kind == "(" else "\\]"
        end = _closing(text, at + 2, mark)
        term = text[at + 2 : end] if end >= 0 else ""
        if term.strip() and not _NO_TERM.search(term):
            if kind == "(":
                if "$" not in term and _is_formula(term.strip()):
                    return f"${term.strip()}$", end + 2
            elif _is_shown(text, at, end):
                return f"$${term if chr(10) in term else term.strip()}$$", end + 2
    return None, at + 2


def _closing(text: str, at: int, mark: str) -> int:
    """Where the first `mark` stands whose backslash is not itself escaped; -1 where there is none in reach."""
    end = text.find(mark, at, at + _LONGEST_TERM)
    while end >= 0:
        first = end
        while first > at and text[first - 1] == "\\":
            first -= 1
        if (end - first) % 2 == 0:
            return end
        end = text.find(mark, end + 1, at + _LONGEST_TERM)
    return -1


def _is_shown(text: str, start: int, end: int) -> bool:
    r"""Whether `\[ \]` holds a displayed formula and not words in escaped brackets (a task, a link)."""
    term = text[start + 2 : end]
    before = text[text.rfind("\n", 0, start) + 1 : start]
    alone = "\n" in term and bool(_CONTAINER.fullmatch(before))
    return not text.startswith("(", end + 2) and (alone or (_is_formula(term.strip()) and len(term.strip()) > 1))


# ------------------------------------------------------------------ all of it


def convert(text: str, *, headings: bool = True) -> str:
    """A message's Markdown in Obsidian's dialect. `headings=False` leaves the levels of headings (a body of one piece)."""
    text = terminal(text)
    maths = "$" in text or "\\(" in text or "\\[" in text
    # a line that could be a heading, or the underline of one
    titles = headings and ("#" in text or "\n-" in text or "\n=" in text or "\n " in text)
    if maths or titles:
        if "```" in text or "~~~" in text:
            text = "".join(piece if code else _prose(piece, maths, titles) for code, piece in outside(text))
        else:
            text = _prose(text, maths, titles)
    if "## " in text:
        text = MESSAGE_HEADING.sub(lambda hit: " " + hit[0], text)
    return text


def _prose(text: str, maths: bool, titles: bool) -> str:
    if titles:
        text = _lower(text)
    if maths and ("$" in text or "\\(" in text or "\\[" in text):
        text = _maths(text)
    return text
