"""Where grammar says "here stands a secret": assignments, flags, headers, URLs, files that hold credentials.

Each finder starts at a literal the automaton found. What it reads is bounded (a window, or up to a mark that it
remembers having read), so that hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from obsidian_import.redact.rules import harmless_tail
from obsidian_import.redact.values import Style, secret, strong


class Scan:
    """One text being looked through: what was found, and how far each finder has read."""

    __slots__ = ("found", "read", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[tuple[int, int, str]] = []
        self.read: dict[str, int] = {}

    def add(self, start: int, end: int, kind: str) -> None:
        """Text[start:end] is a secret."""
        if end > start:
            self.found.append((start, end, kind))

    def window(self, finder: str, start: int, size: int) -> tuple[int, int] | None:
        """From `start` on, `size` characters at most, none that this finder has read; None if it has."""
        done = self.read.get(finder, 0)
        if start < done:
            return None
        end = min(len(self.text), start + size)
        self.read[finder] = end
        return start, end


Finder = Callable[[Scan, int, int], None]
"""Called with the scan and where the literal stands."""

# ------------------------------------------------------------------ reading a value

_OPEN: Final = re.compile(r"""(?:[bBrRuUfF@]{0,2})(?P<esc>\\{0,3})(?P<q>"{3}|'{3}|["'`])""")
_BARE: Final = r"""(?:[^\s"'`<>|,;(){}\[\]&\\]|\\(?![nrtu"'`\\]))"""
_BARE_SOME: Final = re.compile(_BARE + "{1,300}+")
_BARE_ALL: Final = re.compile(_BARE + "*+")
_WORD_SOME: Final = re.compile(r"""(?:[^\s"'`\\]|\\(?![nrt"'`\\])){1,300}+""")
_WORD_ALL: Final = re.compile(r"""(?:[^\s"'`\\]|\\(?![nrt"'`\\]))*+""")
_LINE_END: Final = re.compile(r"[ \t]*(?:\Z|[\r\n#|]|\\[nr\"]|[\"'`<])")
_PATHLIKE: Final = re.compile(r"[A-Za-z_][\w.:$-]*")


def _quoted(text: str, pos: int) -> tuple[int, int, int] | None:
    """Start, end and place after the closing quote of the string literal at `pos`; None where there is none."""
    opened = _OPEN.match(text, pos)
    if not opened:
        return None
    close = opened["esc"] + opened["q"]
    start = opened.end()
    limit = min(len(text), start + 65536)
    long = len(opened["q"]) == 3
    if not long:
        line = text.find("\n", start, limit)
        limit = limit if line < 0 else line
    at = text.find(close, start, limit)
    while at > start and not opened["esc"] and text[at - 1] == "\\" and text[at - 2 : at] != "\\\\":
        at = text.find(close, at + 1, limit)
    return None if at < 0 else (start, at, at + len(close))


def take(scan: Scan, pos: int, kind: str, style: Style, *, passish: bool, upper: bool = False) -> bool:
    """Take the value that begins at `pos`, if it is a secret where `style` says."""
    text = scan.text
    place = _quoted(text, pos)
    if place:
        start, end, _ = place
        if style in {Style.ENV, Style.LINE, Style.CODE}:
            style = Style.QUOTED
        value = text[start : min(end, start + 300)]
        if value and secret(value.strip(), style, passish=passish, upper=upper):
            scan.add(start, end, kind)
            return True
        return False
    opened = _OPEN.match(text, pos)
    if opened:  # a string that is never closed on its line
        pos = opened.end()
    some, rest = (_WORD_SOME, _WORD_ALL) if style is Style.SLOT else (_BARE_SOME, _BARE_ALL)
    found = some.match(text, pos)
    if not found:
        return False
    end = found.end()
    value = found[0]
    long = end - pos >= 300
    if not long and style is not Style.SLOT:
        after = text[end : end + 1]
        if (
            after in {"(", "["}
            and not (style is Style.ENV and upper)
            and _PATHLIKE.fullmatch(value)
            and not (len(value) >= 20 and strong(value))
        ):
            return False
        if style in {Style.CODE, Style.PROSE}:
            kept = value.rstrip(".,:!?*")
            end -= len(value) - len(kept)
            value = kept
        elif (
            after in {")", ",", ";", "}"}
            and style is Style.ENV
            and not upper
            and value.isidentifier()
            and not strong(value)
        ):
            return False
        if style is Style.CODE and _LINE_END.match(text, end) and after != ";":
            style = (
                Style.LINE if text[pos - 2 : pos - 1] in {":", "："} or text[pos - 1 : pos] in {":", "："} else style
            )
    if not secret(value, style, passish=passish, upper=upper):
        return False
    if long:  # only now: a rejected value must not be read to its end again and again
        end = rest.match(text, end).end()  # type: ignore[union-attr]
    elif style is Style.ENV:
        end = _tail(text, pos, end)
    scan.add(pos, end, kind)
    return True


_SHELL_TAIL: Final = re.compile(r"""[,(){}\[\];|&][^\s"'`\\]{1,300}+""")
_ENV_NAME: Final = re.compile(r"(?:\A|[\s`\"'>|+]|\\n)(?:[A-Z_][A-Z0-9_]*|[a-z_]+)[ \t]?=[ \t]?\Z")


def _tail(text: str, pos: int, end: int) -> int:
    """Where an unquoted `NAME=value` ends: shells and .env readers go on over `,`, `(`, `[`."""
    more = _SHELL_TAIL.match(text, end)
    return more.end() if more and _ENV_NAME.search(text[max(0, pos - 80) : pos]) else end


# ------------------------------------------------------------------ names

_GLUE: Final = re.compile(
    r"(?i:s|w(?:or|r)?ds?|phrases?|codes?|keys?|values?|tokens?|secrets?|strings?|data|base64|txt|ials?)?(?![a-z])"
)
_CAMEL: Final = re.compile(r"(?:s|word|phrase|code|key|value|token|secret|string|data|base)?(?![a-z])")
_PASS_BEFORE: Final = re.compile(
    r"(?:db|my|user|root|admin|smtp|mail|ftp|ssh|sudo|login|app|sql|pg|redis|mongo|store|key|http|ldap|bind|vnc|wifi|enc|srv)\Z"
)
_AFTER: Final = re.compile(
    r"""(?P<tail>[\w.\-]{0,48}+)
    (?P<close>(?:\\{0,3}["'`]|[\])*}]){0,4}+)
    (?:
      [ \t]{0,20}+(?P<op>:=|=>|->|={1,3}(?!>)|!==?|:{1,2}(?!/)|→|：|＝)(?P<gap>[ \t]{0,20}+)
    | (?P<pct>%3[dDaA](?:%20|\+)?(?:%22|%27)?)
    | (?P<comma>[ \t]{0,4}+,[ \t]{0,4}+)(?=[bBrRuU@]?\\{0,3}["'`])
    | (?P<xml>>)(?=[^<\s]{3,256}</)
    | (?P<cell>[ \t]{0,40}+\|[ \t]{0,40}+)
    | (?P<space>[ \t]{1,8}+)
    )""",
    re.VERBOSE,
)
_TYPED: Final = re.compile(
    r"""[A-Za-z][\w.]{0,30}+(?:\[[\w, .|]{0,40}\])?(?:[ ]?\|[ ]?\w{1,20})?[ ]?=[ ]?(?=[bru]?["'`])"""
)
_NEXT_LINE: Final = re.compile(r"""[|>]?[-+]?[ \t]{0,8}+(?:\r?\n|\\n)[ \t]{1,40}+(?=\S)""")
_NAMED: Final = re.compile(
    r"""[\w.\-]{0,48}+\\{0,3}["']?[ \t]{0,4}+,?\s{0,40}+(?:\\n\s{0,40}+)?\\{0,3}["']?[vV]alue\\{0,3}["']?[ \t]{0,8}+[:=][ \t]{0,8}+"""
)
_BLOCK: Final = re.compile(
    r"""[\w.\-]{0,48}+\\{0,3}["'][ \t]{0,8}+[:=]?[ \t]{0,8}+\{[^{}]{0,400}?\b(?:default|value)\\{0,3}["']?\s{0,8}+[:=]\s{0,8}+(?=\\{0,3}["'])"""
)
_IS: Final = re.compile(
    r"""(?:(?:for|of|on|to|at|in)[ ][^\n.:;=]{1,40}?[ ])?(?:is|was|are|will[ ]be|set[ ]to|should[ ]be|has[ ]been[ ]changed[ ]to|ist|lautet|es|est)(?:[ ](?:now|still|set[ ]to))?[ ]?(?P<colon>:)?\s{1,4}[*_]{0,2}"""
)
_FLAG: Final = re.compile(r"(?:\A|[\s\"'`(\[,|=]|\\[nrt])[-/]{1,2}[\w.-]*\Z")
_SETTER: Final = re.compile(
    r"""(?:\bset|\bsetx|\bsetenv|\bconfig|\bENV|config:set|\badd|login[ ]\S{1,64}|secret[ ]put)[ ](?:[^\n;|&]{0,80}[ ])?["']?[\w./:@-]*\Z"""
)
_WORDY_PART: Final = re.compile(r"[/\\._-][a-z]{3,}(?:[/\\._-]|\Z)|://")
_UPPER: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")

_PASSISH: Final = frozenset(
    "pass pwd pw passwort kennwort contraseña senha пароль Пароль 密码 パスワード creds requirepass masterauth".split()  # noqa: SIM905
) | {"mot de passe"}


def _kind(name: str) -> str:
    if name in _PASSISH:
        return "password"
    if name in {"secret", "token", "webhook", "credential"}:
        return name
    return "connection-string" if name.startswith("connection") else "api-key"


def named(name: str) -> Finder:
    """Give the finder of values whose name holds this word."""
    kind, passish = _kind(name), name in _PASSISH
    is_pass, webhook = name in {"pass", "pw"}, name == "webhook"

    def finder(scan: Scan, start: int, end: int) -> None:
        text = scan.text
        follows = text[end : end + 1]
        if follows.isalpha():
            glue = (_GLUE if text[end - 1].isupper() or text[end - 1] > "\x7f" else _CAMEL).match(text, end)
            if not glue:
                return
            end = glue.end()
        elif (
            is_pass
            and text[start - 1 : start].islower()
            and text[start].islower()
            and start
            and not _PASS_BEFORE.search(text, max(0, start - 8), start)
        ):
            return
        found = _AFTER.match(text, end)
        if not found:
            if text[end : end + 1] in {"\n", "\r", '"', "'", "\\", "_", "-"}:
                _other(scan, end, kind, passish=passish)
            return
        if found["space"] is not None:
            _spaced(scan, start, end, found, kind, passish=passish)
            return
        if not webhook and harmless_tail(text, end):
            return
        pos = found.end()
        upper = text[start].isupper() and _UPPER.match(text[start:end] + found["tail"]) is not None
        upper = upper or text[max(0, start - 4) : start].lower() == "auth"
        if webhook:
            _webhook(scan, pos)
            return
        if found["op"] is None:
            if found["cell"] is not None:
                _cell(scan, pos, kind, passish=passish)
            elif not take(scan, pos, kind, Style.QUOTED if found["comma"] else Style.ENV, passish=passish, upper=upper):
                _other(scan, end, kind, passish=passish)
            return
        if found["op"] in {":", "="}:
            typed = _TYPED.match(text, pos)
            below = _NEXT_LINE.match(text, pos) if not typed else None
            if typed:
                pos = typed.end()
            elif below:
                pos = below.end()
                if text[pos] not in "\"'`\\" and text[found.end()] not in "|>":
                    return
        style = Style.ENV if found["op"] == "=" and (upper or not found["gap"]) else Style.CODE
        if not take(scan, pos, kind, style, passish=passish, upper=upper):
            _other(scan, end, kind, passish=passish)

    return finder


def _other(scan: Scan, end: int, kind: str, *, passish: bool) -> None:
    """The name and its value are two entries: `- name: X` over `value: Y`, `variable "x" { default = "Y" }`."""
    found = _NAMED.match(scan.text, end) or _BLOCK.match(scan.text, end)
    if found:
        take(scan, found.end(), kind, Style.LINE, passish=passish, upper=True)


def _spaced(scan: Scan, start: int, end: int, found: re.Match[str], kind: str, *, passish: bool) -> None:
    """The name is followed by a blank: a flag, a setter, SQL, netrc, or prose."""
    text, pos = scan.text, found.end()
    if found["close"] and text[pos] in "{:=v\\" and "`" not in found["close"]:
        _other(scan, end, kind, passish=passish)
        return
    before = text[max(0, start - 100) : start]
    word = before[-24:]
    if ("-" in word or "/" in word) and (
        _FLAG.search(word) and text[pos : pos + 1] != "-" and not harmless_tail(text, end)
    ):
        take(scan, pos, kind, Style.ENV, passish=passish or len(found["tail"]) == 0, upper=True)
        return
    said = _IS.match(text, pos)
    if said:
        quoted = text[said.end() : said.end() + 1] in {'"', "'", "`"}
        take(scan, said.end(), kind, Style.PROSE if not (quoted and passish) else Style.QUOTED, passish=passish)
        return
    at = text[pos : pos + 1]
    if at in {"'", '"', "`"}:
        take(
            scan, pos, kind, Style.QUOTED if passish and at == "'" and end - start > 4 else Style.PROSE, passish=passish
        )
        return
    if ("login" in before or "machine" in before) and re.search(r"\blogin\s+\S+\s+\Z", before):
        take(scan, pos, kind, Style.SLOT, passish=True)
        return
    low = before.lower()
    if (
        ("set" in low or "config" in low or "env" in low or "login" in low or "put" in low or "add" in low)
        and at != "-"
        and _SETTER.search(before)
    ):
        if not harmless_tail(text, end):
            take(scan, pos, kind, Style.ENV, passish=passish, upper=True)
        return
    value = _BARE_SOME.match(text, pos)
    if value and len(value[0]) >= 20 and strong(value[0].rstrip(".,:;")) and not _WORDY_PART.search(value[0]):
        take(scan, pos, kind, Style.PROSE, passish=passish)
        return
    if passish and text[end - 1].islower():
        if value and any(c in "!@#$%^&*+" for c in value[0][:-1]) and any(c.isdigit() for c in value[0]):
            take(scan, pos, kind, Style.PROSE, passish=True)
    elif text[start].isupper() and (found["space"] != " ") and found["tail"].isupper() | (found["tail"] == ""):
        take(scan, pos, kind, Style.PROSE, passish=False)


def _cell(scan: Scan, pos: int, kind: str, *, passish: bool) -> None:
    """The next cell of a table row."""
    text = scan.text
    while text[pos : pos + 1] in {"`", "*"}:
        pos += 1
    found = _BARE_SOME.match(text, pos)
    if found and strong(found[0].rstrip("*")) and re.match(r"[`* \t]*\|", text[found.end() : found.end() + 40]):
        style = Style.ENV if passish else Style.PROSE
        take(scan, pos, kind, style, passish=passish)


_HOOK: Final = re.compile(r"""["'`]?https?://[\w.:-]+/(?P<v>[\w/.~%?=&+-]{16,})""")


def _webhook(scan: Scan, pos: int) -> None:
    found = _HOOK.match(scan.text, pos)
    if found and any(strong(part) for part in re.split(r"[/?=&]", found["v"]) if len(part) >= 12):
        scan.add(found.start("v"), found.end("v"), "webhook")
    elif not found:
        take(scan, pos, "webhook", Style.CODE, passish=False)
