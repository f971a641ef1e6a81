"""Three-way merge of a note: the body by message, the properties by key, a line never lost.

`base` is what we generated last time, `wanted` what we generate now, `actual` what lies in the vault. A message is a
section that starts with a heading of ours and is known by the id in it; the text before the first one is a section
too. Whatever else stands in the person's file (own headings, notes between messages, copies) belongs to the section
above it. Lines are compared without the person's line ends and without trailing blanks that an editor trimmed.

| section | outcome |
|---|---|
| left alone by the person | the wanted text; gone, where wanted dropped it |
| left alone by us | the person's text |
| new in wanted | comes in behind the section that precedes it there |
| deleted, or retitled beyond recognition, by the person | stays away, even where wanted changed it |
| changed by the person, dropped by us | stays, whole |
| changed by both | line by line (`lines.merge`); a true overlap is a conflict, and the section keeps the person's text |

Where `conflicts` is not empty, the file is to stay as it is. Never diff-match-patch: it blends lines into text nobody
wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obsidian_import import properties
from obsidian_import.lines import merge_lines, trimmed_keys

__all__ = ["Merged", "merge"]

HEADING = re.compile(r"## (?P<who>[^·\n]+?)(?: · (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d))? · (?P<id>[0-9a-f]{4,16})")
BOM = "\ufeff"
START = ""
"""The id of the text before the first heading."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge gives."""

    text: str
    conflicts: tuple[str, ...] = ()
    """The heading of each section (`the start of the note` for what precedes them) that both sides changed."""
    left: tuple[str, ...] = ()
    """What could not be updated without a risk, though nothing is in conflict: a malformed properties block."""


def merge(base: str, wanted: str, actual: str) -> Merged:
    """The person's file with our changes from `base` to `wanted` in it. Linear in the size of the notes."""
    if actual in (base, wanted):
        return Merged(wanted)
    if base == wanted:
        return Merged(actual)
    return _merge(base, wanted, actual)


def _merge(base: str, wanted: str, actual: str) -> Merged:
    """The merge proper, without the short ways: the laws hold for it all the same."""
    base, wanted = (text.removeprefix(BOM).replace("\r\n", "\n") for text in (base, wanted))
    bom = BOM if actual.startswith(BOM) else ""
    text = actual.removeprefix(BOM)
    crlf = text.count("\r\n")
    all_crlf = bool(crlf) and crlf == text.count("\n")
    if all_crlf:  # one replacement there and one back keeps every byte, and LF is what we compare with
        text = text.replace("\r\n", "\n")
    eol = "\r\n" if not all_crlf and crlf * 2 > text.count("\n") else "\n"

    (b_block, b_body), (w_block, w_body), (a_block, a_body) = (_parts(t) for t in (base, wanted, text))
    block, left = _properties(b_block, w_block, a_block, eol)
    body, conflicts = _body(b_body, w_body, a_body, eol)
    if block and body and not block.endswith("\n"):
        block += eol
    result = block + body
    return Merged(bom + (result.replace("\n", "\r\n") if all_crlf else result), conflicts, left)


def _parts(text: str) -> tuple[str, str]:
    block = properties.split(text)
    # A person who broke the closing line made a "block" that reaches down into the messages: that is none.
    if block is None or any(HEADING.fullmatch(line) for line in text[: block.end].split("\n") if line[:3] == "## "):
        return "", text
    return text[: block.end], text[block.end :]


# ------------------------------------------------------------------ properties


def _properties(base: str, wanted: str, actual: str, eol: str) -> tuple[str, tuple[str, ...]]:
    """The person's block with our changed keys in it; their value wins where they changed one."""
    if wanted == base or (base and not actual):  # a block that a person took out stays out
        return actual, ()
    if _lf(actual) == base:
        return (wanted.replace("\n", eol), ()) if wanted else ("", ())
    why = properties.problem(actual)
    if why:
        return actual, (f"properties left alone: {why}",)
    updates = _updates(properties.read(base), properties.read(wanted), properties.read(actual))
    if not updates:
        return actual, ()
    try:
        return properties.set_keys(actual, updates), ()
    except properties.Refused as error:
        return actual, (f"properties left alone: {error}",)


