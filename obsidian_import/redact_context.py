"""Where grammar says "here stands a secret": assignments, flags, headers, URLs, files that hold credentials.

Each finder starts at a literal the automaton found. What it reads is bounded (a window, or up to a mark that it
remembers having read), so that hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final

from obsidian_import.redact_rules import HARMLESS_TAIL, NAMES
from obsidian_import.redact_values import Style, secret, strong


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


def _take(scan: Scan, pos: int, kind: str, style: Style, *, passish: bool, upper: bool = False) -> bool:
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
        if after in {"(", "["} and not (style is Style.ENV and upper) and _PATHLIKE.fullmatch(value) and not (len(value) >= 20 and strong(value)):
            return False
        if style in {Style.CODE, Style.PROSE}:
            kept = value.rstrip(".,:!?*")
            end -= len(value) - len(kept)
            value = kept
        elif after in {")", ",", ";", "}"} and style is Style.ENV and not upper and value.isidentifier() and not strong(value):
            return False
        if style is Style.CODE and _LINE_END.match(text, end) and after != ";":
            style = Style.LINE if text[pos - 2 : pos - 1] in {":", "："} or text[pos - 1 : pos] in {":", "："} else style
    if not secret(value, style, passish=passish, upper=upper):
        return False
    if long:  # only now: a rejected value must not be read to its end again and again
        end = rest.match(text, end).end()  # type: ignore[union-attr]
    elif style is Style.ENV:
        end = _tail(text, pos, end)
    scan.add(pos, end, kind)
    return True


_SHELL_TAIL: Final = re.compile(r"""[^\s"'`\\]{1,300}+""")


def _tail(text: str, pos: int, end: int) -> int:
    """Where an unquoted value of a `NAME=value` line ends: shells and .env readers go on over `,`, `(`, `[`."""
    if text[end : end + 1] not in {",", "(", ")", "[", "]", "{", "}", ";", "|"}:
        return end
    line = max(text.rfind("\n", max(0, pos - 100), pos), text.rfind("\\n", max(0, pos - 100), pos) + 1)
    if line < 0 and pos > 100:
        return end
    if not _ENV_LINE.fullmatch(text, line + 1, pos):
        return end
    more = _SHELL_TAIL.match(text, end)
    return more.end() if more else end


_ENV_LINE: Final = re.compile(r"[ \t>|+-]*(?:export|set|ENV|ARG|declare -x|typeset -x)?[ \t]*[A-Za-z_]\w*[ \t]?=[ \t]?")

# ------------------------------------------------------------------ names

_GLUE: Final = re.compile(r"(?i:s|w(?:or|r)?ds?|phrases?|codes?|keys?|values?|tokens?|secrets?|strings?|data|base64|txt|ials?)?(?![a-z])")
_CAMEL: Final = re.compile(r"(?:s|word|phrase|code|key|value|token|secret|string|data|base)?(?![a-z])")
_PASS_BEFORE: Final = re.compile(r"(?:db|my|user|root|admin|smtp|mail|ftp|ssh|sudo|login|app|sql|pg|redis|mongo|store|key|http|ldap|bind|vnc|wifi|enc|srv)\Z")
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
_TYPED: Final = re.compile(r"""[A-Za-z][\w.]{0,30}+(?:\[[\w, .|]{0,40}\])?(?:[ ]?\|[ ]?\w{1,20})?[ ]?=[ ]?(?=[bru]?["'`])""")
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
_FLAG: Final = re.compile(r"(?:\A|[\s\"'`(\[,|=\\nt])[-/]{1,2}[\w.-]*\Z")
_SETTER: Final = re.compile(
    r"""(?:\bset|\bsetx|\bsetenv|\bconfig|\bENV|config:set|\badd|login[ ]\S{1,64}|secret[ ]put)[ ](?:[^\n;|&]{0,80}[ ])?["']?[\w./:@-]*\Z"""
)
_UPPER: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")

_PASSISH: Final = frozenset("pass pwd passwort kennwort contraseña senha пароль Пароль 密码 パスワード creds requirepass masterauth".split()) | {
    "mot de passe"
}


def _kind(name: str) -> str:
    if name in _PASSISH:
        return "password"
    if name in {"secret", "token", "webhook", "credential"}:
        return name
    return "connection-string" if name.startswith("connection") else "api-key"


