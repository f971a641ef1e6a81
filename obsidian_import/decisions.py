"""Decisions in log notes: a line each, with a date and a block id; which of them hold; adding one, marking one. Pure.

    - 2026-03-01 Use Postgres for the queue ^d-3f2a
    - 2026-04-10 Use Redis for the queue, supersedes: [[2026-03-01-queue#^d-3f2a]] ^d-91c0

The older line then ends in `(superseded by [[2026-04-10-decisions#^d-91c0]]) ^d-3f2a`: it stays where it was written and
can be read; it only no longer holds. Either end alone is enough, so a log written by hand may name just one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

HEADINGS = frozenset({"decisions", "decision", "key decisions", "decisions made"})

_ITEM = re.compile(r"(?P<indent>[ \t]*)[-*+] (?:\[.\] )?(?P<text>.*?)(?:[ \t]+\^(?P<id>[\w-]+))?[ \t]*\r?\Z")
_DATE = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)[ :–—-]*")
_SUPERSEDES = re.compile(
    r"[ ,;(—–-]*\bsupersedes:?[ \t]*(?P<links>\[\[[^\[\]]*#\^[\w-]+[^\[\]]*\]\](?:[, ]+\[\[[^\[\]]*#\^[\w-]+[^\[\]]*\]\])*)\)?",
    re.IGNORECASE,
)
_SUPERSEDED = re.compile(r"[ ,;—–-]*\(?\bsuperseded by:?[ \t]*\[\[[^\[\]]*\]\]\)?", re.IGNORECASE)
_LINK = re.compile(r"\[\[(?P<note>[^\[\]#|]*)#\^(?P<id>[\w-]+)(?:\|[^\[\]]*)?\]\]")
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*\r?\Z")
_FENCE = re.compile(r"[ \t]{0,3}(?P<run>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a log."""

    path: str
    """The log, relative to the vault."""
    line: int
    """From 1, in the whole file."""
    text: str
    """What was decided, without date, id and links to other decisions."""
    date: str = ""
    """YYYY-MM-DD; empty where the line has none."""
    id: str = ""
    supersedes: tuple[tuple[str, str], ...] = ()
    """(note as it is written in the link, block id)."""
    superseded: bool = False
    """The line itself says so, or is struck out."""


