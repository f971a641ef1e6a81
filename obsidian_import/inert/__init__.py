"""Active content → harmless text, and back: nothing a chat says may run, load, link or swallow once it lies in a vault.

`prose` is for one message's Markdown, `code` for text that will stand inside a fence, `line` for one-line things (titles, property values,
file names). `restore` is the exact inverse of all three, for every text. `active` says what in a finished note could still act.

How it is done: nearly every change puts an invisible MARK (U+2060) between two characters that act only side by side, so a reader sees what
was said, in code as in prose, and a wrong guess about what is code costs nothing. Where Markdown's own escape is the better form, a MARK
before the backslash says that it is ours. One form carries no MARK because links are made of it again: `[[X]]` becomes `\\[\\[X]]`.
The rules, one by one, are in docs/inert.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from obsidian_import.inert.active_content import Finding, active
from obsidian_import.inert.rules import (
    ASCII,
    CONTROLS,
    MARK,
    PAD,
    RESTORE,
    STRANGE,
    UNSAFE,
    query,
)
from obsidian_import.inert.scan import DEFAULT, ESCAPE, Edit, Options, Scan

__all__ = ["Finding", "Inert", "Options", "active", "code", "line", "prose", "restore"]


@dataclass(frozen=True, slots=True)
class Inert:
    """A text that does nothing, and how many things of each kind were made so."""

    text: str
    counts: dict[str, int]


def prose(text: str, options: Options = DEFAULT) -> Inert:
    """One message's Markdown: reads as before, does nothing, and leaves nothing open at its end."""
    counts: dict[str, int] = {}
    t = _characters(text, counts)
    return Inert(_build(t, Scan(t, options).edits(), counts), counts)


def code(text: str, options: Options = DEFAULT) -> Inert:
    """Text that will stand inside a fence longer than any run in it."""
    counts: dict[str, int] = {}
    t = _characters(text, counts)
    m = query(options.queries).match(t)
    if m is not None:
        counts["dataview"] = 1
        t = t[: m.start(1)] + _mark(t[m.start(1)]) + t[m.start(1) :]
    return Inert(t, counts)


def line(text: str) -> Inert:
    """A title, property value or file name: one line, no backslashes, nothing active whatever stands around it."""
    counts: dict[str, int] = {}
    t = _characters(text, counts)
    for break_ in "\r\n":
        if break_ in t:
            counts["unicode"] = counts.get("unicode", 0) + t.count(break_)
            t = t.replace(break_, f"{ESCAPE}u{{{ord(break_):x}}}")
    return Inert(_build(t, Scan(t, DEFAULT, single=True).edits(), counts), counts)


def restore(text: str) -> str:
    """What `prose`, `code` or `line` was given. Of any other text: what is left without marks; never raises."""
    if MARK not in text and "\\[\\[" not in text:
        return text
    return RESTORE.sub(_unmark, text)


def _unmark(m: re.Match[str]) -> str:
    if m[1]:
        return MARK
    if m[2]:
        number = int(m[2], 16)
        return chr(number) if number < 0x110000 else ""
    return "[[" if m[3] else ""


# ------------------------------------------------------------------ characters


def _characters(t: str, counts: dict[str, int]) -> str:
    """What is done everywhere, in code too: N15, N1, doubling of the source's own MARK, and of the one form without a MARK."""
    raw = t.encode("utf-8", "surrogatepass")
    strange = "\r" in t or len(raw.translate(None, CONTROLS)) != len(raw)
    if not strange and len(raw) != len(t):
        # what is not ASCII is little, as a rule: look at that alone
        strange = STRANGE.search(raw.translate(None, ASCII).decode("utf-8", "surrogatepass")) is not None
    if strange:

        def visible(m: re.Match[str]) -> str:
            found = m[0]
            if len(found) > 1:
                return found
            if found == MARK:
                return MARK + MARK
            counts["unicode"] = counts.get("unicode", 0) + 1
            return f"{ESCAPE}u{{{ord(found):x}}}"

        t = UNSAFE.sub(visible, t)
    if "<%" in t:
        counts["templater"] = t.count("<%")
        t = t.replace("<%", f"<{MARK}%")
    if "\\[\\[" in t:
        t = re.sub(r"\\\[(?=\\\[)", rf"\\[{MARK}{PAD}", t)
    return t


def _mark(following: str) -> str:
    """A MARK that cannot be read together with what follows it."""
    return MARK + PAD if following in ("\\", MARK, PAD, "\n") else MARK


def _build(t: str, edits: list[Edit], counts: dict[str, int]) -> str:
    """The text with everything put in."""
    if not edits:
        return t
    parts: list[str] = []
    done, last = 0, len(edits) - 1
    for i, edit in enumerate(edits):
        if edit.kind:
            counts[edit.kind] = counts.get(edit.kind, 0) + 1
        put = edit.put
        if put == MARK:
            following = t[edit.at : edit.at + 1]
            if i < last and edits[i + 1].at == edit.at:
                if edits[i + 1].put == MARK:
                    continue
                following = edits[i + 1].put[0]
            put = _mark(following)
        parts.append(t[done : edit.at])
        parts.append(put)
        done = edit.at
    parts.append(t[done:])
    return "".join(parts)
