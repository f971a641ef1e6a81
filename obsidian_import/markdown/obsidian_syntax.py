r"""What Obsidian, its plug-ins and the talk of programmers add to Markdown: the places CommonMark knows nothing about.

Two passes over one text whose lines end in `\n`, both giving raw places `(start, -end, kind)`, offsets in code points:

* `pairs`: what may run over many lines and hides all else: `%%…%%`, `<!--…-->`, `$$…$$`, `<%…%>`, `{{…}}`, generated
  regions and conflict markers. It wants a text in which code and inline math are blanked out.
* `tokens`: what stands within a line: tags, block ids, brackets, fields, escapes, URLs, paths, identifiers, flags. It
  wants a text in which everything found so far is blanked out.

Both search for a few characters at which such a thing can begin or must have its middle, so plain prose costs one scan.
Neither raises on any text, and both take time in proportion to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from html.entities import html5

Raw = tuple[int, int, str]
"""(start, minus end, kind): sorts by start, and at one start the longest first."""

BLOCKS = frozenset(
    {"frontmatter", "fence", "indented_code", "html_block", "heading", "table_head", "generated", "conflict"},
)
"""Kinds that fill whole lines; blanked, as all that has a line end in it, with line ends: no word runs on over them."""


def blank(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """The same text with sorted, disjoint `(start, end, kind)` blanked out, every other offset unchanged."""
    parts: list[str] = []
    add = parts.append
    done = 0
    for start, end, kind in spans:
        add(text[done:start])
        lines = kind in BLOCKS or text.find("\n", start, end) >= 0
        add(("\n" if lines else "\0") * (end - start))
        done = end
    add(text[done:])
    return "".join(parts)


# ------------------------------------------------------------------ pairs

_PAIR = re.compile(r"\\[\\%$<{]|%%|\$\$|<!--|<%|\{\{|<<<<<<<(?= )")
_MARKER = re.compile(r"(?:[\w-]+:\s?)?(begin|end)\b[\s:]*(.*)", re.IGNORECASE | re.DOTALL)
_PAIR_GATES = ("%%", "$$", "<!--", "<%", "{{", "<<<<<<< ")


def may_have_pairs(text: str) -> bool:
    """Whether `pairs` can find anything; far cheaper than to ask it."""
    return any(gate[0] in text and gate in text for gate in _PAIR_GATES)


def pairs(text: str) -> list[Raw]:
    """Comments, block math, templates, generated regions and conflict markers, in order and disjoint.

    Unclosed `%%`, `$$`, `<!--` and generated regions reach to the end of the text; an unclosed `{{` or `<%` is plain.
    """
    out: list[Raw] = []
    size = len(text)
    find = text.find
    absent: set[str] = set()
    ends: dict[str, list[int]] | None = None
    at = 0
    while hit := _PAIR.search(text, at):
        start, opener = hit.start(), hit[0]
        at = hit.end()
        if opener[0] == "\\":
            continue
        if opener == "{{":
            line = find("\n", at)
            end = find("}}", at, size if line < 0 else line)
            if end < 0:
                at = size if line < 0 else line  # no closer anywhere on this line
                continue
            at = end + 2
            out.append((start, -at, "template"))
            continue
        if opener == "<<<<<<<":
            if start and text[start - 1] != "\n":
                continue
            end = -1 if ">>>>>>> " in absent else find("\n>>>>>>> ", at)
            if end < 0:
                absent.add(">>>>>>> ")
                continue
            stop = find("\n", end + 1)
            at = size if stop < 0 else stop
            out.append((start, -at, "conflict"))
            continue
        closer, kind = _CLOSERS[opener]
        end = -1 if closer in absent else find(closer, at)
        if end < 0:
            absent.add(closer)
            if opener == "<%":
                continue
            out.append((start, -size, kind))
            return out
        marker = _MARKER.fullmatch(text[at:end].strip()) if opener == "<!--" else None
        at = end + len(closer)
        if marker and marker[1].lower() == "begin":
            ends = _region_ends(text) if ends is None else ends
            places = ends.get(marker[2], [])
            after = bisect_right(places, start)
            # Without an end of its name all the rest is in doubt.
            at, kind = (places[after] if after < len(places) else size), "generated"
        out.append((start, -at, kind))
    return out


def _region_ends(text: str) -> dict[str, list[int]]:
    """Where each `<!-- end NAME -->` stops, by name, in order."""
    out: dict[str, list[int]] = {}
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at + 4)
        if end < 0:
            break
        marker = _MARKER.fullmatch(text[at + 4 : end].strip())
        if marker and marker[1].lower() == "end":
            out.setdefault(marker[2], []).append(end + 3)
        at = text.find("<!--", end)
    return out


_CLOSERS = {
    "%%": ("%%", "comment"),
    "$$": ("$$", "math_block"),
    "<!--": ("-->", "html_comment"),
    "<%": ("%>", "template"),
}

# ------------------------------------------------------------------ tokens

# Scripts that write without spaces: a path or an identifier does not swallow them.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_WORD = f"[^\\W{_DENSE}]"
_DENSE_CHAR = re.compile(f"[{_DENSE}]")

_NESTED = r"\[[^\[\]\n]*+\]"
for _ in range(4):
    _NESTED = rf"\[(?:[^\[\]\n]++|{_NESTED})*+\]"

# Obsidian's own alphabet of tags: everything but ASCII punctuation, general punctuation and spaces.
_TAG_CHAR = "[^\\s\\0!-,.:-@\\[-^`{-~\u2000-\u206f\u2e00-\u2e7f]"

# By the one character each thing begins with or has in its middle: a search for a single character passes over prose
# ten times faster than one for any of many, and most texts lack most of them. The group that matched names the thing.
_GATES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "\\",
        (
            ("own_wikilink", r"\\\[\\\[[^\[\]\n]+\]\]"),
            ("escape", r"\\[!-/:-@\[-`{-~]"),
            ("command", r"\\(?=\w)"),
        ),
    ),
    ("&", (("entity", r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"),)),
    ("#", (("tag", rf"#(?=[0-9]*+{_TAG_CHAR}){_TAG_CHAR}+"),)),
    ("^", (("footnote", rf"\^{_NESTED}"), ("block_id", r"\^[A-Za-z0-9-]+(?=[ \t]*$)"))),
    (
        "[",
        (
            ("bracket", rf"\[(?:[^\[\]\n]++|{_NESTED})*+\](?:\([^()\n]*\))?"),
            ("wikilink", r"\[\[[^\n]*"),
            ("opening", r"\[\w+"),
        ),
    ),
    (":", (("url", r":(?=//)"), ("word", rf"::?(?={_WORD})"))),
    ("@", (("word", r"@(?=\w)"),)),
    ("_", (("word", r"__*+(?=\w)"),)),
    (".", (("word", rf"\.(?={_WORD})"),)),
    ("/", (("path", r"/"),)),
    ("(", (("call", r"\((?<=[A-Za-z0-9_]\()"),)),
    ("=", (("word", r"=(?<=\w=)(?=[\w\"'./$-])"),)),
    (">", (("word", r">(?<=\w->)(?=\w)"),)),
    ("-", (("flag", rf"-(?<![\w-]-)-?[A-Za-z](?:{_WORD}|-)*+(?:=[^\s\0]*)?"),)),
    ("$", (("variable", r"\$(?:[A-Za-z_]\w*|\{[^{}\n]*\})"),)),
    ("%", (("variable", r"%[A-Za-z_]\w*%"),)),
    # What was made inert (`<` mark `a href=…>`, `#` mark `tag`) is to be had back as it was: no link in it.
    ("\u2060", (("inert", "\u2060(?:(?<=<\u2060)[^\\n<>]+>?|(?<=#\u2060)[^\\s]+)"),)),
)
_SEARCHES = tuple(
    (char, ("", *(name for name, _ in things)), re.compile("|".join(f"{p}()" for _, p in things), re.MULTILINE))
    for char, things in _GATES
)
_NESTING = frozenset({"bracket", "wikilink"})

_LEFT = re.compile(rf"(?:{_WORD}|[./\\:@#~$%+\-])*")
_LEFT_WIDE = re.compile(r"[\w./\\:@#~$%+\-]*")
_RIGHT = re.compile(rf"(?:{_WORD}|[./\\:@#?&=%+~$\-])*")
_RIGHT_WIDE = re.compile(r"[\w./\\:@#?&=%+~$\-]*")
_URL_TAIL = re.compile("[^\\s<>「」『』【】（）《》〈〉，。、；：！？“”‘’…]*")
_ARGUMENTS = re.compile(r"\([^()\n]{0,200}\)")
_ASCII_WORD = re.compile("[A-Za-z0-9]")
_EMAIL = re.compile(r"[^@/\\]+@[^@/\\]+\.\w+")
_PLAIN_PAIR = re.compile(r"\w[\w+\-]*/\w[\w+\-]*")

_FIELD = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[.\][ \t]+)?([^\s:\[\](){}\0][^:\n\[\](){}]*::(?=[ \t\0]|$)[^\n]*)",
    re.MULTILINE,
)
_ROUND_FIELD = re.compile(r"\([^()\[\]\n:]+::(?=[ \t])[^()\n]*\)?")
_DEFINITION = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(\[(?!\^)[^\[\]\n]+\]:[ \t]*\S+(?:[ \t]+(?:\"[^\n]*\"|'[^\n]*'|\([^\n]*\)))?)[ \t]*$",
    re.MULTILINE,
)
_QUOTE_START = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*>[ \t>]*")
_ITEM_START = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
_TASK_DATA = re.compile(
    "[\U0001f4c5\u23f3\U0001f6eb\u2705\u274c\u2795]\ufe0f?[ \t]*\\d{4}-\\d\\d-\\d\\d"
    "|\U0001f501\ufe0f?[ \t]*every\\b[^\n\0\U0001f4c5\u23f3\U0001f6eb\u2705\u274c\u2795\U0001f194\u26d4\U0001f3c1]*"
    "|[\U0001f194\u26d4\U0001f3c1]\ufe0f?[ \t]*[\\w,-]+"
    "|[\U0001f53a\u23eb\U0001f53c\U0001f53d\u23ec]\ufe0f?",
)
_DOUBLE_COLON = re.compile(r":(?=:)")
_BRACKETS = re.compile(r"\[[^\[\]\n]*\]")
_TASK_MARKS = "\U0001f4c5\u23f3\U0001f6eb\u2705\u274c\u2795\U0001f501\U0001f194\u26d4\U0001f3c1\U0001f53a\u23eb\U0001f53c\U0001f53d\u23ec"


def tokens(text: str) -> list[Raw]:
    """Tags, ids, brackets, fields, escapes, addresses, paths, identifiers and flags; in no order, may overlap.

    `own_wikilink` is the inert form of a chat's own link; `identifier` and `path` cover whole words.
    """
    out: list[Raw] = []
    if _DOUBLE_COLON.search(text):
        out += [(m.start(1), -m.end(1), "inline_field") for m in lines_with(text, "::", _FIELD)]
        out += [(m.start(), -m.end(), "inline_field") for m in _ROUND_FIELD.finditer(text)]
    if "]" in text and "]:" in text:
        out += [(m.start(1), -m.end(1), "reference") for m in lines_with(text, "]:", _DEFINITION)]
    if any(mark in text for mark in _TASK_MARKS):
        out += [(m.start(), -m.end(), "task_data") for m in _TASK_DATA.finditer(text)]
    words = _Words(text)
    add = out.append
    done = 0  # a token that was taken whole is not looked at again
    hits: list[tuple[int, int, str]] = []
    for char, names, pattern in _SEARCHES:
        if char in text:
            hits += [(m.start(), m.end(), names[m.lastindex or 0]) for m in pattern.finditer(text)]
    hits.sort()
    for start, end, name in hits:
        if start < done:
            if end > done and name in _NESTING:  # its first bracket was an escaped one
                out += [(m.start(), -m.end(), "bracket") for m in _BRACKETS.finditer(text, done, end)]
            continue
        if name in _MIDDLES:
            found, done = words.around(name, start, end, done)
            if found:
                add(found)
            continue
        place = _WHOLES[name](text, start, end)
        if place:
            add(place)
            if name != "opening":
                done = -place[1]
    return out


_MIDDLES = frozenset({"command", "url", "word", "path", "call"})


def lines_with(text: str, sign: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Matches of a pattern of whole lines, tried only on lines that hold its sign."""
    at = text.find(sign)
    while at >= 0:
        found = pattern.match(text, text.rfind("\n", 0, at) + 1)
        if found:
            yield found
        line = text.find("\n", at)
        at = text.find(sign, line) if line >= 0 else -1