def lines_of(text: str) -> Iterator[tuple[int, str, str]]:
    """(number from 1, section, line) of a note's lines outside fences and properties; `section` is folded."""
    fence, section = "", ""
    lines = text.split("\n")
    start = 0
    if lines and lines[0].lstrip("\ufeff").rstrip() == "---":
        start = next((n + 1 for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    for number, line in enumerate(lines[start:], start + 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark["run"].startswith(fence) and not mark["info"].strip():
                fence = ""
            continue
        if mark:
            fence = mark["run"]
            continue
        heading = _HEADING.match(line)
        if heading:
            section = heading["text"].strip("*_ ").casefold()
        yield number, section, line


def read(path: str, text: str) -> list[Decision]:
    """The decisions of a log: items of its section Decisions, and any item whose block id begins with `d-`."""
    found = []
    for number, section, line in lines_of(text):
        item = _ITEM.match(line) if len(line) < 4000 else None
        if not item or not item["text"].strip():
            continue
        named = item["id"] or ""
        if not named.startswith("d-") and (section not in HEADINGS or len(item["indent"]) > 1):
            continue
        found.append(_decision(path, number, item["text"], named))
    return found


def _decision(path: str, line: int, text: str, named: str) -> Decision:
    links = tuple(
        (link["note"].strip(), link["id"])
        for hit in _SUPERSEDES.finditer(text)
        for link in _LINK.finditer(hit["links"])
    )
    gone = bool(_SUPERSEDED.search(text))
    words = _SUPERSEDES.sub("", _SUPERSEDED.sub("", text)).strip()
    if words.startswith("~~") and words.endswith("~~") and len(words) > 4:
        gone, words = True, words.strip("~").strip()
    dated = _DATE.match(words)
    return Decision(
        path,
        line,
        words[dated.end() :].strip() if dated else words,
        dated["date"] if dated else "",
        named,
        links,
        gone,
    )


# ------------------------------------------------------------------ which hold


def holding(decisions: Sequence[Decision]) -> list[Decision]:
    """Those that nothing supersedes. Where two supersede each other, the newer one holds."""
    gone = {n for n, d in enumerate(decisions) if d.superseded}
    edges: dict[int, set[int]] = {}
    newest = sorted(range(len(decisions)), key=lambda n: (decisions[n].date, n), reverse=True)
    for n in newest:
        for note, named in decisions[n].supersedes:
            target = _find(decisions, decisions[n], note, named)
            if target is None or target == n or _reaches(edges, target, n):
                continue
            edges.setdefault(n, set()).add(target)
            gone.add(target)
    return [d for n, d in enumerate(decisions) if n not in gone]


def find(decisions: Sequence[Decision], wanted: str) -> list[Decision]:
    """Those that a person means by `d-3f2a`, `3f2a`, `^d-3f2a` or `log#^d-3f2a`."""
    note, _, named = wanted.strip().removeprefix("[[").removesuffix("]]").rpartition("#")
    named = named.removeprefix("^")
    hits = [d for d in decisions if d.id and d.id in (named, f"d-{named}")]
    return [d for d in hits if _is(d.path, note)] if note else hits


def _find(decisions: Sequence[Decision], source: Decision, note: str, named: str) -> int | None:
    hits = [n for n, d in enumerate(decisions) if d.id == named]
    there = [n for n in hits if (_is(decisions[n].path, note) if note else decisions[n].path == source.path)]
    return there[0] if there else hits[0] if len(hits) == 1 else None


def _is(path: str, note: str) -> bool:
    here, there = path.removesuffix(".md").casefold(), note.removesuffix(".md").casefold()
    return here == there or here.endswith(f"/{there}")


def _reaches(edges: dict[int, set[int]], start: int, end: int) -> bool:
    todo, seen = [start], set()
    while todo:
        at = todo.pop()
        if at == end:
            return True
        if at not in seen:
            seen.add(at)
            todo += edges.get(at, ())
    return False


# ------------------------------------------------------------------ writing


def fresh_id(text: str, date: str, taken: Container[str]) -> str:
    """`d-` and at least four hex digits of the text, more where another decision has them."""
    number = hashlib.sha256(f"{date} {text}".encode("utf-8", "surrogatepass")).hexdigest()
    return next(f"d-{number[:size]}" for size in range(4, 65) if f"d-{number[:size]}" not in taken)


def line_of(date: str, text: str, named: str, older: Iterable[str]) -> str:
    """The line of a new decision; `older` are the links (`log#^d-3f2a`) to those that it supersedes."""
    links = ", ".join(f"[[{link}]]" for link in older)
    return f"- {date} {text}{f' — supersedes: {links}' if links else ''} ^{named}"


def with_line(text: str, line: str) -> str:
    """The log with one more decision: behind the last one of its section, else in a section of its own."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    at = after = None
    for number, section, held in lines_of(text):
        if _HEADING.match(held):
            if after is not None:
                break
            after = number if section in HEADINGS else None
            at = after
        elif after is not None and held.strip():
            at = number
    if at is not None:
        blank = ["\r" if newline == "\r\n" else ""] if at == after else []
        ended = newline == "\r\n" and at < len(lines)
        lines[at:at] = [*blank, line + ("\r" if ended else "")]
        return "\n".join(lines)
    tail = next(
        (
            n
            for n, section, held in lines_of(text)
            if _HEADING.match(held) and section in ("open items", "open", "next steps", "next", "links")
        ),
        None,
    )
    block = f"## Decisions{newline}{newline}{line}{newline}"
    if tail is not None:
        head = "\n".join(lines[: tail - 1])
        return f"{head}\n{block}{newline}" + "\n".join(lines[tail - 1 :])
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{block}"


def with_mark(text: str, line: int, link: str) -> str:
    """The log with one decision marked as superseded by `link` (`log#^d-91c0`); nothing else of the line changes."""
    lines = text.split("\n")
    held = lines[line - 1]
    found = re.search(r"[ \t]+\^[\w-]+[ \t]*\r?\Z", held)
    at = found.start() if found else len(held.rstrip())
    lines[line - 1] = f"{held[:at]} (superseded by [[{link}]]){held[at:]}"
    return "\n".join(lines)
