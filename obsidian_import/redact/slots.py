"""Slots in one line: what commands, headers and URLs keep for a secret."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from obsidian_import.redact.context import Finder, Scan, take
from obsidian_import.redact.values import Style, secret, strong

# ------------------------------------------------------------------ one slot right after the literal


def slot(pattern: str, kind: str, style: Style = Style.SLOT, back: str = "") -> Finder:
    """`pattern` matches from the literal on and ends where the value begins (group `v`: where it is the value)."""
    compiled = re.compile(pattern)
    behind = re.compile(back + r"\Z") if back else None

    def finder(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
        text = scan.text
        found = compiled.match(text, start)
        if not found or (behind and not behind.search(text[max(0, start - 80) : start])):
            return
        if "v" in compiled.groupindex:
            if secret(found["v"][:300], style, passish=True, upper=True):
                scan.add(found.start("v"), found.end("v"), kind)
        else:
            take(scan, found.end(), kind, style, passish=True, upper=True)

    return finder


def command(name: str, patterns: tuple[str, ...], kind: str, size: int = 3000) -> Finder:
    """A command line: every `pattern` (group `v`) anywhere up to its end; a backslash goes on over the line end."""
    compiled = [re.compile(p) for p in patterns]
    line_end = re.compile(r"(?<![\\^`])\r?\n")

    def finder(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
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


def arg(flag: str) -> str:
    """A flag and its value, quoted or not (group `v` is either)."""
    return rf"""(?<![\w-])(?:{flag})(?P<e>\\{{0,3}}["'])?(?P<v>(?(e)[^\n"'\\]|[^\s"'\\|;&]){{1,2000}}+)"""


def userinfo(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
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


_USERINFO: Final = re.compile(
    r"""(?P<u>[^\s/?#@:"'<>`\\,;()]{0,256}+)(?::(?P<p>[^\s/?#"'<>`\\()]{1,512}))?@(?=[\w\[$.{-])"""
)


def basic(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
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


def authorization(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """The credential of an Authorization header, whatever the scheme."""
    text = scan.text
    found = _SCHEME.match(text, end)
    value = _CREDENTIAL.match(text, found.end()) if found else None
    if not found or not value:
        return
    stop = value.end() if value.end() - value.start() < 300 else _CRED_REST.match(text, value.end()).end()  # type: ignore[union-attr]
    scheme = found[0].rstrip().lower()
    style = (
        Style.SLOT
        if scheme.endswith(("bearer", "basic", "token", "key", "bot", "digest", "negotiate", "splunk", "ssws"))
        else Style.PROSE
    )
    if scheme.endswith("hmac-sha256"):
        signature = re.compile(r"""[^\n"']{0,400}?Signature=(?P<v>\w{16,})""").match(text, found.end())
        if signature:
            scan.add(*signature.span("v"), "authorization")
        return
    word = value[0].rstrip(".,;:)")
    if secret(word, style, passish=True) and (style is Style.PROSE or len(word) >= 6):
        scan.add(value.start(), stop, "authorization")


_COOKIE: Final = re.compile(
    r"""\\{0,3}["'`]?[ \t]{0,4}+[:=][ \t]{0,4}+\\{0,3}["'`]?(?P<v>[\w!#$%&*+.^|~-]{1,128}=[^\n\r"'`\\<>]{1,8192}+)"""
)


def cookie(scan: Scan, start: int, end: int) -> None:  # noqa: ARG001
    """The whole value of a Cookie or Set-Cookie header."""
    found = _COOKIE.match(scan.text, end)
    if found:
        value = found["v"].partition("=")[2]
        if len(value) >= 4 and not re.match(r"(?:\$|<|\{\{|\*\*)", value):
            scan.add(found.start("v"), found.end("v"), "cookie")


SESSION: Final = r"""=(?P<v>[^\s;&"'`<>\\,)]{8,4096}+)"""
