"""What pulldown-cmark (pyromark) knows of a text: CommonMark, GFM tables, footnotes, math, wikilinks.

The one owner of pyromark. It gives raw places `(start, -end, kind)` in code points; `markdown` puts them together with
what `obsidian_syntax` adds.
"""

from __future__ import annotations

import re

import pyromark
from pyromark.event import Range

from obsidian_import.obsidian_syntax import BLOCKS, Raw

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_WIKILINKS
)
_DEFINITION = re.compile(r"^[ \t>*+\-\d.)]*\[[^\[\]]+\]:", re.MULTILINE)
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_LINKS = {"Autolink": "url", "Email": "email"}


def commonmark(text: str) -> tuple[list[Raw], list[tuple[int, int]]]:
    """What pulldown-cmark knows to be no prose, and the tables it sees."""
    out: list[Raw] = []
    tables: list[tuple[int, int]] = []
    add = out.append
    skip = 0  # everything that starts before this offset is inside a place already taken
    block: Range = {"start": 0, "end": 0}
    html_block = block
    open_tags: dict[str, int] = {}
    data = text.encode()
    for event, span in pyromark.events_with_range(text, options=_OPTIONS, merge_text=True):
        if "Text" in event or "End" in event:
            continue
        start = span["start"]
        if start < skip or isinstance(event, str):
            continue
        end = span["end"]
        if "Start" in event:
            tag = event["Start"]
            if isinstance(tag, str):
                if tag == "TableHead":
                    kind = "table_head"
                elif tag == "HtmlBlock":
                    kind = "html_block"
                else:
                    if tag not in {"Emphasis", "Strong", "Strikethrough"}:
                        block = span
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
                    tables.append((start, end))
                elif "FootnoteDefinition" in tag:
                    add((start, -(data.find(b"]:", start) + 2), "footnote"))
                continue
        elif "Code" in event:
            kind = "code"
        elif "InlineMath" in event:
            if data[end : end + 1].isdigit():
                continue  # $5-$7 are prices
            kind = "math"
        elif "DisplayMath" in event:
            kind = "math_block"
        elif "InlineHtml" in event:
            kind = "html"
            if block is not html_block:
                _close_anchor(out, html_block, open_tags)
                open_tags, html_block = {}, block
            name = _TAG_NAME.match(event["InlineHtml"])
            if name:
                tag_name = name[2].lower()
                if not name[1]:
                    open_tags.setdefault(tag_name, start)
                elif tag_name in open_tags:
                    add((open_tags.pop(tag_name), -end, "html"))
        elif "FootnoteReference" in event:
            kind = "footnote"
        else:
            continue
        skip = end
        if kind in BLOCKS and data[end - 1] == 10:
            end -= 1
        add((start, -end, kind))
    _close_anchor(out, html_block, open_tags)
    if "]:" in text and _DEFINITION.search(text):
        for definition in pyromark.reference_definitions(text, options=_OPTIONS).values():
            add((definition["span"]["start"], -definition["span"]["end"], "reference"))
    if len(data) != len(text):
        return _to_code_points(data, out, tables)
    return out, tables


def _close_anchor(out: list[Raw], block: Range, open_tags: dict[str, int]) -> None:
    """An `<a>` that its block does not close holds all the rest of the block."""
    if "a" in open_tags:
        out.append((open_tags["a"], -max(block["end"], open_tags["a"]), "html"))


def _to_code_points(
    data: bytes, raw: list[Raw], tables: list[tuple[int, int]]
) -> tuple[list[Raw], list[tuple[int, int]]]:
    """Byte offsets become code-point offsets, each piece between two of them decoded once."""
    wanted = {offset for start, minus_end, _ in raw for offset in (start, -minus_end)}
    wanted.update(offset for table in tables for offset in table)
    points: dict[int, int] = {}
    at = count = 0
    for offset in sorted(wanted):
        count += len(data[at:offset].decode())
        at = offset
        points[offset] = count
    return (
        [(points[start], -points[-minus_end], kind) for start, minus_end, kind in raw],
        [(points[start], points[end]) for start, end in tables],
    )