def _updates(
    base: Mapping[str, object], wanted: Mapping[str, object], actual: Mapping[str, object]
) -> dict[str, object | None]:
    updates: dict[str, object | None] = {}
    for key in {**base, **wanted}:
        b, w, a = base.get(key), wanted.get(key), actual.get(key)
        if key in base and key in wanted and properties.equal(b, w):
            continue
        if key not in actual:
            if key not in base:  # else the person took it out
                updates[key] = w
        elif key in base and properties.equal(a, b):
            updates[key] = w
        elif isinstance(b, list) and isinstance(w, list):
            items = _items(key, b, w, _listed(key, a))
            if items is not None:
                updates[key] = items
    return updates


def _listed(key: str, value: object) -> list[object]:
    if isinstance(value, list):
        return value
    if isinstance(value, str) and key == "tags":
        return [tag for tag in re.split(r"[,\s]+", value) if tag]
    return [] if value is None else [value]


def _items(key: str, base: list[object], wanted: list[object], actual: list[object]) -> list[object] | None:
    """The person's list with what we took out gone and what we added there; None where that changes nothing."""

    def name(item: object) -> str:
        return str(item).lstrip("#").casefold() if key == "tags" else repr(item)

    old, new, have = ({name(item) for item in items} for items in (base, wanted, actual))
    kept = [item for item in actual if name(item) in new or name(item) not in old]
    fresh = [item for item in wanted if name(item) not in old and name(item) not in have]
    return kept + fresh if fresh or len(kept) != len(actual) else None


# ------------------------------------------------------------------ body


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with all that follows it. The gap is its line end and the blank lines behind it, which belongs to nobody."""

    content: str
    gap: str

    @property
    def name(self) -> str:
        first = self.content.partition("\n")[0].rstrip(" \t\r")
        return first if HEADING.fullmatch(first) else "the start of the note"


def _body(base: str, wanted: str, actual: str, eol: str) -> tuple[str, tuple[str, ...]]:
    b = _sections(base, _anchors(base))
    w = _renamed(_sections(wanted, _anchors(wanted)), b)
    a = _sections(actual, _anchors(actual, {key: _contents(key, b, w) for key in {**b, **w}}))

    conflicts: list[str] = []
    result: dict[str, _Section] = {}
    for key in a:
        section, clean = _section(b.get(key), w.get(key), a[key], eol)
        if not clean:
            conflicts.append(a[key].name)
        if section is not None:
            result[key] = section
    for key in w:
        if key not in b and key not in a:
            result[key] = _Section(w[key].content.replace("\n", eol), w[key].gap.replace("\n", eol))

    shared = [key for key in a if key in b and key in w]
    ours_moved = [key for key in b if key in a and key in w] != [key for key in w if key in a and key in b]
    theirs_moved = shared != [key for key in b if key in a and key in w]
    order = _weave(list(w), list(a)) if ours_moved and not theirs_moved else _weave(list(a), list(w))
    inner = set(list(a)[:-1])
    sections = [(result[key], key in inner and result[key].gap == a[key].gap) for key in order if key in result]
    return _joined(sections, eol), tuple(conflicts)


def _section(
    base: _Section | None, wanted: _Section | None, actual: _Section, eol: str
) -> tuple[_Section | None, bool]:
    """One section of the person's file, merged (None: gone), and whether that went without a conflict."""
    if base is None:  # here by a way we do not know (another machine's run): as good as the person's
        return actual, True
    alone = _same(base.content, actual.content)
    if wanted is None:
        return (None if alone else actual), True
    gap = _gap(base.gap, wanted.gap, actual.gap, eol)
    if wanted.content == base.content:
        return _Section(actual.content, gap), True
    if alone:
        return _Section(wanted.content.replace("\n", eol), gap), True
    if _holds(_lf(actual.content), wanted.content) and not _holds(base.content, wanted.content):
        return _Section(actual.content, gap), True  # merged before, on another machine
    content = merge_lines(base.content, wanted.content, actual.content, eol)
    if content is None:
        return actual, False
    return _Section(content, gap), True


def _holds(text: str, lines: str) -> bool:
    return f"\n{lines}\n" in f"\n{text}\n"


def _same(base: str, actual: str) -> bool:
    """Whether the person's text is ours, apart from line ends and trailing blanks that an editor trimmed."""
    if base == actual:
        return True
    if base.count("\n") != actual.count("\n"):
        return False
    lines = base.split("\n")
    return lines == trimmed_keys(lines, actual.split("\n"))