class _Words:
    """The word around a character in its middle. Looking left is looking right in the reversed text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.size = len(text)
        self.back = ""

    def around(self, name: str, start: int, end: int, floor: int) -> tuple[Raw | None, int]:
        """The whole address, path or identifier that has `text[start:end]` in it, or None when it is prose.

        With it comes the offset up to which the text is settled, so that no word is looked at twice.
        """
        text, size = self.text, self.size
        before = text[start - 1] if start > floor else ""
        after = text[end] if end < size else ""
        if name == "word":
            gate = text[start]
            if gate in ".:" and before.isdigit() and after.isdigit():
                return None, floor  # 3.11 and 10:45 are numbers; a compound of one is not linked anyway
            if gate == "_" and not (before and (before.isalnum() or before in "./-")):
                return None, floor  # emphasis, or the underscore before a name: `_x_y` is met at its middle
        if not self.back:
            self.back = text[::-1]
        left = _LEFT_WIDE if before and _DENSE_CHAR.match(before) else _LEFT
        found = left.match(self.back, size - start, size - floor)
        assert found  # a star matches everywhere
        begin = size - found.end()
        if name == "url":
            tail = _URL_TAIL.match(text, end)
            assert tail
            stop = _trim(text, end, tail.end())
            return (begin, -stop, "url"), stop
        if name == "call":
            close = _ARGUMENTS.match(text, start)
            stop = close.end() if close else start
            return ((begin, -stop, "identifier"), stop) if begin < start else (None, floor)
        right = _RIGHT_WIDE if after and _DENSE_CHAR.match(after) else _RIGHT
        tail = right.match(text, end)
        assert tail
        stop = _trim(text, end, tail.end())
        if text.startswith("~~", begin):
            begin += 2
        if text.endswith("~~", begin, stop):
            stop -= 2
        if stop - begin > 2 and text[begin] == "_" == text[stop - 1] and text[begin + 1] != "_":
            begin, stop = begin + 1, stop - 1  # _Node.js_
        token = text[begin:stop]
        if token.startswith("www."):
            tail = _URL_TAIL.match(text, begin)
            assert tail
            stop = _trim(text, end, tail.end())
            return (begin, -stop, "url"), stop
        if "@" in token and _EMAIL.fullmatch(token):
            return (begin, -stop, "email"), stop
        if "/" in token or "\\" in token:
            if not token.strip("/") or _PLAIN_PAIR.fullmatch(token):
                return None, stop  # `a / b`, `and/or`, `client/server`
            if _DENSE_CHAR.search(token) and not _ASCII_WORD.search(token):
                return None, stop  # 读/写/改
            return (begin, -stop, "path"), stop
        if stop < size and text[stop] == "(":
            close = _ARGUMENTS.match(text, stop)
            stop = close.end() if close else stop
        return (begin, -stop, "identifier"), stop


def _trim(text: str, floor: int, end: int) -> int:
    """The end of an address without the punctuation of its sentence."""
    while end > floor and text[end - 1] in ".:?!,;-&='\"":
        end -= 1
    return end


def _bracket(text: str, start: int, end: int) -> Raw | None:
    line = max(0, start - 200, text.rfind("\n", max(0, start - 200), start) + 1)
    if text.startswith("[!", start) and _QUOTE_START.fullmatch(text, line, start):
        stop = text.find("\n", start)
        return (start, -(len(text) if stop < 0 else stop), "callout")
    inside = text[start + 1 : end]
    if text.startswith("[[", start):
        kind = "wikilink"
    elif inside.startswith("^"):
        kind = "footnote"
    elif inside.startswith("REDACTED:"):
        kind = "redacted"
    elif "::" in inside:
        kind = "inline_field"
    elif len(inside) == 2 and _ITEM_START.fullmatch(text, line, start):
        kind = "task"
    else:
        kind = "bracket"
    return (start, -end, kind)


def _tag(text: str, start: int, end: int) -> Raw | None:
    before = text[start - 1] if start else ""
    if before in {"#", "&"}:
        return None
    if before and (before.isalnum() or before == "_"):
        return None if _DENSE_CHAR.match(before) else (start, -end, "identifier")
    return (start, -end, "tag")


def _entity(text: str, start: int, end: int) -> Raw | None:
    name = text[start + 1 : end]
    return (start, -end, "entity") if name[0] == "#" or name in html5 else None


def _block_id(text: str, start: int, end: int) -> Raw | None:
    return (start, -end, "block_id") if not start or text[start - 1] in " \t\n>" else None


def _always(kind: str) -> Callable[[str, int, int], Raw | None]:
    return lambda _text, start, end: (start, -end, kind)


_WHOLES: dict[str, Callable[[str, int, int], Raw | None]] = {
    "own_wikilink": _always("own_wikilink"),
    "inert": _always("inert"),
    "escape": _always("escape"),
    "entity": _entity,
    "tag": _tag,
    "footnote": _always("footnote"),
    "block_id": _block_id,
    "bracket": _bracket,
    "wikilink": _always("wikilink"),
    "opening": _always("bracket"),
    "flag": _always("flag"),
    "variable": _always("identifier"),
}