def _named(name: str) -> Finder:
    kind, passish = _kind(name), name in _PASSISH
    is_pass, webhook = name == "pass", name == "webhook"

    def finder(scan: Scan, start: int, end: int) -> None:
        text = scan.text
        follows = text[end : end + 1]
        if follows.isalpha():
            glue = (_GLUE if text[end - 1].isupper() or text[end - 1] > "\x7f" else _CAMEL).match(text, end)
            if not glue:
                return
            end = glue.end()
        elif is_pass and text[start - 1 : start].islower() and text[start].islower() and start and not _PASS_BEFORE.search(text, max(0, start - 8), start):
            return
        found = _AFTER.match(text, end)
        if not found:
            if text[end : end + 1] in {"\n", "\r", '"', "'", "\\", "_", "-"}:
                _other(scan, end, kind, passish=passish)
            return
        if found["space"] is not None:
            _spaced(scan, start, end, found, kind, passish=passish)
            return
        if not webhook and HARMLESS_TAIL.match(text, end):
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
            elif not _take(scan, pos, kind, Style.QUOTED if found["comma"] else Style.ENV, passish=passish, upper=upper):
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
        if not _take(scan, pos, kind, style, passish=passish, upper=upper):
            _other(scan, end, kind, passish=passish)

    return finder


def _other(scan: Scan, end: int, kind: str, *, passish: bool) -> None:
    """The name and its value are two entries: `- name: X` over `value: Y`, `variable "x" { default = "Y" }`."""
    found = _NAMED.match(scan.text, end) or _BLOCK.match(scan.text, end)
    if found:
        _take(scan, found.end(), kind, Style.LINE, passish=passish, upper=True)


def _spaced(scan: Scan, start: int, end: int, found: re.Match[str], kind: str, *, passish: bool) -> None:
    """The name is followed by a blank: a flag, a setter, SQL, netrc, or prose."""
    text, pos = scan.text, found.end()
    if found["close"] and text[pos] in "{:=v\\" and "`" not in found["close"]:
        _other(scan, end, kind, passish=passish)
        return
    before = text[max(0, start - 100) : start]
    word = before[-24:]
    if "-" in word or "/" in word:
        if _FLAG.search(word) and not HARMLESS_TAIL.match(text, end):
            _take(scan, pos, kind, Style.ENV, passish=passish or len(found["tail"]) == 0, upper=True)
            return
    said = _IS.match(text, pos)
    if said:
        quoted = text[said.end() : said.end() + 1] in {'"', "'", "`"}
        _take(scan, said.end(), kind, Style.PROSE if not (quoted and passish) else Style.QUOTED, passish=passish)
        return
    at = text[pos : pos + 1]
    if at in {"'", '"', "`"}:
        _take(scan, pos, kind, Style.QUOTED if passish and at == "'" else Style.PROSE, passish=passish)
        return
    if ("login" in before or "machine" in before) and re.search(r"\blogin\s+\S+\s+\Z", before):
        _take(scan, pos, kind, Style.SLOT, passish=True)
        return
    low = before.lower()
    if ("set" in low or "config" in low or "env" in low or "login" in low or "put" in low or "add" in low) and _SETTER.search(before):
        if not HARMLESS_TAIL.match(text, end):
            _take(scan, pos, kind, Style.ENV, passish=passish, upper=True)
        return
    if passish and text[end - 1].islower():
        value = _BARE_SOME.match(text, pos)
        if value and any(c in "!@#$%^&*" for c in value[0][:-1]) and any(c.isdigit() for c in value[0]):
            _take(scan, pos, kind, Style.PROSE, passish=True)
    elif text[start].isupper() and (found["space"] != " ") and found["tail"].isupper() | (found["tail"] == ""):
        _take(scan, pos, kind, Style.PROSE, passish=False)


def _cell(scan: Scan, pos: int, kind: str, *, passish: bool) -> None:
    """The next cell of a table row."""
    text = scan.text
    while text[pos : pos + 1] in {"`", "*"}:
        pos += 1
    found = _BARE_SOME.match(text, pos)
    if found and strong(found[0].rstrip("*")) and re.match(r"[`* \t]*\|", text[found.end() : found.end() + 40]):
        style = Style.ENV if passish else Style.PROSE
        _take(scan, pos, kind, style, passish=passish)


_HOOK: Final = re.compile(r"""["'`]?https?://[\w.:-]+/(?P<v>[\w/.~%?=&+-]{16,})""")


def _webhook(scan: Scan, pos: int) -> None:
    found = _HOOK.match(scan.text, pos)
    if found and any(strong(part) for part in re.split(r"[/?=&]", found["v"]) if len(part) >= 12):
        scan.add(found.start("v"), found.end("v"), "webhook")
    elif not found:
        _take(scan, pos, "webhook", Style.CODE, passish=False)


