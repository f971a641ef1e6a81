"""HTML as chat products export it → Markdown: paragraphs, headings, lists, code, tables, links. No dependency, no state between calls."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

_BLOCKS: Final = frozenset(
    {"p", "div", "section", "article", "header", "footer", "figure", "dl", "dt", "dd", "details", "summary", "center"}
)
_SILENT: Final = frozenset({"script", "style", "head", "title", "noscript", "template"})
_INLINE: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
MAX_DEPTH: Final = 60
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,40})([^<>]*)>")
"""Not html.parser: on a few thousand unclosed `<a ` it needs minutes. This one is linear; a stray `<` is text."""
_ATTRIBUTE: Final = re.compile(r"""([A-Za-z_:][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


def to_markdown(html: str) -> str:
    """The Markdown of a piece of HTML; never raises (broken tags are closed, unknown ones dropped, their text kept)."""
    writer = _Writer()
    html, at = _without_comments(html), 0
    for found in _TAG.finditer(html):
        if found.start() > at:
            writer.text(unescape(html[at : found.start()]))
        at = found.end()
        tag = found[2].lower()
        if found[1]:
            writer.end(tag)
        else:
            writer.start(
                tag, {a[1].lower(): unescape(a[2] or a[3] or a[4] or "") for a in _ATTRIBUTE.finditer(found[3][:4000])}
            )
    writer.text(unescape(html[at:]))
    return writer.result()


class _Writer:
    def __init__(self) -> None:
        self._out: list[str] = []
        self._lists: list[list[int | None]] = []
        self._quotes = 0
        self._silent = 0
        self._pre = 0
        self._language = ""
        self._code: list[str] | None = None
        self._href: list[str] = []
        self._row: list[str] | None = None
        self._rows: list[list[str]] | None = None
        self._cell_from = 0

    # -- output

    def _prefix(self) -> str:
        return "> " * min(self._quotes, MAX_DEPTH) + _indent(self._lists[:-1])

    def _break(self, count: int = 2) -> None:
        """At least so many line ends, if anything stands before."""
        if self._row is not None:
            self._out.append(" ")
            return
        text = "".join(self._out[-6:])
        if not "".join(self._out[-200:]).strip():
            return
        have = len(text) - len(text.rstrip("\n"))
        self._out.append("\n" * max(0, count - have))

    def start(self, tag: str, values: dict[str, str]) -> None:
        """An opening tag and its attributes."""
        if tag in _SILENT:
            self._silent += 1
        elif tag == "br":
            self._out.append(" " if self._row is not None else "\n")
        elif tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self._break()
            self._out.append("#" * int(tag[1]) + " ")
        elif tag in {"ul", "ol"}:
            self._break(1 if self._lists else 2)
            self._lists.append([_number(values.get("start", "")) if tag == "ol" else None])
        elif tag == "li":
            self._item()
        elif tag == "blockquote":
            self._break()
            self._quotes += 1
        elif tag == "pre":
            self._break()
            self._pre += 1
            self._code, self._language = [], _language(values.get("class", ""))
        elif tag == "code":
            if self._pre:
                self._language = self._language or _language(values.get("class", ""))
            elif self._code is None:
                self._code = []
        elif tag == "a":
            self._href.append(values.get("href", ""))
            self._out.append("[")
        elif tag == "img":
            source = values.get("src", "")
            if source and not source.startswith("data:"):
                self._out.append(f"![{values.get('alt', '')}]({source})")
        elif tag == "hr":
            self._break()
            self._out.append("---")
            self._break()
        elif tag == "table":
            self._break()
            self._rows = []
        elif tag == "tr" and self._rows is not None:
            self._row = []
        elif tag in {"td", "th"} and self._row is not None:
            self._cell_from = len(self._out)
        elif tag in _INLINE and self._code is None:
            self._out.append(_INLINE[tag])
        elif tag in _BLOCKS:
            self._break()
        if values.get("data-math"):
            self._out.append(f"${values['data-math']}$")
            self._silent += tag not in {"br", "img", "hr"}
            self._math = tag

    _math = ""

    def end(self, tag: str) -> None:
        """A closing tag, whether or not it was opened."""
        if tag in _SILENT or (self._math and tag == self._math):
            self._silent = max(0, self._silent - 1)
            self._math = ""
        elif tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
            self._break(1 if self._lists else 2)
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
            self._break()
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._fence()
        elif tag == "code" and not self._pre and self._code is not None:
            text = "".join(self._code).replace("\n", " ")
            self._code = None
            run = "`" * (max((len(one) for one in re.findall(r"`+", text)), default=0) + 1)
            pad = " " if text.startswith("`") or text.endswith("`") else ""
            self._out.append(f"{run}{pad}{text}{pad}{run}" if text else "")
        elif tag == "a" and self._href:
            href = self._href.pop()
            self._out.append(f"]({href})" if re.match(r"https?://|mailto:", href) else "]()" if not href else "]")
        elif tag in {"td", "th"} and self._row is not None:
            cell = "".join(self._out[self._cell_from :])
            del self._out[self._cell_from :]
            self._row.append(" ".join(cell.split()).replace("|", "\\|"))
        elif tag == "tr" and self._row is not None:
            if self._rows is not None:
                self._rows.append(self._row)
            self._row = None
        elif tag == "table" and self._rows is not None:
            self._table()
        elif tag in _INLINE and self._code is None:
            self._out.append(_INLINE[tag])
        elif tag in _BLOCKS or tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self._break()

    def text(self, data: str) -> None:
        """Words between tags, entities resolved."""
        if self._silent:
            return
        if self._code is not None:
            self._code.append(data)
            return
        text = re.sub(r"[ \t\r\n]+", " ", data)
        before = "".join(self._out[-1:])
        if not before or before.endswith(("\n", " ")):
            text = text.lstrip(" ")
        if not text:
            return
        if self._quotes and (not before or before.endswith("\n")):
            self._out.append("> " * min(self._quotes, MAX_DEPTH))
        self._out.append(text)

    def _item(self) -> None:
        self._break(1)
        if not self._lists:
            self._out.append("- ")
            return
        number = self._lists[-1][0]
        marker = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1][0] = number + 1
        self._out.append(self._prefix() + marker)

    def _fence(self) -> None:
        text = "".join(self._code or []).strip("\n")
        self._code = None
        run = "`" * max(3, max((len(one) for one in re.findall(r"`+", text)), default=0) + 1)
        indent = _indent(self._lists)
        lines = [f"{run}{self._language}", *text.split("\n"), run]
        self._out.append("\n".join(indent + line for line in lines))
        self._language = ""
        self._break()

    def _table(self) -> None:
        rows, self._rows = self._rows or [], None
        width = max((len(row) for row in rows), default=0)
        if not width:
            return
        padded = [row + [""] * (width - len(row)) for row in rows[:2000]]
        lines = ["| " + " | ".join(row) + " |" for row in padded]
        lines.insert(1, "|" + " --- |" * width)
        self._out.append("\n".join(lines))
        self._break()

    def result(self) -> str:
        """What was written, with what is still open closed."""
        if self._pre:
            self._pre = 0
            self._fence()
        elif self._code is not None:
            self._out.append("".join(self._code))
        if self._rows is not None:
            if self._row is not None:
                self._rows.append(self._row)
                self._row = None
            self._table()
        text = "".join(self._out)
        text = re.sub(r"\[([^\[\]\n]*)\]\(\)", r"\1", text)
        return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n")


def _without_comments(html: str) -> str:
    """The text without comments and declarations: the parser looks for the end of each unclosed one anew."""
    kept, at = [], 0
    while (start := html.find("<!--", at)) >= 0:
        kept.append(html[at:start])
        end = html.find("-->", start + 4)
        if end < 0:
            at = start
            break
        at = end + 3
    return "".join([*kept, html[at:]]).replace("<!", "").replace("<?", "")


def _indent(lists: list[list[int | None]]) -> str:
    """Blanks that put a line inside the innermost of these open lists."""
    return "".join("   " if one[0] is not None else "  " for one in lists[:MAX_DEPTH])


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,6}", text) else 1


def _language(classes: str) -> str:
    found = re.search(r"(?:language-|lang-)([\w+#.-]{1,20})", classes)
    return found[1] if found else ""
