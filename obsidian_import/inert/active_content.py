"""What in a finished note could still act, for `check`: of our own notes and, read only, of any other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_import.inert.rules import (
    ACTIVE_LANGUAGES,
    ACTIVE_PREFIXES,
    HTML_ACTIVE,
    MARK,
    MEDIA_EMBED,
    REMOTE_IMAGE,
    UNSAFE,
)
from obsidian_import.inert.scan import Edit, Options, Scan


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a note that could act: line from 1, kind, and the words (cut)."""

    line: int
    kind: str
    what: str


# ------------------------------------------------------------------ what is still active


def active(note_text: str, options: Options | None = None) -> list[Finding]:
    """What in a finished note could still act, in order.

    Without `options` only what runs, loads, leads astray or swallows; with them also the chat's own tasks, tags, links, fields, footnotes,
    any HTML and any unknown fence language, as far as they are switched on.
    """
    found: list[tuple[int, str, str]] = []
    t = note_text
    found.extend((m.start(), "templater", t[m.start() : m.start() + 60]) for m in re.finditer("<%", t))
    for m in UNSAFE.finditer(t):
        if len(m[0]) == 1 and m[0] != MARK:
            found.append((m.start(), "unicode", f"U+{ord(m[0]):04X}"))  # noqa: PERF401
    begin = _body(t)
    body = t[begin:]
    edits = Scan(body, options or Options(tasks=False, tags=False, wikilinks=False, fields=False), detect=True).edits()
    percents = [e for e in edits if e.kind == "comment" and body[e.at : e.at + 1] == "%" and not e.guess]
    open_comment = percents[-1] if len(percents) % 2 else None
    for edit in edits:
        kind = _kind(body, edit, options is not None, open_comment)
        if kind:
            at = edit.at - 1 if edit.put == MARK else edit.at
            found.append((begin + edit.at, kind, body[max(0, at) : at + 60].partition("\n")[0].strip()))
    found.sort()
    return list(_with_lines(t, found))


def _body(t: str) -> int:
    """Where the text after the properties starts."""
    if not t.startswith(("---\n", "---\r\n", "\ufeff---\n", "\ufeff---\r\n")):
        return 0
    m = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE).search(t, 4)
    return m.end() if m else 0


def _kind(t: str, edit: Edit, strict: bool, open_comment: Edit | None) -> str:
    """The kind of finding an edit stands for; empty for none."""
    kind = edit.kind
    if kind in {"", "heading", "callout"}:
        return ""
    if kind == "fence-closed":
        return "fence"
    if strict or kind == "dataview":
        return kind
    if kind == "fence-language":
        word = t[edit.at : edit.at + 80].split(None, 1)[0].lower()
        known = word in ACTIVE_LANGUAGES or word == "mermaid" or word.startswith(ACTIVE_PREFIXES)
        return kind if known else ""
    if edit.guess:
        return ""
    if kind == "comment":
        if t[edit.at] == "%":
            return kind if edit is open_comment else ""
        return "" if t.find("-->", edit.at) >= 0 else kind
    if kind == "html":
        return kind if HTML_ACTIVE.match(t, edit.at - 1) else ""
    if kind == "embed":
        return "" if MEDIA_EMBED.match(t, edit.at - 1) else kind
    if kind == "image":
        return kind if REMOTE_IMAGE.match(t, edit.at - 1) else ""
    return kind if kind in {"math", "scheme"} else ""


def _with_lines(t: str, found: list[tuple[int, str, str]]) -> Iterator[Finding]:
    number, done = 1, 0
    for at, kind, what in found:
        number += t.count("\n", done, at)
        done = at
        yield Finding(number, kind, what)
