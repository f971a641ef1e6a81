"""4 LINK: the text of a note + Lexicon → Edits, each with its evidence, and the near misses with their reasons.

Pure and order-independent: what is found depends on the note's own text, its path and the lexicon alone. Chats
are neither evidence nor targets, so linking one changes nothing for another.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from obsidian_import import markdown
from obsidian_import.judgement import WEIGHTS, HowSure, Judge, LinkSettings, Place, Verdict, Weights, pairs
from obsidian_import.lexicon import Claim, Lexicon, derived
from obsidian_import.model import Edit, Link, NearMiss
from obsidian_import.names.addresses import bare, fold_path, parse_link, render_link, stem
from obsidian_import.names.everyday import languages
from obsidian_import.names.surfaces import Hit, is_cjk, key, longest
from obsidian_import.notefacts import frontmatter, head
from obsidian_import.suggestions import Suggester, repair

__all__ = ["LinkSettings", "Linked", "Linker", "repair", "resolve"]

_OWN: Final = re.compile(r"\\\[\\\[([^\[\]|\n]+?)(?:\\?\|([^\[\]|\n]*))?\]\]")
_PATH: Final = re.compile(r"(?<![\w/.\\~:@-])\w[\w.+-]*(?:/[\w.+-]+)+(?<![.+-])(?![/\w(=:])")
_LIGHT: Final = frozenset(" \t*_~=")
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
    "inert": "inside something that was made inert",
}


class Linked:
    """What was found in one note: links to make, in order, and what was left with the reason for it.

    The misses are worked out when they are first asked for: an import does not need them.
    """

    __slots__ = ("_later", "_misses", "links")

    def __init__(self, links: Sequence[Link] = (), later: Callable[[], Sequence[NearMiss]] | None = None) -> None:
        self.links = tuple(links)
        self._later = later
        self._misses: tuple[NearMiss, ...] | None = None if later else ()

    @property
    def misses(self) -> tuple[NearMiss, ...]:
        """Places where a link was thought of and declined, by line; one per name and reason."""
        if self._misses is None:
            assert self._later is not None
            self._misses = tuple(self._later())
        return self._misses

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The links as edits of the unlinked text."""
        return tuple(link.edit for link in self.links)

    def __repr__(self) -> str:
        return f"Linked({self.links!r})"


class _Part:
    """One region: where it starts in the note, its text, and the places in it (found when a name stands in it)."""

    def __init__(self, start: int, body: str) -> None:
        self.start = start
        self.body = body

    @cached_property
    def places(self) -> markdown.Places:
        """Where no link may go. Most messages name no note, and are never parsed."""
        return markdown.places(self.body)


