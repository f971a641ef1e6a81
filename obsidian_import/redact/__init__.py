"""Secrets → typed marks: every text that leaves a reader goes through here before it is written anywhere.

`Redactor` is made for one note. `redact(text)` gives the text with each secret replaced by `[REDACTED:kind:n]`; `n` counts
the distinct secrets of that Redactor in order of first appearance, so the same secret is recognisable, two machines
write the same bytes, and nothing derived from a value is kept. Marks that stand in a text stay as they are, and
`redact(redact(x)) == redact(x)`.

One automaton finds all literals of the tables (`redact_rules`, `redact_context`) in one pass; only at its hits are
expressions tried. A text without hits costs that one pass.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import itemgetter
from typing import Final
from urllib.parse import quote, quote_plus

from ahocorasick_rs import BytesAhoCorasick, Implementation

from obsidian_import.errors import UserError
from obsidian_import.redact.context import Finder, Scan
from obsidian_import.redact.finders import FINDERS
from obsidian_import.redact.rules import BACK, BACK_OPTIONAL, DISCORD, DISCORD_BACK, RUN, SHAPES, Shape
from obsidian_import.redact.values import Style, filler, secret

MARK: Final = re.compile(r"\[REDACTED:[\w.-]{1,64}:\d{1,9}\]")
_OPEN: Final = "[REDACTED:"
_WINDOW: Final = 1 << 18
"""Bytes the automaton reads at once: hits of hostile text are held for one window only."""
_ROUNDS: Final = 8
_ECHO: Final = 64


@dataclass(frozen=True, slots=True)
class Hit:
    """`text[start:end]` (code points) is a secret of this kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Rules:
    """What a vault adds to the tables. Build it once: the automaton is made at its first use and kept."""

    allow: frozenset[str] = frozenset()
    """Exact values that are no secrets."""
    patterns: Mapping[str, str] = field(default_factory=dict)
    """Kind → regular expression; group 1, where there is one, is the secret. A faulty one raises `UserError`."""
    known: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Value → kind: taken verbatim wherever it stands (values shorter than 8 characters are not)."""

    def __post_init__(self) -> None:
        custom = []
        for kind, pattern in self.patterns.items():
            try:
                custom.append((_clean(kind), re.compile(pattern)))
            except re.error as error:
                raise UserError(
                    f"redact.patterns: {kind!r} is no regular expression: {error}", "Correct it in config.yaml."
                ) from error
        object.__setattr__(self, "_engine", _Engine(self.allow, custom, self.known))

    @property
    def engine(self) -> _Engine:
        """The compiled tables."""
        engine: _Engine = self.__dict__["_engine"]
        return engine


def _clean(kind: str) -> str:
    return re.sub(r"[^\w.-]+", "-", kind)[:64] or "custom"


def _forms(value: str) -> Iterator[str]:
    """How a known value is also written: URL-encoded, JSON-escaped, base64 (alone and after `user:` of any length)."""
    yield value
    yield quote(value, safe="")
    yield quote_plus(value)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    raw = value.encode("utf-8", "surrogatepass")
    for lead in range(3):
        # the middle of the base64 text does not depend on the neighbours; `lead` bytes of them shift it
        coded = base64.b64encode(b"\0" * lead + raw).decode()
        cut = coded.rstrip("=")
        cut = cut[(0, 2, 3)[lead] : len(cut) - (1 if coded.endswith("=") else 0)]
        if len(cut) >= 10:
            yield cut


class _Engine:
    """The automaton and what to try at each of its literals."""

    def __init__(
        self, allow: frozenset[str], custom: list[tuple[str, re.Pattern[str]]], known: Mapping[str, str]
    ) -> None:
        self.allow = allow
        self.custom = custom
        self.known: dict[bytes, list[tuple[str, str]]] = {}
        actions: dict[bytes, list[Finder | Shape]] = {}
        for shape in SHAPES:
            for literal in shape.literals:
                actions.setdefault(literal.encode(), []).append(shape)
        for name, finder in FINDERS:
            actions.setdefault(name.encode(), []).append(finder)
        for value, kind in known.items():
            if len(value) >= 8 and value.strip() and value not in allow:
                for form in dict.fromkeys(_forms(value)):
                    literal_bytes = form.encode("utf-8", "surrogatepass").lower()
                    self.known.setdefault(literal_bytes, []).append((form, _clean(kind)))
        literals = list(dict.fromkeys([*actions, *self.known]))
        self.literals = literals
        self.longest = max(map(len, literals))
        self.actions = [tuple(actions.get(literal, ())) for literal in literals]
        self.words = [tuple(self.known.get(literal, ())) for literal in literals]
        self.plain = [
            not words and all(not isinstance(one, Shape) for one in actions)
            for words, actions in zip(self.words, self.actions, strict=True)
        ]
        self.automaton = BytesAhoCorasick(literals, implementation=Implementation.DFA)

    def _places(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """(literal, start, end) in bytes, by start, window after window."""
        size = len(data)
        if size <= _WINDOW:
            yield from sorted(self.automaton.find_matches_as_indexes(data, overlapping=True), key=_START)
            return
        for base in range(0, size, _WINDOW):
            part = data[base : base + _WINDOW + self.longest]
            for literal, start, end in sorted(
                self.automaton.find_matches_as_indexes(part, overlapping=True), key=_START
            ):
                if start < _WINDOW:
                    yield literal, base + start, base + end

    def find(self, text: str) -> list[Hit]:
        """Secrets of a text that holds no marks: sorted, disjoint."""
        raw = text.encode("utf-8", "surrogatepass")
        data = raw.lower()
        places: Iterable[tuple[int, int, int]] = self._places(data)
        if len(raw) != len(text):
            places = _code_points(raw, places)
        scan = Scan(text)
        ahead: list[tuple[int, int, str]] = []
        taken = run_end = done = 0
        for literal, start, end in places:
            while ahead and ahead[0][0] <= start:
                taken = max(taken, heappop(ahead)[1])
            if start < taken and self.plain[literal]:
                continue
            for action in self.actions[literal]:
                if isinstance(action, Shape):
                    if start >= run_end:
                        run_end = max(run_end, _shape(scan, action, start))
                elif start >= taken:
                    action(scan, start, end)
            for form, kind in self.words[literal]:
                if text.startswith(form, start):
                    scan.add(start, start + len(form), kind)
            for place in scan.found[done:]:
                heappush(ahead, place)
            done = len(scan.found)
        if "." in text:
            for found in DISCORD.finditer(text):
                back = DISCORD_BACK.search(text[max(0, found.start() - 32) : found.start()])
                if back:
                    scan.add(found.start() - len(back[0]), found.end(), "discord-token")
        for kind, pattern in self.custom:
            for found in pattern.finditer(text):
                scan.add(*found.span(1 if pattern.groups and found[1] is not None else 0), kind)
        return self._settle(text, scan.found)

    def _settle(self, text: str, found: list[tuple[int, int, str]]) -> list[Hit]:
        """Overlapping finds become one; the kind is that of the longest."""
        if not found:
            return []
        hits: list[Hit] = []
        allow = self.allow
        best = 0
        for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1])):
            if allow and text[start:end] in allow:
                continue
            if hits and start < hits[-1].end:
                last = hits[-1]
                if end - start > best or (end - start == best and kind not in _LOOSE and last.kind in _LOOSE):
                    best = end - start
                    hits[-1] = Hit(last.start, max(last.end, end), kind)
                elif kind not in _LOOSE and last.kind in _LOOSE and (end - start) * 10 >= (last.end - last.start) * 8:
                    hits[-1] = Hit(last.start, max(last.end, end), kind)
                elif end > last.end:
                    hits[-1] = Hit(last.start, end, last.kind)
            else:
                hits.append(Hit(start, end, kind))
                best = end - start
        return hits


_LOOSE: Final = frozenset(
    "env-secret password token secret api-key credential authorization bearer-token query-secret url-password url-token connection-string cookie webhook".split()  # noqa: SIM905
)
"""Kinds that say where a secret stood; a provider's shape says more."""