# ------------------------------------------------------------------ one slot right after the literal


def _slot(pattern: str, kind: str, style: Style = Style.SLOT, back: str = "") -> Finder:
    """`pattern` matches from the literal on and ends where the value begins (group `v`: where it is the value)."""
    compiled = re.compile(pattern)
    behind = re.compile(back + r"\Z") if back else None

    def finder(scan: Scan, start: int, end: int) -> None:
        text = scan.text
        found = compiled.match(text, start)
        if not found or (behind and not behind.search(text[max(0, start - 80) : start])):
            return
        if "v" in compiled.groupindex:
            if secret(found["v"][:300], style, passish=True, upper=True):
                scan.add(found.start("v"), found.end("v"), kind)
        else:
            _take(scan, found.end(), kind, style, passish=True, upper=True)

    return finder


def _command(name: str, patterns: tuple[str, ...], kind: str, size: int = 3000) -> Finder:
    """A command line: every `pattern` (group `v`) anywhere up to its end; a backslash goes on over the line end."""
    compiled = [re.compile(p) for p in patterns]
    line_end = re.compile(r"(?<![\\^`])\r?\n")

    def finder(scan: Scan, start: int, end: int) -> None:
        text = scan.text
        window = scan.window(name, start, size)
        if not window:
            return
        stop = line_end.search(text, *window)
        limit = stop.start() if stop else window[1]
        scan.read[name] = limit
        for pattern in compiled:
            for found in pattern.finditer(text, start, limit):
                at, to = found.span("v")
                value = text[at : min(to, at + 300)]
                if secret(value, Style.SLOT, passish=True) and not _PORTS.fullmatch(value):
                    scan.add(at, to, kind)

    return finder


_PORTS: Final = re.compile(r"\d{1,5}(?::\d{1,5})+(?:/\w+)?")


def _arg(flag: str) -> str:
    """A flag and its value, quoted or not (group `v` is either)."""
    return rf"""(?<![\w-])(?:{flag})(?P<e>\\{{0,3}}["'])?(?P<v>(?(e)[^\n"'\\]|[^\s"'\\|;&]){{1,2000}}+)"""


def _userinfo(scan: Scan, start: int, end: int) -> None:
    """`scheme://user:secret@host`, `https://TOKEN@host`."""
    found = _USERINFO.match(scan.text, end)
    if not found:
        return
    if found["p"] is not None:
        if secret(found["p"][:300], Style.SLOT, passish=True) and found["p"].lower() not in {"pass", "pw", "postgres"}:
            scan.add(*found.span("p"), "url-password")
        if len(found["u"]) >= 20 and strong(found["u"]):
            scan.add(*found.span("u"), "url-token")
    elif strong(found["u"]) and len(found["u"]) >= 12:
        scan.add(*found.span("u"), "url-token")


_USERINFO: Final = re.compile(r"""(?P<u>[^\s/?#@:"'<>`\\,;()]{0,256}+)(?::(?P<p>[^\s/?#"'<>`\\()]{1,512}))?@(?=[\w\[$.{-])""")


def _basic(scan: Scan, start: int, end: int) -> None:
    """`Basic <base64>` that decodes to `user:password`."""
    found = re.compile(r"[ ]+(?P<v>[A-Za-z0-9+/]{8,2000}={0,2})").match(scan.text, end)
    if not found:
        return
    try:
        plain = base64.b64decode(found["v"] + "=" * (-len(found["v"]) % 4))
    except (binascii.Error, ValueError):
        return
    if b":" in plain:
        scan.add(*found.span("v"), "basic-auth")


_SCHEME: Final = re.compile(
    r"""(?:\\{0,3}["'`]|[\])]){0,3}+\s{0,4}+[:=,][ \t]{0,8}+\\{0,3}["'`]?(?:(?i:bearer|basic|token|apikey|api-key|bot|digest|negotiate|splunk|geniekey|ssws|key|aws4-hmac-sha256|sharedaccesssignature)[ ]+)?"""
)
_CREDENTIAL: Final = re.compile(r"""[^\s"'`\\<>]{1,300}+""")
_CRED_REST: Final = re.compile(r"""[^\s"'`\\<>]*+""")