def _gap(base: str, wanted: str, actual: str, eol: str) -> str:
    if wanted == base:
        return actual
    if _lf(actual) == base or wanted.count("\n") > actual.count("\n"):
        return wanted.replace("\n", eol)
    return actual


def _joined(sections: Sequence[tuple[_Section, bool]], eol: str) -> str:
    """The body. What was a last section may have others behind it now, and they need a blank line between them.

    True with a section: the person's own file has a section right behind this gap, so it is as they like it.
    """
    parts: list[str] = []
    last = len(sections) - 1
    for number, (section, own) in enumerate(sections):
        narrow = number < last and section.content and not own and section.gap.count("\n") < 2
        parts += (section.content, eol * 2 if narrow else section.gap)
    return "".join(parts)


def _weave(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """`first` with what only `second` has, each behind the one that precedes it there."""
    known = set(first)
    behind: dict[str, list[str]] = {}
    anchor = START
    for key in second:
        if key in known:
            anchor = key
        else:
            behind.setdefault(anchor, []).append(key)
    return [key for one in first for key in (one, *behind.get(one, ()))]


# ------------------------------------------------------------------ where sections start

_MARK = re.compile(r"^(?:## [^\n]*|(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*))$", re.MULTILINE)


def _anchors(text: str, known: Mapping[str, Sequence[str]] | None = None) -> list[tuple[str, int]]:
    """The id and the offset of each heading of ours that is none inside a fence, in order; each id once.

    With `known` (for the person's file: texts of ours by id) only its ids count; of several copies the one with the text we generated, else
    the first; and a known id that stands nowhere else is found inside a fence too: a fence that a person left open
    must not swallow the messages below it.
    """
    found: dict[str, list[int]] = {}
    fenced: dict[str, list[int]] = {}
    fence = ""
    for mark in _MARK.finditer(text):
        run = mark["fence"]
        if run is None:
            heading = HEADING.fullmatch(mark[0].rstrip(" \t\r"))
            if heading and (known is None or heading["id"] in known):
                (fenced if fence else found).setdefault(heading["id"], []).append(mark.start())
        elif not fence:
            if run[0] == "~" or "`" not in mark["info"]:
                fence = run
        elif run[0] == fence[0] and len(run) >= len(fence) and not mark["info"].strip():
            fence = ""
    if known is not None:
        found.update((key, places) for key, places in fenced.items() if key not in found)
    chosen = (
        (key, places[0] if len(places) == 1 or known is None else _original(text, places, known[key]))
        for key, places in found.items()
    )
    return sorted(chosen, key=lambda anchor: anchor[1])


def _original(text: str, places: Sequence[int], contents: Sequence[str]) -> int:
    """Of copies of a message the one whose next lines are ours, as they were or as they are now."""
    return next((at for at in places if any(text.startswith(content, at) for content in contents)), places[0])


def _contents(key: str, *sides: Mapping[str, _Section]) -> list[str]:
    return [side[key].content for side in sides if key in side]


_BLANKS = re.compile(r"(?:[ \t]|\r(?!\n))*")


def _sections(text: str, anchors: Sequence[tuple[str, int]]) -> dict[str, _Section]:
    result: dict[str, _Section] = {}
    ends = [at for _, at in anchors] + [len(text)]
    for (key, start), end in zip([(START, 0), *anchors], ends, strict=True):
        stop = start + len(text[start:end].rstrip(" \t\r\n"))
        if stop > start:  # trailing blanks belong to their line, not to the gap
            blanks = _BLANKS.match(text, stop, end)
            stop = blanks.end() if blanks else stop
        result[key] = _Section(text[start:stop], text[stop:end])
    return result


def _renamed(wanted: dict[str, _Section], base: Mapping[str, _Section]) -> dict[str, _Section]:
    """`wanted` under the ids of `base` where an id only became longer (a message came whose id begins alike)."""
    fresh = [key for key in wanted if key not in base]
    if not fresh:
        return wanted
    names: dict[str, str] = {}
    for old in base:
        if old and old not in wanted:
            longer = [key for key in fresh if key.startswith(old) and key not in names]
            if len(longer) == 1:
                names[longer[0]] = old
    return {names.get(key, key): section for key, section in wanted.items()} if names else wanted


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")
