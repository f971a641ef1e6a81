"""What pulldown-cmark (pyromark) knows of a text: CommonMark, GFM tables, footnotes, math, wikilinks.

The one owner of pyromark. It gives raw places `(start, -end, kind)` in code points; `markdown` puts them together with
what `obsidian_syntax` adds.
"""

from __future__ import annotations

import re

import pyromark
from pyromark.event import Range

from obsidian_import.markdown.obsidian_syntax import BLOCKS, Raw

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_WIKILINKS
)
_DEFINITION = re.compile(r"^[ \t>*+\-\d.)]*\[[^\[\]]+\]:", re.MULTILINE)
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_INLINE = frozenset({"Emphasis", "Strong", "Strikethrough"})
_DIGITS = b"0123456789"
_NUMBER = re.compile(rb"\d{1,9}[.)]")
_LINKS = {"Autolink": "url", "Email": "email"}


def commonmark(text: str) -> tuple[list[Raw], list[tuple[int, int]]]:
    """What pulldown-cmark knows to be no prose, and the tables it sees."""
    data = text.encode()
    out: list[Raw] = []
    late: list[Raw] = []  # what is known only at its end, out of order
    tables: list[tuple[int, int]] = []
    add = out.append
    skip = 0  # everything that starts before this offset is inside a place already taken
    block: Range = {"start": 0, "end": 0}
    html_block = block
    open_tags: dict[str, int] = {}
    for event, span in pyromark.events_with_range(text, options=_OPTIONS, merge_text=True):
        if "Text" in event or "End" in event or isinstance(event, str):
            continue
        if "Start" in event:
            tag = event["Start"]
            if isinstance(tag, str):
                if tag == "TableHead":
                    kind = "table_head"
                elif tag == "HtmlBlock":
                    kind = "html_comment" if data.startswith(b"<!--", span["start"]) else "html_block"
                elif tag == "Item" and data[span["start"]] in _DIGITS:
                    block = span
                    number = _NUMBER.match(data, span["start"])
                    if number and number.start() >= skip:
                        add((number.start(), -number.end(), "list_marker"))
                    continue
                else:
                    if tag not in _INLINE:
                        block = span
                    continue
            elif "List" in tag or "BlockQuote" in tag:
                continue
            elif "Heading" in tag:
                kind = "heading"
            elif "CodeBlock" in tag:
                kind = "indented_code" if tag["CodeBlock"] == "Indented" else "fence"
            elif "Link" in tag:
                link = tag["Link"]["link_type"]
                kind = _LINKS.get(link, "link") if isinstance(link, str) else "wikilink"
            elif "Image" in tag:
                kind = "embed" if isinstance(tag["Image"]["link_type"], dict) else "image"
            else:
                if "Table" in tag:
                    tables.append((span["start"], span["end"]))
                elif "FootnoteDefinition" in tag:
                    late.append((span["start"], -(data.find(b"]:", span["start"]) + 2), "footnote"))
                continue
        elif "Code" in event:
            kind = "code"
        elif "InlineMath" in event:
            if data[span["end"] : span["end"] + 1].isdigit():
                continue  # $5-$7 are prices
            kind = "math"
        elif "DisplayMath" in event:
            kind = "math_block"
        elif "InlineHtml" in event:
            kind = "html_comment" if data.startswith(b"<!--", span["start"]) else "html"
            if span["start"] >= skip:
                if block is not html_block:
                    _close_anchor(late, html_block, open_tags)
                    open_tags, html_block = {}, block
                name = _TAG_NAME.match(event["InlineHtml"])
                if name:
                    tag_name = name[2].lower()
                    if not name[1]:
                        open_tags.setdefault(tag_name, span["start"])
                    elif tag_name in open_tags:
                        late.append((open_tags.pop(tag_name), -span["end"], "html"))
        elif "FootnoteReference" in event:
            kind = "footnote"
        else:
            continue
        start = span["start"]
        if start < skip:
            continue
        skip = end = span["end"]
        if kind in BLOCKS and data[end - 1] == 10:
            end -= 1
        add((start, -end, kind))
    _close_anchor(late, html_block, open_tags)
    if b"]:" in data and _DEFINITION.search(text):
        defined = pyromark.reference_definitions(text, options=_OPTIONS).values()
        late += [(d["span"]["start"], -d["span"]["end"], "reference") for d in defined]
    if len(data) == len(text):
        return out + late, tables
    points = _out_of_order(data, [(start, -end, "") for start, end in tables])
    return _in_order(data, out) + _out_of_order(data, late), [(start, -minus_end) for start, minus_end, _ in points]


def _close_anchor(late: list[Raw], block: Range, open_tags: dict[str, int]) -> None:
    """An `<a>` that its block does not close holds all the rest of the block."""
    if "a" in open_tags:
        late.append((open_tags["a"], -max(block["end"], open_tags["a"]), "html"))


def _in_order(data: bytes, raw: list[Raw]) -> list[Raw]:
    """Byte offsets of sorted, disjoint places become code-point offsets, each piece between two of them decoded once."""
    out: list[Raw] = []
    at = count = 0
    for start, minus_end, kind in raw:
        first = count + len(data[at:start].decode())
        count = first + len(data[start:-minus_end].decode())
        at = -minus_end
        out.append((first, -count, kind))
    return out


def _out_of_order(data: bytes, raw: list[Raw]) -> list[Raw]:
    """The same for a few places in any order."""
    if not raw:
        return []
    points: dict[int, int] = {}
    at = count = 0
    for offset in sorted({offset for start, minus_end, _ in raw for offset in (start, -minus_end)}):
        count += len(data[at:offset].decode())
        at = offset
        points[offset] = count
    return [(points[start], -points[-minus_end], kind) for start, minus_end, kind in raw]