def _authorization(scan: Scan, start: int, end: int) -> None:
    """The credential of an Authorization header, whatever the scheme."""
    text = scan.text
    found = _SCHEME.match(text, end)
    value = _CREDENTIAL.match(text, found.end()) if found else None
    if not found or not value:
        return
    stop = value.end() if value.end() - value.start() < 300 else _CRED_REST.match(text, value.end()).end()  # type: ignore[union-attr]
    scheme = found[0].rstrip().lower()
    style = Style.SLOT if scheme.endswith(("bearer", "basic", "token", "key", "bot", "digest", "negotiate", "splunk", "ssws")) else Style.PROSE
    if scheme.endswith("hmac-sha256"):
        signature = re.compile(r"""[^\n"']{0,400}?Signature=(?P<v>\w{16,})""").match(text, found.end())
        if signature:
            scan.add(*signature.span("v"), "authorization")
        return
    word = value[0].rstrip(".,;:)")
    if secret(word, style, passish=True) and (style is Style.PROSE or len(word) >= 6):
        scan.add(value.start(), stop, "authorization")


_COOKIE: Final = re.compile(r"""\\{0,3}["'`]?[ \t]{0,4}+[:=][ \t]{0,4}+\\{0,3}["'`]?(?P<v>[\w!#$%&*+.^|~-]{1,128}=[^\n\r"'`\\<>]{1,8192}+)""")


def _cookie(scan: Scan, start: int, end: int) -> None:
    """The whole value of a Cookie or Set-Cookie header."""
    found = _COOKIE.match(scan.text, end)
    if found:
        value = found["v"].partition("=")[2]
        if len(value) >= 4 and not re.match(r"(?:\$|<|\{\{|\*\*)", value):
            scan.add(found.start("v"), found.end("v"), "cookie")


_SESSION: Final = r"""=(?P<v>[^\s;&"'`<>\\,)]{8,4096}+)"""

# ------------------------------------------------------------------ blocks


_PEM: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_GAP: Final = r"""(?:[\s>|#*"'+,;.]|\\+[nrt]|\\+["'])"""
_PEM_HEAD: Final = re.compile(rf"""(?:{_PEM_GAP}{{0,40}}+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[ ][^\n\\]{{0,200}})*+""")
_PEM_LINE: Final = re.compile(rf"""{_PEM_GAP}{{0,60}}+(?P<b>[A-Za-z0-9+/=]++)""")
_PEM_END: Final = re.compile(rf"""{_PEM_GAP}{{0,60}}+-----END [A-Z0-9 ]{{0,60}}-----""")


def _pem_body(text: str, pos: int) -> int:
    """Where the key material that starts at `pos` stops: line after line, the last may be short."""
    pos = _PEM_HEAD.match(text, pos).end()  # type: ignore[union-attr]
    last = 64
    while True:
        ended = _PEM_END.match(text, pos)
        if ended:
            return ended.end()
        line = _PEM_LINE.match(text, pos)
        size = len(line["b"]) if line else 0
        if not line or last < 40 or (size < 16 and (last < 60 or " " in text[line.start() : line.start("b")].strip("\n\r>|"))):
            return pos
        pos, last = line.end(), size


def _pem(scan: Scan, start: int, end: int) -> None:
    """A private key block, also cut off before its END, or with `\\n` for line ends."""
    if start < scan.read.get("pem", 0):
        return
    found = _PEM.match(scan.text, start)
    if found:
        stop = _pem_body(scan.text, found.end())
        if stop - found.end() >= 16:  # the words alone, as in documentation and code, are no key
            scan.read["pem"] = stop
            scan.add(start, stop, "private-key")


def _pem_tail(scan: Scan, start: int, end: int) -> None:
    """The end of a private key whose beginning was cut away."""
    text = scan.text
    if start < scan.read.get("pem", 0) or not re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY").match(text, start):
        return
    pos = start
    floor = max(scan.read.get("pem", 0), start - 16384)
    while pos > floor:
        line = max(text.rfind("\n", max(floor, pos - 130), pos - 1) + 1, pos - 130, floor)
        body = text[line:pos].strip(" \t\r\n>|")
        if not (body and re.fullmatch(r"[A-Za-z0-9+/]{1,}={0,2}", body)) or len(body) > 100:
            break
        pos = line
    scan.read["pem"] = start
    if pos < start:
        scan.add(pos, start, "private-key")