_START: Final = itemgetter(1)


def _code_points(raw: bytes, places: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Byte offsets (by start) → code point offsets. Literals begin and end at characters' edges."""
    byte = point = 0
    for literal, start, end in places:
        point += len(raw[byte:start].decode("utf-8", "surrogatepass"))
        byte = start
        yield literal, point, point + len(raw[start:end].decode("utf-8", "surrogatepass"))


_WORDISH: Final = re.compile(r"[\w-]", re.ASCII)
_NEXT_LINE: Final = re.compile(r"\\?\r?\n[ \t>|]{0,16}([\w+/=.~-]+)(?=[ \t]*(?:\\?\r?\n|\Z|[\"'`|,;)\]]))", re.ASCII)


def _shape(scan: Scan, shape: Shape, start: int) -> int:
    """Try a shape at its literal; the offset up to which the text is taken (0: nothing found)."""
    text = scan.text
    if shape.apart and start:
        before = text[start - 1]
        if _WORDISH.match(before) and not _after_escape(text, start):
            return 0
    found = shape.pattern.match(text, start)
    begin = start
    back = BACK.get(shape.kind)
    if found:
        if back:
            left = back.search(text[max(0, start - 128) : start])
            if not left:
                return 0
            begin = start - len(left[0])
        elif shape.kind in BACK_OPTIONAL:
            left = BACK_OPTIONAL[shape.kind].search(text[max(0, start - 128) : start])
            begin = start - len(left[0]) if left else start
        if "v" in shape.pattern.groupindex:
            begin = found.start("v")
        end = RUN.match(text, found.end()).end()  # type: ignore[union-attr]
        while end > found.end() and text[end - 1] == ".":
            end -= 1
        value = text[begin : min(end, begin + 400)]
        if filler(value) or (shape.mixed and not any(c.isdigit() for c in value)):
            return end if end - begin > 2000 else 0
        end = _wrapped(text, begin, end) if end - begin >= 40 and not shape.wrap else end
    elif shape.wrap:
        end = _cut(text, shape, start)
        if not end:
            return 0
    else:
        return 0
    scan.add(begin, end, shape.kind)
    return end


def _after_escape(text: str, start: int) -> bool:
    """Say whether the letter before is a part of an escape (`\\n`, `\\t`, `%3D`, `%20`, `\\u003d`) and not of a word."""
    return (
        text[start - 2 : start] in {"\\n", "\\t", "\\r"}
        or text[start - 3 : start - 2] == "%"
        or text[start - 6 : start - 4] == "\\u"
    )


def _cut(text: str, shape: Shape, start: int) -> int:
    """Where a token of known length ends that a line end cuts in two; 0 if this is none."""
    run = RUN.match(text, start)
    assert run
    more = _NEXT_LINE.match(text, run.end())
    if not more or len(run[0]) < 8 or len(run[0]) >= shape.wrap:
        return 0
    joined = run[0] + more[1]
    if len(joined) != shape.wrap or not shape.pattern.fullmatch(joined) or filler(joined):
        return 0
    return more.end(1)


def _wrapped(text: str, begin: int, end: int) -> int:
    """A long token of no known length goes on over line ends while whole lines are nothing but its characters."""
    width = end - max(begin, text.rfind("\n", begin, end) + 1)
    while True:
        more = _NEXT_LINE.match(text, end)
        if not more or width < 40 or len(more[1]) < 4 or len(more[1]) > max(width, 76) + 40:
            return end
        piece = more[1]
        if not (any(c.isdigit() for c in piece) and any(c.isalpha() for c in piece)) and not (
            piece.isalpha() and len(piece) >= 8 and not piece.islower() and not piece.istitle()
        ):
            return end
        if _OWN_START.match(piece):
            return end
        end, width = more.end(1), len(piece)


_OWN_START: Final = re.compile(r"(?:gh[a-z]_|sk-|ey[JK]|xox|AKIA|\w+=)")

_DEFAULT: Final[list[Rules]] = []


def default_rules() -> Rules:
    """The tables alone (one shared value)."""
    if not _DEFAULT:
        _DEFAULT.append(Rules())
    return _DEFAULT[0]


def find(text: str, rules: Rules | None = None) -> list[Hit]:
    """Secrets in a text, sorted and disjoint; what stands in a mark is none."""
    engine = (rules or default_rules()).engine
    if _OPEN not in text:
        return engine.find(text)
    hits: list[Hit] = []
    pos = 0
    for mark in MARK.finditer(text):
        hits += [Hit(hit.start + pos, hit.end + pos, hit.kind) for hit in engine.find(text[pos : mark.start()])]
        pos = mark.end()
    hits += [Hit(hit.start + pos, hit.end + pos, hit.kind) for hit in engine.find(text[pos:])]
    return hits


class Redactor:
    """Takes the secrets out of the texts of one note, in the order they are given."""

    __slots__ = ("_after", "_echo", "_engine", "_marks", "_rules", "counts")

    def __init__(self, rules: Rules | None = None, after: int = 0) -> None:
        """`after`: the highest number of the marks that a text has already; new ones go on from there."""
        self._after = after
        self._rules = rules or default_rules()
        self._engine = self._rules.engine
        self._marks: dict[str, tuple[str, str]] = {}
        self._echo: list[str] = []
        self.counts: dict[str, int] = {}
        """Values taken out so far (each place counts), by kind."""

    def redact(self, text: str) -> str:
        """The text with marks where secrets stood. A text without secrets comes back as the same object."""
        for _ in range(_ROUNDS):
            done = self._once(text)
            if done == text:
                return text
            text = done
        return text

    def _once(self, text: str) -> str:
        if _OPEN not in text:
            return self._part(text)
        out: list[str] = []
        pos = 0
        for mark in MARK.finditer(text):
            out += (self._part(text[pos : mark.start()]), mark[0])
            pos = mark.end()
        out.append(self._part(text[pos:]))
        return "".join(out)

    def _part(self, text: str) -> str:
        hits = self._engine.find(text) if text else []
        if not hits and not self._echo:
            return text
        out: list[str] = []
        pos = 0
        marks = [self._mark(text[hit.start : hit.end], hit.kind) for hit in hits]
        for hit, mark in zip(hits, marks, strict=True):
            out += (self._echoes(text[pos : hit.start]), mark)
            pos = hit.end
        out.append(self._echoes(text[pos:]))
        return "".join(out)

    def _mark(self, value: str, kind: str) -> str:
        if value not in self._marks:
            self._marks[value] = (f"[REDACTED:{kind}:{self._after + len(self._marks) + 1}]", kind)
            if len(self._echo) < _ECHO and 10 <= len(value) <= 4096 and secret(value[:300], Style.PROSE, passish=False):
                self._echo.append(value)
        mark, kind = self._marks[value]
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return mark

    def _echoes(self, text: str) -> str:
        """A value once found by its context is taken where it stands bare, too."""
        for value in self._echo:
            if value in text:
                mark, kind = self._marks[value]
                self.counts[kind] = self.counts.get(kind, 0) + text.count(value)
                text = text.replace(value, mark)
        return text


_SECRET_NAME: Final = re.compile(
    r"(?i)(?:pass(?:w(?:or)?d|phrase|code)?|pwd|secret|token|credentials?|(?:api|access|private|account|encryption|signing|auth|master|service|shared"
    r"|storage|jwt|session|deploy|ssh)[-_]?key|webhook|dsn|connection_?string|_auth|cookie)(?:[-_]?(?:base|value|data|b64|base64|prod|dev|test|v?\d+))*$"
    r"|(?:^|_)(?:pat|pw|key|sas|database_url|db_url|redis_url|mongo(?:db)?_ur[il]|amqp_url|broker_url)$|webhook"
)
_USERINFO: Final = re.compile(r"[a-z][\w+.-]*://[^\s/@:]*:([^\s/@]+)@", re.IGNORECASE)


def known_from_env(env: Mapping[str, str]) -> dict[str, str]:
    """Value → kind for the variables whose names look secret: at least 8 characters, no path, number or flag.

    Of a URL only the password in it is taken, one without a password is none (a webhook's address is a secret whole).
    """
    known: dict[str, str] = {}
    for name, value in env.items():
        value = value.strip()  # noqa: PLW2901 - the trimmed value is the one to look for
        inside = _USERINFO.match(value)
        if inside and len(inside[1]) >= 8:
            known[inside[1]] = "env-secret"
        if not _SECRET_NAME.search(name) or len(value) < 8 or inside:
            continue
        if re.match(r"[a-z][\w+.-]*://", value, re.IGNORECASE) and "webhook" not in name.lower():
            continue
        if re.fullmatch(
            r"(?:~|\.{0,2})/[\w.@/ -]*|[A-Za-z]:\\.*|[\d.,:]+|\w+\(\)|[A-Za-z]+", value
        ) and not _looks_random(value):
            continue
        known[value] = "env-secret"
    return known


def _looks_random(value: str) -> bool:
    return secret(value, Style.PROSE, passish=True)
