"""4 LINK: the text of a note + Lexicon → Edits, each with its evidence, and the near misses with their reasons.

Pure and order-independent: what is found depends on the note's own text, its path and the lexicon alone. Chats
are neither evidence nor targets, so linking one changes nothing for another.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from obsidian_import import markdown
from obsidian_import.addresses import fold_path, parse_link, render_link, stem
from obsidian_import.everyday import languages
from obsidian_import.judgement import WEIGHTS, HowSure, Judge, LinkSettings, Place, Verdict, Weights
from obsidian_import.lexicon import Claim, Lexicon
from obsidian_import.model import Edit, Link, NearMiss
from obsidian_import.notefacts import frontmatter, head
from obsidian_import.surfaces import Hit, is_cjk, key, longest, outside

__all__ = ["LinkSettings", "Linked", "Linker"]

_OWN: Final = re.compile(r"\\\[\\\[([^\[\]|\n]+?)(?:\\?\|([^\[\]|\n]*))?\]\]")
_PATH: Final = re.compile(r"(?<![\w/.\\~:@-])\w[\w.+-]*(?:/[\w.+-]+)+(?<![.+-])(?![/\w(=:])")
_SENTENCE_END: Final = frozenset('.!?:\n。！？：;•|>*-–—"“„«([')
_ITEM: Final = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])?[ \t]*(?:\[.\][ \t]+)?[*_~=\"“]*")
_TAIL: Final = re.compile(r"[*_~=\"”]*[ \t.,;:，。；：]*(?:\\|  )?")

_WORDS: Final = {
    "frontmatter": "in the properties",
    "fence": "inside a code block",
    "code": "inside code",
    "indented": "inside a code block",
    "math": "inside a formula",
    "comment": "inside a comment",
    "html": "inside HTML",
    "link": "inside a link",
    "wikilink": "inside a link",
    "image": "inside an image",
    "embed": "inside an embed",
    "url": "inside an address",
    "email": "inside an address",
    "path": "part of a path or identifier",
    "identifier": "part of a path or identifier",
    "heading": "in a heading",
    "tag": "inside a tag",
    "table": "in a table's head",
}


@dataclass(frozen=True, slots=True)
class Linked:
    """What was found in one note: links to make, in order, and what was left with the reason for it."""

    links: tuple[Link, ...] = ()
    misses: tuple[NearMiss, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """One region: where it starts in the note, its text, and the places in it."""

    start: int
    body: str
    places: markdown.Places


@dataclass(slots=True)
class _Page:
    """One note while it is read."""

    text: str
    path: str
    spoken: tuple[str, ...]
    off: frozenset[str]
    done: dict[str, str] = field(default_factory=dict)
    """folded target path → why it needs no further link."""
    links: list[Link] = field(default_factory=list)
    misses: dict[tuple[str, str], NearMiss] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)

    def line(self, offset: int) -> int:
        if not self.lines:
            self.lines = [found.start() for found in re.finditer("\n", self.text)]
        return bisect_right(self.lines, offset - 1) + 1

    def miss(self, near: NearMiss) -> None:
        self.misses.setdefault((key(near.text), near.target), near)


class Linker:
    """Links notes against one lexicon. Reusable for any number of notes; holds no state about them."""

    def __init__(self, lexicon: Lexicon, settings: HowSure | None = None, *, weights: Weights = WEIGHTS) -> None:
        self.lexicon = lexicon
        self.settings = settings or LinkSettings()
        self.judge = Judge(lexicon, self.settings, weights)

    @property
    def fingerprint(self) -> str:
        """Stable digest of everything that can change what `find` gives for a text: vault and settings."""
        s = self.settings
        told = (sorted(s.ignore), s.score, sorted(s.accepted), sorted(s.rejected), self.judge.weights)
        return f"{self.lexicon.fingerprint}-{_digest(repr(told))}"

    def find(
        self, text: str, path: str, regions: Sequence[tuple[int, int]] | None = None, *, suggest: bool = False
    ) -> Linked:
        """The links for a whole unlinked note that lies (or will lie) at `path`.

        `regions` are the parts where prose stands (default: `markdown.regions`). With `suggest` the misses also
        hold the stem-equal and fuzzy finds; that costs a second pass.
        """
        yaml, _ = frontmatter(text)
        said = head(yaml)
        off = frozenset(key(name) for name in said.get("off", ()))
        if "whole" in said or "*" in off or path.lower().endswith(".excalidraw.md"):
            return Linked()
        page = _Page(text, path, languages(text), off)
        parts = [
            _Part(start, text[start:end], markdown.places(text[start:end]))
            for start, end in (markdown.regions(text) if regions is None else regions)
        ]
        for part in parts:
            self._existing(page, part)
        for part in parts:
            for span in part.places.spans:
                if span.kind == "own_wikilink":
                    self._own(page, part, span)
        for part in parts:
            self._region(page, part)
        if suggest:
            self._suggest(page, parts)
        page.links.sort(key=lambda link: link.edit.start)
        return Linked(tuple(page.links), tuple(sorted(page.misses.values(), key=lambda miss: (miss.line, miss.text))))

    # ------------------------------------------------------------------------------------------- one region

    def _existing(self, page: _Page, part: _Part) -> None:
        """Links that already stand there count as the first mention of their note."""
        body = part.body
        if "](" not in body and "[[" not in body:
            return
        for span in part.places.spans:
            if body[span.start] != "[":
                continue
            link = parse_link(body[span.start : span.end])
            found = self.lexicon.index.resolve(link[0], page.path) if link else None
            if found:
                page.done.setdefault(fold_path(found), "already linked by hand")

    def _region(self, page: _Page, part: _Part) -> None:
        body = part.body
        hits = self.lexicon.matcher.find(body)
        spans = part.places.spans
        paths = self._paths(body)
        if paths:
            hits = sorted([*hits, *paths], key=lambda hit: (hit[0], -hit[1], -hit[2]))
        free = outside(hits, [(start, end, kind in markdown.WHOLE_NAMES) for start, end, kind in spans])
        for hit in longest(free):
            self._hit(page, part, hit)

    def _paths(self, body: str) -> list[Hit]:
        """`folder/note` in prose is that note, when the vault has exactly this path; index -1."""
        if "/" not in body:
            return []
        by_path = self.lexicon.index.by_path
        found: list[Hit] = []
        for words in _PATH.finditer(body):
            path = by_path.get(fold_path(words[0]).removesuffix(".md"))
            if path is not None and path.lower().endswith(".md"):
                found.append((words.start(), words.end(), -1))
        return found

    def _hit(self, page: _Page, part: _Part, hit: Hit) -> None:
        start, end, index = hit
        body = part.body
        text = body[start:end]
        offset = part.start + start
        if index < 0:
            path = self.lexicon.index.by_path[fold_path(text).removesuffix(".md")]
            verdict = self.judge.path(path, page.path)
        else:
            name = self.lexicon.keys[index]
            if name in page.off:
                page.miss(NearMiss(text, "", "this note does not want it linked", line=page.line(offset)))
                return
            verdict = self.judge.judge(name, text, page.path, place_of(body, start, end), page.spoken)
        claim, target = verdict.claim, verdict.target
        known = page.done.get(fold_path(target)) if target else None
        tier = claim.tier if claim else ""
        if known:
            page.miss(NearMiss(text, target, known, verdict.score, tier, page.line(offset)))
        elif not verdict.link or claim is None:
            page.miss(
                NearMiss(
                    text, target, verdict.reason, verdict.score, tier, page.line(offset), suggested=verdict.proposed
                )
            )
        else:
            self._link(page, offset, text, verdict, claim, table=part.places.in_table(start))

    def _link(self, page: _Page, offset: int, text: str, verdict: Verdict, claim: Claim, *, table: bool) -> None:
        address = self.lexicon.index.address(claim.path, page.path)
        new = None
        if not address.problem:
            where = text if self.lexicon.index.exact(text) == claim.path else address.text
            new = render_link(where, text, table=table, markdown=self.lexicon.settings.markdown_links)
        if new is None:
            reason = address.problem or "these words cannot stand in a link"
            page.miss(NearMiss(text, claim.path, reason, verdict.score, claim.tier, page.line(offset)))
            return
        edit = Edit(offset, offset + len(text), text, new, verdict.reason)
        page.links.append(Link(edit, claim.path, text, claim.tier, verdict.score, verdict.terms, page.line(offset)))
        page.done[fold_path(claim.path)] = "already linked above"

    # ------------------------------------------------------------------------------- the talk's own [[links]]

    def _own(self, page: _Page, part: _Part, span: markdown.Span) -> None:
        whole = part.body[span.start : span.end]
        found = _OWN.fullmatch(whole)
        if found is None or part.body[max(0, span.start - 1) : span.start] == "!":
            return
        written, shown = found[1], found[2]
        offset = part.start + span.start
        line = page.line(offset)
        target = self._named(written, page.path)
        if target is None:
            page.miss(NearMiss(whole, "", "the talk's own link names no single note", tier="own", line=line))
            return
        claims = [claim for claim in self.lexicon.names.get(key(stem(target)), ()) if claim.path == target]
        reason = claims[0].bar if claims else ""
        if fold_path(target) == fold_path(page.path):
            reason = "this note itself"
        elif self.judge.ignored(target):
            reason = "on your list of names never linked"
        elif key(stem(target)) in page.off:
            reason = "this note does not want it linked"
        reason = reason or page.done.get(fold_path(target), "")
        link = None
        if not reason:
            address = self.lexicon.index.address(target, page.path)
            reason = address.problem
            if not reason:
                markdown_links = self.lexicon.settings.markdown_links
                heading = "#" + written.split("#", 1)[1] if "#" in written and not markdown_links else ""
                link = render_link(
                    address.text + heading,
                    (shown or written).strip(),
                    table=part.places.in_table(span.start),
                    markdown=markdown_links,
                )
                reason = "" if link else "these words cannot stand in a link"
        if link is None:
            page.miss(NearMiss(whole, target, reason, tier="own", line=line))
            return
        edit = Edit(offset, offset + len(whole), whole, link, f"the talk's own link to {stem(target)}")
        page.links.append(Link(edit, target, whole, "own", 9.0, {"own link": 9.0}, line))
        page.done[fold_path(target)] = "already linked above"

    def _named(self, written: str, source: str) -> str | None:
        """The one note that `[[written]]` names: by file name or path, else by an alias only one note has."""
        found = self.lexicon.index.candidates(written, source)
        if found:
            return found[0] if len(found) == 1 and found[0].lower().endswith(".md") else None
        claim, _ = self.judge.target(key(written.split("#", 1)[0]), source)
        return claim.path if claim else None

    def _suggest(self, page: _Page, parts: Sequence[_Part]) -> None:
        """Filled in by the suggestion tiers."""


def _digest(text: str) -> str:
    import hashlib  # noqa: PLC0415  # rarely needed

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def place_of(body: str, start: int, end: int) -> Place:
    """How the words `body[start:end]` stand: sentence start, alone on the line, glued to CJK, in a shouted line."""
    before = start - 1
    while before >= 0 and body[before] in " \t*_~=":
        before -= 1
    first = before < 0 or body[before] in _SENTENCE_END
    left = body.rfind("\n", 0, start) + 1
    right = body.find("\n", end)
    right = len(body) if right < 0 else right
    alone = False
    if right - left < (end - start) + 24:
        alone = _ITEM.fullmatch(body, left, start) is not None and _TAIL.fullmatch(body, end, right) is not None
    glued = False
    if is_cjk(body[start]) or is_cjk(body[end - 1]):
        glued = (start > 0 and is_cjk(body[start - 1])) or (end < len(body) and is_cjk(body[end]))
    shouted = False
    if body[start:end].isupper() and not alone:
        rest = body[max(left, start - 60) : start] + body[end : min(right, end + 60)]
        letters = [c for c in rest if c.isalpha()]
        shouted = len(letters) >= 4 and sum(c.isupper() for c in letters) > 0.8 * len(letters)
    return Place(first, alone, glued, shouted)