_ENTRY: Final = re.compile(r"""^[ \t>]{1,40}["']?[\w.-]{1,128}["']?:[ \t]+(?!\n)(?P<q>["'])?(?P<v>[^\s"'][^\n"']{2,8000})""", re.MULTILINE)
_DATA: Final = re.compile(r"^(?P<i>[ \t>]*)(?:stringData|data):[ \t]*\r?$", re.MULTILINE)
_DATA_JSON: Final = re.compile(r""""(?:stringData|data)"\s*:\s*\{(?P<b>[^{}]{1,8000})\}""")
_PAIR: Final = re.compile(r""""[^"\n]{1,128}"\s*:\s*"(?P<v>[^"\n]{3,8000})\"""")
_BLOCK_LINE: Final = re.compile(r"(?P<i>[ \t>]*)(?P<r>[^\n]*)(?:\n|\Z)")


def _kubernetes(scan: Scan, start: int, end: int) -> None:
    """Every value under `data:` and `stringData:` of a Kubernetes Secret (YAML or JSON)."""
    text = scan.text
    done = scan.read.get("k8s", 0)
    low = max(done, start - 6000)
    high = min(len(text), start + 20000)
    if high <= done or start < done - 19000:
        return
    scan.read["k8s"] = high
    cut = text.rfind("\n---", low, start)
    low = cut if cut >= 0 else low
    cut = text.find("\n---", start, high)
    high = cut if cut >= 0 else high
    for block in _DATA_JSON.finditer(text, low, high):
        for pair in _PAIR.finditer(text, *block.span("b")):
            scan.add(*pair.span("v"), "kubernetes-secret")
    for block in _DATA.finditer(text, low, high):
        pos = block.end() + 1
        depth = len(block["i"])
        while pos < high:
            line = _BLOCK_LINE.match(text, pos, high)
            if not line or line.end() == pos:
                break
            if line["r"].strip() and len(line["i"]) <= depth:
                break
            value = re.match(r"""(?:["']?[\w./-]{1,128}["']?:[ \t]+)?["']?(?P<v>[^"'\r]{3,})""", line["r"])
            if value and not re.fullmatch(r"[|>][-+]?\s*|.*:\s*", value["v"]):
                at = line.start("r")
                scan.add(at + value.start("v"), at + len(value["v"].rstrip()) + value.start("v"), "kubernetes-secret")
            pos = line.end()


_WORDS12: Final = re.compile(
    r"""(?:[^\n]{0,40}?(?:[:=]|\b(?:is|are|was)\b)|["'`]?[ \t]*$)[\s>"'`*:=]{0,12}(?P<v>(?:(?:\d{1,2}[.)][ ]?)?[a-z]{3,8}[\s,]{1,3}){11,23}(?:\d{1,2}[.)][ ]?)?[a-z]{3,8})(?![\w])""",
    re.MULTILINE,
)


def _seed(scan: Scan, start: int, end: int) -> None:
    """12 to 24 words of a wallet's seed phrase."""
    window = scan.window("seed", end, 600)
    found = _WORDS12.match(scan.text, end, min(len(scan.text), end + 600)) if window else None
    if found and not {"the", "and", "for", "are", "that", "was", "has", "its", "but", "not"} & set(found["v"].split()):
        scan.add(*found.span("v"), "seed-phrase")


_PIPED: Final = re.compile(
    r"""(?:echo|printf)[ ]+(?:-\w+[ ]+)*(?:["']%s(?:\\n)?["'][ ]+)?(?P<q>\\?["'])?(?P<v>(?(q)[^"'\n\\]|[^\s"'|\\]){1,300})(?:\\n)?(?(q)\\?["'])[ ]*\|[ ]*(?:sudo[ ]+)?[\w./-]*[^|\n]{0,120}\Z"""
)


def _piped(scan: Scan, start: int, end: int) -> None:
    """`echo X | sudo -S`, `echo X | docker login --password-stdin`, `<<< X`."""
    text = scan.text
    low = max(text.rfind("\n", max(0, start - 400), start) + 1, start - 400, 0)
    echo = max(text.rfind("echo ", low, start), text.rfind("printf ", low, start))
    found = _PIPED.match(text, echo, start) if echo >= 0 else None
    if found:
        value = found["v"]
        at = found.start("v")
        if text[start:end].lower() == "chpasswd" and ":" in value:
            at += value.index(":") + 1
        if secret(text[at : found.end("v")], Style.SLOT, passish=True):
            scan.add(at, found.end("v"), "password")
    here = re.compile(r"""[^\n|;]{0,80}<<<[ ]*["']?(?P<v>[^\s"']{3,300})""").match(text, end)
    if here and secret(here["v"], Style.SLOT, passish=True):
        scan.add(*here.span("v"), "password")