@dataclass
class _Page:
    """One note while it is read."""

    text: str
    path: str
    off: frozenset[str]
    own: frozenset[str] = frozenset()
    """Names of this note itself (a chat's or log's own name is nobody's target anyway)."""
    done: dict[str, str] = field(default_factory=dict)
    """target path → why it needs no further link."""
    links: list[Link] = field(default_factory=list)
    misses: list[NearMiss] | None = None
    """None: nobody asks for them."""
    settled: set[int] = field(default_factory=set)
    """Names (by index) that need no second look in this note."""
    missed: set[int] = field(default_factory=set)
    lines: list[int] = field(default_factory=list)

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The languages of the note: asked for when a word is weighed."""
        return languages(self.text)

    def line(self, offset: int) -> int:
        if not self.lines:
            self.lines = [found.start() for found in re.finditer("\n", self.text)]
        return bisect_right(self.lines, offset - 1) + 1

    def miss(self, near: NearMiss) -> None:
        if self.misses is not None:
            self.misses.append(near)


class Linker:
    """Links notes against one lexicon. Reusable for any number of notes; holds no state about them."""

    def __init__(self, lexicon: Lexicon, settings: HowSure | None = None, *, weights: Weights = WEIGHTS) -> None:
        self.settings = settings or LinkSettings()
        self.lexicon = lexicon.with_names(pairs(self.settings.accepted))
        self.judge = Judge(self.lexicon, self.settings, weights)
        self._spelled: dict[tuple[str, str, bool], tuple[str | None, str]] = {}

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
        bounds = tuple(markdown.regions(text) if regions is None else regions)
        parts = [_Part(start, text[start:end]) for start, end in bounds]
        own: frozenset[str] = frozenset()
        if "import_id" not in said and fold_path(bare(path)) in self.lexicon.index.by_path:
            name = key(stem(path))
            own = frozenset((name, *derived(name), *map(key, said.get("aliases", ()))))
        page = self._read(_Page(text, path, off, own), parts)

        def misses() -> list[NearMiss]:
            again = self._read(_Page(text, path, off, own, misses=[]), parts)
            found = again.misses or []
            if suggest:
                found += self._suggest(again, parts)
            return sorted(found, key=_by_line)

        return Linked(page.links, misses)

    def _read(self, page: _Page, parts: Sequence[_Part]) -> _Page:
        for part in parts:
            self._existing(page, part)
        for part in parts:
            for span in part.places.spans if "\\[\\[" in part.body else ():
                if span.kind == "own_wikilink":
                    self._own(page, part, span)
        for part in parts:
            self._region(page, part)
        page.links.sort(key=lambda link: link.edit.start)
        return page

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
                page.done.setdefault(found, "already linked by hand")

    def _region(self, page: _Page, part: _Part) -> None:
        body = part.body
        hits = self.lexicon.matcher.find(body)
        paths = self._paths(body)
        if not hits and not paths:
            return
        spans = part.places.spans
        if paths:
            # A whole path comes before a name of the same extent.
            hits = sorted([*hits, *paths])
        open_kinds = markdown.WHOLE_NAMES
        settled = page.settled
        for hit in longest(hits, [(start, end, kind in open_kinds) for start, end, kind in spans]):
            if hit[2] not in settled:
                self._hit(page, part, hit)

    def _paths(self, body: str) -> list[Hit]:
        """`folder/note` in prose is that note, when the vault has exactly this path; index -1."""
        found: list[Hit] = []
        at = body.find("/")
        while at >= 0:
            begin = at
            while begin > 0 and (body[begin - 1].isalnum() or body[begin - 1] in "_.+-"):
                begin -= 1
            words = _PATH.match(body, begin)
            if words is None or words.end() <= at:
                at = body.find("/", at + 1)
                continue
            path = self.lexicon.index.by_path.get(fold_path(words[0]).removesuffix(".md"))
            if path is not None and path[-3:].lower() == ".md":
                found.append((words.start(), -words.end(), -1))
            at = body.find("/", words.end())
        return found

    def _hit(self, page: _Page, part: _Part, hit: tuple[int, int, int]) -> None:
        start, end, index = hit
        body = part.body
        text = body[start:end]
        if index < 0:
            path = self.lexicon.index.by_path[fold_path(text).removesuffix(".md")]
            verdict = self.judge.path(path, page.path)
        else:
            name = self.lexicon.keys[index]
            if page.own and name in page.own and any(claim.path == page.path for claim in self.lexicon.names[name]):
                verdict = Verdict("", None, link=False, reason="this note itself", final=True)
            elif page.off and name in page.off:
                verdict = Verdict("", None, link=False, reason="this note does not want it linked")
            else:
                verdict = self.judge.judge(name, text, page.path, place_of(body, start, end), page.spoken)
        known = page.done.get(verdict.target)
        if known is None and verdict.link and verdict.claim is not None:
            self._link(page, part, hit, verdict, verdict.claim)
            return
        if known or verdict.final:
            page.settled.add(index)
        if page.misses is None:
            return
        if index >= 0 and index in page.missed and not known:
            return
        page.missed.add(index)
        page.misses.append(
            NearMiss(
                text,
                verdict.target,
                known or verdict.reason,
                verdict.score,
                verdict.claim.tier if verdict.claim else "",
                page.line(part.start + start),
                suggested=verdict.proposed and not known,
            )
        )

    def _link(self, page: _Page, part: _Part, hit: tuple[int, int, int], verdict: Verdict, claim: Claim) -> None:
        start, end, _ = hit
        text = part.body[start:end]
        offset = part.start + start
        index = self.lexicon.index
        table = part.places.in_table(start)
        fixed = index.settings.link_format != "relative"
        known = (text, claim.path, table)
        spelled = self._spelled.get(known) if fixed else None
        if spelled is None:
            address = index.address(claim.path, page.path)
            new = None
            if not address.problem:
                where = text if index.exact(text) == claim.path else address.text
                new = render_link(where, text, table=table, markdown=index.settings.markdown_links)
            spelled = new, "" if new else address.problem or "these words cannot stand in a link"
            if fixed:
                self._spelled[known] = spelled
        new, problem = spelled
        if new is None:
            page.settled.add(hit[2])
            page.miss(NearMiss(text, claim.path, problem, verdict.score, claim.tier, page.line(offset)))
            return
        edit = Edit(offset, offset + len(text), text, new, verdict.reason)
        page.links.append(Link(edit, claim.path, text, claim.tier, verdict.score, verdict.terms, page.line(offset)))
        page.done[claim.path] = "already linked above"

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
        reason = reason or page.done.get(target, "")
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
        page.done[target] = "already linked above"

    def _named(self, written: str, source: str) -> str | None:
        """The one note that `[[written]]` names: by file name or path, else by an alias only one note has."""
        found = self.lexicon.index.candidates(written, source)
        if found:
            return found[0] if len(found) == 1 and found[0].lower().endswith(".md") else None
        claim, _ = self.judge.target(key(written.split("#", 1)[0]), source)
        return claim.path if claim else None

    def _suggest(self, page: _Page, parts: Sequence[_Part]) -> list[NearMiss]:
        """The stem-equal and fuzzy finds whose note is not linked yet, first of each note."""
        found: list[NearMiss] = []
        told = {miss.target for miss in page.misses or () if miss.suggested}
        for part in parts:
            spans = [(start, end, False) for start, end, _ in part.places.spans]
            for near in self._suggester.find(part.body, _Free(spans)):
                verdict = self.judge.near(
                    near.name, part.body[near.start : near.end], page.path, page.spoken, near.tier
                )
                if not verdict.proposed or verdict.target in page.done or verdict.target in told:
                    continue
                told.add(verdict.target)
                found.append(
                    NearMiss(
                        part.body[near.start : near.end],
                        verdict.target,
                        verdict.reason,
                        verdict.score,
                        near.tier,
                        page.line(part.start + near.start),
                        suggested=True,
                    )
                )
        return found

    @cached_property
    def _suggester(self) -> Suggester:
        return Suggester(self.lexicon, threshold=self.settings.threshold, jaccard=self.settings.jaccard)


class _Free:
    """Whether a stretch touches none of the spans."""

    def __init__(self, spans: Sequence[tuple[int, int, bool]]) -> None:
        self._starts = [span[0] for span in spans]
        self._spans = spans

    def __call__(self, start: int, end: int) -> bool:
        at = bisect_right(self._starts, start) - 1
        if at >= 0 and self._spans[at][1] > start:
            return False
        return at + 1 >= len(self._spans) or self._starts[at + 1] >= end


def resolve(link: str, source: str, lexicon: Lexicon) -> str | None:
    """The file that the text between `[[` and `]]` means in the note `source`; None: no file, or not one alone."""
    return lexicon.index.resolve(link, source)


def _by_line(miss: NearMiss) -> tuple[int, str, str]:
    return miss.line, miss.text, miss.target


def _digest(text: str) -> str:
    import hashlib  # noqa: PLC0415  # rarely needed

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def place_of(body: str, start: int, end: int) -> Place:
    """How the words `body[start:end]` stand: sentence start, alone on the line, glued to CJK, in a shouted line."""
    before = start - 1
    while before >= 0 and body[before] in _LIGHT:
        before -= 1
    first = before < 0 or body[before] in _SENTENCE_END
    alone = shouted = glued = False
    if first:
        left = body.rfind("\n", 0, start) + 1
        right = body.find("\n", end)
        right = len(body) if right < 0 else right
        if right - left < (end - start) + 24:
            alone = _ITEM.fullmatch(body, left, start) is not None and _TAIL.fullmatch(body, end, right) is not None
    if body[start] > "\u10ff" or body[end - 1] > "\u10ff":
        glued = (start > 0 and is_cjk(body[start - 1]) and is_cjk(body[start])) or (
            end < len(body) and is_cjk(body[end]) and is_cjk(body[end - 1])
        )
    if not alone and body[start].isupper() and body[start:end].isupper():
        left = max(body.rfind("\n", 0, start) + 1, start - 60)
        right = body.find("\n", end, end + 60)
        rest = body[left:start] + body[end : end + 60 if right < 0 else right]
        letters = [c for c in rest if c.isalpha()]
        shouted = len(letters) >= 4 and sum(c.isupper() for c in letters) > 0.8 * len(letters)
    return Place(first, alone, glued, shouted)