def _jwk(scan: Scan, start: int, end: int) -> None:
    """The private members of a JSON Web Key."""
    window = scan.window("jwk", max(scan.read.get("jwk", 0), start - 3000), 8000)
    if window:
        for found in re.compile(r""""(?:d|p|q|dp|dq|qi|k)\\?"\s*:\s*\\?"(?P<v>[\w-]{16,8000})""").finditer(scan.text, *window):
            scan.add(*found.span("v"), "private-key")


# ------------------------------------------------------------------ the table

_QUERY: Final = "?key= &key= ?sig= &sig= ?signature= &signature= -signature= ?auth= &auth= &code_verifier= ?hmac= &hmac=".split()

FINDERS: Final[tuple[tuple[str, Finder], ...]] = (
    *((name, _named(name)) for name in NAMES),
    *((lit, _slot(r"[?&-](?i:key|sig|signature|auth|code_verifier|hmac|session)=(?P<v>[^\s&\"'`<>\\|)\]]{8,4096})", "query-secret", Style.ENV)) for lit in _QUERY),
    *((lit, _slot(r"(?i:[\w%]{1,4}(?:sig|signature|key)(?:%3d|=))(?P<v>[\w%+/=.~-]{16,4096})", "query-secret", Style.ENV)) for lit in ("%26sig%3d", "%3fsig%3d", "%26sig=", "%3fkey%3d", "%26key%3d")),
    ("?session=", _slot(r"\?session=(?P<v>[^\s&\"'`<>\\]{16,4096})", "query-secret", Style.PROSE)),
    ("&session=", _slot(r"&session=(?P<v>[^\s&\"'`<>\\]{16,4096})", "query-secret", Style.PROSE)),
    *((lit, _slot(f"(?i:{re.escape(lit[:-1])})" + _SESSION, "cookie", Style.ENV)) for lit in ("sessid=", "connect.sid=", "jsessionid=", "sessionid=", "csrftoken=", "laravel_session=", "xsrf-token=")),
    ("://", _userinfo),
    ("%3a%2f%2f", _slot(r"(?i:%3a%2f%2f)[\w.~-]{0,128}%3[aA](?P<v>[\w.~%+-]{3,512}?)(?:%40)", "url-password")),
    ("authorization", _authorization),
    ("bearer ", _slot(r"(?i:bearer)[ ]+(?P<v>[\w+/=.~-]{16,8192})", "bearer-token", Style.PROSE)),
    ("bearer%20", _slot(r"(?i:bearer)%20(?P<v>[\w+/=.~%-]{16,8192})", "bearer-token", Style.PROSE)),
    ("basic", _basic),
    ("cookie", _cookie),
    ("curl", _command("curl", (
        _arg(r"(?:-u|-U|--user|--proxy-user)(?:[ =]|(?=[\w\"'])){1}[ ]*").replace("(?P<v>", r"(?:[^\s:\"'\\]{0,128}:)(?P<v>"),
        _arg(r"(?:-b|--cookie)[ =]+").replace("(?P<v>", r"(?=[^\s=]{1,128}=)(?P<v>"),
        _arg(r"--(?:oauth2-bearer|pass|tlspassword|proxy-pass)[ =]+"),
    ), "password")),
    ("http ", _command("httpie", (_arg(r"(?:-a|--auth)[ =]+").replace("(?P<v>", r"(?:[^\s:\"'\\]{0,128}:)(?P<v>"),), "password")),
    ("wget", _command("wget", (_arg(r"--(?:http-|ftp-|proxy-)?password[ =]+"),), "password")),
    *((lit, _command("mysql", (_arg(r"-p(?=[^\s])(?!assword|rotocol|ort|ager|lugin)"),), "password")) for lit in ("mysql", "mariadb")),
    ("sshpass", _command("sshpass", (_arg(r"-p[ ]*"),), "password")),
    *((lit, _command("login", (_arg(r"-p[ =]+"), _arg(r"(?:--creds|--src-creds|--dest-creds)[ =]+").replace("(?P<v>", r"(?:[^\s:\"'\\]{0,128}:)(?P<v>")), "password")) for lit in ("docker login", "podman login", "nerdctl login", "buildah login", "skopeo ", "helm registry login", "oras login", "crane auth login", "az login", "oc login", "cf login", "registry login", "acr login")),
    ("redis-cli", _command("redis", (_arg(r"(?:-a|--pass)[ =]+"),), "password")),
    *((lit, _command("mongo", (_arg(r"-p[ ]+"),), "password")) for lit in ("mongosh", "mongodump", "mongorestore", "mongo ", "mongoimport", "mongoexport")),
    *((lit, _command("ldap", (_arg(r"-w[ ]*"),), "password")) for lit in ("ldapsearch", "ldapadd", "ldapmodify", "ldappasswd", "ldapdelete")),
    ("smbclient", _command("smb", (_arg(r"(?:-U|--user)[ =]*").replace("(?P<v>", r"(?:[^\s%\"']{1,128}%)(?P<v>"),), "password")),
    *((lit, _command("zip", (_arg(r"-P[ ]*"),), "password")) for lit in ("zip ", "zipcloak")),
    *((lit, _command("7z", (_arg(r"-p(?=\S)"),), "password")) for lit in ("7z ", "7za ", "7zz ", "unrar ", "rar ")),
    *((lit, _command("ansible", (_arg(r"-e[ ]+ansible_\w*pass\w*="),), "password")) for lit in ("ansible-playbook",)),
    *((lit, _command("sqlcmd", (_arg(r"-P[ ]*"),), "password")) for lit in ("sqlcmd", "bcp ", "osql ")),
    *((lit, _command("mosquitto", (_arg(r"-P[ ]+"),), "password")) for lit in ("mosquitto_pub", "mosquitto_sub", "ipmitool")),
    *((lit, _command("xfreerdp", (_arg(r"/p:"),), "password")) for lit in ("freerdp", "cmdkey", "rdesktop")),
    *((lit, _command("curlftp", (r"-u[ ]+[^\s,\"']{1,128},(?P<v>[^\s\"']{3,300})",), "password")) for lit in ("lftp",)),
    *((lit, _command("netuse", (r"(?i:net[ ]+use)[^\n]{0,200}?/user:\S+[ ]+(?P<v>[^\s/\"']{3,200})", r"(?i:net[ ]+user)[ ]+\w+[ ]+(?P<v>[^\s/\"'*]{4,200})[ ]+/add"), "password")) for lit in ("net use", "net user")),
    *((lit, _slot(rf"(?i:{lit})[ ]+[\"']?(?P<v>[^\s\"']{{4,300}})", "password")) for lit in ("requirepass", "masterauth")),
    ("pass:", _slot(r"(?i:pass):(?P<v>[^\s\"'`\\]{3,300})", "password", Style.SLOT, r"(?:-pass(?:in|out)?|-passin|-passout|-password|-k|/)[ :]*[\"']?")),
    ("openssl", _command("openssl", (_arg(r"-(?:k|K)[ ]+"), r"pass:(?P<v>[^\s\"'\\]{3,300})"), "password")),
    ("htpasswd", _command("htpasswd", (r"htpasswd[ ]+-[a-zA-Z0-9]*b[a-zA-Z0-9]*(?:[ ]+-\w+)*[ ]+\S+[ ]+(?:\S+[ ]+)??[\"']?(?P<v>[^\s\"'|;&]{3,300})[\"']?(?=\s*(?:$|[|;&\n>`)]))",), "password")),
    ("from-literal", _slot(r"(?i:from-literal)[ =]+\\?[\"']?[\w./-]{1,128}=\\?[\"']?(?P<v>[^\s\"'`\\]{3,4096})", "kubernetes-secret")),
    ("identified by", _slot(r"(?i:identified by)[ ]+(?i:password[ ]+)?\\?[\"'](?P<v>[^\n\"'\\]{3,300})", "password")),
    ("identified with", _slot(r"(?i:identified with)[ ]+[\w\"'`]+[ ]+(?i:by|as)[ ]+\\?[\"'](?P<v>[^\n\"'\\]{3,300})", "password")),
    ("password for", _slot(r"(?i:password for)[ ][\w@'\". -]{1,60}?[ ]*(?:=|:)[ ]*(?P<v>[^\s\"'`]{4,300})", "password", Style.PROSE)),
    ('"auth"', _slot(r"(?i:\"auth\")\s{0,8}:\s{0,8}\"(?P<v>[A-Za-z0-9+/=_-]{8,8192})\"", "docker-auth", Style.PROSE)),
    ('\\"auth\\"', _slot(r"\\\"(?i:auth)\\\"\s{0,8}:\s{0,8}\\\"(?P<v>[A-Za-z0-9+/=_-]{8,8192})\\", "docker-auth", Style.PROSE)),
    ("_auth", _slot(r"_auth[ ]{0,4}=[ ]{0,4}\"?(?P<v>[A-Za-z0-9+/=_-]{8,8192})", "npm-auth", Style.ENV)),
    *((lit, _slot(r":(?:\d{2,5}|\*):[^:\s]{1,128}:[^:\s]{1,128}:(?P<v>[^\s:\"'`]{3,300})(?=\s|$|[\"'`\\])", "password", Style.SLOT, r"(?:\A|[\s\"'`n])(?:[\w.-]{1,128}|\*)")) for lit in (":5432:", ":5433:", ":6432:", ":*:")),
    ("thin:", _slot(r"(?i:thin):[\w$]{1,64}/(?P<v>[^\s@/\"']{3,128})@", "password")),
    ("sqlplus", _slot(r"(?i:sqlplus)[ ]+(?:-\w+[ ]+)*[\w$]{1,64}/(?P<v>[^\s@/\"']{3,128})@", "password")),
    ("accountkey=", _slot(r"(?i:accountkey)=(?P<v>[\w+/=-]{16,200})", "azure-account-key", Style.ENV)),
    ("accesskey=", _slot(r"(?i:accesskey)=(?P<v>[\w+/=-]{16,200})", "azure-access-key", Style.ENV)),
    ("-----begin", _pem),
    ("-----end", _pem_tail),
    ("private-lines:", _slot(r"(?i:private-lines): \d{1,4}\s{1,3}(?P<v>(?:[A-Za-z0-9+/=]{1,100}\s{0,3}){1,200})", "private-key", Style.SLOT)),
    ("kind: secret", _kubernetes),
    ('"kind": "secret"', _kubernetes),
    ('"kind":"secret"', _kubernetes),
    ('"kty"', _jwk),
    ('\\"kty\\"', _jwk),
    *((lit, _seed) for lit in ("seed phrase", "seed words", "recovery phrase", "recovery words", "mnemonic", "secret phrase", "seed_phrase", "backup phrase", "wallet seed")),
    *((lit, _piped) for lit in ("sudo -s", "sudo -k -s", "sudo --stdin", "-stdin", "chpasswd", "smbpasswd -s", "passwd --stdin", "cryptsetup", "gpg --batch")),
    *((lit, _slot(r"(?:creds|credentials|Credentials|CREDENTIALS|login|Login|user/pass(?:word)?)\b[ ]{0,4}(?:are|is|:|=)[ ]{0,4}[`\"']?[\w.@+-]{1,64}[ ]?[/:][ ]?(?P<v>[^\s\"'`,;]{4,200})", "password", Style.PROSE)) for lit in ("creds", "credentials", "login:", "login is", "user/pass")),
    *((lit, _slot(rf"{lit}\"?\s{{0,4}}[:=]\s{{0,4}}\\?[\"']?(?P<v>[\w+/=-]{{20,200}})", "shared-key", Style.ENV)) for lit in ("presharedkey", "psk")),
    ("0x", _slot(r"0x(?P<v>[0-9a-fA-F]{64})(?![0-9a-fA-F])", "private-key", Style.SLOT, r"(?i:priv(?:ate)?[-_ ]?key|wallet[-_ ]key|pk)[\"']?\s*[:=]\s*[\"']?")),
    ("cloudflare", _slot(r"(?i:cloudflare)[^\n]{0,40}?(?<![\w-])(?P<v>(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{40})(?![\w-])", "cloudflare-token", Style.ENV)),
    ("heroku", _slot(r"(?i:heroku)[^\n]{0,40}?(?<![\w-])(?P<v>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})(?![\w-])", "heroku-key", Style.SLOT)),
    ("convertto-securestring", _slot(r"(?i:convertto-securestring)[ ]+(?:-(?i:string)[ ]+)?[\"'](?P<v>[^\n\"']{3,300})", "password")),
    ("networkcredential(", _slot(r"(?i:networkcredential)\([\"'][^\"'\n]{0,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password")),
    ("basicauth", _slot(r"(?i:httpbasicauth|basicauth)\([\"'][^\"'\n]{0,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password")),
    ("auth=(", _slot(r"auth=\([\"'][^\"'\n]{0,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password")),
    ("add-generic-password", _command("keychain", (_arg(r"-w[ ]+"),), "password")),
    ("vault login", _slot(r"vault login[ ]+(?:-\S+[ ]+)*(?P<v>[^\s=\"'-][^\s=\"']{7,200})", "vault-token")),
)
